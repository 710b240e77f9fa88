"""What will be expected of a kept call, as lines to switch on and off: the server, the time, what varies."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from tui.addons.tests.keep.keeping import Keeping
from tui.addons.tests.keep.target import Target, shown_server
from tui.addons.tests.keep.variation import Variation
from tui.addons.tests.suite.durations import duration_text
from tui.core.comparison.values import path_text
from tui.core.text import cells_of, clean_line
from tui.core.units import duration, plural
from tui.ui.widgets.lines import LinePane
from tui.ui.widgets.rows import EMPTY, Row, crop, pad, spread, width_of, wrap
from tui.ui.widgets.symbols import symbols_for

SERVER, TIME, AGAIN = "server", "time", "again"
"""The keys of lines that are no variations."""

MOST_WHERE = 26
PLACEHOLDER_CELLS = 10
VALUE_CHARS = 40
LEAST_SEEN = 12
"""Minimum cells for the values of a line, before the words why they vary."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the list; one with a `key` can be chosen."""

    row: Callable[[int], Row]
    key: Hashable = None


class KeepList(LinePane):
    """The lines; `chosen` gets the key of a line that the user switches."""

    CURSOR = True
    FOLLOWS = False

    DEFAULT_CSS = "KeepList { background: $panel; scrollbar-background: $panel; }"

    def __init__(self, chosen: Callable[[Hashable], None]) -> None:
        super().__init__()
        self._chosen = chosen
        self._lines: Sequence[Line] = ()

    def show(self, lines: Sequence[Line]) -> None:
        """Show these lines, with the cursor where it is, or on the first that can be chosen."""
        self._lines = lines
        self.rewrap()
        self.rows_changed()
        if lines and not self.row_selectable(self.cursor):
            first = next((at for at in range(len(lines)) if self.row_selectable(at)), 0)
            self.cursor = first

    def rewrap(self) -> None:
        self._shown_rows = [line.row(self.columns) for line in self._lines]

    def row_selectable(self, index: int) -> bool:
        return index < len(self._lines) and self._lines[index].key is not None

    def row_chosen(self, index: int) -> None:
        self._chosen(self._lines[index].key)


@dataclass(frozen=True, slots=True)
class Layout:
    """The cells of a line, and whether there is room for few lines only."""

    width: int
    is_short: bool = False


