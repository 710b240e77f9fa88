"""Bars: lines around the panes, and a few lines above the composer to select from."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from textual import events
from textual.geometry import Offset, Size
from textual.message import Message
from textual.reactive import Reactive
from textual.strip import Strip
from textual.widget import Widget

from tui.core.language.translate import _
from tui.core.text import cells_of
from tui.ui.widgets import rows
from tui.ui.widgets.rows import EMPTY, Row, crop, width_of
from tui.ui.widgets.theme_colors import Palette

Name = TypeVar("Name")

GAP = "   "
"""Between keys, and between other parts of a line."""


class Bar(Widget):
    """One line of text. A subclass implements `row`; `refresh()` shows changes."""

    ALLOW_SELECT = False  # otherwise a drag that begins on a title selects the panes around it
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
        row = crop(self.row(width), width) if y == 0 else EMPTY
        return self.palette.painted(row, width, self.rich_style)


class SplitBar(Bar):
    """A line with one text at its left end and one at its right end."""

    def __init__(self, left: Row = EMPTY, right: Row = EMPTY, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.left, self.right = left, right

    def show(self, left: Row, right: Row = EMPTY) -> None:
        """Show these texts; cheap if they have not changed."""
        if (left, right) != (self.left, self.right):
            self.left, self.right = left, right
            self.refresh()

    def row(self, width: int) -> Row:
        return spread(self.left, self.right, width)


class Notice(SplitBar):
    """A SplitBar of as many lines as its left text needs."""

    DEFAULT_CSS = "Notice { height: auto; }"

    def show(self, left: Row, right: Row = EMPTY) -> None:
        super().show(left, right)
        self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._lines(width))

    def render_line(self, y: int) -> Strip:
        width, lines = self.size.width, self._lines(self.size.width)
        row = spread(lines[y], EMPTY if y else self.right, width) if y < len(lines) else EMPTY
        return self.palette.painted(row, width, self.rich_style)

    def _lines(self, width: int) -> list[Row]:
        return rows.wrap(self.left, width - width_of(self.right) - 1)


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
    """Return `left` at the left end and `right` at the right end, or only `left` if there is no room."""
    return crop(left, width) if width_of(right) + 2 > width else rows.spread(left, right, width, gap=2)


def key_cap(key: str, words: str = "") -> Row:
    """Return a key and its label. All keys on screen look like this."""
    return ((key, "text bold"), (f" {words}" if words else "", "dim"))


def key_hints(keys: Iterable[tuple[str, str]]) -> Row:
    """Return a line of keys with their labels."""
    return tuple(span for key, words in keys for span in (*key_cap(key, words), (GAP, "")))


class PartsBar(Bar):
    """Parts of text next to each other, in as many lines as they need."""

    DEFAULT_CSS = "PartsBar { height: auto; background: $panel; }"

    def __init__(self, parts: Iterable[Row], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._parts = tuple(parts)

    def show(self, parts: Iterable[Row]) -> None:
        """Show parts that are as wide as those before."""
        self._parts = tuple(parts)
        self.refresh()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(rows.flowed(self._parts, GAP, width))

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        row = dict(enumerate(rows.flowed(self._parts, GAP, width))).get(y, EMPTY)
        return self.palette.painted(crop(row, width), width, self.rich_style)


class KeyLine(PartsBar):
    """The keys of a dialog."""

    DEFAULT_CSS = "KeyLine { margin-top: 1; }"

    def __init__(self, keys: Iterable[tuple[str, str]]) -> None:
        self._keys = list(keys)
        super().__init__(key_cap(*one) for one in self._keys)

    def label(self, key: str, words: str) -> None:
        """Change the words for a key."""
        self._keys = [(one, words if one == key else said) for one, said in self._keys]
        self.show(key_cap(*one) for one in self._keys)
        self.refresh(layout=True)


def part_at(parts: Iterable[tuple[Name, Row]], x: int) -> Name | None:
    """Return the name of the part of a line at cell `x`, None after the last part."""
    end = 0
    for name, part in parts:
        end += width_of(part)
        if x < end:
            return name
    return None


MOST_ROWS = 8

CARET = "▏"
"""The caret of a text that is typed in the heading."""


class Box(Bar):
    """Lines under a heading, one of which may be marked. Scrolls to keep the marked line visible."""

    DEFAULT_CSS = "Box { height: 0; display: none; background: $panel; }"

    class Chosen(Message):
        """A line was clicked."""

        def __init__(self, box: "Box", index: int) -> None:
            super().__init__()
            self.box = box
            self.index = index

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._heading: Row = EMPTY
        self._rows: Sequence[Row] = ()
        self._lines: Sequence[tuple[int, Row]] = ()  # each with the index of its row
        self._ends: Sequence[Row] = ()
        self._marked = -1
        self._top = 0
        self.is_seen = False

    def on_show(self) -> None:
        self.is_seen = True

    def on_hide(self) -> None:
        self.is_seen = False

    def show(
        self,
        rows: Sequence[Row],
        marked: int = -1,
        heading: Row = EMPTY,
        ends: Sequence[Row] = (),
        *,
        wraps: bool = False,
    ) -> None:
        """Show rows, with `ends` at their right ends. Without rows and heading, the box is hidden.

        `wraps`: the last text of a row that is too long goes on below its start.
        """
        if (heading, rows, marked, ends) == (self._heading, self._rows, self._marked, self._ends):
            if self.is_attached and self.is_seen != self.display:
                self.refresh(layout=True)  # the requested layout comes late, or was lost
            return
        self._heading, self._rows, self._marked, self._ends = heading, rows, marked, ends
        room = max(2, self.app.size.height // 3) if self.is_attached else MOST_ROWS
        lines = [*self._wrapped(0)] if wraps else [*enumerate(rows)]
        if wraps and len(lines) > min(MOST_ROWS, room):
            lines = [*self._wrapped(cells_of(_("{n} more", n=len(rows))) + 2)]
        self._lines, shown = lines, min(MOST_ROWS, room, len(lines))
        self._top = max(0, min(self._top, len(lines) - shown))
        if places := [place for place, (index, _line) in enumerate(lines) if index == marked]:
            self._top = max(min(self._top, places[0]), places[-1] - shown + 1)
        height = shown + bool(heading)
        self.display = bool(height)
        if self.styles.height is None or self.styles.height.value != height:
            self.styles.height = height
        self.refresh()

    def _wrapped(self, free: int) -> Iterable[tuple[int, Row]]:
        for index, row in enumerate(self._rows):
            for line in rows.wrap(row[-1:], self.app.size.width - free, row[:-1]):
                yield index, line

    def render_line(self, y: int) -> Strip:
        width, palette = self.size.width, self.palette
        place, index = self._top + y - bool(self._heading), -1
        row = self._heading if self._heading and y == 0 else EMPTY
        under = self.rich_style
        if not row and place < len(self._lines):
            index, row = self._lines[place]
            under = under + palette.style("cursor") if index == self._marked else under
        row = rows.spread(row, self._end(index, y), width)
        return palette.painted(crop(row, width), width, under)

    @property
    def caret(self) -> Offset | None:
        """The place on the screen of the caret in the heading, if there is one."""
        texts = [text for text, _ in self._heading]
        if CARET not in texts:
            return None
        cells = sum(map(cells_of, texts[: texts.index(CARET)]))
        x, y, width, _ = self.content_region
        return Offset(x + min(cells, width - 1), y)

    def _end(self, index: int, y: int) -> Row:
        """Return the right end of a line: its own, or how many lines follow."""
        if 0 <= index < len(self._ends):
            return self._ends[index]
        below = len(self._rows) - index - 1
        is_last = y == self.size.height - 1 and 0 <= index < len(self._rows)
        return ((f"{_('{n} more', n=below)} ", "dim"),) if is_last and below > 0 else EMPTY

    def on_click(self, event: events.Click) -> None:
        place = self._top + event.y - bool(self._heading)
        if 0 <= place < len(self._lines):
            self.post_message(self.Chosen(self, self._lines[place][0]))
