"""The parts of columns: numbers for names, offsets of the clock, rows."""

from typing import Any

import pytest

from tests.cases import each_case
from tui.traffic.record.column_parts import MAX_NAMES, STEP_NS, Clocks, Names, RowParts, mark_of, marks_of


def test_each_name_has_one_number_and_the_empty_name_has_0() -> None:
    names = Names()
    assert list(names.numbers(["", "a", "b", "a"])) == [0, 1, 2, 1]
    assert list(names.numbers(["b", "c", "b"])) == [2, 3, 2]
    assert names.texts == ["", "a", "b", "c"]


def test_names_over_the_limit_become_other() -> None:
    names = Names()
    *_, last = names.numbers([str(number) for number in range(MAX_NAMES + 5)])
    assert names.texts[last] == "(other)"


def test_any_text_has_a_hash() -> None:
    first, *others = marks_of(["", "1", "ä", "\ud800"])
    assert (first, mark_of("1")) == (0, others[0]) and all(others)


def test_each_entry_has_the_last_recorded_offset() -> None:
    clocks = Clocks()
    clocks.note_all(0, [5, 5, 5 + STEP_NS, 6 + 2 * STEP_NS])
    assert [clocks.offset(index) for index in (0, 2, 3, 9)] == [5, 5, 6 + 2 * STEP_NS, 6 + 2 * STEP_NS]
    assert list(clocks.ranges(1, 6)) == [(1, 3, 5), (3, 6, 6 + 2 * STEP_NS)]


def test_offsets_of_later_entries_are_merged() -> None:
    clocks, behind = Clocks(), Clocks()
    clocks.note(0, 1)
    behind.note(4, 3 * STEP_NS)
    clocks.add(behind)
    assert list(clocks.ranges(0, 6)) == [(0, 4, 1), (4, 6, 3 * STEP_NS)]


ROW = (1, 10, 25, "s", 1, 1, "m", "", "1", 5, 0, 1, 0, None, None, None)


def test_rows_become_columns_with_the_offset_of_the_clock():
    parts = RowParts([ROW, (2, *ROW[1:])])
    assert (parts.seq, list(parts.offsets), parts.method) == ((1, 2), [15, 15], ("m", "m"))


@each_case(
    ("column", "value"),
    [(1, -1), (2, -(1 << 62) - 1), (2, 2.5), (4, 3), (5, 0), (5, 12), (5, "x"), (12, 9), (1, None)],
)
def test_an_out_of_range_number_is_refused(column: int, value: Any):
    row = [*ROW]
    row[column] = value
    with pytest.raises((OverflowError, TypeError, ValueError)):
        RowParts([ROW, tuple(row)])
