"""A line on stderr that says what takes long, and for how long, on a terminal only.

It appears after half a second, gives way to whatever is printed, and is erased at the end. It consists of
characters and carriage returns, without escape sequences.
"""

import os
import sys
import threading
import time
from contextlib import contextmanager

from tui.commands.help_text import columns
from tui.core.text import cells_of, cropped

TYPE_CHECKING = False  # importing `typing` takes a tenth of the start of a command
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, TextIO

DELAY_SECONDS = 0.5
REFRESH_SECONDS = 0.2


class Progress:
    """What a command is doing. `text` may change at any time; with "", there is no line."""

    def __init__(self, text: str = "") -> None:
        self.step(text)

    def step(self, text: str) -> None:
        """Begin a step, whose time is shown from now on."""
        self.text, self.began = text, time.monotonic()


class _Line:
    """The line, and who writes to the terminal: the thread that draws it, or the command."""

    def __init__(self, progress: Progress, stream: "TextIO") -> None:
        self._progress, self._stream = progress, stream
        self._lock = threading.RLock()  # an interrupt may write while a write is interrupted
        self._ended = threading.Event()
        self._cells = 0
        self._is_at_start = True

    def run(self) -> None:
        """Draw the line until `end`. Runs in a thread."""
        seconds = DELAY_SECONDS
        while not self._ended.wait(seconds):
            seconds = REFRESH_SECONDS
            with self._lock:
                if self._is_at_start and not self._ended.is_set():  # no question stands in this line
                    self._draw()

    def _draw(self) -> None:
        text = self._progress.text
        took = f"{time.monotonic() - self._progress.began:.0f} s"
        line = cropped(f"◌ {text}  {took}", columns(self._stream) - 1) if text else ""
        self._put(line)

    def _put(self, line: str) -> None:
        cells = cells_of(line)
        if line or self._cells:
            erased = f"\r{' ' * self._cells}" if cells < self._cells else ""
            self._stream.write(f"{erased}\r{line}")
            self._stream.flush()
        self._cells = cells

    def write(self, write: "Callable[[str], int]", text: str) -> int:
        """Write a text of the command in place of the line."""
        with self._lock:
            if text:
                self._put("")
                self._is_at_start = text.endswith("\n")
            return write(text)

    def end(self) -> None:
        self._ended.set()
        with self._lock:
            self._put("")


class _Printed:
    """Standard output or stderr while there may be a line."""

    def __init__(self, stream: "TextIO", line: _Line) -> None:
        self._stream, self._line = stream, line

    def write(self, text: str) -> int:
        return self._line.write(self._stream.write, text)

    def __getattr__(self, name: str) -> "Any":
        return getattr(self._stream, name)


@contextmanager
def progress(text: str = "", *, quiet: bool = False) -> "Iterator[Progress]":
    """Show what a command does, if stderr is a terminal and the command is not `quiet`."""
    found = Progress(text)
    out, err = sys.stdout, sys.stderr
    if quiet or not err.isatty() or os.environ.get("TERM") == "dumb":
        yield found
        return
    line = _Line(found, err)
    drawing = threading.Thread(target=line.run, name="progress", daemon=True)
    if out.isatty():
        sys.stdout = _Printed(out, line)
    sys.stderr = _Printed(err, line)
    drawing.start()
    try:
        yield found
    finally:
        line.end()
        sys.stdout, sys.stderr = out, err
        drawing.join()
