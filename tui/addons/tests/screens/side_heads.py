"""The headings of two values side by side."""

from tui.ui.widgets.bar import Bar
from tui.ui.widgets.rows import Row, pad

SCROLL_BAR = 1
"""Columns of the page for its scroll bar."""


class SideHeads(Bar):
    """The headings of two values side by side."""

    def __init__(self) -> None:
        super().__init__(id="side-heads")
        self._heads = ("", "")

    def show(self, left: str, right: str) -> None:
        self._heads = left, right
        self.refresh()

    def row(self, width: int) -> Row:
        """Return the headings where `side_by_side_rows` has the values, in a page with its padding."""
        left, right = self._heads
        cells = max(8, (width - SCROLL_BAR - 5) // 2)
        start: Row = pad((("  ", ""), (left, "dim bold")), cells + 2)
        return (*start, (" │ ", "rule"), (right, "dim bold"))
