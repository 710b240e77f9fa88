"""Conversations, messages and models in the app: resumed, branched, resent, copied, exported."""

import asyncio
import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.conftest import until
from tests.ui.app_stage import answered, opened, screen_text, send, shows
from tests.ui.fakes import WEATHER, FakeRuntime, calls, says
from tui.core.conversation.conversation import (
    AssistantMessage,
    Attachment,
    CallRequest,
    Compaction,
    ToolMessage,
    UserMessage,
)
from tui.core.conversation.sessions import SessionInfo
from tui.core.ports import Meters, RetryPart, TextPart
from tui.core.tools import BinaryContent, TextContent, ToolResult
from tui.ui.app.app import McptuiApp
from tui.ui.dialogs.help import HelpScreen
from tui.ui.dialogs.picker import Picker
from tui.ui.keys.action_table import Context
from tui.ui.lists.models import ModelsScreen
from tui.ui.lists.sessions import SessionsScreen
from tui.ui.results.result_screen import ResultScreen
from tui.ui.widgets import page

MILK = SessionInfo("milk", "Which notes mention milk?", turns=1, messages=2)


def with_milk(*replies: object) -> FakeRuntime:
    runtime = FakeRuntime(*replies)  # type: ignore[arg-type]
    runtime.conversations.save(
        MILK, UserMessage("Which notes mention milk?"), AssistantMessage("Two of them.")
    )
    return runtime


async def test_a_saved_session_is_opened_and_continued() -> None:
    async with opened(with_milk(says("A third one, too."))) as (app, pilot):
        await pilot.press("f9")
        await shows(app, "SESSIONS", "Which notes mention milk?")
        await pilot.press("enter")
        await shows(app, "Two of them.", "SERVERS")
        app.main.regions.go_to(Context.COMPOSER)
        await send(pilot, "and now?")
        await shows(app, "Two of them.", "and now?", "A third one, too.")


async def test_an_existing_conversation_is_shown_at_the_start() -> None:
    runtime = FakeRuntime(problems=["config.toml:12 is odd"])
    runtime.conversation.messages += [UserMessage("and then?"), AssistantMessage("Then it ended.")]
    async with opened(runtime) as (app, _):
        await shows(app, "and then?", "Then it ended.", "config.toml:12 is odd")


async def test_no_session_is_opened_while_a_turn_runs() -> None:
    async with opened(with_milk([TextPart("Once"), asyncio.Event()])) as (app, pilot):
        await send(pilot, "tell me a story")
        await shows(app, "Once")
        await pilot.press("f9")
        await until(lambda: isinstance(app.screen, SessionsScreen))
        await pilot.press(*"milk", "enter")
        await shows(app, "A turn is running. esc stops it.")


async def test_the_system_text_is_shown_and_changed() -> None:
    runtime = FakeRuntime()
    runtime.conversations.system = "Answer in verse."
    async with opened(runtime) as (app, pilot):
        await pilot.press("f12")
        await shows(app, "Answer in verse.")
        await pilot.press(*" Briefly.", "ctrl+s")
        await until(lambda: runtime.conversations.system == "Answer in verse. Briefly.")


async def test_escape_keeps_the_system_text_unchanged() -> None:
    runtime = FakeRuntime()
    async with opened(runtime) as (app, pilot):
        await pilot.press("f12", "x", "escape", "escape")
        await until(lambda: app.screen is app.main)
        assert runtime.conversations.system == ""


# ---- messages ----


async def test_a_question_is_resent_as_a_branch_and_one_key_returns_to_the_parent() -> None:
    async with answered("go", "First.", "Second.") as (app, pilot, runtime):
        await pilot.press("f2", "r")
        await shows(app, "Second.", "Branch. Press")
        assert "First." not in screen_text(app)
        assert [text for text, _ in runtime.conversations.asked] == ["go", "go"]
        await until(lambda: not app.main.parts.turns.running)
        await pilot.press("f2", "p")
        await shows(app, "First.")
        assert "Second." not in screen_text(app)


async def test_a_new_conversation_has_no_parent() -> None:
    async with answered("go", "First.") as (app, pilot, _):
        await pilot.press("f2", "w")
        await until(lambda: app.main.composer.text == "go")
        assert app.main.parts.runtime.conversations.parent == "s0"
        await pilot.press("ctrl+n")
        await until(lambda: app.main.parts.runtime.conversations.parent == "")


async def test_a_question_is_edited_in_the_composer_before_it_is_resent() -> None:
    async with answered("weather in Oslo", "First.", "Second.") as (app, pilot, runtime):
        await pilot.press("f2", "w")
        await until(lambda: app.main.composer.text == "weather in Oslo")
        await until(lambda: app.main.composer.has_focus)
        await pilot.press(*" today", "enter")
        await shows(app, "weather in Oslo today", "Second.")
        assert runtime.conversations.done == [("branch", 0)]


