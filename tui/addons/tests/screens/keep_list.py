"""The list of a keep dialog: what will be expected, as lines to switch on and off."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial

from tui.addons.tests.keep.target import Target, shown_server
from tui.ui.widgets.lines import LinePane
from tui.ui.widgets.rows import EMPTY, Row, crop, spread, wrap
from tui.ui.widgets.symbols import symbols_for

SERVER = "server"
"""The key of the line of the server."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the list; one with a `key` can be chosen."""

    row: Callable[[int], Row]
    key: Hashable = None


@dataclass(frozen=True, slots=True)
class Layout:
    """The cells of a line, and whether there is room for few lines only."""

    width: int
    is_short: bool = False


BLANK = Line(lambda cells: EMPTY)


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


def heading(text: str, about: str = "") -> Line:
    """Return a heading, with a remark at the right."""
    return Line(lambda cells: spread(((text, "dim bold"),), ((about, "dim"),), cells))


def sentences(text: str, width: int) -> list[Line]:
    """Return lines with a text, wrapped."""
    return [Line(partial(crop, row)) for row in wrap(((text, "dim"),), max(20, width))] if text else []


def switch(text: str, about: str, key: Hashable, *, is_on: bool, indent: int = 0) -> Line:
    """Return a line that is switched on or off, with a remark at the right."""
    sign, style = (symbols_for().running, "accent") if is_on else (symbols_for().stopped, "dim")
    left: Row = ((f"{' ' * indent}{sign} ", style), (text, "text" if is_on else "dim"))
    return Line(lambda cells: spread(left, ((about, "dim"),), cells), key)


def server_of(target: Target) -> str:
    """Return the server that a file names, or would name, as a person reads it."""
    there = target.suite.server if target.suite is not None else None
    return shown_server(there or target.server.server)
