"""Does one thing after the other, in the order in which they were asked for."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

Thing = TypeVar("Thing")


class SerialQueue(Generic[Thing]):
    """A queue with one worker, which is there only while there is something to do.

    Args:
        do: does one thing.
        failed: told of an error that `do` did not expect.
    """

    def __init__(self, do: Callable[[Thing], Awaitable[None]], failed: Callable[[Exception], None]) -> None:
        self._do = do
        self._failed = failed
        self._waiting: deque[Thing] = deque()
        self._task: asyncio.Task[None] | None = None

    @property
    def busy(self) -> bool:
        """Whether something is being done."""
        return self._task is not None

    def put(self, thing: Thing) -> None:
        """Do this after everything that was asked for before."""
        self._waiting.append(thing)
        if self._task is None:
            self._task = asyncio.create_task(self._work(), name="what was asked for")
            self._task.add_done_callback(self._ended)

    def stop(self) -> list[Thing]:
        """Stop what is being done; return what was not begun."""
        waiting = list(self._waiting)
        self._waiting.clear()
        if self._task is not None:
            self._task.cancel()
        return waiting

    async def close(self) -> None:
        """Stop, and wait until it has stopped."""
        self.stop()
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=1.0)

    async def finish(self) -> None:
        """Wait until everything is done; not for long."""
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=1.0)

    async def _work(self) -> None:
        while self._waiting:
            await self._do(self._waiting.popleft())

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._task = None
        if not task.cancelled() and isinstance(error := task.exception(), Exception):
            self._failed(error)
        if self._waiting:
            self.put(self._waiting.popleft())
