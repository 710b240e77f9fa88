"""mcptui's own log: a small private file, never the screen.

It contains only mcptui's own warnings and defects, cleaned and redacted, including unhandled errors of
threads and tasks, which Python would print. The host keeps the output of servers.
"""

import logging
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tui.core.background import FAILED_THREAD
from tui.core.files import make_folder, open_private
from tui.core.secrets.redact import Redactor
from tui.core.text import clean

MAX_BYTES = 1024 * 1024
NAME = "tui"
_LOGGERS = (NAME, "asyncio")


class _RedactingFormatter(logging.Formatter):
    def __init__(self, redactor: Callable[[], Redactor]) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")
        self._redactor = redactor

    def format(self, record: logging.LogRecord) -> str:
        return clean(self._redactor().redact(super().format(record)))


class LogFile(logging.FileHandler):
    """A log that only its owner can read. Opening and writing never raise.

    At `MAX_BYTES` it goes on in a new file and keeps the last one as `.1`. `logging.handlers` can do this
    too, but loads pickle, which costs 5 ms and 0.5 MB of each start.
    """

    failed_thread = ""
    """The thread of ours that failed last, its error, and whether it was restarted; "" if none did."""

    _excepthook: Callable[[threading.ExceptHookArgs], object] | None = None

    def _take_errors_of_threads(self) -> None:
        """Log uncaught exceptions of threads until `stop`. A custom hook is also called."""
        before = self._excepthook = threading.excepthook

        def log(ended: threading.ExceptHookArgs) -> None:
            if ended.exc_value is not None and ended.exc_type is not SystemExit:
                name = ended.thread.name if ended.thread is not None else "unknown"
                logging.getLogger(NAME).error("thread %s failed", name, exc_info=ended.exc_value)
            if before is not threading.__excepthook__:
                before(ended)

        threading.excepthook = log

    def _open(self):  # type: ignore[no-untyped-def]  # noqa: ANN202 - as the base class declares it
        make_folder(Path(self.baseFilename).parent)
        return open(
            self.baseFilename,
            self.mode,
            encoding="utf-8",
            errors="replace",
            opener=lambda path, flags: open_private(Path(path), flags),
        )

    def emit(self, record: logging.LogRecord) -> None:
        self.failed_thread = getattr(record, FAILED_THREAD, self.failed_thread)
        with suppress(OSError, ValueError):
            self._begin_again()
            super().emit(record)

    def _begin_again(self) -> None:
        """Keep a full file as `.1`, unless another program has done so. Raises OSError."""
        try:
            found = os.stat(self.baseFilename)
        except FileNotFoundError:
            self.close()
            return
        if self.stream is not None and not os.path.samestat(found, os.fstat(self.stream.fileno())):
            self.close()
        if found.st_size >= MAX_BYTES:
            self.close()
            os.replace(self.baseFilename, f"{self.baseFilename}.1")

    def handleError(self, record: logging.LogRecord) -> None:
        """Drop the line: a full disk must not cause a traceback on the screen."""

    def close(self) -> None:
        """Close the file. Lines that a full disk rejects are lost."""
        with suppress(OSError):
            super().close()

    def stop(self) -> None:
        """Close the file; nothing is written any more."""
        for name in _LOGGERS:
            logging.getLogger(name).removeHandler(self)
        if self._excepthook is not None:
            threading.excepthook, self._excepthook = self._excepthook, None
        self.close()


def log_to(path: Path, redactor: Callable[[], Redactor]) -> LogFile:
    """Send mcptui's own log only to `path` from now on (mode 0600, at most two files of 1 MiB).

    The file is created with the first line.
    """
    handler = LogFile(path, encoding="utf-8", delay=True)
    handler.setFormatter(_RedactingFormatter(redactor))
    handler.setLevel(logging.WARNING)
    logging.getLogger(NAME).propagate = False
    for name in _LOGGERS:
        logging.getLogger(name).addHandler(handler)
    handler._take_errors_of_threads()
    return handler
