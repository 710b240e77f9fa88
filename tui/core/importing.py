"""One heavy import at a time.

Threads that import all hold the interpreter in turns with the one that takes keys: with three of them, what
takes 16 ms to paint took 120 (measured).
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tui.core.collector import collector_paused

_turn = threading.RLock()


@contextmanager
def importing() -> Iterator[None]:
    """Wait until no other thread is in such a context. For imports in threads, never on the event loop."""
    with _turn, collector_paused():
        yield
