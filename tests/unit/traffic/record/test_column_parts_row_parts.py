"""Splitting rows into columns, with out-of-range numbers refused."""

from typing import Any

import pytest

from tui.traffic.record.column_parts import RowParts

ROW = (1, 10, 25, "s", 1, 1, "m", "", "1", 5, 0, 1, 0, None, None, None)


def test_rows_become_columns_with_the_offset_of_the_clock():
    parts = RowParts([ROW, (2, *ROW[1:])])
    assert (parts.seq, list(parts.offsets), parts.method) == ((1, 2), [15, 15], ("m", "m"))


@pytest.mark.parametrize(
    ("column", "value"),
    [(1, -1), (2, -(1 << 62) - 1), (2, 2.5), (4, 3), (5, 0), (5, 12), (5, "x"), (12, 9), (1, None)],
)
def test_an_out_of_range_number_is_refused(column: int, value: Any):
    row = [*ROW]
    row[column] = value
    with pytest.raises((OverflowError, TypeError, ValueError)):
        RowParts([ROW, tuple(row)])
