"""What the fixtures of tests of screens put in place of Textual's own."""

import asyncio
from typing import Any

import pytest
from textual.app import App
from textual.message_pump import MessagePump
from textual.widgets import Static

from tests.conftest import until
from tests.ui.headless import is_busy


class Answering(Static):
    answer = ""

    async def on_ask(self, gate: asyncio.Event) -> None:
        await gate.wait()
        self.answer = "yes"


async def test_a_pause_waits_for_a_busy_widget_and_asks_no_idle_one(monkeypatch: pytest.MonkeyPatch):
    asked: list[MessagePump] = []
    call_later = MessagePump.call_later
    async with App[None]().run_test() as pilot:
        busy, idle = Answering(), Static()
        await pilot.app.mount(busy, idle)
        await until(lambda: not is_busy(busy) and not is_busy(idle))
        gate = asyncio.Event()
        busy.call_later(busy.on_ask, gate)

        def recorded(pump: MessagePump, *values: Any) -> bool:
            asked.append(pump)
            asyncio.get_running_loop().call_soon(gate.set)
            return call_later(pump, *values)

        monkeypatch.setattr(MessagePump, "call_later", recorded)
        await pilot.pause()
        assert busy.answer == "yes"
        assert {pilot.app, pilot.app.screen, busy} <= {*asked}
        assert idle not in asked
