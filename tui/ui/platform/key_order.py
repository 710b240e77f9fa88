"""Handles keys that arrive in one burst (typed ahead, sent by a program) as if they came one by one.

Textual handles the next key while a widget still handles the previous one. Keys after enter would go to the
field that it closes, and keys after one that opens a screen would be lost.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

from textual import events
from textual.app import App
from textual.binding import Binding, BindingType
from textual.message_pump import MessagePump
from textual.screen import Screen
from textual.widget import Widget

OPENING_SECONDS, OPENING_CHECKS = 0.005, 200
"""Opening a screen takes a few hundredths of a second; a key waits for a second at most."""

SETTLING_SECONDS = 0.25
FOCUS_MOVES = ("tab", "shift+tab")

ROUNDS = 2
"""The first for the messages that the key posts, the second for those that they post."""


def actions_of(bindings: Iterable[BindingType]) -> dict[str, str]:
    """Return the actions of the keys that are no letters, for `act_at_once`."""
    return {one.key: one.action for one in Binding.make_bindings(bindings) if len(one.key) > 1}


def open_once(app: App[Any], screen: Screen[Any], done: Callable[[Any], None] | None = None) -> None:
    """Open a dialog, unless one of the same class is open: keys may be pressed twice."""
    if not any(type(other) is type(screen) for other in app.screen_stack):
        app.push_screen(screen, done)


async def in_order(
    app: App[Any], event: events.Key, handle: Callable[[events.Event], Awaitable[None]]
) -> None:
    """Handle a key once the screen is mounted, and return when its effect on a field is complete."""
    for _ in range(OPENING_CHECKS):
        if app.screen.is_mounted and getattr(app.screen, "is_whole", True):
            break
        await asyncio.sleep(OPENING_SECONDS)
    if not event.is_printable and getattr(app.focused, "WRITES_FIRST", False):
        await _soon(_settled([app.focused]))
    if event.key in FOCUS_MOVES:
        await _soon(_laid_out(app.screen))
    hands_on = "LETTERS_MOVE_FOCUS" if event.is_printable else "HANDS_ON"
    field = app.focused if getattr(app.focused, hands_on, False) else None
    await handle(event)
    if field is not None:
        await _soon(_settled([field, *field.ancestors]))


class EarlyKeys:
    """Stores keys that cannot be handled before the app has loaded, and all keys after the first of them."""

    def __init__(self) -> None:
        self._kept: list[events.Key] = []
        self.is_released = False

    def keep(self, event: events.Key, *, starts: bool) -> bool:
        """Store a key if it must wait or follows one that does; return whether it was stored."""
        if self.is_released or not (starts or self._kept):
            return False
        self._kept.append(event)
        return True

    def release(self) -> list[events.Key]:
        """Return the stored keys, in order; further keys are not stored."""
        kept, self._kept, self.is_released = self._kept, [], True
        return kept


async def act_at_once(
    widget: Widget,
    event: events.Key,
    actions: Mapping[str, str],
    otherwise: Callable[[events.Key], Awaitable[None]],
) -> None:
    """Run the action of a key in a widget with text input, in the order in which keys were pressed.

    Textual inserts letters in the widget, but runs bindings later, in the app. In one burst, enter would act
    on text without the letters before it, and backspace would delete the letter after it. A key whose action
    does not apply now is passed on; any other key is passed to `otherwise`.
    """
    action = actions.get(event.key)
    if action is None:
        await otherwise(event)
    elif await widget.app.run_action(action, widget):
        event.stop()
        event.prevent_default()


async def _soon(settled: Awaitable[object]) -> None:
    with suppress(TimeoutError):  # its effect takes long, and keys do not wait for it
        async with asyncio.timeout(SETTLING_SECONDS):
            await settled


async def _laid_out(screen: Widget) -> None:
    """Wait until each field has its place: Textual moves the focus from place to place."""
    done = asyncio.Event()
    if screen.call_after_refresh(done.set):
        await done.wait()


async def _settled(pumps: list[Any]) -> None:
    """Wait until each has handled the messages posted to it so far, from the inside out."""
    for _ in range(ROUNDS):
        for pump in pumps:
            if isinstance(pump, App) or not isinstance(pump, MessagePump):
                continue
            done = asyncio.Event()
            if pump.call_later(done.set):
                await done.wait()
