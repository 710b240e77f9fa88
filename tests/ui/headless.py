"""Fixtures that make tests of screens fast: they parse, paint and wait only as far as needed."""

from collections.abc import Iterator
from typing import Any

import pytest
from textual import _wait
from textual._compositor import Compositor
from textual._context import visible_screen_stack
from textual.app import App
from textual.message_pump import MessagePump
from textual.pilot import Pilot
from textual.widgets import OptionList

from tests.style_sheets import parse_once


@pytest.fixture(scope="session", autouse=True)
def parsed_once() -> Iterator[None]:
    """Cache parsed style sheets, which each app would parse again: a third of its start time."""
    with pytest.MonkeyPatch.context() as patch:
        parse_once(patch.setattr)
        yield


@pytest.fixture(scope="session", autouse=True)
def idle_soon() -> Iterator[None]:
    """Make a pilot check four times as often whether the app is idle.

    Textual waits at least 20 ms after each key and each pause: three quarters of the time of a test of a
    screen. What a test expects later than that, it waits for.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_wait, "SLEEP_GRANULARITY", 0.005)
        yield


def is_busy(pump: MessagePump) -> bool:
    """Return whether a pump handles a message, or has one to handle."""
    ready = pump._message_queue.ready_event
    return ready.is_set() or not ready._waiters


@pytest.fixture(scope="session", autouse=True)
def only_busy_awaited() -> Iterator[None]:
    """Make a pilot wait only for the app, its screen and the widgets that are busy.

    After each key and in each pause, Textual sends every widget of the screen a message and waits for all
    answers: 7 % of the time of a test of a screen. An idle widget answers at once.
    """
    wait = Pilot._wait_for_screen

    async def wait_for_busy(pilot: Pilot[Any], timeout: float = 30.0) -> bool:
        if stack := pilot.app.screen_stack:
            screen = stack[-1]

            def busy_ones(with_self: bool) -> list[Any]:
                del screen.__dict__["walk_children"]
                widgets = screen.walk_children(with_self=with_self)
                return [widget for widget in widgets if widget is screen or is_busy(widget)]

            screen.__dict__["walk_children"] = busy_ones
        return await wait(pilot, timeout)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Pilot, "_wait_for_screen", wait_for_busy)
        yield


@pytest.fixture(scope="module", autouse=True)
def painted_when_looked_at() -> Iterator[None]:
    """Paint a screen only when a test reads it, and once when its app shuts down.

    Textual paints each change even if the driver is headless, and drops the output: a third of
    the time of a test of a screen. A screen with an option list, which measures its options when it is
    painted, and a picture of the whole screen for a file are painted at once.
    Where each paint matters, a module replaces this fixture.
    """
    render_update, close = Compositor.render_update, App._close_all

    def dropped(
        compositor: Compositor, full: bool = False, screen_stack: Any = None, simplify: bool = False
    ) -> Any:
        if full or any(isinstance(widget, OptionList) for widget in compositor.visible_widgets):
            return render_update(compositor, full, screen_stack, simplify)
        visible_screen_stack.set([])
        if compositor._dirty_regions:
            compositor._dirty_regions.clear()
            compositor.full_map  # noqa: B018 - painting lays out what was mounted since, before the next layout
        return None

    async def painted_last(app: App[Any]) -> None:
        if app.screen_stack:
            app.screen._compositor.render_strips()
        await close(app)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Compositor, "render_update", dropped)
        patch.setattr(App, "_close_all", painted_last)
        yield
