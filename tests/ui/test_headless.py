"""What the fixtures of tests of screens put in place of Textual's own."""

import asyncio
from collections.abc import Callable
from functools import partial, wraps
from inspect import signature
from types import FunctionType
from typing import Any

import pytest
from textual import _callback
from textual.app import App
from textual.message_pump import MessagePump
from textual.widgets import Static

from tests.conftest import until
from tests.ui.headless import is_busy


def wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def called(*values: Any) -> Any:
        return function(*values)

    return called


def positional(a: Any, /, b: Any, c: Any = None) -> None: ...


async def variadic(a: Any, *values: Any, key: Any = None, **named: Any) -> None: ...


@pytest.mark.parametrize(
    "function", [lambda: None, lambda a: a, positional, variadic, wrapped(positional), len, sorted]
)
def test_the_number_of_parameters_is_that_of_the_signature(function: Callable[..., Any]):
    assert _callback._count_parameters(function) == len(signature(function).parameters)


def test_the_parameters_of_a_plain_function_are_counted_without_its_signature(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(_callback, "signature", None)
    assert isinstance(positional, FunctionType) and _callback.count_parameters(partial(positional, 1)) == 2


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
