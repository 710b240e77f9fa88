"""The list of all cases, by file."""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from tui.addons.tests.review.catalog import Listed, ListedFile
from tui.addons.tests.screens.case_rows import Columns, Doing, case_row, empty_rows, file_rows
from tui.ui.keys.bindings import overrides_of
from tui.ui.widgets.lines import LinePane
from tui.ui.widgets.rows import EMPTY, Row
from tui.ui.widgets.symbols import symbols_for

Key = tuple[Path, str, str]
IDLE = Doing()


class CaseList(LinePane):
    """Shows files with their cases. The cursor stays on its case if that still exists."""

    CURSOR = True
    FOLLOWS = False

    def __init__(self, moved: Callable[[], object], chosen: Callable[[], object]) -> None:
        super().__init__(id="cases")
        self._moved, self._chosen = moved, chosen
        self._signs = symbols_for()
        self._files: Sequence[tuple[ListedFile, Sequence[Listed]]] = ()
        self._lines: list[Row | Listed] = []
        self._doing: Mapping[Key, Doing] = {}
        self._folder = ""
        self._columns = Columns(0, 0, 0)
        self._note: Row = EMPTY

    def show(self, files: Sequence[tuple[ListedFile, Sequence[Listed]]], folder: str, note: Row) -> None:
        """Show these files with their cases; without any, `note`, or how to keep the first call."""
        before = self.selected
        self._files, self._folder, self._note = files, folder, note
        self._lay_out(before.key if before is not None else None)
        self.rows_changed()
        self.show_row(self.cursor)
        self._moved()

    def show_doing(self, doing: Mapping[Key, Doing]) -> None:
        """Show which cases run or wait."""
        if doing != self._doing:
            self._doing = dict(doing)
            self.repaint()

    @property
    def selected(self) -> Listed | None:
        """The case under the cursor."""
        found = self._lines[self.cursor] if self.cursor < len(self._lines) else None
        return found if isinstance(found, Listed) else None

    @property
    def cases(self) -> list[Listed]:
        """All listed cases."""
        return [one for _, cases in self._files for one in cases]

    @property
    def running(self) -> Collection[Key]:
        return self._doing.keys()

    def _lay_out(self, key: Key | None) -> None:
        lines: list[Row | Listed] = []
        width = max(20, self.columns)
        self._columns = Columns.of(width, self.cases)
        for file, cases in self._files:
            lines += [*file_rows(file, width), *cases]
        if not self._files:
            keep = overrides_of(self.app).first_of("keep.call")
            lines += [EMPTY, self._note] if self._note else empty_rows(self._folder, keep, width)
        self._lines = lines
        places = {one.key: at for at, one in enumerate(lines) if isinstance(one, Listed)}
        first = next(iter(places.values()), 0)
        self.cursor = places.get(key, first) if key is not None else first

    def rewrap(self) -> None:
        before = self.selected
        self._lay_out(before.key if before is not None else None)

    def row_count(self) -> int:
        return max(1, len(self._lines))

    def row_selectable(self, index: int) -> bool:
        return index < len(self._lines) and isinstance(self._lines[index], Listed)

    def row(self, index: int) -> Row:
        line = self._lines[index] if index < len(self._lines) else EMPTY
        if not isinstance(line, Listed):
            return line
        doing, is_here = self._doing.get(line.key, IDLE), index == self.cursor
        return case_row(line, doing, self._signs, self._columns, time.time(), cursor=is_here)

    def cursor_moved(self, index: int) -> None:
        self.repaint()
        self._moved()

    def row_chosen(self, index: int) -> None:
        self._chosen()
