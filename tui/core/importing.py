"""One heavy import at a time.

Importing threads take turns with the one that handles keys: with three of them, painting took 120 ms instead
of 16 (measured).
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tui.core.collector import collector_paused

_turn = threading.RLock()


@contextmanager
def importing() -> Iterator[None]:
    """Wait until no other thread imports. For threads, never on the event loop."""
    with _turn, collector_paused():
        yield
