"""The list of the calls of one item: those of this run, then those of earlier runs under their days."""

import time
from collections.abc import Sequence
from itertools import groupby

from textual.message import Message

from tui.core import units
from tui.core.comparison.argument_words import argument_words
from tui.core.language.translate import _
from tui.core.text import cells_of, padded
from tui.ui.keys.bindings import bench_list_bindings
from tui.ui.widgets import times
from tui.ui.widgets.lines import LinePane
from tui.ui.widgets.rows import Row, crop, wrap
from tui.ui.widgets.symbols import OUTCOME_STYLES, symbols_for
from tui.ui.widgets.times import DAY
from tui.ui.workbench.calls import HandCall

ROOMY, WIDE = 24, 40
"""Minimum columns for showing the time of day next to the arguments, and its seconds."""


def state_sign(call: HandCall) -> tuple[str, str]:
    """Return the sign of the state of a call, and its style."""
    return symbols_for().outcomes[call.state], OUTCOME_STYLES[call.state]


def day_words(then: float, now: float) -> str:
    """Return the day of a call of an earlier run, as the heading of its calls."""
    day = units.day(then)
    if day == units.day(now):
        return _("earlier today")
    return _("yesterday") if day == units.day(now - DAY) else day


def _took(call: HandCall) -> str:
    return times.duration(call.took_ms) if call.took_ms is not None else "…"


class CallList(LinePane):
    """Shows calls, newest first. The marked call is the one to compare with."""

    CURSOR = True
    FOLLOWS = False
    BINDINGS = bench_list_bindings()

    class Moved(Message):
        """Another call is under the cursor."""

    def __init__(self) -> None:
        super().__init__()
        self._signs = symbols_for()
        self._calls: Sequence[HandCall] = ()
        self._number_cells = self._took_cells = 0
        self._rows: Sequence[HandCall | str] = ()
        self.empty = ""
        self.marked: HandCall | None = None

    def show(self, calls: Sequence[HandCall], selected: HandCall | None = None) -> None:
        """Show these calls, with the cursor on one of them, otherwise on the newest of this run.

        None is selected if all are of earlier runs, so that no old result is shown as that of the form.
        """
        self._calls = calls
        self._number_cells = max((len(str(call.number)) for call in calls), default=0)
        self._took_cells = max((cells_of(_took(call)) for call in calls), default=0)
        now, rows = time.time(), list[HandCall | str]()
        for day, of_day in groupby(calls, lambda call: day_words(call.at, now) if call.past else ""):
            rows += [*([day] if day else []), *of_day]
        self._rows = rows
        self.cursor = rows.index(selected) if selected is not None and selected in calls else 0
        self.rows_changed()
        self.show_row(self.cursor)

    @property
    def selected(self) -> HandCall | None:
        """The call under the cursor."""
        found = self._rows[self.cursor] if self.cursor < len(self._rows) else None
        return found if isinstance(found, HandCall) else None

    @property
    def before(self) -> HandCall | None:
        """The call to compare with: the marked one, otherwise the one before the selected one."""
        if self.marked is not None and self.marked in self._calls and self.marked is not self.selected:
            return self.marked
        older = self._rows[self.cursor + 1 :]
        return next((one for one in older if isinstance(one, HandCall) and one.result is not None), None)

    @property
    def newest(self) -> HandCall | None:
        """The newest call of this run."""
        return self._calls[0] if self._calls and self._calls[0].past is None else None

    def mark(self) -> None:
        self.marked = None if self.marked is self.selected else self.selected
        self.rows_changed()

    def row_count(self) -> int:
        return len(self._rows) or len(self._empty_rows())

    def row_selectable(self, index: int) -> bool:
        return index < len(self._rows) and isinstance(self._rows[index], HandCall)

    def row(self, index: int) -> Row:
        if not self._rows:
            return self._empty_rows()[index]
        call = self._rows[index]
        if isinstance(call, str):
            return ((f"  {call}", "dim bold"),)
        lead = self._signs.cursor if index == self.cursor else " "
        mark = self._signs.mark if call is self.marked else " "
        sign, style = state_sign(call)
        clock = f"{call.clock[: 8 if self.columns >= WIDE else 5]} " if self.columns >= ROOMY else ""
        number = f"{call.number:>{self._number_cells}} "
        head: Row = ((f"{lead}{mark}", "accent"), (f"{sign} ", style), (number, "text"), (clock, "dim"))
        took = f"{padded(_took(call), self._took_cells + 1, right=True)}  "
        at = self._calls.index(call)
        near = [one.arguments for one in (*self._calls[max(0, at - 1) : at], *self._calls[at + 1 : at + 2])]
        return crop((*head, (took, "text"), (argument_words(call.arguments, near), "dim")), self.columns)

    def _empty_rows(self) -> list[Row]:
        words = self.empty or _("No calls yet")
        return wrap(((words, "dim"),), max(8, self.columns - 1), first=((" ", ""),))

    def cursor_moved(self, index: int) -> None:
        self.repaint()
        self.post_message(self.Moved())
