"""The wall clock of entries, as offsets from their monotonic clock."""

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator

STEP_NS = 1_000_000
"""A new offset starts when the wall clock jumped by more than this."""


class Clocks:
    """Wall minus monotonic nanoseconds, by the index of an entry. Indices are added in order."""

    def __init__(self) -> None:
        self._starts = array("q")
        self._offsets = array("q")

    def note(self, index: int, offset: int) -> None:
        if not self._offsets or abs(offset - self._offsets[-1]) > STEP_NS:
            self._starts.append(index)
            self._offsets.append(offset)

    def note_all(self, start: int, offsets: Iterable[int]) -> None:
        """Add the offsets of consecutive entries, the first of which has the index `start`."""
        last = None
        for index, offset in enumerate(offsets, start):
            if offset != last:
                self.note(index, offset)
                last = offset

    def add(self, other: "Clocks") -> None:
        """Add the offsets of another object, whose indices follow those of this one."""
        for index, offset in zip(other._starts, other._offsets, strict=True):
            self.note(index, offset)

    def offset(self, index: int) -> int:
        return self._offsets[bisect_right(self._starts, index) - 1]

    def ranges(self, start: int, stop: int) -> Iterator[tuple[int, int, int]]:
        """Yield the parts of `start` to `stop` with the same offset: from, to, offset."""
        place = max(0, bisect_right(self._starts, start) - 1)
        while start < stop:
            later = place + 1 < len(self._starts)
            end = min(stop, self._starts[place + 1]) if later else stop
            yield start, end, self._offsets[place]
            start, place = end, place + 1
