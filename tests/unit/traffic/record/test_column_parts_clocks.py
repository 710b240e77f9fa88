"""The offset of the wall clock is known for each entry."""

from tui.traffic.record.column_parts import STEP_NS, Clocks


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
