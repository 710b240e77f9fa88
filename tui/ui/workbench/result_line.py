"""The line over a result: how the call is doing, how far it is, how long it took, or why it was not made."""

import time

from tui.core import units
from tui.core.text import clean_line
from tui.ui.widgets.bar import Bar, spread
from tui.ui.widgets.rows import Row
from tui.ui.widgets.symbols import Symbols
from tui.ui.workbench.calls import HandCall, State
from tui.ui.workbench.history import state_sign

BAR_CELLS, FEW_CELLS = 16, 8
ROOMY = 44
"""From so many columns on there is room for the number of the call."""

WIDE = 72
"""From so many on for the longer bar."""


class ResultLine(Bar):
    """Shows one call, or a sentence.

    Attributes:
        note: what is to be said instead of how the call is doing, a row; or nothing.
        what: what of the call is shown: "" for its result, or "compared".
    """

    def __init__(self, signs: Symbols) -> None:
        super().__init__(classes="result-line")
        self._signs = signs
        self._call: HandCall | None = None
        self.note: Row = ()
        self.what = ""

    def show(self, call: HandCall | None) -> None:
        """Show a call."""
        self._call = call
        self.refresh()

    def say(self, *row: tuple[str, str]) -> None:
        """Say something instead; nothing to show the call again."""
        self.note = row
        self.refresh()

    def row(self, width: int) -> Row:
        """Return the line."""
        call = self._call
        right: Row = ()
        if call is not None and width >= ROOMY:
            right = ((f"call {call.number} ", "dim"),)
        if self.note:
            return spread(((" ", ""), *self.note), right, width)
        if call is None:
            return ((" RESULT", "dim bold"),)
        if call.state is State.RUNNING:
            cells = BAR_CELLS if width >= WIDE else FEW_CELLS
            return spread(_running(call, self._signs, cells), (("esc stops it ", "accent"),), width)
        sign, style = state_sign(call, self._signs)
        took = units.duration(call.took_ms) if call.took_ms is not None else ""
        size = f"   {units.size(call.size)}" if call.result is not None else ""
        head = "COMPARED" if self.what else "RESULT"
        row: Row = ((f" {head}  ", "dim bold"), (f"{sign} {call.state}", style))
        return spread((*row, (f"   {took}{size}", "text")), right, width)


def _running(call: HandCall, signs: Symbols, cells: int) -> Row:
    elapsed = (time.monotonic_ns() - call.began_ns) / 1e6
    row: Row = ((f" {signs.outcomes[1]} running", "warn bold"), (f"   {units.duration(elapsed)}   ", "text"))
    if call.progress is None:
        return row
    done, total, message = call.progress
    words = clean_line(message, 120)
    if total and total > 0:
        share = max(0.0, min(1.0, done / total))
        full = round(share * cells)
        row = (*row, (signs.thin * full, "accent"), (signs.rule * (cells - full), "rule"))
        row = (*row, (f" {share * 100:.0f} %  ", "text"))
    else:
        row = (*row, (f"{units.amount(done)}  ", "text"))
    return (*row, (words, "dim"))
