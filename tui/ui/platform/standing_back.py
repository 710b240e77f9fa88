"""Lets threads that import stand back for the event loop while somebody types.

All threads share one interpreter, and Python gives it to each in turn: while libraries are imported, a key
that takes 5 ms of work was painted after 20 to 60 ms (measured). So a thread that imports waits before each
module and each class until the event loop sleeps. `MCPTUI_NO_STANDING_BACK` leaves Python as it is.
"""

import asyncio
import builtins
import os
import selectors
import sys
import threading
import time
from collections.abc import Callable
from importlib.machinery import SourceFileLoader
from types import ModuleType
from typing import Any

SWITCH = "MCPTUI_NO_STANDING_BACK"
PATIENCE_SECONDS = 0.05
"""A loop that is busy for longer is waiting for the import, or flooded: no thread waits for it again soon."""

FREE_SECONDS = 0.1

TYPING_SECONDS = 1.0
"""How long after a key imports stand back: another one is likely."""


class BusyLoop:
    """Whether the event loop has work, and how other threads wait until it has none."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._busy = False
        self._waiting = False
        self._asleep = threading.Event()
        self._free_until = 0.0
        self._typing_until = 0.0

    def pressed(self) -> None:
        """Note that a key is on its way to the loop."""
        self._typing_until = self._clock() + TYPING_SECONDS
        self._busy = True

    def wake(self) -> None:
        """Note that the loop has work."""
        self._busy = True

    def sleep(self) -> None:
        """Note that the loop waits for something to happen."""
        self._busy = False
        if self._waiting:
            self._waiting = False
            self._asleep.set()

    def stand_back(self) -> None:
        """Wait until the loop sleeps if somebody types; not for long, and never on the main thread."""
        if not self._busy or not self._free_until <= self._clock() < self._typing_until:
            return
        if threading.current_thread() is threading.main_thread():
            return
        self._asleep.clear()
        self._waiting = True
        if self._busy and not self._asleep.wait(PATIENCE_SECONDS):
            self._free_until = self._clock() + FREE_SECONDS


LOOP = BusyLoop()


class NotingSelector(selectors.DefaultSelector):
    """The selector of an event loop that notes when the loop sleeps and wakes."""

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is not None and timeout <= 0:
            return super().select(timeout)
        LOOP.sleep()
        found = super().select(timeout)
        LOOP.wake()
        return found


_execute, _build = SourceFileLoader.exec_module, builtins.__build_class__


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Return what makes a loop that imports of other threads stand back for; None for Python's own."""
    if sys.platform == "win32" or os.environ.get(SWITCH):
        return None
    setattr(SourceFileLoader, "exec_module", _execute_politely)  # noqa: B010
    setattr(builtins, "__build_class__", _build_politely)  # noqa: B010
    return lambda: asyncio.SelectorEventLoop(NotingSelector())


def _execute_politely(loader: SourceFileLoader, module: ModuleType) -> None:
    LOOP.stand_back()
    _execute(loader, module)


def _build_politely(*args: Any, **keywords: Any) -> Any:
    LOOP.stand_back()
    return _build(*args, **keywords)
