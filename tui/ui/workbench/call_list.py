"""The calls made by hand of one item: the newest first, one line each."""

import json
from collections.abc import Sequence

from textual.message import Message

from tui.core import units
from tui.core.text import clean_line
from tui.ui.keys.bindings import bench_list_bindings
from tui.ui.widgets.lines import LinePane
from tui.ui.widgets.rows import Row, crop, wrap
from tui.ui.widgets.symbols import Symbols
from tui.ui.workbench.calls import HandCall, State

ROOMY = 24
"""From so many columns on there is room for the time of day beside the arguments."""


def state_sign(call: HandCall, signs: Symbols) -> tuple[str, str]:
    """Return the sign of how a call is doing, and its style."""
    waiting, done, failed, cancelled, lost = (signs.outcomes[index] for index in (1, 2, 3, 5, 6))
    return {
        State.RUNNING: (waiting, "warn"),
        State.DONE: (done, "ok"),
        State.FAILED: (failed, "bad"),
        State.LOST: (lost, "bad"),
        State.CANCELLED: (cancelled, "warn"),
    }[call.state]


class CallList(LinePane):
    """Shows calls; the one under the cursor is the one whose result is read.

    Attributes:
        marked: the call that others are compared with.
    """

    CURSOR = True
    FOLLOWS = False
    BINDINGS = bench_list_bindings()

    class Moved(Message):
        """Another call is under the cursor."""

    def __init__(self, signs: Symbols, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._signs = signs
        self._calls: Sequence[HandCall] = ()
        self.marked: HandCall | None = None

    def show(self, calls: Sequence[HandCall], selected: HandCall | None = None) -> None:
        """List these calls, with the cursor on one of them."""
        self._calls = calls
        self.cursor = calls.index(selected) if selected in calls else 0
        self.rows_changed()
        self.show_row(self.cursor)

    @property
    def selected(self) -> HandCall | None:
        """The call under the cursor."""
        return self._calls[self.cursor] if self.cursor < len(self._calls) else None

    @property
    def before(self) -> HandCall | None:
        """What the selected call is compared with: the marked one, else the one before it."""
        if self.marked is not None and self.marked in self._calls and self.marked is not self.selected:
            return self.marked
        older = self._calls[self.cursor + 1 :]
        return next((call for call in older if call.result is not None), None)

    def mark(self) -> None:
        """Mark the selected call, or take its mark away."""
        self.marked = None if self.marked is self.selected else self.selected
        self.rows_changed()

    # ---- what the pane shows ----

    def row_count(self) -> int:
        """Return how many rows there are."""
        return len(self._calls) or len(self._empty_rows())

    def row_selectable(self, index: int) -> bool:
        """The cursor stands on calls only."""
        return index < len(self._calls)

    def row(self, index: int) -> Row:
        """Return the line of a call."""
        if not self._calls:
            return self._empty_rows()[index]
        call = self._calls[index]
        lead = self._signs.cursor if index == self.cursor else " "
        mark = self._signs.mark if call is self.marked else " "
        sign, style = state_sign(call, self._signs)
        took = units.duration(call.took_ms) if call.took_ms is not None else "…"
        members = _members(call.arguments)
        if len(members) == 1:  # its name is the same in every line, and there is little room
            members = [("", members[0][1])]
        asked = ", ".join(_argument(name, value) for name, value in members)
        clock = f"{call.clock[:5]} " if self.columns >= ROOMY else ""
        head: Row = ((f"{lead}{mark}", "accent"), (f"{sign} ", style), (clock, "dim"))
        return crop((*head, (f"{took:>7}  ", "text"), (asked, "dim")), self.columns)

    def _empty_rows(self) -> list[Row]:
        words = "Nothing is called yet."
        return wrap(((words, "dim"),), max(8, self.columns - 1), first=((" ", ""),))

    def cursor_moved(self, index: int) -> None:
        """Tell that another call is selected."""
        self._strips.clear()
        self.refresh()
        self.post_message(self.Moved())


def _members(arguments: object) -> list[tuple[str, object]]:
    if isinstance(arguments, dict):
        return list(arguments.items())[:8]
    return [("", arguments)]


def _argument(name: str, value: object) -> str:
    text = clean_line(json.dumps(value, ensure_ascii=False, default=str)[:300], 40)
    return f"{clean_line(name, 24)} {text}" if name else text
