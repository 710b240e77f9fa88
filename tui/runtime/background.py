"""BackgroundThread: work that goes on in a thread of its own until it is closed."""

import threading

CLOSE_SECONDS = 2.0


class BackgroundThread:
    """A thread that can be started once and closed. A subclass says in `_run` what it does until `_closing`.

    Args:
        name: of the thread.
    """

    def __init__(self, name: str) -> None:
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def close(self) -> None:
        """Stop; wait for the end, 2 s at most."""
        self._closing.set()
        if self._thread.is_alive():
            self._thread.join(CLOSE_SECONDS)

    def _run(self) -> None:
        raise NotImplementedError
