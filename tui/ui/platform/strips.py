"""Painted rows of a width, and the filter for control characters."""

import re
from collections.abc import Iterable

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter
from textual.strip import Strip

_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f]")


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