async def test_a_branch_ends_after_the_selected_message() -> None:
    async with answered("first", "One.", "Two.") as (app, pilot, runtime):
        await send(pilot, "second")
        await shows(app, "Two.")
        await pilot.press("f2", "up", "up", "up", "up", "b")
        await until(lambda: runtime.conversations.done == [("branch", 2)])
        await shows(app, "One.", "Branch. Press")
        assert "Two." not in screen_text(app)


async def test_a_question_is_resent_to_another_model_as_a_branch() -> None:
    async with answered("go", "First.", "Second.") as (app, pilot, runtime):
        await pilot.press("f2", "m")
        await until(lambda: isinstance(app.screen, ModelsScreen))
        await shows(app, "for the comparison")
        await pilot.press("down", "enter")
        await shows(app, "Second.")
        assert runtime.conversations.done == [("switch", "ollama", ""), ("branch", 0)]


async def test_a_message_has_a_menu_of_its_actions() -> None:
    async with answered("go", "First.", "Second.") as (app, pilot, _):
        await pilot.press("f2", "up", "up", "enter")
        await shows(app, "THIS MESSAGE", "retry")
        await pilot.press("down", "enter")
        await shows(app, "Second.")


@pytest.mark.parametrize("key", ["f5", "f2", "f3", "f6"])
async def test_the_menu_of_a_message_closes_when_the_focus_moves(key: str) -> None:
    async with answered("go", "First.") as (app, pilot, _):
        await pilot.press("f2", "up", "up", "enter")
        await shows(app, "THIS MESSAGE")
        await pilot.press("z")
        assert app.main.composer.text == ""
        await pilot.press(key)
        await until(lambda: app.screen is app.main and "THIS MESSAGE" not in screen_text(app))


async def test_help_opens_over_the_menu_of_a_message_and_closes_back_to_it() -> None:
    async with answered("go", "First.") as (app, pilot, _):
        await pilot.press("f2", "up", "up", "enter")
        await shows(app, "THIS MESSAGE")
        for closing in ("escape", "f1"):
            await pilot.press("f1")
            await until(lambda: isinstance(app.screen, HelpScreen))
            await pilot.press(closing)
            await until(lambda: isinstance(app.screen, Picker))
        await until(lambda: isinstance(app.screen, Picker))
        await shows(app, "THIS MESSAGE")
        await pilot.press("escape")
        await until(lambda: app.screen is app.main)


async def test_the_selected_message_is_copied() -> None:
    async with answered("the question", "The reply.") as (app, pilot, _):
        await pilot.press("f2", "c")
        await until(lambda: app.clipboard == "The reply.")
        await pilot.press("up", "up", "c")
        await until(lambda: app.clipboard == "the question")


async def test_for_a_question_without_text_no_reply_is_copied() -> None:
    runtime = FakeRuntime(says("The reply."))
    picture = Attachment("image", "image/png", "a.png", 8, "iVBORw0KGgo=")
    runtime.conversation.messages += [UserMessage("", (picture,)), AssistantMessage("A picture.")]
    async with opened(runtime) as (app, pilot):
        await shows(app, "A picture.")
        await send(pilot, "and now?")
        await shows(app, "The reply.")
        await pilot.press("f2", *["up"] * 5, "c")
        assert app.clipboard == ""
        await pilot.press("down", "c")
        await until(lambda: app.clipboard == "A picture.")


async def test_the_conversation_is_exported_to_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with answered("say hello", "Hello.") as (app, pilot, runtime):
        await pilot.press("f2", "x")
        await shows(app, "EXPORT   “say hello”", "say-hello.md")
        await pilot.press("tab", "enter")
        await until((tmp_path / "say-hello.json").exists)
        await shows(app, "Exported to")
        assert runtime.conversations.done[-1] == ("export", "json", "new")


# ---- summaries ----


async def test_a_summary_is_shown_and_can_be_undone() -> None:
    runtime = with_milk()
    async with opened(runtime) as (app, pilot):
        await pilot.press("f9", "enter")
        await shows(app, "Two of them.")
        runtime.conversation.compaction = Compaction(2, "They spoke of milk.")
        runtime.conversations.revision += 1
        await shows(app, "1 turn summarized for the model", "u undoes it")
        await pilot.press("f2", "down", "down", "enter")
        await shows(app, "They spoke of milk.")
        await pilot.press("u")
        await until(lambda: "summarized" not in screen_text(app))
        assert "undoes it" not in screen_text(app) and "They spoke of milk." not in screen_text(app)
        assert runtime.conversations.done[-1] == ("uncompact",)


async def test_truncated_results_are_shown_as_such_and_can_be_restored() -> None:
    runtime = with_milk()
    async with opened(runtime) as (app, pilot):
        await pilot.press("f9", "enter")
        await shows(app, "Two of them.")
        runtime.conversation.compaction = Compaction(limits=((0, 900),))
        runtime.conversations.revision += 1
        await shows(app, "large results are truncated to fit", "u undoes it")
        await pilot.press("f2", "u")
        await until(lambda: runtime.conversations.done[-1] == ("uncompact",))


