"""Makes other threads wait for the event loop while the user types.

All threads share one interpreter, and Python gives it to each in turn: while libraries were imported, a key
that takes 5 ms of work was painted after 20 to 60 ms (measured). So a thread that imports waits before each
module and each class until the event loop sleeps. Under a flood the loop never sleeps, so the threads that
record and lint wait until the key is painted. `MCPTUI_NO_STANDING_BACK` turns this off.
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
"""A loop that is busy for longer is itself waiting for the import, or flooded.

For a while, no thread waits for it.
"""

FREE_SECONDS = 0.1

KEY_SECONDS = 0.03
"""How long other threads wait for a key that causes no painting."""

TYPING_SECONDS = 1.0
"""How long imports wait after a key, since another one is likely."""


class BusyLoop:
    """Tracks whether the event loop is busy, and lets other threads wait until it is not."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._busy = False
        self._waiting = False
        self._asleep = threading.Event()
        self._free_until = 0.0
        self._typing_until = 0.0
        self._painted = threading.Event()
        self._key_until = 0.0
        self._no_key_until = 0.0
        self._taken = False

    def pressed(self) -> None:
        """Note that a key is on its way to the loop."""
        now = self._clock()
        self._typing_until = now + TYPING_SECONDS
        self._busy = True
        if now >= self._no_key_until:
            self._taken = False
            self._no_key_until = now + 2 * KEY_SECONDS
            self._key_until = now + KEY_SECONDS

    def taken(self) -> None:
        """Note that the loop is now handling the key."""
        self._taken = True

    def painted(self) -> None:
        """Note that something was painted. If a key was handled, it was for that key."""
        if self._taken and self._key_until:
            self._key_until = self._no_key_until = 0.0
            self._painted.set()

    def stand_back_for_key(self) -> None:
        """Wait until a key that is on its way is painted, but at most half of the time."""
        if not self._key_until or os.environ.get(SWITCH, "") not in ("", "0"):
            return
        left = self._key_until - self._clock()
        if left <= 0:
            self._key_until = 0.0
            return
        self._painted.clear()
        if self._key_until:
            self._painted.wait(left)

    def wake(self) -> None:
        """Note that the loop has work."""
        self._busy = True

    def sleep(self) -> None:
        """Note that the loop is waiting for an event."""
        self._busy = False
        if self._waiting:
            self._waiting = False
            self._asleep.set()

    def stand_back(self) -> None:
        """While the user types, wait briefly until the loop sleeps. Never waits on the main thread."""
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
    """Return a factory of loops that importing threads wait for; None for Python's own."""
    if sys.platform == "win32" or os.environ.get(SWITCH, "") not in ("", "0"):
        return None
    setattr(SourceFileLoader, "exec_module", _execute_standing_back)  # noqa: B010
    setattr(builtins, "__build_class__", _build_standing_back)  # noqa: B010
    return lambda: asyncio.SelectorEventLoop(NotingSelector())


def _execute_standing_back(loader: SourceFileLoader, module: ModuleType) -> None:
    LOOP.stand_back()
    _execute(loader, module)


def _build_standing_back(*args: Any, **keywords: Any) -> Any:
    LOOP.stand_back()
    return _build(*args, **keywords)
