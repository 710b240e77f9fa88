"""The tray of held messages on the traffic screen."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from textual.pilot import Pilot

from tests.conftest import until
from tests.ui.app_stage import opened as app_with
from tests.ui.app_stage import shows
from tests.ui.fakes import FakeRuntime, says
from tests.ui.stage import press
from tui.addons.faults.tray_pane import TrayPane
from tui.core.traffic import Direction
from tui.ui.app.app import McptuiApp
from tui.ui.traffic.edit_request import EditRequest
from tui.ui.traffic.entry_list import EntryList
from tui.ui.traffic.screen import TrafficScreen


class Way:
    """The end of the stages of a server: what has passed, in order."""

    source, exchange, is_gone = "notes", 0, False

    def __init__(self, runtime: FakeRuntime) -> None:
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
        await shows(app, "HELD 1")
        await press(pilot, "H")
        await shows(app, "a send   e edit   ctrl+d drop   A all")


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


async def test_an_answer_starts_with_that_of_the_same_call() -> None:
    async with opened() as (app, pilot, way):
        way.call(1, "delete_note", id="old")
        await shows(app, "HELD 1")
        await press(pilot, "H", "r")
        await until(lambda: isinstance(app.screen, EditRequest))
        await shows(app, "ANSWER")
        await press(pilot, "ctrl+s")
        await until(lambda: bool(way.passed))
        direction, message = way.passed[0]
        assert (direction, message["id"]) == (Direction.IN, 1)
        assert "content" in message["result"]


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
