"""Where a command writes: to the streams of this process, or to the process that asked for it at the door.

Also how wide its lines are, and whether they have colors.

Loads the standard library only.
"""

import os
import sys
from contextlib import contextmanager
from contextvars import ContextVar

TYPE_CHECKING = False  # importing `typing` takes a tenth of the start of a command
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TextIO

_ELSEWHERE: "ContextVar[tuple[TextIO, TextIO] | None]" = ContextVar("streams", default=None)
_WIDE: "ContextVar[bool]" = ContextVar("wide", default=False)


def out() -> "TextIO":
    """Return stdout."""
    return sys.stdout if (elsewhere := _ELSEWHERE.get()) is None else elsewhere[0]


def err() -> "TextIO":
    """Return stderr."""
    return sys.stderr if (elsewhere := _ELSEWHERE.get()) is None else elsewhere[1]


def err_later() -> "Callable[[], TextIO]":
    """Return what returns this stderr in tasks that are not of the command."""
    elsewhere = _ELSEWHERE.get()
    return lambda: sys.stderr if elsewhere is None else elsewhere[1]


def is_elsewhere() -> bool:
    """Return whether another process gets the output. Nothing can be asked on its terminal."""
    return _ELSEWHERE.get() is not None


def on_terminal() -> bool:
    """Return whether the output is shown on a terminal of this process."""
    return not is_elsewhere() and sys.stdout.isatty()


def width(stream: "TextIO | None" = None) -> int:
    """Return the cells of a line of the terminal, 0 if nothing is broken: in a pipe, or with `--wide`.

    `stream` is what is written to, stdout by default.
    """
    if _WIDE.get() or is_elsewhere() or not (stream or sys.stdout).isatty():
        return 0
    from tui.commands.help_text import columns

    return columns(stream)


def colored() -> bool:
    """Return whether the output has colors."""
    return on_terminal() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def print_wide() -> None:
    """Do not break lines for the terminal, for the rest of this context."""
    _WIDE.set(True)


@contextmanager
def writing_to(stdout: "TextIO", stderr: "TextIO") -> "Iterator[None]":
    """Write to these streams, in this task and those that it starts."""
    before = _ELSEWHERE.set((stdout, stderr))
    try:
        yield
    finally:
        _ELSEWHERE.reset(before)
