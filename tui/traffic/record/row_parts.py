"""Rows of a recording as columns, with a check of their numbers."""

from array import array
from collections.abc import Sequence
from operator import sub
from typing import Any

from tui.core.traffic import PROBE_METHOD, Direction, Kind, Outcome

ListRow = tuple[Any, ...]
"""An entry as `EntryColumns.extend` takes it."""


class RowParts:
    """Rows as columns, and the wall clock offset of each row.

    Raises OverflowError, TypeError or ValueError for a time, kind, direction or outcome that no entry has.
    """

    def __init__(self, rows: Sequence[ListRow]) -> None:
        columns: list[Any] = list(zip(*rows, strict=True))
        (
            self.seq, self.mono, wall, self.source, self.direction, self.kind, self.method, self.tool,
            self.ident, self.size, self.pair, self.root, self.outcome, self.turn, self.step, self.call,
        ) = columns  # fmt: skip
        self.offsets = array("q", map(sub, wall, self.mono))
        if min(self.mono) < 0 or min(wall) < 0:
            raise ValueError("a time before 1970")
        if min(self.kind) < 1 or max(self.kind) > max(Kind):
            raise ValueError("unknown kind")
        if max(self.direction) > max(Direction) or max(self.outcome) > max(Outcome):
            raise ValueError("unknown direction or outcome")


def excuse_probes(outcomes: "array[int]", methods: Sequence[str]) -> None:
    """Change errors of probes in older recordings to the outcome that they have now."""
    if PROBE_METHOD in methods:
        for place, method in enumerate(methods):
            if method == PROBE_METHOD and outcomes[place] == Outcome.ERROR:
                outcomes[place] = Outcome.PROBE
