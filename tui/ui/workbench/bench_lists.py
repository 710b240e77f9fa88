"""The list of the items that a server offers on a tab."""

from collections.abc import Mapping, Sequence

from textual import events
from textual.message import Message

from tui.core import units
from tui.core.language.translate import N_, _, c_
from tui.core.text import cells_of
from tui.ui.keys.bindings import bench_list_bindings
from tui.ui.widgets.lines import LinePane
from tui.ui.widgets.rows import EMPTY, Row, spread, wrap
from tui.ui.widgets.symbols import symbols_for
from tui.ui.workbench.items import PINNED, UNALARMING, Folder, Item, TreeRow, has_tree, tree_rows
from tui.ui.workbench.kept_calls import Badge

SHORT_NOTES = {
    N_("read-only"): "R",
    N_("marked read-only"): "r",
    N_("destructive"): "!",
    N_("template"): "{}",
    "new": "+",
    N_("changed"): "~",
    N_("subscribed"): "@",
}
"""Short forms of notes, if there is no room for a column of long ones."""

OFF_SIGN = "-"
WITHHELD = (N_("off"), N_("not loaded"), N_("not offered"))
"""Marks of tools that the model does not get, and the sign to show if there is no room for the word."""

LEAST_NAME = 24
"""Minimum cells for names, or as many as the longest name has, before marks and notes become words."""

LEAST_LEGEND = 16
"""Minimum columns for a legend of the list's signs."""

WITH_SIZE = 40
"""Minimum columns for showing sizes."""

DEEPEST = 5
"""Maximum indented levels of a tree."""

Long = tuple[bool, bool, bool]
"""Whether marks are words instead of signs, whether notes are, and whether badges are."""

LENGTHS: tuple[Long, ...] = (
    (True, True, True),
    (True, False, True),
    (True, False, False),
    (False, False, False),
)
"""The ways to show marks, notes and badges, the longest first."""

Cells = tuple[tuple[str, str], ...]
"""The cells to the right of a name, each with text and style."""


