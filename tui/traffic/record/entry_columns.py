"""The traffic as columns, at about 45 bytes per entry, and the recording that a screen shows.

Written by one thread (`append`), read by the screen at any time: an entry counts once `len()` includes it.
Bodies are not here; a reader has them.
"""

import zlib
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter, sub
from typing import Any

from tui.core.traffic import (
    ANSWERS,
    REQUESTS,
    Cause,
    Direction,
    Entry,
    Kind,
    Outcome,
    Severity,
    TrafficReader,
)

MAX_NAMES = 65_535
"""Different names of one kind; further ones become "(other)"."""

CLOCK_STEP_NS = 1_000_000
"""The wall clock is stored as an offset to the monotonic one; a new offset if it moved by more than this."""


_SETTLING = REQUESTS | {Kind.EVENT}
"""Kinds of entries that change others, or themselves, even without a partner."""

_SEQ, _AT = itemgetter(0), itemgetter(1)
"""Of a jump: the seq and the index where it lands."""


class Names:
    """Repeated text, as small numbers. Number 0 is ""."""

    def __init__(self) -> None:
        self.texts: list[str] = [""]
        self._numbers: dict[str, int] = {"": 0}

    def number(self, text: str) -> int:
        known = self._numbers.get(text)
        if known is not None:
            return known
        if len(self.texts) >= MAX_NAMES:
            text = "(other)"
            if text in self._numbers:
                return self._numbers[text]
        self._numbers[text] = len(self.texts)
        self.texts.append(text)
        return len(self.texts) - 1

    def numbers(self, texts: Sequence[str]) -> Iterator[int]:
        """Return the numbers of many texts; each different one is looked up once."""
        known = {text: self.number(text) for text in dict.fromkeys(texts)}
        return map(known.__getitem__, texts)


def mark_of(text: str) -> int:
    """Return a 32-bit hash of an id: different hashes are different ids, equal ones nearly always equal."""
    return zlib.crc32(text.encode("utf-8", "replace")) if text else 0


