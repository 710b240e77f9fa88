"""Where a command writes: to the streams of this process, or to the process that asked for it at the door.

Loads the standard library only.
"""

import sys
from contextlib import contextmanager
from contextvars import ContextVar

TYPE_CHECKING = False  # importing `typing` takes a tenth of the start of a command
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TextIO

_ELSEWHERE: "ContextVar[tuple[TextIO, TextIO] | None]" = ContextVar("streams", default=None)


def out() -> "TextIO":
    """Return stdout."""
    return sys.stdout if (elsewhere := _ELSEWHERE.get()) is None else elsewhere[0]


def err() -> "TextIO":
    """Return stderr."""
    return sys.stderr if (elsewhere := _ELSEWHERE.get()) is None else elsewhere[1]


def is_elsewhere() -> bool:
    """Return whether another process gets the output. Nothing can be asked on its terminal."""
    return _ELSEWHERE.get() is not None


@contextmanager
def writing_to(stdout: "TextIO", stderr: "TextIO") -> "Iterator[None]":
    """Write to these streams, in this task and those that it starts."""
    before = _ELSEWHERE.set((stdout, stderr))
    try:
        yield
    finally:
        _ELSEWHERE.reset(before)
