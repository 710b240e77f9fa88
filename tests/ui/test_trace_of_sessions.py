"""The trace belongs to the conversation on screen: opened, branched, new, and reselected."""

import json
from collections.abc import Sequence
from contextlib import closing

from textual.pilot import Pilot

from tests.conftest import until
from tests.ui.app_stage import opened, screen_text, send, shows
from tests.ui.fakes import FakeRuntime, calls, says
from tests.unit.storage.traffic_samples import request
from tui.core.conversation.conversation import (
    AssistantMessage,
    CallRequest,
    Message,
    ToolMessage,
    UserMessage,
)
from tui.core.conversation.sessions import SessionInfo
from tui.core.traffic import Cause, Entry, Kind
from tui.settings.locations import state_dir
from tui.storage.recordings.writer import RecordingWriter
from tui.ui.app.app import McptuiApp
from tui.ui.traffic.screen import TrafficScreen

TALK: Sequence[Message] = (
    UserMessage("What's on my list?"),
    AssistantMessage("", calls=(CallRequest("c1", "notes__list_notes", "{}"),), model="demo"),
    ToolMessage("c1", "notes__list_notes", "buy milk"),
    AssistantMessage("Milk.", model="demo"),
)
LIST = SessionInfo("list", "What's on my list?", turns=1, messages=4)


def with_list(*replies: object) -> FakeRuntime:
    runtime = FakeRuntime(*replies)  # type: ignore[arg-type]
    runtime.conversations.save(LIST, *TALK)
    return runtime


async def open_the_list(app: McptuiApp, pilot: Pilot[int], *texts: str) -> None:
    """Open the saved conversation, and wait for its texts."""
    await pilot.press("f9")
    await shows(app, "1 session")
    await pilot.press("enter")
    await shows(app, *(texts or ["Milk."]))


def earlier_run(*entries: Entry) -> None:
    """Save the recording of an earlier run."""
    folder = state_dir() / "recordings"
    folder.mkdir(parents=True)
    with closing(RecordingWriter(folder / "earlier.mcptrace")) as writer:
        writer.write(entries)


def turns(app: McptuiApp) -> int:
    return app.main.regions.trace.spans.turns


async def test_an_opened_conversation_restores_its_trace_and_turn_count() -> None:
    async with opened(with_list(says("Bread, too."))) as (app, pilot):
        await open_the_list(app, pilot, "Milk.", "turn 1", "notes › list_notes", "→ buy milk")
        await send(pilot, "and now?")
        await shows(app, "Bread, too.", "turn 2")


async def test_a_session_named_on_the_command_line_restores_its_trace() -> None:
    runtime = with_list()
    await runtime.conversations.resume("list")
    async with opened(runtime) as (app, _):
        await shows(app, "turn 1", "notes › list_notes")


async def test_selecting_the_current_conversation_keeps_its_trace() -> None:
    async with opened(FakeRuntime(calls("weather__get_weather"), says("Sunny."))) as (app, pilot):
        await send(pilot, "go")
        await shows(app, "Sunny.")
        await until(lambda: not app.main.parts.turns.running)
        before = list(app.main.regions.trace.spans.entries)
        await pilot.press("f9")
        await shows(app, "1 session")
        await pilot.press("enter")
        await until(lambda: app.screen is app.main)
        assert (
            app.main.regions.trace.spans.entries == before
            and not app.main.regions.trace.spans.turn_of(before[0]).past
        )
        await shows(app, "Sunny.", "weather › get_weather")


async def test_a_branch_keeps_the_trace_of_its_turns() -> None:
    runtime = FakeRuntime(calls("weather__get_weather"), says("Sunny."), says("Two."))
    async with opened(runtime) as (app, pilot):
        await send(pilot, "go")
        await shows(app, "Sunny.")
        await send(pilot, "second")
        await shows(app, "Two.")
        await until(lambda: not app.main.parts.turns.running)
        await pilot.press("f2", "up", "up", "up", "b")
        await shows(app, "Branch. Press")
        assert turns(app) == 1
        await shows(app, "weather › get_weather")


