"""Tables: cells that fit the width, wrapped inside their column. Pure."""

from collections.abc import Sequence
from itertools import zip_longest

from tui.ui.widgets.rows import EMPTY, Row, pad, width_of, wrap

GAP = 3
NARROWEST = 6


def table_rows(
    head: Sequence[Row], body: Sequence[Sequence[Row]], aligns: Sequence[str], width: int
) -> list[Row]:
    """Return a table as rows: the head, a thin rule, the lines; cells wrap inside their column.

    Args:
        head: the cells of the head.
        body: the cells of each line; lines may be shorter than the head.
        aligns: "left", "right" or "center" for each column.
        width: cells that there are.
    """
    columns = len(head)
    widths = _widths([head, *body], columns, width)
    if widths is None:
        return _stacked(head, body, width)
    rows = _line(head, widths, aligns)
    rows.append((("─" * (sum(widths) + GAP * (columns - 1)), "rule"),))
    tall = any(width_of(cell) > widths[i] for line in body for i, cell in enumerate(line[:columns]))
    for number, line in enumerate(body):
        if tall and number:
            rows.append(EMPTY)
        rows += _line(line, widths, aligns)
    return rows


def _widths(lines: Sequence[Sequence[Row]], columns: int, width: int) -> list[int] | None:
    """Return the widths of the columns; None if there are too many for the width."""
    room = width - GAP * (columns - 1)
    wanted = [
        max([width_of(line[i]) for line in lines if i < len(line)], default=1) or 1 for i in range(columns)
    ]
    if sum(wanted) <= room:
        return wanted
    if columns * NARROWEST > room:
        return None
    # Narrow columns keep what they want, wide ones share the rest: the water level that fits.
    widths = wanted[:]
    left, open_columns = room, sorted(range(columns), key=lambda i: wanted[i])
    while open_columns:
        level = left // len(open_columns)
        column = open_columns.pop(0)
        widths[column] = min(wanted[column], max(NARROWEST, level))
        left -= widths[column]
    return widths


def _line(cells: Sequence[Row], widths: Sequence[int], aligns: Sequence[str]) -> list[Row]:
    wrapped = [
        wrap(cell, widths[i]) if i < len(cells) else [EMPTY]
        for i, cell in enumerate([*cells, *[EMPTY] * (len(widths) - len(cells))][: len(widths)])
    ]
    rows: list[Row] = []
    for parts in zip_longest(*wrapped, fillvalue=EMPTY):
        row: Row = EMPTY
        for i, part in enumerate(parts):
            if i:
                row = (*row, (" " * GAP, ""))
            row = (*row, *_aligned(part, widths[i], aligns[i] if i < len(aligns) else "left"))
        rows.append(row)
    return rows


def _aligned(part: Row, width: int, align: str) -> Row:
    part = tuple([span for span in part if span[0]])  # lines of a cell are never joined: cells stand between
    spare = max(0, width - width_of(part))
    before = {"right": spare, "center": spare // 2}.get(align, 0)
    return pad(((" " * before, ""), *part) if before else part, width)


def _stacked(head: Sequence[Row], body: Sequence[Sequence[Row]], width: int) -> list[Row]:
    """Return the table as name and value below each other, for widths that columns do not fit."""
    rows: list[Row] = []
    for number, line in enumerate(body):
        if number:
            rows.append(EMPTY)
        for name, cell in zip(head, line, strict=False):
            rows += wrap((*name, ("  ", ""), *cell), width, rest=(("  ", ""),))
    return rows or [row for cell in head for row in wrap(cell, width)]
