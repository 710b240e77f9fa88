"""Preview: a pane beside a list that shows what is selected in it. It never has the focus."""

from collections.abc import Sequence
from dataclasses import dataclass

from tui.ui.widgets.page import Page, Sheet
from tui.ui.widgets.rows import EMPTY, Row, spread

MOST_ROWS = 200
"""Maximum rows of a section."""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a preview: the line above it, and its rows."""

    left: Row
    right: Row
    sheet: Sheet


class Sections(Sheet):
    """Sections below each other, each with up to `MOST_ROWS` rows."""

    def __init__(self, sections: Sequence[Section]) -> None:
        self._sections = sections
        self._places: list[tuple[Section | None, int]] = []
        self._arrange()

    def count(self) -> int:
        return len(self._places)

    def row(self, index: int, width: int) -> Row:
        section, row = self._places[index]
        if section is None:
            return EMPTY
        return section.sheet.row(row, width) if row >= 0 else spread(section.left, section.right, width)

    def fit(self, width: int) -> None:
        for one in self._sections:
            one.sheet.fit(width)
        self._arrange()

    def _arrange(self) -> None:
        self._places = []
        for one in self._sections:
            self._places += [(None, 0)] if self._places else []
            self._places += [(one, row) for row in range(-1, min(MOST_ROWS, one.sheet.count()))]


class Preview(Page, can_focus=False):
    """Shows sections; the wheel scrolls them."""

    CURSOR = False

    def row_selectable(self, index: int) -> bool:
        return False
