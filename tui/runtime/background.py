"""A background thread that runs until it is closed."""

import threading
from collections.abc import Callable

CLOSE_SECONDS = 2.0


class BackgroundThread:
    """A thread that can be started once and closed. `work` runs in it until `closing` is set."""

    def __init__(self, name: str, work: Callable[[], None]) -> None:
        self.closing = threading.Event()
        self._thread = threading.Thread(target=work, name=name, daemon=True)

    @property
    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """Stop, and wait at most 2 s for the end."""
        self.closing.set()
        if self._thread.is_alive():
            self._thread.join(CLOSE_SECONDS)