async def test_turn_numbers_start_at_one_in_a_new_conversation() -> None:
    async with opened(FakeRuntime(says("One."), says("Two."), says("Three."))) as (app, pilot):
        for question, answer in (("a", "One."), ("b", "Two.")):
            await send(pilot, question)
            await shows(app, answer)
            await until(lambda: not app.main.parts.turns.running)
        await shows(app, "turn 2")
        await pilot.press("ctrl+n")
        await until(lambda: turns(app) == 0)
        await send(pilot, "c")
        await shows(app, "Three.", "turn 1")
        assert "turn 3" not in screen_text(app)


async def test_the_traffic_of_a_call_of_an_earlier_run_opens_from_its_recording() -> None:
    earlier_run(request(1, cause=Cause(2, 1, "c1")), request(2, cause=Cause(3, 1, "c9")))
    runtime = with_list()
    async with opened(runtime) as (app, pilot):
        await open_the_list(app, pilot)
        runtime.conversations.recordings = ("earlier.mcptrace",)
        await pilot.press("f8")
        await until(lambda: isinstance(app.screen, TrafficScreen))
        await shows(app, "call:c1", "1 of 2")
        await pilot.press("escape")
        await until(lambda: app.screen is app.main)


async def test_the_traffic_key_on_a_denied_call_says_that_nothing_was_sent() -> None:
    runtime = FakeRuntime()
    denied = ToolMessage("c1", "notes__list_notes", "denied: not now", is_error=True, why="denied")
    runtime.conversations.save(LIST, *TALK[:2], denied, TALK[3])
    async with opened(runtime) as (app, pilot):
        await open_the_list(app, pilot)
        await pilot.press("f2", "up", "f8")
        await shows(app, "This call was denied, so nothing was sent.")
        assert app.screen is app.main


async def test_missing_traffic_of_a_call_with_a_deleted_recording_is_reported() -> None:
    async with opened(with_list()) as (app, pilot):
        await open_the_list(app, pilot)
        await pilot.press("f8")
        await shows(app, "The recording of that run was deleted.")
        assert "No calls" not in screen_text(app)


async def test_the_traffic_of_a_call_of_this_run_opens_after_reopening_its_conversation() -> None:
    runtime = with_list()
    runtime.conversations.turn_numbers = {0: 3}
    runtime.recorded.call("list_notes", source="notes", cause=Cause(3, 1, "c1"))
    async with opened(runtime) as (app, pilot):
        await open_the_list(app, pilot)
        await pilot.press("f8")
        await until(lambda: isinstance(app.screen, TrafficScreen))
        assert app.screen.active_filter.query.text == "turn:3 call:c1"


async def test_the_model_request_of_a_turn_without_calls_opens_from_the_recording_of_its_run() -> None:
    asked = [{"messages": [{"role": "user", "content": text}]} for text in ("a", "which?")]
    earlier_run(
        *(
            request(seq, json.dumps(body).encode(), kind=Kind.MODEL_REQUEST, cause=Cause(seq, 1))
            for seq, body in enumerate(asked, 1)
        )
    )
    runtime = FakeRuntime()
    said = UserMessage("which?"), AssistantMessage("Two of them.", model="demo")
    runtime.conversations.save(LIST, *said)
    async with opened(runtime) as (app, pilot):
        await open_the_list(app, pilot, "Two of them.")
        runtime.conversations.recordings = ("earlier.mcptrace",)
        await pilot.press("f8")
        await until(lambda: isinstance(app.screen, TrafficScreen))
        await shows(app, "turn:2", "1 of 2")


async def test_the_traffic_of_a_selected_turn_without_calls_opens() -> None:
    runtime = FakeRuntime(says("One."), says("Two."))
    async with opened(runtime) as (app, pilot):
        for number, (question, answer) in enumerate((("a", "One."), ("b", "Two.")), 1):
            runtime.conversations.turn_numbers[2 * (number - 1)] = number
            await send(pilot, question)
            await shows(app, answer)
            await until(lambda: not app.main.parts.turns.running)
        await pilot.press("f8")
        await until(lambda: isinstance(app.screen, TrafficScreen))
        assert app.screen.active_filter.query.text == "turn:2"
        await pilot.press("escape", "escape")
        await until(lambda: app.screen is app.main)
        await pilot.press("f2", "up", "up", "f8")
        await until(lambda: isinstance(app.screen, TrafficScreen))
        assert app.screen.active_filter.query.text == "turn:1"


async def test_without_turns_the_traffic_key_says_so() -> None:
    async with opened(FakeRuntime()) as (app, pilot):
        await pilot.press("f8")
        await shows(app, "No turns yet")
