"""Painted rows of a width, strips that create their caches on use, and the filter for control characters."""

import re
from collections.abc import Iterable
from typing import Any

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.cache import FIFOCache
from textual.color import Color
from textual.filter import LineFilter
from textual.strip import Strip

_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f]")


_ABSENT = object()
_EMPTY = Strip(())
_INITIAL_VALUES = {name: getattr(_EMPTY, name) for name in Strip.__slots__ if hasattr(_EMPTY, name)}
"""Initial values of the attributes of a strip."""


def _init_empty(strip: Strip, segments: Iterable[Segment], cell_length: int | None = None) -> None:
    strip._segments = list(segments)
    strip._cell_length = cell_length


def _initial_value(strip: Strip, name: str) -> Any:
    """Return the initial value of a strip's attribute when it is first used."""
    value = _INITIAL_VALUES.get(name, _ABSENT)
    if value is _ABSENT:
        raise AttributeError(name, name=name, obj=strip)
    if isinstance(value, FIFOCache):
        value = FIFOCache(value._maxsize)
    setattr(strip, name, value)
    return value


def _is_known(strip: type[Strip]) -> bool:
    """Return whether a strip starts with its segments and width, and otherwise with empty caches and None."""
    code = strip.__init__.__code__
    own = (value for name, value in _INITIAL_VALUES.items() if name != "_segments")
    return code.co_varnames[: code.co_argcount] == ("self", "segments", "cell_length") and all(
        value is None or isinstance(value, FIFOCache) for value in own
    )


def create_caches_on_use() -> None:
    """Make every Textual strip from now on create each of its caches on first use.

    Each strip would create seven, of which it uses one or two (measured with Textual 8.2.8: 14 ms of
    opening or closing a screen). Strips of a version that creates them in another way
    stay as they are.
    """
    if not (_is_known(Strip) or getattr(Strip, "__init__") is _init_empty):  # noqa: B009
        return
    setattr(Strip, "__init__", _init_empty)  # noqa: B010
    setattr(Strip, "__getattr__", _initial_value)  # noqa: B010


def row_of(segments: Iterable[Segment], width: int, under: Style) -> Strip:
    """Return a strip of `width` cells, filled with the style `under`."""
    row = list(segments)
    cells = sum([len(text) if text.isascii() else cell_len(text) for text, _, _ in row])
    if cells > width:
        return Strip(row, cells).crop(0, width)
    if cells < width:
        row.append(Segment(" " * (width - cells), under))
    return Strip(row, width)


def padded(strip: Strip, left: int, width: int, under: Style) -> Strip:
    """Return a strip of `width` cells, shifted right by `left` cells."""
    if not left and strip.cell_length == width:
        return strip
    return row_of([Segment(" " * left, under), *strip] if left else strip, width, under)


class ControlFilter(LineFilter):
    """The last filter before the terminal: drops every C0 and C1 control from a painted line.

    Textual passes escape sequences in any text straight to the terminal (measured on 8.2.8: OSC 52, OSC 0,
    `ESC[?1049l`, C1, NUL in every widget). Text is cleaned on its way in; this catches what was missed.
    Controls take no cells, so widths stay right.
    """

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the segments without controls; the same list if there are none."""
        if all(text.isprintable() for text, _, _ in segments):
            return segments
        return [
            Segment(_CONTROLS.sub("", text), style, control) if not text.isprintable() else segment
            for segment in segments
            for text, style, control in (segment,)
        ]
