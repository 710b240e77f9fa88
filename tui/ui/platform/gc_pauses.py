"""When the garbage collector looks at everything there is: while nobody presses keys.

A full collection holds the interpreter for 50 to 65 ms once the SDKs and some minutes of traffic are there,
and under a flood Python asks for one every second (measured at 27,000 frames a second: one key in twenty
met it). What was imported never becomes garbage, so it is left out of every collection; and a collection of
the rest is done when nobody waits for a key.
"""

import gc
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from textual.app import App

LOOK_SECONDS = 5.0
IDLE_SECONDS = 2.0
"""So long no key was pressed: the next is not expected just now."""

LEAST = 10
"""Collections of the middle generation after which Python would look at everything, and we do when idle."""

MOST = 60
"""Collections of the middle generation after which everything is looked at although keys are pressed: some
6 s under a flood, in which 10 MB of garbage gather (measured); minutes otherwise."""

SWITCH_SECONDS = 0.0005


class Collecting:
    """The collector of this process; the command line has switched it off before the first import."""

    def __init__(self) -> None:
        self._key_at = 0.0
        self._has_all = False

    def key(self) -> None:
        """Note that a key was pressed."""
        self._key_at = time.monotonic()

    @contextmanager
    def gently(self, app: App[Any]) -> Iterator[None]:
        """Let other threads import without making keys wait: small time slices, no pauses for garbage.

        After that the collector is on again, if it is to be at all, and `app` looks after it.
        """
        interval = sys.getswitchinterval()
        sys.setswitchinterval(SWITCH_SECONDS)
        was_off = not gc.isenabled()
        try:
            yield
        finally:
            sys.setswitchinterval(interval)
            if was_off:
                gc.freeze()  # what was imported stays for good
                gc.set_threshold(*gc.get_threshold()[:2], MOST)
                gc.enable()
        if was_off:
            app.set_interval(LOOK_SECONDS, self.look)

    def look(self) -> None:
        """Collect, if it is time for it and nobody waits."""
        idle = time.monotonic() - self._key_at
        if idle < IDLE_SECONDS or gc.get_count()[2] < LEAST:
            return
        gc.collect()
        if not self._has_all:  # by now the SDKs are there too
            self._has_all = True
            gc.freeze()
