"""The terminal stream that Textual draws on, which nothing else writes to, and what is written to it.

Textual writes each run of a style with its complete style and a reset, and each row with a cursor movement
and a line end that the next movement makes redundant. Styles alone are more than half of the bytes of a
streamed reply (8 kB for a pane that scrolls by a line, seen with Textual 8.2.8), and a terminal has to parse
them all. So `shortened` removes what has no effect.
"""

import io
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import TextIO


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


BLANKS = 12
"""Number of consecutive blanks from which erasing them takes fewer bytes."""

_TOKEN = re.compile(
    r"\x1b\[([0-9;]*)m"  # a style
    r"|((?:\x1b\[\d+;\d+H|\r\n)+(?=\x1b\[\d+;\d+H))"  # movements that are followed by another one
    rf"|( {{{BLANKS},}})"  # blanks
    r"|(\x1b[\]P_^X].*?(?:\x1b\\|\x07)|\x1b\[[0-?]*[ -/]*[@-~]|\x1b.)",  # any other sequence
    re.DOTALL,
)
_STYLE, _VOID, _BLANKS = 1, 2, 3
_MOVE = re.compile(r"(?:\x1b\[[0-9;]*m)*(?:\x1b\[\d+;\d+H|\r)")
_COLOUR = re.compile(r"([34])8;(?:5;\d+|2;\d+;\d+;\d+)|(3|9)[0-7]|(4|10)[0-7]")
_OFF = {"1": "22", "2": "22", "3": "23", "4": "24", "21": "24", "5": "25", "7": "27", "8": "28", "9": "29"}
_UNSEEN_ON_BLANKS = frozenset("123")
"""Bold, dim, italic. All other attributes, and unknown ones, may be visible on blanks."""


def shortened(written: str, *, erases: bool) -> str:
    """Return text with the same effect on any terminal, in fewer bytes.

    The text must start and end without a style and stay within the edges of the terminal, like all of
    Textual's output. `erases`: the terminal gives erased cells the current background (terminfo's `bce`).
    """
    parts: list[str] = []
    shown = wanted = ""
    at = 0
    for token in _TOKEN.finditer(written):
        start, end = token.span()
        if start > at:
            shown = _put(parts, written[at:start], shown, wanted)
        at = end
        kind = token.lastindex
        if kind == _STYLE:
            style = token[kind]
            wanted = "" if style in ("", "0") else f"{wanted};{style}" if wanted else style
        elif kind == _BLANKS and erases and not _shows_on_blanks(wanted):
            shown = _put(parts, " ", shown, wanted, f"\x1b[{end - start}X")
            if _MOVE.match(written, end) is None:
                parts.append(f"\x1b[{end - start}C")
        elif kind == _BLANKS:
            shown = _put(parts, token[0], shown, wanted)
        elif kind != _VOID:
            parts.append(token[0])
    if at < len(written):
        shown = _put(parts, written[at:], shown, wanted)
    if shown:
        parts.append("\x1b[m")
    return "".join(parts)


def _put(parts: list[str], text: str, shown: str, wanted: str, sequence: str = "") -> str:
    """Write a text, or `sequence` instead, in a style; return the style that is then set.

    Of blanks, only the background is visible.
    """
    if shown != wanted:
        if (
            text.isspace()
            and _colours(shown)[1] == _colours(wanted)[1]
            and not _shows_on_blanks(shown)
            and not _shows_on_blanks(wanted)
        ):
            wanted = shown
        else:
            parts.append(_change(shown, wanted))
    parts.append(sequence or text)
    return wanted


@lru_cache(4096)
def _shows_on_blanks(style: str) -> bool:
    return not _UNSEEN_ON_BLANKS.issuperset(_attributes(style))


@lru_cache(4096)
def _attributes(style: str) -> tuple[str, ...]:
    return tuple(part for part in _COLOUR.sub("", style).split(";") if part)


@lru_cache(4096)
def _colours(style: str) -> tuple[str, str]:
    """Return the parameters of the last foreground color and the last background color."""
    foreground = background = ""
    for found in _COLOUR.finditer(style):
        if found[1] == "3" or found[2]:
            foreground = found[0]
        else:
            background = found[0]
    return foreground, background


@lru_cache(4096)
def _change(shown: str, wanted: str) -> str:
    """Return the shortest sequence that changes one style to another."""
    if not wanted:
        return "\x1b[m"
    anew = f"\x1b[0;{wanted}m" if shown else f"\x1b[{wanted}m"
    before, after = set(_attributes(shown)), _attributes(wanted)
    if not _OFF.keys() >= set(after):
        return anew
    off = {_OFF.get(lost, "0") for lost in before.difference(after)}
    if "0" in off:
        return anew
    on = [new for new in after if new not in before or _OFF.get(new) in off]
    colours = [
        new or default
        for old, new, default in zip(_colours(shown), _colours(wanted), ("39", "49"), strict=True)
        if new != old
    ]
    changes = [*sorted(off), *on, *colours]
    return min(anew, f"\x1b[{';'.join(changes)}m", key=len) if changes else ""
