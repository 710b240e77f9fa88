"""Two values side by side, line by line, with only the differences highlighted. Pure."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from tui.core.comparison.values import LinePair
from tui.ui.widgets.page import Lines
from tui.ui.widgets.rows import EMPTY, Row, pad, wrap

AROUND = 3
"""Equal lines to show before and after a difference."""


def parts_that_differ(before: str, after: str) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the differing part of two lines: start and end in each, without common prefix and suffix."""
    most = min(len(before), len(after))
    start = next((place for place in range(most) if before[place] != after[place]), most)
    end = 0
    while end < most - start and before[-1 - end] == after[-1 - end]:
        end += 1
    return (start, len(before) - end), (start, len(after) - end)


def side_by_side_rows(pairs: Sequence[LinePair], width: int) -> list[Row]:
    """Return the pairs as rows of a width; equal lines far from a difference are only counted."""
    cells = max(8, (width - 5) // 2)
    rows: list[Row] = []
    for at, stop in _stretches(pairs):
        if at < 0:
            count = f"{stop} equal line{'s' if stop != 1 else ''}"
            rows.append(((f"  {'┄' * 3} {count}", "rule"),))
            continue
        for pair in pairs[at:stop]:
            rows += _pair_rows(pair, cells)
    return rows


def _stretches(pairs: Sequence[LinePair]) -> Iterator[tuple[int, int]]:
    """Yield ranges to show, and (-1, number of lines) for omitted lines."""
    shown = bytearray(len(pairs))
    for place, pair in enumerate(pairs):
        if not pair.same:
            start, stop = max(0, place - AROUND), min(len(pairs), place + AROUND + 1)
            shown[start:stop] = b"\x01" * (stop - start)
    place = 0
    while place < len(pairs):
        stop = shown.find(b"\0" if shown[place] else b"\x01", place)
        stop = len(pairs) if stop < 0 else stop
        yield (place, stop) if shown[place] else (-1, stop - place)
        place = stop


def _pair_rows(pair: LinePair, cells: int) -> list[Row]:
    old, new = pair.before, pair.after
    sign, style = (" ", "") if pair.same else ("-", "bad") if new is None else ("+", "ok")
    if pair.same or old is None or new is None:
        left: Row = ((old or "", "dim" if pair.same else "bad"),)
        right: Row = ((new or "", "dim" if pair.same else "ok"),)
    else:
        sign, style = "~", "warn"
        mine, other = parts_that_differ(old, new)
        left, right = _marked(old, mine, "bad bold"), _marked(new, other, "ok bold")
    rows: list[Row] = []
    for one, two in zip_longest(wrap(left, cells), wrap(right, cells), fillvalue=EMPTY):
        lead = ((f"{sign} ", style),) if not rows else (("  ", ""),)
        rows.append((*lead, *pad(one, cells), (" │ ", "rule"), *two))
    return rows


def _marked(line: str, part: tuple[int, int], style: str) -> Row:
    start, end = part
    spans = ((line[:start], "text"), (line[start:end], style), (line[end:], "text"))
    return tuple(span for span in spans if span[0]) or EMPTY


class SideBySide(Lines):
    """A sheet with two values side by side, followed by `notes`."""

    def __init__(self, pairs: Sequence[LinePair], notes: Sequence[Row] = ()) -> None:
        super().__init__(())
        self._pairs, self._notes = pairs, notes

    def fit(self, width: int) -> None:
        self._rows = side_by_side_rows(self._pairs, max(20, width))
        self._rows += [EMPTY, *self._notes] if self._notes else []
