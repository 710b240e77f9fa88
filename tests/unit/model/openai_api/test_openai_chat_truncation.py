"""A warning names an endpoint that truncates prompts, and what to change."""

import pytest

from tui.core.conversation.conversation import UserMessage
from tui.core.ports import ModelRequest, ToolSpec, Usage
from tui.model.endpoints.profile import ModelProfile
from tui.model.openai_api.openai_chat import truncation_warning

OLLAMA = ModelProfile("ollama", "http://127.0.0.1:11434/v1", "m")
LONG = ModelRequest("", [UserMessage("word " * 20_000)])


def test_far_fewer_tokens_than_sent_give_a_warning_with_the_fix() -> None:
    said = truncation_warning(OLLAMA, LONG, Usage(4_096, 10))
    assert "4,096 of at least 20,000 tokens" in said and "OLLAMA_CONTEXT_LENGTH=65536" in said
    assert "num_ctx" in said


def test_a_server_that_is_not_ollama_gets_its_own_advice() -> None:
    other = ModelProfile("lmstudio", "http://127.0.0.1:1234/v1", "m")
    assert "Raise its context size to 65,536 tokens." in truncation_warning(other, LONG, Usage(4_096, 10))


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("word " * 20_000, 20_000),
        ("北京天气如何" * 3_000, 9_000),
        ("        return value\n" * 3_000, 12_000),
        ("=" * 100_000, 1_600),
    ],
    ids=["English", "Chinese", "code", "a rule"],
)
def test_a_plausible_token_count_gives_no_warning(text: str, tokens: int) -> None:
    assert truncation_warning(OLLAMA, ModelRequest("", [UserMessage(text)]), Usage(tokens, 10)) == ""


def test_truncated_tools_give_a_warning() -> None:
    tools = [ToolSpec(f"t{n}", "does one thing " * 20, {"type": "object"}) for n in range(100)]
    assert truncation_warning(OLLAMA, ModelRequest("", [UserMessage("hi")], tools), Usage(2_000, 1))


def test_without_a_token_count_there_is_no_warning() -> None:
    assert truncation_warning(OLLAMA, LONG, None) == ""
    assert truncation_warning(OLLAMA, LONG, Usage(estimated=True)) == ""


def test_a_short_request_gives_no_warning() -> None:
    assert truncation_warning(OLLAMA, ModelRequest("", [UserMessage("hi")]), Usage(1, 1)) == ""


def test_a_remote_provider_gives_no_warning() -> None:
    assert truncation_warning(ModelProfile("x", "https://api.example.com/v1", "m"), LONG, Usage(9, 1)) == ""
