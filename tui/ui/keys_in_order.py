"""Keys that come in one burst (typed ahead, sent by a program) mean what they would mean one by one.

Textual takes the next key while the widget that had the last one is still at work with it: keys behind an
enter would be written into the field that it closes, keys behind the one that opens a screen would be lost.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from textual import events
from textual.app import App
from textual.message_pump import MessagePump

OPENING_SECONDS, OPENING_CHECKS = 0.005, 200
"""A screen that is opened takes some hundredths of a second; a key waits for a second at most."""

SETTLING_SECONDS = 0.25
ROUNDS = 2
"""The first for what the key posts, the second for what that posts in turn."""


async def in_order(
    app: App[Any], event: events.Key, handle: Callable[[events.Event], Awaitable[None]]
) -> None:
    """Handle a key once the screen is there, and return when what it did to a field is done."""
    for _ in range(OPENING_CHECKS):
        if app.screen.is_mounted:
            break
        await asyncio.sleep(OPENING_SECONDS)
    field = app.focused if getattr(app.focused, "HANDS_ON", False) else None
    await handle(event)
    if field is not None and not event.is_printable:
        try:
            async with asyncio.timeout(SETTLING_SECONDS):
                await _settled([field, *field.ancestors])
        except TimeoutError:
            return  # whatever it does takes long; nobody's keys wait for that


async def _settled(pumps: list[Any]) -> None:
    """Wait until each has worked off what was posted to it so far, from the inside out."""
    for _ in range(ROUNDS):
        for pump in pumps:
            if isinstance(pump, App) or not isinstance(pump, MessagePump):
                continue
            done = asyncio.Event()
            if pump.call_later(done.set):
                await done.wait()
