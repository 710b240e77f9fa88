"""Two values side by side: indented, paired line by line, with only the differences highlighted."""

from tui.ui.traffic.side_by_side import (
    AROUND,
    MOST_LINES,
    LinePair,
    SideBySide,
    line_pairs,
    lines_of,
    parts_that_differ,
    side_by_side_rows,
)
from tui.ui.widgets.rows import text_of, width_of


def test_json_is_indented_and_cleaned():
    assert lines_of({"a": [1, {"b": "x\x1b"}], "c": {}}) == [
        "{", '  "a": [', "    1", "    {", '      "b": "x\\u001b"', "    }", "  ]", '  "c": {}', "}",
    ]  # fmt: skip


def test_text_results_keep_their_lines_and_json_in_text_is_indented():
    assert lines_of({"text": "one\ntwo"}) == ["{", '  "text": text:', "    one", "    two", "}"]
    assert lines_of('{"a": 1}') == ["JSON as text:", "  {", '    "a": 1', "  }"]


def test_large_or_deeply_nested_values_are_bounded():
    assert len(lines_of(list(range(10_000)))) == MOST_LINES + 1
    deep: list[object] = []
    for _ in range(500):
        deep = [deep]
    assert len(lines_of(deep)) < 200


def test_lines_that_differ_are_paired():
    pairs = line_pairs(["{", "  1", "}"], ["{", "  2", "  3", "}"], masked=False)
    assert pairs == [
        LinePair("{", "{", True), LinePair("  1", "  2"), LinePair(None, "  3"), LinePair("}", "}", True),
    ]  # fmt: skip


def test_times_ids_and_durations_are_expected_to_differ():
    before = ['  "id": 1', '  "took": "3 ms"', '  "n": 1']
    after = ['  "id": 2', '  "took": "9 ms"', '  "n": 2']
    assert [pair.same for pair in line_pairs(before, after, masked=True)] == [True, True, False]
    assert not any(pair.same for pair in line_pairs(before, after, masked=False))


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
