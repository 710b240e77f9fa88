"""ReadPane: the text of a question, which knows what of it has not been on screen yet."""

from collections.abc import Callable, Iterable
from typing import ClassVar

from textual.geometry import Region
from textual.strip import Strip

from tui.core import units
from tui.ui.widgets.lines import LinePane
from tui.ui.widgets.rows import Row, wrap


class ReadPane(LinePane):
    """Lines to be read before an answer counts. `on_read` is called when more or less of it is read.

    A row is read once it was painted: rows that a jump skips are not.
    """

    FOLLOWS: ClassVar[bool] = False

    DEFAULT_CSS = "ReadPane { background: $panel; height: 3; }"

    def __init__(self, lines: Iterable[Row], on_read: Callable[[], None] = lambda: None) -> None:
        super().__init__()
        self._lines = list(lines)
        self._on_read = on_read
        self._rows: list[Row] = []
        self._width = 0
        self._unread: set[int] = set()

    @property
    def unread(self) -> str:
        """What has not been on screen, and the key that leads there; "" if all of it was."""
        if not self._width:
            return "nothing shown yet"
        if not self._unread:
            return ""
        is_below = max(self._unread) >= self.scroll_offset.y + self.scrollable_content_region.height
        return f"{units.plural(len(self._unread), 'line')} not shown yet ({'pgdn' if is_below else 'pgup'})"

    def rewrap(self) -> None:
        width = max(10, self.columns)
        if width == self._width:
            return
        self._width = width
        self._rows = [row for line in self._lines for row in (wrap(line, width) if line else [()])]
        self._unread = set(range(len(self._rows)))
        self.rows_changed()
        self.call_later(self._on_read)

    def row_count(self) -> int:
        return len(self._rows)

    def row(self, index: int) -> Row:
        return self._rows[index]

    def render_lines(self, crop: Region) -> list[Strip]:
        """Paint a part of the pane, and note that it is read."""
        strips = super().render_lines(crop)
        if self._unread:
            top = self.scroll_offset.y
            before = len(self._unread)
            self._unread.difference_update(range(top + crop.y, top + crop.bottom))
            if len(self._unread) != before:
                self.call_later(self._on_read)
        return strips
