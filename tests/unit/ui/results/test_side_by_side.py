"""Two values side by side: indented, paired line by line, with only the differences highlighted."""

from tui.core.comparison.values import LinePair
from tui.ui.results.side_by_side import AROUND, SideBySide, parts_that_differ, side_by_side_rows
from tui.ui.widgets.rows import text_of, width_of


def test_only_the_differing_part_is_highlighted():
    assert parts_that_differ('"a": 25 °C', '"a": 31 °C') == ((5, 7), (5, 7))
    assert parts_that_differ("aa", "aaa") == ((2, 2), (2, 3))
    (row,) = side_by_side_rows([LinePair("x 25 y", "x 31 y")], 60)
    assert ("25", "bad bold") in row and ("31", "ok bold") in row


def test_equal_lines_far_from_a_difference_are_counted():
    pairs = [LinePair("same", "same", True)] * 20 + [LinePair("old", "new")]
    rows = [text_of(row) for row in side_by_side_rows(pairs, 60)]
    assert len(rows) == 1 + AROUND + 1
    assert f"{20 - AROUND} equal lines" in rows[0]


def test_rows_fit_every_width():
    pairs = [LinePair("wide 中文 " * 20, None), LinePair("a " * 90, "b " * 10)]
    for width in (30, 76, 196):
        sheet = SideBySide(pairs)
        sheet.fit(width)
        assert sheet.count() > 2
        assert all(width_of(sheet.row(index, width)) <= width for index in range(sheet.count()))
