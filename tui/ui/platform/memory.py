"""Memory without pauses: collect garbage while no keys are pressed, return freed blocks to the system.

A full collection holds the interpreter for 50 to 65 ms once the SDKs and some minutes of traffic are loaded,
and under a flood Python asks for one every second (measured at 27,000 messages a second: one key in twenty
was delayed). What was imported never becomes garbage, so it is left out of every collection; the rest is
collected when nobody waits for a key.
"""

import gc
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from textual.app import App

from tui.core.collector import enable_collector

LOOK_SECONDS = 5.0
IDLE_SECONDS = 2.0
"""Seconds since the last key after which a collection may run."""

LEAST = 10
"""Collections of the middle generation after which Python would run a full one, and we do when idle."""

MOST = 60
"""Collections of the middle generation after which a full one runs even while keys are pressed: about 6 s
under a flood, in which 10 MB of garbage gather (measured); minutes otherwise."""

SWITCH_SECONDS = 0.0002
"""How long another thread may keep the interpreter from one that wants it.

A key passes through three threads, and a tool call asks for the interpreter four times. With 0.5 ms, calls
beside the recorder are slower; with 0.1 ms, floods are (measured).
"""

_ARENA_MAX, _MMAP_THRESHOLD, _TRIM_THRESHOLD = -8, -3, -1
_BLOCK = 128 * 1024
"""Parameters of glibc (malloc.h, mallopt(3)), and the size from which a freed block is returned at once."""


class GcPauses:
    """The collector of this process; the command line has switched it off before the first import."""

    def __init__(self) -> None:
        self._key_at = 0.0
        self._has_all = False

    def key(self) -> None:
        self._key_at = time.monotonic()

    @contextmanager
    def gently(self, app: App[Any]) -> Iterator[None]:
        """Let other threads import without delaying keys: short time slices, no collections.

        Afterwards the collector is on again, if it was switched off, and `app` runs it.
        """
        interval = sys.getswitchinterval()
        sys.setswitchinterval(SWITCH_SECONDS)
        was_off = not gc.isenabled()
        try:
            yield
        finally:
            sys.setswitchinterval(interval)
            if was_off:
                gc.freeze()  # what was imported is never garbage
                gc.set_threshold(*gc.get_threshold()[:2], MOST)
                enable_collector()
        if was_off:
            app.set_interval(LOOK_SECONDS, self.look)

    def look(self) -> None:
        """Collect if it is time and no keys are pressed."""
        idle = time.monotonic() - self._key_at
        if idle < IDLE_SECONDS or gc.get_count()[2] < LEAST:
            return
        gc.collect()
        if not self._has_all:  # by now the SDKs are there too
            self._has_all = True
            gc.freeze()


def return_freed_memory() -> None:
    """Return large blocks to the system as soon as they are freed. Does nothing except with glibc on Linux.

    glibc keeps a heap for every thread, and with each large block that is freed it raises the size from which
    blocks are returned; recording the requests of growing conversations left 5 MB allocated (measured after
    400 messages).
    """
    if sys.platform != "linux":
        return
    import ctypes

    try:
        mallopt = ctypes.CDLL("libc.so.6").mallopt
    except (OSError, AttributeError):  # another C library
        return
    for name, value in ((_ARENA_MAX, 1), (_MMAP_THRESHOLD, _BLOCK), (_TRIM_THRESHOLD, _BLOCK)):
        mallopt(name, value)
