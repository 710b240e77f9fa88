"""The parts of the columns of entries: names as numbers, clock offsets, checked rows, and masks over them.

A mask has one byte per entry, 1 for yes. That of a column of bytes is made by `bytes.translate`, without a
step of the interpreter per entry, and masks are combined as integers: 1 ms for a million entries.
"""

from array import array
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from operator import sub
from typing import Any
from zlib import crc32

from tui.core.traffic import FIRST_NS, PROBE_METHOD, Direction, Kind, Outcome

MAX_NAMES = 65_535
"""Maximum distinct names of one kind. Further ones become "(other)"."""


class Names:
    """Stores repeated texts as small numbers. Number 0 is ""."""

    def __init__(self) -> None:
        self.texts: list[str] = [""]
        self._numbers: dict[str, int] = {"": 0}

    def numbers(self, texts: Sequence[str]) -> Iterator[int]:
        """Yield the numbers of texts; each distinct text is looked up once."""
        known: dict[str, int] = {}
        for text in dict.fromkeys(texts):
            if not isinstance(text, str):
                raise TypeError(f"{text!r:.80} is not a name")
            name = text if text in self._numbers or len(self.texts) < MAX_NAMES else "(other)"
            if name not in self._numbers:
                self._numbers[name] = len(self.texts)
                self.texts.append(name)
            known[text] = self._numbers[name]
        return map(known.__getitem__, texts)


def mark_of(text: str) -> int:
    """Return a 32-bit hash of an id, 0 for ""; different ids nearly always have different hashes."""
    return marks_of([text])[0]


def marks_of(texts: Iterable[str]) -> list[int]:
    """Return the `mark_of` each text; raises TypeError for another value."""
    return [crc32(str.encode(text, "utf-8", "replace")) for text in texts]


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
        if min(self.mono) < 0 or min(wall) < FIRST_NS:
            raise ValueError("a time that no clock has")
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


_INVERT = bytes((1, *([0] * 255)))


def table(numbers: Collection[int]) -> bytes:
    """Return the table for `bytes.translate` that maps these numbers to 1."""
    return bytes(number in numbers for number in range(256))


def both(one: bytes, other: bytes) -> bytes:
    """Return a mask with 1 where both masks have 1."""
    joined = int.from_bytes(one, "little") & int.from_bytes(other, "little")
    return joined.to_bytes(len(one), "little")


def either(one: bytes, other: bytes) -> bytes:
    """Return a mask with 1 where at least one mask has 1."""
    joined = int.from_bytes(one, "little") | int.from_bytes(other, "little")
    return joined.to_bytes(len(one), "little")


def inverted(mask: bytes) -> bytes:
    """Return a mask with 1 where `mask` has 0."""
    return mask.translate(_INVERT)


def places_of(column: "array[int]", value: int, start: int, stop: int) -> Iterator[int]:
    """Yield the places of a value in a column, without a step of the interpreter for all others."""
    with suppress(ValueError):
        while True:
            start = column.index(value, start, stop) + 1
            yield start - 1
