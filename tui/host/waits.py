"""Waits for the first of several events, with a timeout, and leaves no task behind."""

import asyncio
from collections.abc import Awaitable, Collection
from contextlib import suppress
from typing import Any


async def first_of(*waits: Awaitable[Any], seconds: float | None = None) -> None:
    """Wait for the first of `waits`, at most `seconds`; cancel the others."""
    tasks = [asyncio.ensure_future(wait) for wait in waits]
    try:
        await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        await cancel_all(tasks)


async def cancel_all(tasks: Collection[asyncio.Future[Any]]) -> None:
    """Cancel tasks, and wait until they have ended."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def set_within(event: asyncio.Event, seconds: float) -> None:
    """Wait for an event, at most `seconds`."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
