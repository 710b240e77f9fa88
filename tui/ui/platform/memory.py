"""Avoids pauses for memory: collects garbage while no keys are pressed, and returns freed blocks.

A full collection blocks the interpreter for 50 to 65 ms once the SDKs and some minutes of traffic are loaded,
and under a flood Python asks for one every second (measured at 27,000 messages a second: one key in twenty
was delayed). Imported objects never become garbage, so they are excluded from all collections. The others are
collected when no key is waiting.
"""

import gc
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from textual.app import App

from tui.core.library_imports import enable_collector

LOOK_SECONDS = 5.0
IDLE_SECONDS = 2.0
"""Seconds since the last key after which a collection may run."""

LEAST = 10
"""Collections of the middle generation after which Python would run a full one, and we run one when idle."""

MOST = 60
"""Collections of the middle generation after which a full one runs even while keys are pressed.

About 6 s under a flood, in which 10 MB of garbage accumulate (measured), and minutes otherwise.
"""

SWITCH_SECONDS = 0.0002
"""How long a thread may hold the interpreter while another one waits for it.

A key passes through three threads, and a tool call waits for the interpreter four times. With 0.5 ms, calls
are slower while recording; with 0.1 ms, floods are slower (measured).
"""

_ARENA_MAX, _MMAP_THRESHOLD, _TRIM_THRESHOLD = -8, -3, -1
_BLOCK = 128 * 1024
"""Parameters of glibc (malloc.h, mallopt(3)), and the size from which a freed block is returned at once."""


class GcPauses:
    """The garbage collector of this process; the command line has turned it off before the first import."""

    def __init__(self) -> None:
        self._key_at = 0.0
        self._has_all = False

    def key(self) -> None:
        self._key_at = time.monotonic()

    @contextmanager
    def importing(self, app: App[Any]) -> Iterator[None]:
        """Let other threads import without delaying keys: with short time slices and without collections.

        Afterwards the collector is turned on if it was off, and `app` runs it.
        """
        interval = sys.getswitchinterval()
        sys.setswitchinterval(SWITCH_SECONDS)
        was_off = not gc.isenabled()
        try:
            yield
        finally:
            sys.setswitchinterval(interval)
            if was_off:
                gc.freeze()  # imported objects are never garbage
                gc.set_threshold(*gc.get_threshold()[:2], MOST)
                enable_collector()
        if was_off:
            app.set_interval(LOOK_SECONDS, self.look)

    def look(self) -> None:
        """Collect if it is due and no keys are pressed."""
        idle = time.monotonic() - self._key_at
        if idle < IDLE_SECONDS or gc.get_count()[2] < LEAST:
            return
        gc.collect()
        if not self._has_all:  # the SDKs are loaded by now, too
            self._has_all = True
            gc.freeze()


def return_freed_memory() -> None:
    """Return large blocks to the system as soon as they are freed.

    Only has an effect with glibc on Linux. glibc has a heap for every thread, and raises the size from which
    blocks are returned with each large block that is freed. Recording the requests of growing conversations
    left 5 MB allocated (measured after 400 messages).
    """
    if sys.platform != "linux":
        return
    import ctypes

    try:
        mallopt = ctypes.CDLL("libc.so.6").mallopt
    except (OSError, AttributeError):  # another C library is used
        return
    for name, value in ((_ARENA_MAX, 1), (_MMAP_THRESHOLD, _BLOCK), (_TRIM_THRESHOLD, _BLOCK)):
        mallopt(name, value)