# ---- results ----


async def test_one_key_shows_the_full_text_of_a_truncated_result(monkeypatch: pytest.MonkeyPatch) -> None:
    runtime = with_milk()
    messages = [
        UserMessage("x"),
        AssistantMessage("", calls=(CallRequest("c1", "notes__list", "{}"),)),
        ToolMessage("c1", "notes__list", "head … tail", kept="result-1"),
    ]
    runtime.conversations.save(SessionInfo("long", "Long"), *messages)
    runtime.conversations.results["result-1"] = "head\nthe middle that was cut\ntail"
    async with opened(runtime) as (app, pilot):
        await pilot.press("f9", *"long", "enter")
        await shows(app, "› list")
        await pilot.press("f2", "v")
        await until(lambda: isinstance(app.screen, ResultScreen))
        await shows(app, "RESULT", "the middle that was cut")
        await pilot.press("c")
        assert app.clipboard == "head\nthe middle that was cut\ntail"
        monkeypatch.setattr(page, "MOST_COPIED", 9)
        await pilot.press("c")
        await shows(app, "Too large for the clipboard. Press w to save it to a file.")
        await pilot.press("escape")
        await until(lambda: app.screen is app.main)


async def test_binary_content_of_a_result_is_described_and_can_be_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tools = (replace(WEATHER, name="Get--Map"),)
    runtime = FakeRuntime(calls("weather__Get--Map"), says("Look."), tools=tools)
    runtime.toolbox.answers["Get--Map"] = ToolResult(
        (TextContent("a map"), BinaryContent("blob", "application/pdf", 9, "JVBERi0xLjcK"))
    )
    async with opened(runtime) as (app, pilot):
        await send(pilot, "show me a map")
        await shows(app, "Look.", "▣ PDF document, 9 B")
        await pilot.press("f2", "v")
        await shows(app, "RESULT", "a map", "9 B")
        await pilot.press("end", "w", "enter")
        path = tmp_path / "get-map.pdf"
        await until(path.exists)
        assert await asyncio.to_thread(path.read_bytes) == b"%PDF-1.7\n"


async def test_a_file_is_opened_only_after_confirmation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    started: list[Path] = []

    async def note(app: object, path: Path) -> None:
        started.append(path)

    monkeypatch.setattr("tui.ui.results.result_screen.open_file", note)
    runtime = FakeRuntime(calls("weather__get_weather"), says("Look."))
    async with opened(runtime) as (app, pilot):
        await send(pilot, "look")
        await shows(app, "Look.")
        await pilot.press("f2", "v")
        await shows(app, "RESULT", "get_weather did it")
        await pilot.press("o", "enter")
        await shows(app, "Open this file from the server")
        await pilot.press("n")
        assert started == []
        await pilot.press("o", "enter")
        await shows(app, "Open this file from the server")
        await pilot.pause(0.35)  # an earlier y was typed before the question was visible
        await pilot.press("y")
        await until(lambda: len(started) == 1)
        assert started[0].parent == tmp_path


# ---- status line and notes ----


async def test_the_status_line_shows_context_use_and_cost() -> None:
    runtime = FakeRuntime()
    runtime.conversations.meters = Meters(26_000, 32_768, True, 34_000, 0.12)
    async with opened(runtime, (140, 40)) as (app, _):
        await shows(app, "context ~26 k of 33 k", "~$0.12")
        runtime.conversations.meters = replace(
            runtime.conversations.meters, window=None, estimated=False, cost=None
        )
        await shows(app, "context 26 k   34 k tokens")


def _seconds_left(app: McptuiApp) -> int:
    found = re.search(r"attempt 2 of \d+ in (\d+) s", screen_text(app))
    assert found is not None
    return int(found[1])


async def test_a_retry_counts_down_each_second() -> None:
    never = asyncio.Event()
    runtime = FakeRuntime([RetryPart(2, 4, 30.0, "ollama answered 503"), never])
    async with opened(runtime) as (app, pilot):
        await send(pilot, "go")
        await shows(app, " s · esc stops", "2 of 4", "ollama answered 503")
        first = _seconds_left(app)
        await until(lambda: _seconds_left(app) < first)
        await pilot.press("escape")
        await shows(app, "· Stopped.")


@pytest.mark.parametrize("hidden_by", [Context.SERVERS, Context.TRACE])
async def test_sending_shows_the_conversation_in_a_terminal_with_room_for_one_pane(hidden_by: Context):
    async with opened(FakeRuntime(says("Mild.")), (80, 24)) as (app, pilot):
        app.main.regions.go_to(hidden_by)
        app.main.regions.go_to(Context.COMPOSER)
        await until(lambda: app.main.regions.only is hidden_by)
        await send(pilot, "How is it?")
        await shows(app, "How is it?", "Mild.")
