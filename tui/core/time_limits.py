"""Time limits that pause while the user is asked."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Protocol, Self


class Pausable(Protocol):
    """Something that counts time. Must neither raise nor wait."""

    def pause(self) -> None: ...

    def resume(self) -> None: ...


class _NoClocks:
    def pause(self) -> None: ...

    def resume(self) -> None: ...


NO_CLOCKS: Pausable = _NoClocks()
"""Counts nothing."""


class TimeLimit:
    """`asyncio.timeout` that can be paused; like it, raises TimeoutError once the time is used up."""

    def __init__(self, seconds: float) -> None:
        self._left = seconds
        self._timeout = asyncio.timeout(None)
        self._is_running = False
        self._is_paused = False

    async def __aenter__(self) -> Self:
        await self._timeout.__aenter__()
        self._is_running = True
        if not self._is_paused:
            self._timeout.reschedule(asyncio.get_running_loop().time() + self._left)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_running = False
        await self._timeout.__aexit__(kind, error, trace)

    @property
    def expired(self) -> bool:
        return self._timeout.expired()

    def pause(self) -> None:
        if self._is_paused or self._timeout.expired():
            return
        self._is_paused = True
        if self._is_running and (end := self._timeout.when()) is not None:
            self._left = max(0.0, end - asyncio.get_running_loop().time())
            self._timeout.reschedule(None)

    def resume(self) -> None:
        if not self._is_paused:
            return
        self._is_paused = False
        if self._is_running:
            self._timeout.reschedule(asyncio.get_running_loop().time() + self._left)


class TimeLimits:
    """Clocks that pause together. Pausing nests: they continue after as many resumes."""

    def __init__(self, *held: Pausable) -> None:
        self._held = list(held)
        self._pauses = 0

    def pause(self) -> None:
        self._pauses += 1
        if self._pauses == 1:
            for one in tuple(self._held):
                one.pause()

    def resume(self) -> None:
        self._pauses -= 1
        if self._pauses == 0:
            for one in tuple(self._held):
                one.resume()

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        self.pause()
        try:
            yield
        finally:
            self.resume()

    @contextmanager
    def holding(self, *clocks: Pausable) -> Iterator[None]:
        """Pause `clocks` together with the others, at once if they are paused, and resume it at the end."""
        self._held.extend(clocks)
        if self._pauses:
            for one in clocks:
                one.pause()
        try:
            yield
        finally:
            for one in clocks:
                self._held.remove(one)
                if self._pauses:
                    one.resume()
