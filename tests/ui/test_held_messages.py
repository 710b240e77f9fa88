"""The tray of held messages on the traffic screen."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from textual.pilot import Pilot

from tests.conftest import until
from tests.ui.app_stage import opened as app_with
from tests.ui.app_stage import shows
from tests.ui.fake_host import running
from tests.ui.fakes import FakeRuntime, says
from tests.ui.stage import press
from tests.ui.test_traffic_bursts import burst
from tui.addons.faults.answer_dialogs import AnswerForm, AnswerJson, AnswerText
from tui.addons.faults.tray_pane import TrayPane
from tui.core.traffic import Direction, Kind
from tui.ui.app.app import McptuiApp
from tui.ui.traffic.edit_request import EditRequest
from tui.ui.traffic.entry_list import EntryList
from tui.ui.traffic.screen import TrafficScreen


class Way:
    """The end of the stages of a server: what has passed, in order."""

    source, exchange, is_gone = "notes", 0, False

    def __init__(self, runtime: FakeRuntime) -> None:
        self.runtime = runtime
        self.passed: list[tuple[Direction, Any]] = []
        self.stage, self.faults = runtime.breakpoints.stages()

    def __call__(self, direction: Direction, raw: bytes) -> None:
        self.passed.append((direction, json.loads(raw)))

    def event(self, word: str, **what: Any) -> None: ...

    def lose(self) -> None: ...

    def hears(self, direction: Direction) -> bool:
        return True

    def refuse(self, status: int, headers: object) -> None: ...

    def call(self, ident: int, tool: str, **arguments: Any) -> None:
        params = {"name": tool, "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": ident, "method": "tools/call", "params": params}
        self.stage.take(Direction.OUT, json.dumps(message).encode(), self)

    @property
    def ids(self) -> list[int]:
        return [message["id"] for _, message in self.passed]


@asynccontextmanager
async def opened() -> AsyncIterator[tuple[McptuiApp, Pilot[int], Way]]:
    """The traffic screen with a breakpoint for deletions, set by keys."""
    runtime = FakeRuntime(says("hello"))
    runtime.recorded.call("delete_note", source="notes", arguments={"id": "old"})
    async with app_with(runtime) as (app, pilot):
        await press(pilot, "f4")
        await until(lambda: isinstance(app.screen, TrafficScreen) and app.screen.is_whole)
        await press(pilot, "I", *"tool:delete_*", "enter")
        await shows(app, "breakpoint tool:delete_*")
        yield app, pilot, Way(runtime)


def pane(app: McptuiApp) -> TrayPane:
    return app.screen.query_one(TrayPane)


async def test_held_messages_are_released_and_dropped_in_the_order_of_the_keys() -> None:
    async with opened() as (app, pilot, way):
        for ident in range(1, 6):
            way.call(ident, "delete_note", id=f"n{ident}")
        way.call(6, "add_note")
        assert way.ids == [6]
        await shows(app, "HELD 5")
        await press(pilot, "H", "down", "a", "ctrl+d")  # the second one, then the third
        await shows(app, "HELD 3")
        await pilot.resize_terminal(60, 16)
        await press(pilot, "A")
        assert way.ids == [6, 2, 1, 4, 5]
        assert app.screen.focused is app.screen.query_one(EntryList)


async def test_the_held_response_to_a_released_request_has_the_focus() -> None:
    async with opened() as (app, pilot, way):
        way.call(1, "delete_note", id="milk")
        await shows(app, "HELD 1")
        await press(pilot, "H", "a")
        assert app.screen.focused is app.screen.query_one(EntryList)
        way.stage.take(Direction.IN, b'{"jsonrpc": "2.0", "id": 1, "result": {}}', way)
        await until(lambda: app.screen.focused is pane(app).list)
        await press(pilot, "a")
        assert way.ids == [1, 1]


async def test_the_footer_has_the_keys_of_held_messages_in_80_columns() -> None:
    async with opened() as (app, pilot, way):
        await pilot.resize_terminal(80, 24)
        way.call(1, "delete_note")
        await shows(app, "HELD 1", "H focus")
        await press(pilot, "H")
        await shows(app, "a send   e edit   ctrl+d drop   A all", "I change")


async def test_an_edited_message_stays_held_and_is_sent_as_edited() -> None:
    async with opened() as (app, pilot, way):
        way.call(1, "delete_note", id="milk")
        await shows(app, "HELD 1")
        await press(pilot, "H", "e")
        await until(lambda: isinstance(app.screen, EditRequest))
        app.screen.query_one("JsonArea").load_text('{"name": "delete_note", "arguments": {"id": "tea"}}')
        await press(pilot, "ctrl+s")
        await shows(app, "edited")
        assert way.ids == []
        await press(pilot, "a")
        assert way.passed[0][1]["params"]["arguments"] == {"id": "tea"}


async def test_a_call_is_answered_with_a_text_that_starts_with_the_answer_to_the_same_call() -> None:
    async with opened() as (app, pilot, way):
        way.call(1, "delete_note", id="old")
        await shows(app, "HELD 1")
        await press(pilot, "H", "r")
        await until(lambda: isinstance(app.screen, AnswerText))
        await shows(app, "ANSWER  delete_note", "from entry 2", "ctrl+e JSON")
        await press(pilot, "enter", *"more", "ctrl+s")
        await until(lambda: bool(way.passed))
        direction, message = way.passed[0]
        assert (direction, message["id"]) == (Direction.IN, 1)
        assert message["result"] == {"content": [{"type": "text", "text": "25 °C\nmore"}]}


async def test_a_call_with_other_arguments_starts_with_the_last_answer_of_the_tool() -> None:
    async with opened() as (app, pilot, way):
        way.call(1, "delete_note", id="new")
        await shows(app, "HELD 1")
        await press(pilot, "H", "r")
        await shows(app, "from entry 2, another call", "25 °C")


@pytest.mark.parametrize("way_of_event", ["out", "in"])
async def test_an_answer_that_was_given_by_hand_is_offered_again(way_of_event: str) -> None:
    async with opened() as (app, pilot, way):
        params = {"name": "delete_note", "arguments": {"id": "new"}}
        was = {"method": "tools/call", "params": params} if way_of_event == "out" else {"result": {}}
        sent = {"id": 1, "result": {"content": [{"type": "text", "text": "mine"}]}}
        event = {"event": "answered", "dir": way_of_event, "was": was, "sent": sent}
        way.runtime.recorded.add(
            Kind.EVENT,
            event,
            source="notes",
            direction=Direction.NONE,
            method="answered",
            tool="delete_note",
            pair=1 if way_of_event == "in" else 0,
            detail=event,
        )
        way.call(1, "delete_note", id="new" if way_of_event == "out" else "old")
        await shows(app, "HELD 1")
        await press(pilot, "H", "r")
        await shows(app, "from entry 3, by hand ", "mine")


async def test_a_call_of_a_tool_with_an_output_schema_is_answered_by_a_form_or_as_json() -> None:
    async with opened() as (app, pilot, way):
        deleted = {"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}
        way.runtime.workbench.schemas["delete_note"] = deleted
        result = {"content": [{"type": "text", "text": "7"}], "structuredContent": {"count": 7}, "kept": 1}
        way.runtime.recorded.call("delete_note", source="notes", result=result)
        way.call(1, "delete_note", id="new")
        await shows(app, "HELD 1")
        await press(pilot, "H", "r")
        await until(lambda: isinstance(app.screen, AnswerForm))
        await press(pilot, "x", "tab")
        await shows(app, "enter send")
        await press(pilot, "ctrl+s")
        await shows(app, "7x", "Count is not an integer. To send it anyway, press ctrl+e.")
        await press(pilot, "backspace", "backspace", "8", "ctrl+e")
        await until(lambda: isinstance(app.screen, AnswerJson))
        assert json.loads(app.screen.text)["result"]["structuredContent"] == {"count": 8}
        await press(pilot, "ctrl+e")
        await until(lambda: isinstance(app.screen, AnswerForm))
        await press(pilot, "ctrl+s")
        await until(lambda: bool(way.passed))
        assert way.passed[0][1]["result"] == {
            "content": [{"type": "text", "text": '{"count":8}'}],
            "structuredContent": {"count": 8},
            "kept": 1,
        }


async def test_the_output_schema_of_a_tool_behind_a_tap_is_that_of_its_recorded_list() -> None:
    async with opened() as (app, pilot, way):
        way.source = "tap:other"
        tool = {"name": "delete_note", "outputSchema": {"properties": {"count": {"type": "integer"}}}}
        way.runtime.recorded.call("", method="tools/list", source="tap:other", result={"tools": [tool]})
        way.call(1, "delete_note", id="new")
        await shows(app, "HELD 1")
        await press(pilot, "H", "r")
        await shows(app, "ANSWER  delete_note", "count  integer")


async def test_a_recorded_result_that_is_no_text_is_answered_as_json() -> None:
    async with opened() as (app, pilot, way):
        image = {"type": "image", "mimeType": "image/png", "data": ""}
        way.runtime.recorded.call("delete_note", source="notes", result={"content": [image]})
        way.call(1, "delete_note", id="new")
        await shows(app, "HELD 1")
        await press(pilot, "H", "r", "ctrl+e")
        await shows(app, "image/png", "The form can only show")


async def test_a_request_of_another_method_is_answered_as_json_like_the_last_one() -> None:
    async with opened() as (app, pilot, way):
        recorded = way.runtime.recorded
        recorded.call("", method="resources/read", source="notes", result={"contents": [{"uri": "x:1"}]})
        await press(pilot, "I", "ctrl+u", *"method:resources/read", "enter")
        way.stage.take(Direction.OUT, b'{"jsonrpc": "2.0", "id": 1, "method": "resources/read"}', way)
        await shows(app, "HELD 1")
        await press(pilot, "H", "r")
        await until(lambda: isinstance(app.screen, EditRequest))
        assert json.loads(app.screen.text) == {"result": {"contents": [{"uri": "x:1"}]}}


async def test_faults_of_the_running_servers_are_set_by_a_key() -> None:
    async with opened() as (app, pilot, way):
        assert way.faults.is_idle
        await press(pilot, "exclamation_mark", *"tool:add_* error=-32000", "enter")
        await shows(app, "faults tool:add_* error=-32000")
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "add_note"}}
        way.faults.take(Direction.OUT, json.dumps(call).encode(), way)
        assert [(direction, said["error"]["code"]) for direction, said in way.passed] == [
            (Direction.IN, -32000)
        ]
        await press(pilot, "exclamation_mark", "ctrl+u", "enter")
        await until(lambda: way.faults.is_idle)


async def test_configured_faults_are_in_the_title() -> None:
    async with opened() as (app, _, way):
        notes = replace(running("notes"), fault_rules=("flaky", "repeat"), injected=3)
        way.runtime.host.put(notes)
        await shows(app, "faults: 2 rules, 3 injected")


async def test_a_burst_that_empties_the_tray_leaves_the_focus_in_the_list() -> None:
    async with opened() as (app, _, way):
        way.call(1, "delete_note")
        await shows(app, "HELD 1")
        burst(app, "Ha")
        await until(lambda: way.ids == [1])
        way.call(2, "delete_note")
        await shows(app, "HELD 1", "H focus")
        assert app.screen.focused is app.screen.query_one(EntryList)
        burst(app, "Ha")
        await until(lambda: way.ids == [1, 2])
