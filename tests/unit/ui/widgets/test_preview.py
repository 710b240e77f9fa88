"""Sections of a preview."""

from tui.ui.widgets.page import Lines
from tui.ui.widgets.preview import MOST_ROWS, Section, Sections
from tui.ui.widgets.rows import text_of


def test_each_section_has_its_heading_and_a_blank_row_before_the_next() -> None:
    sheet = Sections(
        [
            Section(((name, "text"),), (("12 B", "dim"),), Lines([(("a word or two", "text"),)]))
            for name in "ab"
        ]
    )
    sheet.fit(10)
    rows = [text_of(sheet.row(index, 12)).rstrip() for index in range(sheet.count())]
    assert rows == ["a       12 B", "a word or", "two", "", "b       12 B", "a word or", "two"]


def test_a_long_section_is_cut() -> None:
    lines = Lines([(("x", "text"),)] * (MOST_ROWS + 5))
    assert Sections([Section((), (), lines)]).count() == MOST_ROWS + 1
