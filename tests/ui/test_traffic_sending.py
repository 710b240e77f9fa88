"""Resending requests: unchanged, edited, confirmed, refused, and their entries."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from textual import events
from textual.pilot import Pilot

from tests.conftest import until
from tests.ui.app_stage import opened as app_with
from tests.ui.app_stage import shows
from tests.ui.fakes import FakeRuntime, says
from tests.ui.stage import press
from tests.ui.test_traffic import opened as file_opened
from tests.ui.test_traffic_bursts import burst
from tests.ui.traffic_stage import some
from tui.core.permission.rules import Rules
from tui.core.traffic import Cause, Direction, Kind, Redaction
from tui.core.workbench import RawAnswer
from tui.traffic.filter.query import parse
from tui.ui.app.app import McptuiApp
from tui.ui.dialogs.confirm import Confirm
from tui.ui.traffic.edit_request import EditRequest
from tui.ui.traffic.screen import TrafficScreen


@asynccontextmanager
async def opened() -> AsyncIterator[tuple[FakeRuntime, McptuiApp, TrafficScreen, Pilot[int]]]:
    """The traffic screen of an app whose servers answer at once, with recorded answers."""
    runtime = FakeRuntime(says("hello"))
    recorded = runtime.recorded
    recorded.call()  # 1, 2: weather › get_weather
    recorded.call("delete_note", source="notes", arguments={"id": "milk"})  # 3, 4

    async def request(server: str, method: str, params: Any, *, call: str, seconds: float) -> RawAnswer:
        runtime.workbench.called.append((server, params, call))
        recorded.call("again", source=server, cause=Cause(0, 0, call))
        return RawAnswer(result={})

    runtime.workbench.request = request
    async with app_with(runtime) as (app, pilot):
        await press(pilot, "f4")
        screen = app.screen
        assert isinstance(screen, TrafficScreen)
        await until(lambda: len(screen.list.view) == 4)
        yield runtime, app, screen, pilot


WEATHER = {"name": "get_weather", "arguments": {"location": "Beijing"}}


@pytest.mark.parametrize("selected", [1, 2], ids=["request", "response"])
async def test_a_request_is_resent_unchanged_and_its_response_selected(selected: int) -> None:
    async with opened() as (runtime, app, screen, pilot):
        screen.list.select(selected)
        await press(pilot, "R")
        await until(lambda: runtime.workbench.called == [("weather", WEATHER, "hand-1")])
        await until(lambda: screen.list.selected == 6)
        await press(pilot, "k", "k", "k")
        screen.look()
        assert screen.list.selected == 3  # the user has moved the selection
        assert app.main.parts.navigator.call_book is not None
        app.main.parts.navigator.call_book.count = 4  # of the workbench
        screen.list.select(1)
        await press(pilot, "R")
        await until(lambda: [called[2] for called in runtime.workbench.called] == ["hand-1", "hand-5"])


async def confirm(app: McptuiApp, pilot: Pilot[int], text: str) -> None:
    """Answer the question about a call with yes."""
    assert isinstance(app.screen, Confirm)
    await shows(app, text)
    app.screen._delay._clock = lambda: float("inf")
    await press(pilot, "y")


async def test_a_destructive_tool_is_called_only_after_confirmation() -> None:
    async with opened() as (runtime, app, screen, pilot):
        screen.list.select(3)
        await press(pilot, "R")
        assert isinstance(app.screen, Confirm)
        await press(pilot, "n")
        assert runtime.workbench.called == []
        await press(pilot, "R")
        await confirm(app, pilot, "delete_note may delete or overwrite data")
        await until(lambda: len(runtime.workbench.called) == 1)


async def test_resending_a_denied_call_needs_confirmation_and_the_answer_is_recorded() -> None:
    async with opened() as (runtime, app, screen, pilot):
        runtime.turn_context.policy.rules = Rules.parsed(["deny weather/*"])
        screen.list.select(1)
        await press(pilot, "R")
        await shows(app, "This rule applies to the call: deny", "weather/*.")
        await press(pilot, "n")
        assert runtime.workbench.called == []
        assert [(one.server, one.allowed, one.by) for one in runtime.decided] == [("weather", False, "key")]


async def test_each_repeated_call_that_can_change_something_needs_confirmation() -> None:
    async with opened() as (runtime, app, screen, pilot):
        runtime.recorded.call("add_note", source="notes", arguments={"text": "milk"})  # 5, 6
        await until(lambda: len(screen.list.view) == 6)
        for sent in (1, 2):
            screen.list.select(5)
            await press(pilot, "R")
            await confirm(app, pilot, "add_note may change something. The request was already sent.")
            await until(lambda sent=sent: screen.list.selected == 6 + 2 * sent)  # its response
        assert len(runtime.workbench.called) == 2


async def test_params_are_edited_as_json_in_one_burst() -> None:
    async with opened() as (runtime, app, screen, _):
        screen.list.select(1)
        burst(app, "e")
        await until(lambda: isinstance(app.screen, EditRequest))
        area = app.screen._area
        area.load_text("")
        burst(app, '{"name":"x"}')
        await until(lambda: area.text == '{"name":"x"}', what=area.text)
        await app.run_action("screen.none")
        area.post_message(key("ctrl+s"))
        await until(lambda: [called[1] for called in runtime.workbench.called] == [{"name": "x"}])


def key(name: str) -> events.Key:
    return events.Key(name, None)


async def test_keys_right_after_the_edit_key_go_to_the_editor() -> None:
    async with opened() as (runtime, app, screen, _):
        screen.list.select(1)
        burst(app, "e  ")
        app.post_message(key("ctrl+s"))
        await until(lambda: [called[1] for called in runtime.workbench.called] == [WEATHER])
        assert app.screen is screen


async def test_invalid_json_is_not_sent_but_params_that_violate_the_schema_are() -> None:
    async with opened() as (runtime, app, screen, pilot):
        runtime.workbench.wrong = "location: is missing"
        screen.list.select(1)
        await press(pilot, "e", "comma")
        await shows(app, "✗ not JSON: ")
        await press(pilot, "ctrl+s")
        await shows(app, "cannot be sent yet")
        await press(pilot, "escape", "escape")
        assert app.screen is screen
        assert runtime.workbench.called == []
        await press(pilot, "e")
        await shows(app, "! location: is missing")
        await press(pilot, "ctrl+s")
        await until(lambda: len(runtime.workbench.called) == 1)


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"redactions": (Redaction(1, 4, "API_KEY"),)}, "API_KEY"),
        ({"sha256": "0" * 64}, "This entry is truncated"),
        ({"direction": Direction.IN}, "This request came from the server"),
        ({"source": "tap:x"}, "This was recorded by a tap"),
        ({"source": "gone"}, "Server gone is no longer configured"),
        ({"method": "initialize"}, "Restart the server"),
    ],
)
async def test_a_refused_request_shows_the_reason(fields: dict[str, Any], why: str) -> None:
    async with opened() as (runtime, app, screen, pilot):
        body = json.dumps({"id": 9, "method": "tools/call", "params": WEATHER}).encode()
        seq = runtime.recorded.add(Kind.REQUEST, body, **({"method": "tools/call"} | fields))
        screen.list.tick()
        screen.list.select(seq)
        await press(pilot, "R")
        await shows(app, why)
        await press(pilot, "e")
        assert app.screen is screen
        assert runtime.workbench.called == []


async def test_nothing_can_be_sent_from_a_recording() -> None:
    async with file_opened(some().recording(live=False)) as (screen, pilot):
        screen.list.select(2)
        await press(pilot, "R", "e")
        assert pilot.app.screen is screen
        assert any(
            "A recording has no server to send to." in note.message for note in pilot.app._notifications
        )


async def test_a_request_without_a_response_or_to_a_stopped_server_shows_the_reason() -> None:
    async with opened() as (runtime, app, screen, pilot):

        async def request(*_: Any, **__: Any) -> RawAnswer:
            return RawAnswer(problem="tools/call got no answer within 5 s and was cancelled.")

        runtime.workbench.request = request
        screen.list.select(1)
        await press(pilot, "R")
        await shows(app, "got no answer within 5 s")
        runtime.host.request_stop("weather")
        screen.list.select(1)
        await press(pilot, "R")
        await shows(app, "weather is not running")


async def test_a_resent_request_is_added_to_a_filter_that_would_hide_it() -> None:
    async with opened() as (_, app, screen, pilot):
        await filtered_and_resent(screen, pilot, "server:weather -call:hand-1")
        await shows(app, "Sent. The filter now also shows call:hand-1.")
        await until(lambda: screen.list.selected == 6)
        screen.list.select(1)
        await press(pilot, "R")
        await until(lambda: screen.list.selected == 8)  # it is not hidden, and the filter not widened again
        assert screen.active_filter.query.text == "(server:weather -call:hand-1) or call:hand-1"


async def filtered_and_resent(screen: TrafficScreen, pilot: Pilot[int], text: str) -> None:
    """Resend a request under a filter that hides what is sent."""
    screen.active_filter.apply(parse(text))
    await until(lambda: len(screen.list.view) == 2)
    screen.list.select(1)
    await press(pilot, "R")


async def test_a_filter_of_alternatives_is_widened_by_one_more() -> None:
    async with opened() as (_, _app, screen, pilot):
        await filtered_and_resent(screen, pilot, "id:1 or call:hand-9")
        await until(lambda: screen.active_filter.query.text == "id:1 or call:hand-9 or call:hand-1")


async def test_a_resent_request_stays_hidden_once_another_filter_is_set() -> None:
    async with opened() as (_, _app, screen, pilot):
        await filtered_and_resent(screen, pilot, "tool:get_weather")
        await until(lambda: screen.active_filter.query.text.endswith("call:hand-1"))
        screen.active_filter.apply(parse("server:notes"))
        await until(lambda: len(screen.list.view) == 2)
        screen.look()
        assert screen.active_filter.query.text == "server:notes"


async def test_a_filter_that_is_too_long_to_be_widened_stays_and_the_call_is_named() -> None:
    async with opened() as (_, app, screen, pilot):
        longest = f"tool:get_weather -{'x' * 3982}"
        await filtered_and_resent(screen, pilot, longest)
        await shows(app, "Sent, but hidden by the filter. Filter with call:hand-1 to find it.")
        assert screen.active_filter.query.text == longest