def lines_of(keeping: Keeping, target: Target, note: str, again: str, layout: Layout) -> list[Line]:
    """Return the lines for a call.

    `again` is the label of the line that calls twice more, or "". `note` says why that is not possible.
    """
    server, timed, width = _server(keeping, target), _time(keeping), layout.width
    head = [server, timed] if layout.is_short else [_heading("SERVER"), server, _blank()]
    lines = [*head, _heading("VARIES", _compared(keeping))]
    found = keeping.draft.variations
    whole = len(keeping.draft.parts) > 1  # otherwise, all paths begin with the same key
    names = [clean_line(one.where if whole else _below(one), 80) for one in found]
    cells = min(max(map(cells_of, names), default=0), MOST_WHERE, max(8, width // 3))
    lines += [
        _varying(one, name, cells, is_on=keeping.draft.is_on(one))
        for one, name in zip(found, names, strict=True)
    ]
    if not found:
        others = keeping.draft.exchange.others
        said = "Nothing differs." if others else "Nothing looks like a time or an id."
        lines.append(_words(said))
    if again:
        lines.append(Line(lambda cells: ((f"{symbols_for().result} ", "accent"), (again, "accent")), AGAIN))
    lines += [_words_row(row) for row in wrap(((note, "dim"),), max(20, width))] if note else []
    return lines if layout.is_short else [*lines, _blank(), _heading("TIME"), timed]


def _server(keeping: Keeping, target: Target) -> Line:
    there = target.suite.server if target.suite is not None else None
    if there is not None or not keeping.origin.configured:
        shown = there or target.server.server
        return _words(shown_server(shown), "text")
    words = (
        f"configured as “{clean_line(keeping.origin.name, 60)}”"
        if keeping.by_name
        else shown_server(target.server.server)
    )
    other = "space: command" if keeping.by_name else "space: name"
    return Line(lambda cells: _switch(words, other, cells, is_on=True), SERVER)


def _time(keeping: Keeping) -> Line:
    exchange, limit = keeping.draft.exchange, keeping.draft.within
    words = f"within {duration_text(limit)}"
    slowest, number = duration(max(exchange.ms, *exchange.other_ms, 0.0)), 1 + len(exchange.other_ms)
    took = f"took {slowest}" if number == 1 else f"slowest of {number}: {slowest}"
    return Line(lambda cells: _switch(words, took, cells, is_on=keeping.draft.timed), TIME)


def _compared(keeping: Keeping) -> str:
    number = len(keeping.draft.exchange.others)
    return f"compared with {plural(number, 'other result')}" if number else "no other result to compare with"


def _below(one: Variation) -> str:
    """Return the path of a variation without its first key, or that key alone."""
    return path_text(one.path[1:]) or one.where


def _varying(one: Variation, name: str, name_cells: int, *, is_on: bool) -> Line:
    def row(cells: int) -> Row:
        sign = symbols_for().running if is_on else symbols_for().stopped
        style = "text" if is_on else "dim"
        seen = ", ".join(clean_line(text, VALUE_CHARS) or "(empty)" for text in (one.value, *one.others))
        instead = clean_line(one.placeholder, PLACEHOLDER_CELLS) or "left out"
        left: Row = (
            (f"{sign} ", "accent" if is_on else "dim"),
            *pad(crop(((name, style),), name_cells), name_cells + 1),
            *pad(((instead, "tool" if is_on else "dim"),), PLACEHOLDER_CELLS),
        )
        why: Row = ((one.why, "warn" if one.required else "dim"),)
        room = cells - width_of(left)
        if width_of(why) + LEAST_SEEN > room:
            why = EMPTY
        return spread((*left, *crop(((seen, "dim"),), max(1, room - width_of(why) - 2))), why, cells)

    return Line(row, one)


def _switch(words: str, about: str, cells: int, *, is_on: bool) -> Row:
    sign = symbols_for().running if is_on else symbols_for().stopped
    left: Row = ((f"{sign} ", "accent" if is_on else "dim"), (words, "text" if is_on else "dim"))
    return spread(left, ((about, "dim"),), cells)


def _heading(text: str, about: str = "") -> Line:
    return Line(lambda cells: spread(((text, "dim bold"),), ((about, "dim"),), cells))


def _words(text: str, style: str = "dim") -> Line:
    return Line(lambda cells: crop(((text, style),), cells))


def _words_row(row: Row) -> Line:
    return Line(lambda cells: row)


def _blank() -> Line:
    return Line(lambda cells: EMPTY)


_DIALOG_CSS = """
DIALOG { align: center middle; background: $surface; }
DIALOG > Vertical {
    width: 94%; max-width: 156; height: 88%; min-height: 20; max-height: 46;
    padding: 1 2; margin: 0;
}
DIALOG .field { height: 1; margin-top: 1; }
DIALOG .field Literal { width: 7; color: $text-dim; }
DIALOG .field Input { width: 1fr; background: $field; background-tint: transparent; padding: 0 1; }
DIALOG #keep-note { margin-bottom: 1; padding-left: 7; background: $panel; }
DIALOG #keep-body { height: 1fr; }
DIALOG KeepList { width: 1fr; height: 1fr; }
DIALOG RowsPane {
    width: 1fr; height: 1fr; background: $panel; scrollbar-background: $panel;
    border-left: solid $rule; padding-left: 2; margin-left: 1;
}
DIALOG.-narrow #keep-body { layout: vertical; }
DIALOG.-narrow RowsPane {
    border-left: none; border-top: solid $rule; padding-left: 0; margin-left: 0;
}
DIALOG.-short > Vertical { height: 100%; padding: 0 2; width: 100%; }
DIALOG.-short .field { margin-top: 0; }
"""


def keep_css(dialog: str) -> str:
    """Return the styles of a dialog that keeps something: two fields, a list of parts and a preview."""
    return _DIALOG_CSS.replace("DIALOG", dialog)
