"""Strips without reference cycles, a scroll bar made of them, and the filter for control characters.

Textual's own strips and caches contain reference cycles: a dropped strip stays in memory until the garbage
collector runs, which delays every key (measured under a flood: 1,200 strips a second, 2 MB). Textual also
redraws a scroll bar, line by line, whenever its pane grows (measured with 8.2.8: a sixth of the cost of a
streamed reply), although a thumb over thousands of rows hardly moves. This one is only drawn again when it
changes.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from rich.cells import cell_len
from rich.color import Color as RichColor
from rich.segment import Segment
from rich.style import Style
from textual.cache import FIFOCache
from textual.color import Color
from textual.filter import LineFilter
from textual.geometry import Region
from textual.scrollbar import ScrollBar, ScrollBarRender
from textual.strip import Strip
from textual.widget import Widget

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

    Each strip would create seven, of which it uses one or two (measured with Textual 8.2.8: a third of
    painting a whole screen, mostly garbage collection). Strips of a version that creates them in another way
    stay as they are.
    """
    if not (_is_known(Strip) or getattr(Strip, "__init__") is _init_empty):  # noqa: B009
        return
    setattr(Strip, "__init__", _init_empty)  # noqa: B010
    setattr(Strip, "__getattr__", _initial_value)  # noqa: B010


class RowStrip(Strip):
    """A Strip without a reference to itself, and without Textual's caches until one is used.

    Textual's Strip caches the results of dividing and cropping it. In a pane as wide as the screen, the
    result is the strip itself.
    """

    __slots__ = ("_filtered", "_padded")
    __getattr__ = _initial_value

    def __init__(self, segments: Iterable[Segment], cell_length: int | None = None) -> None:
        _init_empty(self, segments, cell_length)
        self._padded: tuple[object, RowStrip] | None = None
        self._filtered: tuple[object, RowStrip] | None = None

    @classmethod
    def of(cls, segments: Iterable[Segment], width: int, under: Style) -> "RowStrip":
        """Return a strip of `width` cells, filled with the style `under`."""
        row = list(segments)
        cells = sum([len(text) if text.isascii() else cell_len(text) for text, _, _ in row])
        if cells > width:
            return cls(Strip(row, cells).crop(0, width), width)
        if cells < width:
            row.append(Segment(" " * (width - cells), under))
        return cls(row, width)

    def padded(self, left: int, width: int, under: Style) -> "RowStrip":
        """Return a strip of `width` cells, shifted right by `left` cells; the last result is cached."""
        if not left and self.cell_length == width:
            return self
        key, kept = self._padded or (None, self)
        if key != (left, width, under):
            blank = [Segment(" " * left, under)] if left else []
            kept = RowStrip.of([*blank, *self], width, under)
            self._padded = (left, width, under), kept
        return kept

    def apply_filter(self, filter: LineFilter, background: Color) -> "RowStrip":
        """Return the filtered strip, also a RowStrip; the last result is cached."""
        key, kept = self._filtered or (None, self)
        if key != (filter, background):
            kept = RowStrip(filter.apply(list(self), background), self.cell_length)
            self._filtered = (filter, background), kept
        return kept

    def divide(self, cuts: Iterable[int]) -> Sequence[Strip]:
        """Return the strips between the cuts; itself if there is nothing to cut."""
        cuts = [cut for cut in cuts if cut <= self.cell_length]
        return [self] if cuts == [self.cell_length] else super().divide(cuts)


def padded(strip: Strip, left: int, width: int, under: Style) -> Strip:
    """Return a strip of `width` cells, shifted right by `left` cells."""
    row = strip if isinstance(strip, RowStrip) else RowStrip(strip, strip.cell_length)
    return row.padded(left, width, under)


class KeptStrips:
    """Caches at most `most` strips by row index. When full, the oldest is dropped."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: dict[int, Strip] = {}

    def get(self, index: int) -> Strip | None:
        return self._kept.get(index)

    def keep(self, index: int, strip: Strip) -> None:
        if len(self._kept) >= self._most:
            del self._kept[next(iter(self._kept))]
        self._kept[index] = strip

    def discard(self, index: int) -> None:
        self._kept.pop(index, None)

    def discard_from(self, start: int) -> None:
        """Drop the strips of row `start` and all later rows."""
        for index in [index for index in self._kept if index >= start]:
            del self._kept[index]

    def clear(self) -> None:
        self._kept.clear()


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


DEFAULT = RichColor.default()


class LineScrollBar(ScrollBar):
    """A vertical scroll bar that caches its lines until one of them changes."""

    def __init__(self, thickness: int) -> None:
        super().__init__(vertical=True, name="vertical", thickness=thickness)
        self._lines: list[Strip] = []
        self._segments: list[Segment] = []

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return lines of the bar; those of Textual if it has effects or an unknown renderer."""
        bar = self.render()
        if not isinstance(bar, ScrollBarRender) or self.opacity != 1.0:
            return super().render_lines(crop)
        style = self.app.console.get_style(bar.style)
        segments = bar.render_bar(
            size=self.size.height,
            virtual_size=bar.virtual_size,
            window_size=bar.window_size,
            position=bar.position,
            thickness=self.size.width,
            back_color=style.bgcolor or DEFAULT,
            bar_color=style.color or DEFAULT,
        ).segments
        if segments != self._segments:
            under = self.visual_style.rich_style
            strips = {id(one): RowStrip(Segment.apply_style([one], under)) for one in segments}
            self._segments = list(segments)
            self._lines = [strips[id(segment)] for segment in segments]
        lines = self._lines[crop.y : crop.bottom]
        for found in self.get_line_filters():
            if not isinstance(found, ControlFilter):
                background = self.background_colors[1]
                lines = [line.apply_filter(found, background) for line in lines]
        return lines if crop.width == self.size.width else [line.crop(*crop.column_span) for line in lines]


def add_scroll_bar(pane: Widget) -> None:
    """Give a pane without a bar this one, hidden.

    Without Textual's private names, the pane creates its own.
    """
    if getattr(pane, "_vertical_scrollbar", pane) is not None:
        return
    if (start := getattr(pane.app, "_start_widget", None)) is not None:
        pane._vertical_scrollbar = bar = LineScrollBar(pane.scrollbar_size_vertical)
        bar.display = False
        start(pane, bar)