class ItemList(LinePane):
    """Shows items, filtered while the user types, or the paragraphs of `empty` if there are none.

    Many resources are shown as a tree with folders. `news` has what the user has not seen yet, by item key:
    "new" or "changed".
    """

    CURSOR = True
    FOLLOWS = False
    BINDINGS = bench_list_bindings()

    class Moved(Message):
        """Another item is under the cursor."""

    def __init__(self, news: Mapping[str, str]) -> None:
        super().__init__()
        self._signs = symbols_for()
        self._news = news
        self._notes: Mapping[str, str] = {}
        self._badges: Mapping[str, Badge] = {}
        self.empty: tuple[Row, ...] = ()
        self._all: Sequence[Item] = ()
        self._shown: Sequence[TreeRow] = ()
        self._typed = ""
        self._turned: set[str] = set()
        self._columns: tuple[Long, Sequence[int]] | None = None

    def rows_changed(self, start: int = 0) -> None:
        self._columns = None
        super().rows_changed(start)

    def show(self, items: Sequence[Item]) -> None:
        """Show other items. The cursor stays on its item if that still exists."""
        self._all = items
        self._filter()

    def note(self, notes: Mapping[str, str]) -> None:
        """Set the notes of items, by item key; they are shown next to those of the server."""
        self._notes = notes
        self.rows_changed()

    def show_badges(self, badges: Mapping[str, Badge]) -> None:
        """Set the badges of items, by item key."""
        self._badges = badges
        self.rows_changed()

    def filter(self, text: str) -> None:
        """Show only items with all these words in their names or descriptions."""
        self._typed = text.strip()
        self._filter()

    @property
    def selected(self) -> Item | None:
        """The item under the cursor; None if it is a folder."""
        return found if isinstance(found := self.under_cursor, Item) else None

    @property
    def under_cursor(self) -> Item | Folder | None:
        return self._shown[self.cursor][0] if self.cursor < len(self._shown) else None

    def select(self, key: str) -> bool:
        """Move the cursor to an item; return whether it exists."""
        index = next((number for number, (what, _depth) in enumerate(self._shown) if what.key == key), -1)
        if index >= 0:
            self.move_cursor(index)
        return index >= 0

    def turn(self) -> bool:
        """Fold or unfold the folder under the cursor; return whether there is one."""
        if not isinstance(folder := self.under_cursor, Folder):
            return False
        self._turned ^= {folder.key}
        self._filter()
        return True

    @property
    def counts(self) -> tuple[int, int]:
        """Number of visible items, and of all items."""
        return sum(isinstance(what, Item) for what, _depth in self._shown), len(self._all)

    def _filter(self) -> None:
        before = self.under_cursor
        if not self._typed and has_tree(self._all):
            self._shown = tree_rows(self._all, self._turned)
        else:
            self._shown = [(one, 0) for one in self._all if one.matches(self._typed)]
        keys = [what.key for what, _depth in self._shown]
        first = next((n for n, (what, _depth) in enumerate(self._shown) if isinstance(what, Item)), 0)
        self.cursor = keys.index(before.key) if before is not None and before.key in keys else first
        self.rows_changed()
        if before is not None:  # at first, the folders above stay visible
            self.show_row(self.cursor)
        if self.under_cursor is not before:
            self.post_message(self.Moved())

    def row_count(self) -> int:
        return len(self._shown) + len(self._legend()) if self._shown else len(self._empty_rows())

    def row_selectable(self, index: int) -> bool:
        return index < len(self._shown)

    def row(self, index: int) -> Row:
        if not self._shown:
            return self._empty_rows()[index]
        if index >= len(self._shown):
            return self._legend()[index - len(self._shown)]
        what, depth = self._shown[index]
        lead = self._signs.cursor if index == self.cursor else " "
        head: Row = ((f"{lead} ", "accent"), (" " * 2 * min(depth, DEEPEST), ""))
        if isinstance(what, Folder):
            sign = self._signs.unfolded if what.is_open else self._signs.folded
            count: Row = ((f"{units.count(what.count)} ", "dim"),)
            return spread((*head, (f"{sign} ", "dim"), (what.label, "text")), count, self.columns)
        long, widths = self._measured()
        right: list[tuple[str, str]] = []
        for (text, style), width in zip(self._cells(what, long), widths, strict=True):
            if width:
                right.append((f" {' ' * (width - cells_of(text))}{text}", style))
        name = (what.label, "text" if what.is_offered else "dim")
        return spread((*head, name), (*right, (" ", "")), self.columns)

    def _cells(self, item: Item, long: Long) -> Cells:
        note = self._news.get(item.key) or self._notes.get(item.key) or item.note
        style = "warn" if note == "destructive" else "ok" if note in ("new", "changed") else "dim"
        mark = item.mark.partition(":")[0]
        mark_style = "dim" if mark in UNALARMING else "warn"
        size = item.size if self.columns >= WITH_SIZE else ""
        if not long[0]:
            mark = "" if mark in ("", PINNED, "loaded") else OFF_SIGN if mark in WITHHELD else "!"
        else:
            mark = _(mark)
        if long[1]:
            note = c_("definition", "new") if note == "new" else " · ".join(map(_, note.split(" · ")))
        else:
            note = SHORT_NOTES.get(note) or note.rpartition("/")[2]
        badge = self._badges.get(item.key)
        kept, kept_style = badge.cell(long=long[2]) if badge is not None else ("", "")
        kept = f"{kept} " if kept else ""  # it and a note would read as one
        return ((kept, kept_style), (mark, mark_style), (note, style), (size, "dim"))

    def columns_of(self, width: int) -> int:
        """Return the width of the list in a workbench: enough for names and notes, but at most 40 %."""
        least = 14 if width < 60 else 22 if width < 100 else 30 if width < 160 else 44
        wanted = self._names() + 6 + sum(cells + 1 for cells in self._widths(LENGTHS[0]) if cells)
        return max(least, min(wanted, width * 2 // 5))

    def _widths(self, long: Long) -> list[int]:
        """Return the common widths of badge, mark, note and size."""
        rows = [self._cells(item, long) for item in self._all]
        return [max((cells_of(row[at][0]) for row in rows), default=0) for at in range(4)]

    def _names(self) -> int:
        return max((cells_of(item.label) for item in self._all), default=0)

    def _legend(self) -> list[Row]:
        """Return the meaning of the signs that replace notes and marks."""
        long = self._measured()[0]
        notes = {item.note for item in self._all} & {"read-only", "marked read-only", "destructive"}
        words = [f"{SHORT_NOTES[one]} {_(one)}" for one in sorted(notes, reverse=True)] if not long[1] else []
        marks = {item.mark.partition(":")[0] for item in self._all}
        if not long[0] and marks & set(WITHHELD):
            words.append(_("{sign} not for the model", sign=OFF_SIGN))
        if not long[2]:
            meanings = {self._signs.done: _("kept, passed"), self._signs.failed: _("kept, failed")}
            words += [f"{sign} {text}" for sign, text in meanings.items() if self._has_badge(sign)]
        width = self.columns - 1
        if not words or width < LEAST_LEGEND:
            return []
        return [EMPTY, *wrap((("  ".join(words), "dim"),), width, first=(("  ", ""),))]

    def _has_badge(self, sign: str) -> bool:
        badges = (self._badges.get(item.key) for item in self._all)
        return any(sign in badge.cell(long=False)[0] for badge in badges if badge is not None)

    def _measured(self) -> tuple[Long, Sequence[int]]:
        """Return whether the texts of the columns are long, and the common widths of the columns."""
        if self._columns is None:
            room = self.columns - 4 - min(self._names(), LEAST_NAME)
            for long in LENGTHS:
                self._columns = long, self._widths(long)
                if sum(width + 1 for width in self._columns[1] if width) <= room:
                    break
        assert self._columns is not None
        return self._columns

    def _empty_rows(self) -> list[Row]:
        rows: list[Row] = [EMPTY]
        for line in (((_("No matches"), "dim"),),) if self._typed and self._all else self.empty:
            rows += [*wrap(line, max(8, self.columns - 1), first=((" ", ""),)), EMPTY]
        return rows

    def cursor_moved(self, index: int) -> None:
        self.repaint()
        self.post_message(self.Moved())

    def on_resize(self, event: events.Resize) -> None:
        """Keep the cursor visible: the lists share the height."""
        self.call_later(self.show_row, self.cursor)
