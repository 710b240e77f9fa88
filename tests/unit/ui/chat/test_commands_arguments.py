"""Arguments of commands, checked before anything changes."""

from pathlib import Path

import pytest

from tests.ui.fake_chats import FakeChats
from tui.core.conversation.conversation import Conversation
from tui.core.errors import McptuiError
from tui.core.tools import BinaryContent, LinkContent, TextContent
from tui.core.workbench import PromptMessage, PromptResult
from tui.runtime.model_changes import switch_model
from tui.ui.chat.commands import export_to, prompt_text


@pytest.mark.parametrize(
    ("rest", "kind", "name"),
    [
        ("json", "json", "a-talk-of-milk"),
        ("md", "markdown", "a-talk-of-milk"),
        ("HTML", "html", "a-talk-of-milk"),
        ("pdf", "markdown", "pdf"),
        ("markdown notes/talk.txt", "markdown", "notes/talk.txt"),
        ("talk.html", "html", "talk.html"),
        ("my talk.json", "json", "my talk.json"),
    ],
)
def test_the_export_format_and_the_path_can_be_given_alone_or_together(
    tmp_path: Path, rest: str, kind: str, name: str
):
    assert export_to(rest, "A talk: of MILK!", tmp_path) == (kind, tmp_path / name)


def test_any_title_gives_a_safe_file_name(tmp_path: Path):
    assert export_to("json", "../../etc\x1b[31m/passwd", tmp_path)[1].parent == tmp_path
    assert export_to("json", "???", tmp_path)[1].name == "conversation"
    assert export_to("json", "北京天气", tmp_path)[1].name == "北京天气"


async def test_a_misspelled_profile_gets_a_suggestion_and_switches_nothing():
    conversations = FakeChats(Conversation())
    with pytest.raises(McptuiError, match=r"Did you mean “ollama”\?"):
        await switch_model(conversations, "olama")
    assert conversations.done == []


async def test_a_model_id_that_the_endpoint_does_not_list_is_used_with_a_warning():
    conversations = FakeChats(Conversation())
    conversations.offers["ollama"] = ["qwen3:8b", "gemma3:4b"]
    assert await switch_model(conversations, "ollama gemma3:4b") == ""
    odd = await switch_model(conversations, "ollama gemma3:4")
    assert odd == "The endpoint does not list this model. Did you mean “gemma3:4b”?"
    assert conversations.done[-1] == ("switch", "ollama", "gemma3:4")


async def test_a_name_that_is_neither_a_profile_nor_a_listed_model_is_reported():
    conversations = FakeChats(Conversation())
    conversations.offers["demo"] = ["qwen3:8b"]
    odd = await switch_model(conversations, "nosuch")
    assert odd == "“nosuch” is neither a profile nor a listed model."


@pytest.mark.parametrize(
    ("written", "switched"),
    [
        ("ollama effort high", ("switch", "ollama", "", "high")),
        ("ollama gemma3:4b effort=low", ("switch", "ollama", "gemma3:4b", "low")),
        ("effort none", ("switch", "demo", "demo", "none")),
        ("effort default", ("switch", "demo", "demo", "")),
    ],
)
async def test_the_reasoning_effort_is_set_with_the_model_or_alone(written: str, switched: tuple[str, ...]):
    conversations = FakeChats(Conversation())
    assert await switch_model(conversations, written) == ""
    assert conversations.done == [switched]


async def test_an_endpoint_that_cannot_list_its_models_gives_no_warning():
    conversations = FakeChats(Conversation())
    conversations.offers["ollama"] = McptuiError("404")
    assert await switch_model(conversations, "ollama anything") == ""


def test_assistant_messages_of_a_prompt_are_labelled():
    result = PromptResult(
        "",
        (
            PromptMessage("user", TextContent("Be \x1b[31mred.")),
            PromptMessage("assistant", TextContent("I am.")),
            PromptMessage("user", LinkContent("file:///a", "a")),
        ),
    )
    text, attachments = prompt_text(result, "/x")
    assert text.startswith("Be ␛[31mred.\n\n(assistant) I am.\n\n") and "file:///a" in text
    assert attachments == []


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (PromptResult(), "returned no messages"),
        (PromptResult(problem="no \x1bsuch"), "no ␛such"),
        (
            PromptResult("", (PromptMessage("user", BinaryContent("image", "image/png", 3, "@@@")),)),
            "returned unsupported content",
        ),
    ],
)
def test_a_prompt_without_usable_content_is_reported(result: PromptResult, words: str):
    with pytest.raises(McptuiError, match=words):
        prompt_text(result, "/x")
