"""Waits for the first of several events, with a timeout, and leaves no task behind."""

import asyncio
import math
from collections.abc import Awaitable, Collection, Coroutine
from contextlib import suppress
from typing import Any

from tui.core.background import completed


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


async def to_its_end(work: Coroutine[Any, Any, None]) -> None:
    """Complete `work` as `completed` does, also in a cancelled scope of anyio."""
    import anyio

    with anyio.CancelScope(shield=True):
        await completed(work)


class ScopeClock:
    """The deadline of an anyio cancel scope, which can be paused."""

    def __init__(self, scope: Any) -> None:
        self._scope = scope
        self._left = math.inf

    def pause(self) -> None:
        self._left = self._scope.deadline - asyncio.get_running_loop().time()
        self._scope.deadline = math.inf

    def resume(self) -> None:
        self._scope.deadline = asyncio.get_running_loop().time() + self._left

    def end(self) -> None:
        """Remove the deadline for good."""
        self._scope.deadline = self._left = math.inf
