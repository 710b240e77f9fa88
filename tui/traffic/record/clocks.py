"""The wall clock of entries, as offsets to their monotonic one."""

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator

STEP_NS = 1_000_000
"""A new offset starts where the wall clock moved by more than this."""


class Clocks:
    """Wall minus monotonic nanoseconds, by the index of an entry. Indices are noted in order."""

    def __init__(self) -> None:
        self._starts = array("q")
        self._offsets = array("q")

    def note(self, index: int, offset: int) -> None:
        if not self._offsets or abs(offset - self._offsets[-1]) > STEP_NS:
            self._starts.append(index)
            self._offsets.append(offset)

    def note_all(self, start: int, offsets: Iterable[int]) -> None:
        """Note the offsets of neighbors, the first of which has the index `start`."""
        last = None
        for index, offset in enumerate(offsets, start):
            if offset != last:
                self.note(index, offset)
                last = offset

    def add(self, other: "Clocks") -> None:
        """Note what was noted in another, whose indices are behind those in here."""
        for index, offset in zip(other._starts, other._offsets, strict=True):
            self.note(index, offset)

    def offset(self, index: int) -> int:
        return self._offsets[bisect_right(self._starts, index) - 1]

    def ranges(self, start: int, stop: int) -> Iterator[tuple[int, int, int]]:
        """Yield the ranges of `start` to `stop` with one offset: from, to, offset."""
        place = max(0, bisect_right(self._starts, start) - 1)
        while start < stop:
            later = place + 1 < len(self._starts)
            end = min(stop, self._starts[place + 1]) if later else stop
            yield start, end, self._offsets[place]
            start, place = end, place + 1