class EntryColumns:
    """Columns of one recording, by index from 0. `first` is the seq of index 0.

    Seqs have gaps where the store dropped entries before they were read here: convert with `seq`, `seqs`,
    `index` and `position`.

    Attributes:
        gone: seq of the last entry that the store has dropped for lack of space, 0 for none; of it and of
            those before only the columns are left.
        mono: monotonic nanoseconds.
        kind, direction: as in `core.traffic`.
        source, method, tool: numbers in `sources`, `methods`, `tools`.
        size: bytes that travelled, at most 4 GiB - 1.
        pair: index + 1 of the partner: of a request its response, of anything else its request; 0 for none.
        root: index + 1 of the first request of the call, 0 for none.
        ident, call: `mark_of` the JSON-RPC id and of the call id of the conversation; 0 for none.
        turn, step: turn of the conversation and step in it (at most 255), 0 for none.
        outcome: how the request ended, on the request and on what ended it.
        severity: of the worst finding.
        marked: whether the person marked it.
        touched: indices of entries that have changed since they were added, in order: what a filtered view
            checks again. Four bytes per change.
    """

    def __init__(self) -> None:
        self.first, self.gone = 1, 0
        self.sources, self.methods, self.tools = Names(), Names(), Names()
        self.mono = array("q")
        self.kind, self.direction = array("B"), array("B")
        self.source, self.method, self.tool = array("H"), array("H"), array("H")
        self.size = array("I")
        self.pair, self.root = array("I"), array("I")
        self.ident, self.call, self.turn = array("I"), array("I"), array("I")
        self.step = array("B")
        self.outcome, self.severity, self.marked = array("B"), array("B"), array("B")
        self.touched = array("I")
        self._count = 0
        self._pending: dict[int, set[int]] = {}
        # The seq and index of each entry that follows a gap.
        self._jumps: list[tuple[int, int]] = []
        self._clock_from = array("q")
        self._clock_offset = array("q")

    def __len__(self) -> int:
        return self._count

    # ---- writing: one thread --------------------------------------------------------------------------

    def append(self, entry: Entry) -> None:
        index = self._count
        if not index or entry.seq != self.seq(index):
            self._note_gaps((entry.seq,))
        source = self.sources.number(entry.source)
        self._note_clock(index, entry.wall_ns - entry.mono_ns)
        self.mono.append(entry.mono_ns)
        self.kind.append(entry.kind)
        self.direction.append(entry.direction)
        self.source.append(source)
        self.method.append(self.methods.number(entry.method))
        self.tool.append(self.tools.number(entry.tool))
        self.size.append(min(entry.size, 0xFFFFFFFF))
        self.pair.append(self._find(entry.pair, index + 1) + 1 if entry.pair else 0)
        self.root.append(self._find(entry.root, index + 1) + 1 if entry.root else 0)
        self.ident.append(mark_of(entry.ident))
        cause = entry.cause
        self.turn.append(cause.turn if cause else 0)
        self.step.append(min(cause.step, 255) if cause else 0)
        self.call.append(mark_of(cause.call) if cause else 0)
        self.outcome.append(entry.outcome)
        self.severity.append(0)
        self.marked.append(0)
        self._settle(index, source, entry.kind, entry.outcome, entry.method)
        self._count = index + 1

    def extend(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Add the next entries as rows, in a third of the time that entries take; their seqs grow.

        A row has `seq` to `outcome` as in `Entry`, enums as numbers, then turn, step and call of the cause,
        or three times None. OverflowError or TypeError for an invalid value; then nothing was added.
        """
        if not rows:
            return
        start, jumps, gone = self._count, len(self._jumps), self.gone
        (seq, mono, wall, source, direction, kind, method, tool, ident, size, pair, root, outcome, *cause) = (
            zip(*rows, strict=True)
        )
        turn, step, call = cause
        self._note_gaps(seq)
        sources = array("H", self.sources.numbers(source))
        marks = {text: mark_of(text or "") for text in set(call)}
        columns = (
            (self.mono, mono),
            (self.kind, kind),
            (self.direction, direction),
            (self.source, sources),
            (self.method, self.methods.numbers(method)),
            (self.tool, self.tools.numbers(tool)),
            (self.size, (min(octets, 0xFFFFFFFF) for octets in size)),
            (self.pair, self._places(pair, start)),
            (self.root, self._places(root, start)),
            (self.ident, map(mark_of, ident)),
            (self.turn, (number or 0 for number in turn)),
            (self.step, (min(number or 0, 255) for number in step)),
            (self.call, map(marks.__getitem__, call)),
            (self.outcome, outcome),
            (self.severity, bytes(len(rows))),
            (self.marked, bytes(len(rows))),
        )
        try:
            made = [(column, array(column.typecode, values)) for column, values in columns]
        except BaseException:
            del self._jumps[jumps:]
            self.gone = gone
            raise
        for column, values in made:
            column.extend(values)
        last = None
        for index, offset in enumerate(map(sub, wall, mono), start):
            if offset != last:
                self._note_clock(index, offset)
                last = offset
        partners = self.pair[start:]
        for place, its_kind in enumerate(kind):
            if partners[place] or its_kind in _SETTLING:
                self._settle(start + place, sources[place], its_kind, outcome[place], method[place])
        self._count = start + len(rows)

    def _note_gaps(self, seqs: Sequence[int]) -> None:
        index = self._count
        if not index:
            self.first = seqs[0]
        expected = self.seq(index)
        if seqs[-1] - expected == len(seqs) - 1:
            return
        for at, seq in enumerate(seqs, index):
            if seq != expected:
                self._jumps.append((seq, at))
                self.gone = seq - 1
            expected = seq + 1

    def _places(self, seqs: Sequence[int], start: int) -> list[int]:
        if self._jumps:
            return [self._find(seq, most) + 1 for most, seq in enumerate(seqs, start + 1)]
        before = self.first - 1
        return [
            place if 0 < (place := seq - before) <= most else 0 for most, seq in enumerate(seqs, start + 1)
        ]

    def _note_clock(self, index: int, offset: int) -> None:
        if not self._clock_offset or abs(offset - self._clock_offset[-1]) > CLOCK_STEP_NS:
            self._clock_from.append(index)
            self._clock_offset.append(offset)

    def _settle(self, index: int, source: int, kind: int, outcome: int, method: str) -> None:
        """Update earlier entries by what this one says about them."""
        partner = self.pair[index] - 1
        pending = self._pending.setdefault(source, set())
        if kind in (Kind.REQUEST, Kind.MODEL_REQUEST):
            pending.add(index)
            self.outcome[index] = Outcome.PENDING
        elif partner >= 0 and (kind in ANSWERS or outcome == Outcome.ERROR):
            # An error ends its request even if the response could not be parsed.
            pending.discard(partner)
            if not self.pair[partner]:
                self.pair[partner] = index + 1
                self.outcome[partner] = outcome
                self.touched.append(partner)
        elif partner >= 0 and outcome == Outcome.CANCELLED:
            pending.discard(partner)
            if self.outcome[partner] == Outcome.PENDING:
                self.outcome[partner] = Outcome.CANCELLED
                self.touched.append(partner)
        elif kind == Kind.EVENT and method == "exit":
            for lost in pending:
                self.outcome[lost] = Outcome.LOST
            self.touched.extend(pending)
            pending.clear()

    def set_severity(self, seq: int, severity: Severity) -> None:
        index = self.index(seq)
        if index >= 0 and severity > self.severity[index]:
            self.severity[index] = severity
            self.touched.append(index)

    def mark(self, index: int, marked: bool) -> None:
        self.marked[index] = marked
        self.touched.append(index)

    # ---- reading: any thread -------------------------------------------------------------------------

    @property
    def revision(self) -> int:
        """Grows whenever an existing entry changes."""
        return len(self.touched)

    def seq(self, index: int) -> int:
        place = bisect_right(self._jumps, index, key=_AT) if self._jumps else 0
        if not place:
            return self.first + index
        seq, at = self._jumps[place - 1]
        return seq + index - at

    def seqs(self, indices: Sequence[int]) -> Sequence[int]:
        if isinstance(indices, range) and not self._jumps:
            return range(self.first + indices.start, self.first + indices.stop)
        return [self.seq(index) for index in indices]

    def index(self, seq: int) -> int:
        """Return the index of a seq, -1 if it is not here."""
        return self._find(seq, self._count)

    def indices(self, seqs: Iterable[int]) -> list[int]:
        """Return the indices of many seqs, -1 for each that is not here."""
        return [self._find(seq, self._count) for seq in seqs]

    def position(self, seq: int) -> int:
        """Return the index of a seq, or of the first entry behind it if it is not here."""
        start, at, stop = self._stretch(seq, self._count)
        return max(at, min(at + seq - start, stop))

    def _find(self, seq: int, count: int) -> int:
        """Return the index of a seq among the first `count` entries, -1 if it is not there."""
        start, at, stop = self._stretch(seq, count)
        index = at + seq - start
        return index if at <= index < stop else -1

    def _stretch(self, seq: int, count: int) -> tuple[int, int, int]:
        """Return the last range without gaps that starts at or before a seq: its seq, its indices."""
        if not self._jumps:
            return self.first, 0, count
        place = bisect_right(self._jumps, seq, key=_SEQ)
        start, at = self._jumps[place - 1] if place else (self.first, 0)
        stop = self._jumps[place][1] if place < len(self._jumps) else count
        return start, at, min(stop, count)

    def wall_ns(self, index: int) -> int:
        place = bisect_right(self._clock_from, index) - 1
        return self.mono[index] + self._clock_offset[place]

    def clocks(self, start: int, stop: int) -> Iterator[tuple[int, int, int]]:
        """Yield the ranges of `start` to `stop` with one clock offset: from, to, wall minus monotonic ns."""
        place = max(0, bisect_right(self._clock_from, start) - 1)
        while start < stop:
            later = place + 1 < len(self._clock_from)
            end = min(stop, self._clock_from[place + 1]) if later else stop
            yield start, end, self._clock_offset[place]
            start, place = end, place + 1

    def partner(self, index: int) -> int:
        """Return the index of the partner, -1 for none."""
        return self.pair[index] - 1

    def latency_ns(self, index: int) -> int:
        """Return how long the response took, on the request and on its response; -1 for none."""
        partner = self.pair[index] - 1
        if partner < 0 or not self.is_answer(max(index, partner)):
            return -1
        return abs(self.mono[partner] - self.mono[index])

    def pending(self) -> list[int]:
        return sorted(index for waiting in list(self._pending.values()) for index in list(waiting))

    def is_answer(self, index: int) -> bool:
        """Return whether an entry ends a request: a response, or one that could not be parsed."""
        kind = self.kind[index]
        return kind in ANSWERS or (self.outcome[index] == Outcome.ERROR and kind not in REQUESTS)

    def goes(self, index: int) -> Direction:
        return Direction(self.direction[index])


@dataclass(slots=True)
class Recording:
    """A recording: its columns, its bodies, and what the person adds to it.

    Attributes:
        open_reader: opens the bodies. Called in the thread that will use the reader; may block.
        title: its name ("this session", the name of a file), cleaned.
        ended_ns: wall clock of the last entry of a finished recording, from which `since:5m` counts; 0 for
            now.
        notes: the person's notes by seq; the screen changes it and calls `keep_note`.
        keep_filter: stores a filter, given its name; "" removes it. Called in a thread; may block, and raise
            McptuiError.
        revision: the protocol revision of a source, or "" if unknown.
        go_to_turn: shows the turn that caused an entry; None without a conversation.
        urls: of HTTP sources, for copying a request as curl.
    """

    entries: EntryColumns
    open_reader: Callable[[], TrafficReader]
    title: str = "this session"
    live: bool = True
    ended_ns: int = 0
    problem: Callable[[], str] = lambda: ""
    notes: dict[int, str] = field(default_factory=dict)
    keep_mark: Callable[[int, bool], None] = lambda seq, marked: None
    keep_note: Callable[[int, str], None] = lambda seq, text: None
    filters: dict[str, str] = field(default_factory=dict)
    keep_filter: Callable[[str, str], None] = lambda name, text: None
    revision: Callable[[str], str] = lambda source: ""
    go_to_turn: Callable[[Cause], None] | None = None
    urls: Mapping[str, str] = field(default_factory=dict)
