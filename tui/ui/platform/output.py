"""The terminal stream that Textual draws on, which nothing else writes to, and its driver."""

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from textual.driver import Driver


class _Screen(io.TextIOWrapper):
    """The stream that Textual writes to. Writing to a terminal that is gone is not an error.

    Otherwise, Textual's writer thread would end, and the app would wait for it forever.
    """

    def __init__(self, descriptor: int) -> None:
        super().__init__(os.fdopen(descriptor, "wb"), encoding="utf-8", errors="replace", newline="")

    def write(self, text: str, /) -> int:
        with suppress(OSError):
            return super().write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            super().flush()

    def close(self) -> None:
        with suppress(OSError):
            super().close()


@contextmanager
def screen_of_our_own() -> Iterator[TextIO]:
    """Give Textual a terminal stream of its own, and redirect descriptor 2 while the app draws.

    Textual draws on stderr, where native libraries and `faulthandler` would write into the screen. So the
    screen is drawn on a copy of stdout, and everything written to descriptor 2 is discarded, unless the user
    has redirected it.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    screen = _Screen(os.dup(sys.__stdout__.fileno() if sys.__stdout__ else 1))
    before, kept = sys.__stderr__, os.dup(2)
    if os.isatty(2):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 2)
        os.close(nowhere)
    _set_screen(screen)
    try:
        yield screen
    finally:
        _set_screen(before)
        screen.close()
        os.dup2(kept, 2)
        os.close(kept)


def _set_screen(screen: TextIO | None) -> None:
    # Final for type checkers, but the only attribute where Textual's driver looks for its terminal.
    setattr(sys, "__stderr__", screen)  # noqa: B010


def driver_class() -> "type[Driver] | None":
    """Return the driver for this terminal; None for Textual's own.

    Textual's driver is used on Windows, and if Textual lacks the private modules that ours needs.
    """
    if sys.platform == "win32":
        return None
    try:
        from tui.ui.platform.driver import RobustDriver
    except ImportError:
        return None
    return RobustDriver
