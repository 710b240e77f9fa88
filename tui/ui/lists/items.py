"""FinderList: things to choose from, one or several rows each, under headings that cannot be chosen."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tui.ui.widgets.lines import LinePane
from tui.ui.widgets.rows import EMPTY, Row, crop, wrap

MEASURE = 100
"""Columns of words between the items; longer lines are hard to read."""


@dataclass(frozen=True, slots=True)
class FinderItem:
    """Something to choose, or a heading.

    Attributes:
        key: names it; "" is a heading, or words between the items.
        draw: gives its rows at a width.
    """

    key: str
    draw: Callable[[int], Sequence[Row]]


def heading(words: str, after: str = "") -> FinderItem:
    """Return a heading, with `after` behind it."""
    return FinderItem("", lambda width: (EMPTY, crop(((words, "dim bold"), (f"   {after}", "dim")), width)))


def words(text: str, style: str = "dim") -> FinderItem:
    """Return lines of text between the items."""
    return FinderItem("", lambda width: wrap(((text, style),), min(width, MEASURE)))


class FinderList(LinePane, can_focus=False):
    """A list whose cursor is moved from outside: the field over it has the focus all the time."""

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
        """The key of the item that the cursor stands on, or ""."""
        if not self.cursor < len(self._rows):
            return ""
        return self._items[self._rows[self.cursor][0]].key

    def show(self, items: Sequence[FinderItem], key: str = "") -> None:
        """Show these; the cursor stays with its item, or goes to the one of `key`, or to the first."""
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
        """Draw the items at another width."""
        key = self.current
        self._draw()
        self.cursor = next(
            (self._firsts[at] for at, item in enumerate(self._items) if item.key and item.key == key),
            self.cursor,
        )

    def row_count(self) -> int:
        """Return how many rows there are."""
        return len(self._rows)

    def row(self, index: int) -> Row:
        """Return a row."""
        return self._rows[index][1]

    def row_selectable(self, index: int) -> bool:
        """Say whether the cursor may stand on a row: on the first of an item."""
        at = self._rows[index][0]
        return bool(self._items[at].key) and self._firsts[at] == index

    def row_ground(self, index: int) -> str:
        """Mark all rows of the item that the cursor stands on."""
        if not self.cursor < len(self._rows):
            return ""
        at = self._rows[self.cursor][0]
        return "cursor" if self._rows[index][0] == at and self._items[at].key else ""

    def move_cursor(self, index: int) -> None:
        """Put the cursor on an item, and bring all of it into view."""
        super().move_cursor(index)
        self.refresh()
        at = self._rows[self.cursor][0] if self._rows else 0
        self.show_row(self.cursor, sum(1 for owner, _ in self._rows if owner == at))

    def cursor_moved(self, index: int) -> None:
        """Tell that another item is the current one."""
        self._moved()

    def row_chosen(self, index: int) -> None:
        """Tell that the item was taken."""
        self._chosen()

    def row_clicked(self, index: int, x: int) -> None:
        """A click on any row of an item takes it."""
        self.move_cursor(self._firsts[self._rows[index][0]])
        if self.current:
            self._chosen()
