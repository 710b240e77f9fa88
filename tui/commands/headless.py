"""Handles SIGINT, SIGTERM and SIGHUP in commands without a screen, with an orderly shutdown."""

import asyncio
import signal
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from typing import Any


class Interrupt:
    """A context in which the first signal requests an orderly end, and the second cancels the work.

    Without `on_signal`, the first one also cancels it. `exit_code` is 128 + the number of the signal.
    """

    signals: Sequence[signal.Signals] = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def __init__(self) -> None:
        self.on_signal: Callable[[], None] | None = None
        self.exit_code = 130
        self._task: asyncio.Task[int] | None = None
        self._told = False

    def __enter__(self) -> "Interrupt":
        loop = asyncio.get_running_loop()
        for number in self.signals:
            with suppress(NotImplementedError):  # event loops on Windows have no signal handlers
                loop.add_signal_handler(number, self._handle, number)
        return self

    def __exit__(self, *error: object) -> None:
        loop = asyncio.get_running_loop()
        for number in self.signals:
            with suppress(NotImplementedError):
                loop.remove_signal_handler(number)

    def _handle(self, number: signal.Signals) -> None:
        self.exit_code = 128 + number
        if self.on_signal is not None and not self._told:
            self.on_signal()
        elif self._task is not None:
            self._task.cancel()
        self._told = True

    async def during(self, work: Coroutine[Any, Any, int]) -> int:
        """Run `work` and return its result, or the exit code of the signal that ended it."""
        self._task = asyncio.create_task(work)
        try:
            return await self._task
        except asyncio.CancelledError:
            return self.exit_code
