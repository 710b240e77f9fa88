"""Box: a few lines above the composer to select from. Hidden if it has no lines."""

from collections.abc import Sequence

from rich.segment import Segment
from textual import events
from textual.geometry import Offset
from textual.message import Message
from textual.strip import Strip

from tui.ui.widgets.bar import Bar
from tui.ui.widgets.rows import EMPTY, Row, cells_of, crop, pad, spread

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
        self._ends: Sequence[Row] = ()
        self._marked = -1
        self._top = 0
        self.is_seen = False

    def on_show(self) -> None:
        self.is_seen = True

    def on_hide(self) -> None:
        self.is_seen = False

    def show(
        self, rows: Sequence[Row], marked: int = -1, heading: Row = EMPTY, ends: Sequence[Row] = ()
    ) -> None:
        """Show lines, with `ends` at their right ends. Without lines and heading, the box is hidden."""
        if (heading, rows, marked, ends) == (self._heading, self._rows, self._marked, self._ends):
            if self.is_attached and self.is_seen != self.display:
                self.refresh(layout=True)  # the requested layout comes late, or was lost
            return
        self._heading, self._rows, self._marked, self._ends = heading, rows, marked, ends
        room = max(2, self.app.size.height // 3) if self.is_attached else MOST_ROWS
        shown = min(MOST_ROWS, room, len(rows))
        self._top = max(0, min(self._top, len(rows) - shown))
        if marked >= 0:
            self._top = max(min(self._top, marked), marked - shown + 1)
        height = shown + bool(heading)
        self.display = bool(height)
        if self.styles.height is None or self.styles.height.value != height:
            self.styles.height = height
        self.refresh()

    def render_line(self, y: int) -> Strip:
        width, palette = self.size.width, self.palette
        index = self._top + y - bool(self._heading)
        if self._heading and y == 0:
            row, ground = self._heading, ""
        elif index < len(self._rows):
            row, ground = self._rows[index], "cursor" if index == self._marked else ""
        else:
            row, ground = EMPTY, ""
        under = self.rich_style + palette.style(ground) if ground else self.rich_style
        row = spread(row, self._end(index, y), width)
        segments = [Segment(text, palette.over(under, words)) for text, words in pad(crop(row, width), width)]
        return Strip(segments, width)

    @property
    def caret(self) -> Offset | None:
        """The place on the screen of the caret in the heading, if there is one."""
        cells = 0
        for text, _ in self._heading:
            if text == CARET:
                x, y, width, _ = self.content_region
                return Offset(x + min(cells, width - 1), y)
            cells += cells_of(text)
        return None

    def _end(self, index: int, y: int) -> Row:
        """Return the right end of a line: its own, or how many lines follow."""
        if 0 <= index < len(self._ends):
            return self._ends[index]
        below = len(self._rows) - index - 1
        is_last = y == self.size.height - 1 and 0 <= index < len(self._rows)
        return ((f"{below} more ", "dim"),) if is_last and below > 0 else EMPTY

    def on_click(self, event: events.Click) -> None:
        index = self._top + event.y - bool(self._heading)
        if 0 <= index < len(self._rows):
            self.post_message(self.Chosen(self, index))
