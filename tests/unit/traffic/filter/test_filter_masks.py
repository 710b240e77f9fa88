"""Masks give the same result as checking each number."""

from array import array

from hypothesis import given
from hypothesis import strategies as st

from tui.traffic.filter.filter import in_limits, placed, stretch
from tui.traffic.record.column_parts import both, either, inverted, table

NUMBERS = st.sampled_from([0, 1, 127, 128, 255, 256, 257, 65_535, 65_536, 2**32 - 1]) | st.integers(
    0, 2**32 - 1
)
LIMITS = NUMBERS | st.sampled_from([-1, 2**32, 2**70])


@given(st.lists(NUMBERS, max_size=20), st.lists(st.tuples(LIMITS, st.none() | LIMITS), max_size=3))
def test_a_mask_marks_numbers_in_one_of_several_ranges(
    numbers: list[int], limits: list[tuple[int, int | None]]
):
    expected = [
        any(low <= number and (high is None or number <= high) for low, high in limits) for number in numbers
    ]
    assert in_limits(array("q", numbers), limits) == bytes(expected)


@given(st.binary(max_size=20))
def test_masks_are_combined_and_inverted(raw: bytes):
    one, other = raw.translate(table({1, 2, 3})), raw.translate(table(range(3, 200)))
    assert both(one, other) == bytes(number == 3 for number in raw)
    assert either(one, other) == bytes(1 <= number < 200 for number in raw)
    assert inverted(one) == bytes(number not in (1, 2, 3) for number in raw)


@given(st.integers(0, 9), st.integers(-3, 12), st.integers(-3, 12))
def test_a_range_is_clipped_to_the_count(count: int, start: int, stop: int):
    assert stretch(count, start, stop) == bytes(start <= place < stop for place in range(count))


def test_positions_out_of_range_are_ignored():
    assert placed(3, [-1, 1, 3]) == b"\0\1\0"
