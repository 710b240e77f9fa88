"""Pauses Python's garbage collector while libraries are imported.

What an import makes is never garbage, and looking for some in it again and again took a tenth of the imports'
time (measured). Nests, and may be used by several threads at once.
"""

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_pauses = 0
_enable_afterwards = False


@contextmanager
def collector_paused() -> Iterator[None]:
    """Collect nothing; when the last of these contexts is left, the collector is as before the first."""
    global _pauses, _enable_afterwards
    with _lock:
        if not _pauses:
            _enable_afterwards = gc.isenabled()
            gc.disable()
        _pauses += 1
    try:
        yield
    finally:
        with _lock:
            _pauses -= 1
            if not _pauses and _enable_afterwards:
                gc.enable()


def enable_collector() -> None:
    """Enable the collector, at the end of the last pause if there is one."""
    global _enable_afterwards
    with _lock:
        _enable_afterwards = True
        if not _pauses:
            gc.enable()
