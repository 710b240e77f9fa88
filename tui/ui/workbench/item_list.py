"""The list of what a server offers: virtual, filtered while one types."""

from collections.abc import Sequence

from textual.message import Message

from tui.core.text import fold
from tui.ui.keys.bindings import bench_list_bindings
from tui.ui.widgets.lines import LinePane
from tui.ui.widgets.rows import EMPTY, Row, spread, width_of, wrap
from tui.ui.workbench.items import PINNED, Item

WARNING_NOTES = ("destructive", "!")
SHORT_NOTES = {"destructive": "!", "template": "{}"}
"""Where there is no room for both, a name is worth more than the word beside it."""

AROUND = 4
"""Cells of a line that are neither name nor word."""


def _note(mark: str, note: str) -> Row:
    """Return what stands at the end of a line: what is special of it for the model, then its own word."""
    styles = (
        (mark, "dim" if mark == PINNED else "warn"),
        (note, "warn" if note in WARNING_NOTES else "dim"),
    )
    return tuple((f"{words} ", style) for words, style in styles if words)


class ItemList(LinePane):
    """Shows items, or why there are none.

    Attributes:
        empty: paragraphs that stand there while there is nothing to list.
        sign: stands before the item under the cursor.
    """

    CURSOR = True
    FOLLOWS = False
    BINDINGS = bench_list_bindings()

    class Moved(Message):
        """Another item is under the cursor."""

    def __init__(self, sign: str, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.sign = sign
        self.empty: tuple[Row, ...] = ()
        self._all: Sequence[Item] = ()
        self._shown: Sequence[Item] = ()
        self._words: list[str] = []

    # ---- what the bench uses ----

    def show(self, items: Sequence[Item]) -> None:
        """List other items; the cursor stays on the one it stands on, if it is still there."""
        self._all = items
        self._sift()

    def filter(self, text: str) -> None:
        """List only what has all these words in its name or description."""
        self._words = fold(text).split()
        self._sift()

    @property
    def selected(self) -> Item | None:
        """The item under the cursor."""
        return self._shown[self.cursor] if self.cursor < len(self._shown) else None

    def select(self, key: str) -> bool:
        """Put the cursor on an item; whether it is there."""
        index = next((number for number, item in enumerate(self._shown) if item.key == key), -1)
        if index >= 0:
            self.move_cursor(index)
        return index >= 0

    @property
    def counts(self) -> tuple[int, int]:
        """How many items are shown, of how many."""
        return len(self._shown), len(self._all)

    def _sift(self) -> None:
        before = self.selected
        words = self._words
        self._shown = [one for one in self._all if one.matches(words)] if words else self._all
        keys = [one.key for one in self._shown]
        self.cursor = keys.index(before.key) if before is not None and before.key in keys else 0
        self.rows_changed()
        self.show_row(self.cursor)
        if self.selected is not before:
            self.post_message(self.Moved())

    # ---- what the pane shows ----

    def row_count(self) -> int:
        """Return how many rows there are."""
        return len(self._shown) or len(self._empty_rows())

    def row_selectable(self, index: int) -> bool:
        """The cursor stands on items only."""
        return index < len(self._shown)

    def row(self, index: int) -> Row:
        """Return the line of an item."""
        if not self._shown:
            return self._empty_rows()[index]
        item = self._shown[index]
        lead = self.sign if index == self.cursor else " "
        mark, short = item.mark.partition(":")[0], SHORT_NOTES.get(item.note, "")
        sign = "!" if item.mark not in ("", PINNED) else ""
        room = self.columns - width_of(((item.label, ""),)) - AROUND
        notes = (_note(mark, item.note), _note(mark, short), _note(sign, short))
        note = next((one for one in notes if width_of(one) <= room), notes[-1])
        return spread(((f"{lead} ", "accent"), (item.label, "text")), note, self.columns)

    def _empty_rows(self) -> list[Row]:
        if self._words and self._all:
            lines: Sequence[Row] = ((("Nothing has these words in its name or description.", "dim"),),)
        else:
            lines = self.empty
        rows: list[Row] = [EMPTY]
        for line in lines:
            rows += [*wrap(line, max(8, self.columns - 1), first=((" ", ""),)), EMPTY]
        return rows

    def cursor_moved(self, index: int) -> None:
        """Tell that another item is selected."""
        self._strips.clear()
        self.refresh()
        self.post_message(self.Moved())
