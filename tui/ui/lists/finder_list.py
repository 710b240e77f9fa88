"""The list of a finder, its items, and the preview next to it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tui.ui.widgets.lines import LinePane
from tui.ui.widgets.rows import EMPTY, Row, crop, wrap

MEASURE = 100
"""Maximum columns of text between the items; longer lines are hard to read."""


@dataclass(frozen=True, slots=True)
class FinderItem:
    """An item, drawn at a given width; headings and text between items have the key ""."""

    key: str
    draw: Callable[[int], Sequence[Row]]


def heading(words: str, after: str = "") -> FinderItem:
    """Return a heading, followed by `after`."""
    return FinderItem("", lambda width: (EMPTY, crop(((words, "dim bold"), (f"   {after}", "dim")), width)))


def words(text: str, style: str = "dim") -> FinderItem:
    """Return lines of text to show between the items."""
    return FinderItem("", lambda width: wrap(((text, style),), min(width, MEASURE)))


class FinderList(LinePane, can_focus=False):
    """The list of a finder. Its cursor is moved by the finder, because the field always has the focus."""

    CURSOR = True

    FOLLOWS = False

    def __init__(self, chosen: Callable[[], None], moved: Callable[[], None]) -> None:
        super().__init__(id="items")
        self._chosen = chosen
        self._moved = moved
        self._items: tuple[FinderItem, ...] = ()
        self._rows: list[tuple[int, Row]] = []
        self._firsts: list[int] = []

    @property
    def current(self) -> str:
        """The key of the item under the cursor, or ""."""
        if not self.cursor < len(self._rows):
            return ""
        return self._items[self._rows[self.cursor][0]].key

    def show(self, items: Sequence[FinderItem], key: str = "") -> None:
        """Show these items, with the cursor on `key`, else on the current item, else on the first one."""
        wanted = key or self.current
        self._items = tuple(items)
        self._draw()
        places = [self._firsts[at] for at, item in enumerate(self._items) if item.key]
        self.cursor = next(
            (self._firsts[at] for at, item in enumerate(self._items) if item.key and item.key == wanted),
            places[0] if places else 0,
        )
        self.rows_changed()
        self.show_row(self.cursor)
        self._moved()

    def _draw(self) -> None:
        self._rows, self._firsts = [], []
        for index, item in enumerate(self._items):
            self._firsts.append(len(self._rows))
            self._rows += [(index, row) for row in item.draw(self.columns)]

    def rewrap(self) -> None:
        key = self.current
        self._draw()
        self.cursor = next(
            (self._firsts[at] for at, item in enumerate(self._items) if item.key and item.key == key),
            self.cursor,
        )

    def row_count(self) -> int:
        return len(self._rows)

    def row(self, index: int) -> Row:
        return self._rows[index][1]

    def row_selectable(self, index: int) -> bool:
        at = self._rows[index][0]
        return bool(self._items[at].key) and self._firsts[at] == index

    def row_ground(self, index: int) -> str:
        """Highlight all rows of the item under the cursor."""
        if not self.cursor < len(self._rows):
            return ""
        at = self._rows[self.cursor][0]
        return "cursor" if self._rows[index][0] == at and self._items[at].key else ""

    def move_cursor(self, index: int) -> None:
        """Move the cursor to an item, and scroll it completely into view."""
        super().move_cursor(index)
        self.refresh()
        at = self._rows[self.cursor][0] if self._rows else 0
        self.show_row(self.cursor, sum(1 for owner, _ in self._rows if owner == at))

    def cursor_moved(self, index: int) -> None:
        self._moved()

    def row_chosen(self, index: int) -> None:
        self._chosen()

    def row_clicked(self, index: int, x: int) -> None:
        self.move_cursor(self._firsts[self._rows[index][0]])
        if self.current:
            self._chosen()


class Preview(LinePane, can_focus=False):
    """Shows as many paragraphs as fit next to the list, from the first or up to the last."""

    FOLLOWS = False

    def __init__(self) -> None:
        super().__init__(id="finder-preview")
        self._paragraphs: Sequence[Row] = ()
        self._from_end = False
        self._rows: list[Row] = []

    def show(self, paragraphs: Sequence[Row], *, from_end: bool = False) -> None:
        """Show these paragraphs; if not all fit, with `from_end` the last ones."""
        self._paragraphs, self._from_end = paragraphs, from_end
        self.rewrap()
        self.rows_changed()

    def rewrap(self) -> None:
        rows = [row for one in self._paragraphs for row in wrap(one, self.columns)]
        height = max(1, self.size.height)
        self._rows = rows[-height:] if self._from_end else rows[:height]

    def row_count(self) -> int:
        return len(self._rows)

    def row(self, index: int) -> Row:
        return self._rows[index]
