"""Bars: lines around the panes."""

from collections.abc import Callable, Iterable
from typing import TypeVar

from rich.segment import Segment
from textual.geometry import Size
from textual.reactive import Reactive
from textual.strip import Strip
from textual.widget import Widget

from tui.ui.widgets.rows import EMPTY, Row, crop, width_of
from tui.ui.widgets.theme_colors import Palette

Name = TypeVar("Name")


class Bar(Widget):
    """One line of text. A subclass implements `row`; `refresh()` shows changes."""

    DEFAULT_CSS = "Bar { height: 1; }"

    virtual_size = Reactive(Size(0, 0))  # Textual's requests a second layout once a layout sets it

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._palette_source: object = None
        self._palette = Palette.of({})

    def row(self, width: int) -> Row:
        return EMPTY

    @property
    def palette(self) -> Palette:
        source = self.app.theme_variables
        if source is not self._palette_source:
            self._palette_source = source
            self._palette = Palette.of(source, self.app.native_ansi_color)
        return self._palette

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        palette = self.palette
        row = crop(self.row(width), width) if y == 0 else EMPTY
        segments = [Segment(text, palette.style(words)) for text, words in row]
        return Strip(segments).extend_cell_length(width).apply_style(self.rich_style)


class SplitBar(Bar):
    """A line with one text at its left end and one at its right end."""

    def __init__(self, left: Row = EMPTY, right: Row = EMPTY, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.left, self.right = left, right

    def show(self, left: Row, right: Row = EMPTY) -> bool:
        """Show these texts; return whether they have changed."""
        if (left, right) == (self.left, self.right):
            return False
        self.left, self.right = left, right
        self.refresh()
        return True

    def row(self, width: int) -> Row:
        return spread(self.left, self.right, width)


class Rule(Bar):
    """A thin horizontal line, with joints where it meets a vertical one."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._joints: Callable[[], dict[int, str]] = dict
        self._lit = 0

    def join(self, joints: Callable[[], dict[int, str]]) -> None:
        """Set the function that returns characters to draw instead of the line, by column.

        It is called for every paint: only then are the places of the regions certain.
        """
        self._joints = joints
        self.refresh()

    def light(self, columns: int) -> None:
        """Color the first `columns` columns, because the part below them has the focus."""
        if columns != self._lit:
            self._lit = columns
            self.refresh()

    def row(self, width: int) -> Row:
        line = ["─"] * width
        for column, joint in self._joints().items():
            if 0 <= column < width:
                line[column] = joint
        lit = min(self._lit, width)
        return (("".join(line[:lit]), "accent"), ("".join(line[lit:]), "rule"))


def spread(left: Row, right: Row, width: int) -> Row:
    """Return `left` at the left end and `right` at the right end; `left` is truncated if both do not fit."""
    taken = width_of(right)
    if taken + 2 > width:
        return crop(left, width)
    left = crop(left, width - taken - 2)
    gap = " " * (width - taken - width_of(left))
    return (*left, (gap, ""), *right)


def key_cap(key: str, words: str = "") -> Row:
    """Return a key and its label. All keys on screen look like this."""
    return ((key, "text bold"), (f" {words}" if words else "", "dim"))


def key_hints(keys: Iterable[tuple[str, str]]) -> Row:
    """Return a line of keys with their labels."""
    return tuple(span for key, words in keys for span in (*key_cap(key, words), ("   ", "")))


class KeyLine(Bar):
    """The keys of a dialog."""

    DEFAULT_CSS = "KeyLine { margin-top: 1; background: $panel; }"

    def __init__(self, keys: Iterable[tuple[str, str]]) -> None:
        super().__init__()
        self._keys = tuple(keys)

    def row(self, width: int) -> Row:
        return key_hints(self._keys)


def part_at(parts: Iterable[tuple[Name, Row]], x: int) -> Name | None:
    """Return the name of the part of a line at cell `x`, None after the last part."""
    end = 0
    for name, part in parts:
        end += width_of(part)
        if x < end:
            return name
    return None
