"""The entries of a recording as columns, about 45 bytes each.

Written by one thread (`extend`), read by the screen at any time: an entry counts once `len()` includes it. A
reader has the bodies.
"""

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import compress
from operator import itemgetter

from tui.core.traffic import ANSWERS, CHANGE_WORDS, CHANGES, REQUESTS, Entry, Kind, Outcome, Severity, end_of
from tui.traffic.record.column_parts import (
    Clocks,
    ListRow,
    Names,
    RowParts,
    either,
    excuse_probes,
    marks_of,
    places_of,
    table,
)

_SEQ, _AT = itemgetter(0), itemgetter(1)
"""Return the seq of a jump, and the index where it lands."""

_PENDING, _CANCELLED, _ERROR = int(Outcome.PENDING), int(Outcome.CANCELLED), int(Outcome.ERROR)
_FAILED = frozenset({Outcome.ERROR, Outcome.PROBE})
_NO_CAUSE = (None, None, None)
_ENDS = frozenset({"spawn", "exit", "stop"})  # events that may end all pending requests of their source


_REQUESTED, _ACTS = table(REQUESTS), table({*REQUESTS, *ANSWERS, Kind.EVENT})
_ENDED = table({Outcome.ERROR, Outcome.CANCELLED, Outcome.PROBE})


def _at_most(limit: int, numbers: Sequence[int]) -> Sequence[int]:
    return numbers if max(numbers) <= limit else [min(limit, number) for number in numbers]


class EntryColumns:
    """Columns of one recording, by index from 0. `first` is the seq of index 0.

    Seqs have gaps where the store dropped entries before they were read: convert with `seq`, `seqs`, `index`
    and `position`.

    Attributes:
        gone: seq of the last entry that the store has dropped for lack of space, 0 for none; of the entries
            up to it, only the columns are left.
        mono: monotonic nanoseconds.
        kind, direction: as in `core.traffic`.
        source, method, tool: numbers in `sources`, `methods`, `tools`.
        size: bytes that travelled, at most 4 GiB - 1.
        pair: index + 1 of the partner: for a request its response, for others their request; 0 for none.
        root: index + 1 of the first request of the call, 0 for none.
        ident, call: `mark_of` the JSON-RPC id and of the call id of the conversation; 0 for none.
        turn, step: turn of the conversation and step in that turn (at most 255), 0 for none.
        outcome: how the request ended, on the request and on the entry that ended it.
        severity: of the worst finding.
        marked: whether the user marked it.
        changed: number in `CHANGE_WORDS` of what mcptui did to a response on its way, 0 for nothing.
        touched: indices of entries that have changed since they were added, in order; a filtered view checks
            these again. Four bytes per change.
        hole: the indices, from and to before, of entries that are still being loaded, (0, 0) for none. They
            count, but the columns have no values for them yet, and no loaded entry has its pair or root
            there.
    """

    def __init__(self) -> None:
        self.first, self.gone = 1, 0
        self.hole = (0, 0)
        self.sources, self.methods, self.tools = Names(), Names(), Names()
        self.mono = array("q")
        self.kind, self.direction = array("B"), array("B")
        self.source, self.method, self.tool = array("H"), array("H"), array("H")
        self.size = array("I")
        self.pair, self.root = array("I"), array("I")
        self.ident, self.call, self.turn = array("I"), array("I"), array("I")
        self.step = array("B")
        self.outcome, self.severity = array("B"), array("B")
        self.marked, self.changed = array("B"), array("B")
        self.touched = array("I")
        self._count = 0
        self._pending: dict[int, set[int]] = {}
        # The seq and index of each entry that follows a gap.
        self._jumps: list[tuple[int, int]] = []
        self._clocks, self._clocks_behind = Clocks(), Clocks()
        # By index: the pair and the root in the hole of entries after it; and the exits there.
        self._late: dict[int, tuple[int, int]] = {}
        self._pending_behind: dict[int, set[int]] = {}

    def __len__(self) -> int:
        return self._count

    # ---- writing: one thread --------------------------------------------------------------------------

    def extend(self, rows: Sequence[ListRow]) -> None:
        """Add the next entries as rows, in order of seq.

        A row has `seq` to `outcome` as in `Entry`, enums as numbers, then turn, step and call of the cause,
        or three times None. Raises OverflowError, TypeError or ValueError for an invalid value; then nothing
        is added.
        """
        if not rows:
            return
        start, jumps, gone = self._count, len(self._jumps), self.gone
        parts = RowParts(rows)
        if not start:
            self.first = parts.seq[0]
        expected = self.seq(start)
        is_gapless = parts.seq[-1] - expected == len(rows) - 1
        try:
            for at, seq in enumerate(() if is_gapless else parts.seq, start):
                if seq < expected:
                    raise ValueError("entries out of order")
                if seq != expected:
                    self._jumps.append((seq, at))
                    self.gone = seq - 1
                expected = seq + 1
            made = self._checked_columns(parts, start)
        except BaseException:
            del self._jumps[jumps:]
            self.gone = gone
            raise
        for column, values in made:
            column.extend(values)
        self._note_rows(start, parts, self._clocks)

    def begin_at_end(self, first: int, rows: Sequence[ListRow]) -> None:
        """Add the last entries of a recording before any other; `fill` adds those before them.

        All entries from seq `first` on count at once; those that are not loaded yet are the `hole`. The seqs
        of the rows have no gaps. Their effects on entries in the hole are applied once it is full.
        """
        parts = RowParts(rows)
        start = parts.seq[0] - first
        self.first = first
        made = self._checked_columns(parts, start)
        for column, values in made:
            column.append(0)
            column *= start  # in place: filters have these arrays already
            column.extend(values)
        for index in range(start, start + len(rows)):
            pair, root = self.pair[index], self.root[index]
            pair, root = pair if pair <= start else 0, root if root <= start else 0
            if pair or root or (self.kind[index] == Kind.EVENT and parts.method[index - start] in _ENDS):
                self._late[index] = pair, root
                self.pair[index] -= pair
                self.root[index] -= root
        self.hole = (0, start)
        self._note_rows(start, parts, self._clocks_behind)
        self._pending, self._pending_behind = {}, self._pending

    def fill(self, rows: Sequence[ListRow]) -> None:
        """Add the first entries of the hole; like `extend`, without gaps, and no more than fit in."""
        start, end = self.hole
        stop = start + len(rows)
        parts = RowParts(rows)
        if stop > end or parts.seq[0] != self.first + start or parts.seq[-1] != self.first + stop - 1:
            raise ValueError(f"{end - start} entries are missing. The next is {self.first + start}")
        for column, values in self._checked_columns(parts, start):
            column[start:stop] = values
        self._clocks.note_all(start, parts.offsets)
        self._settle_rows(start, parts)
        if stop < end:
            self.hole = (stop, end)
            return
        # Now the effects of the entries after the hole on those in it are applied.
        self._clocks.add(self._clocks_behind)
        late, self._late = self._late, {}
        for index, (pair, root) in late.items():
            self.pair[index] += pair
            self.root[index] += root
            kind = self.kind[index]
            if (pair and kind not in REQUESTS) or kind == Kind.EVENT:
                self._settle([index])
            self.touched.append(index)
        for source, waiting in self._pending_behind.items():
            self._pending.setdefault(source, set()).update(waiting)
        self._pending_behind = {}
        self.hole = (0, 0)
        self.touched.extend(self.pending())  # only now are they known to be pending

    def _checked_columns(self, parts: RowParts, start: int) -> list[tuple["array[int]", "array[int]"]]:
        """Return columns and the values that rows from index `start` on add to them, if they are valid.

        Severity and mark are set elsewhere.
        """
        kinds = array("B", parts.kind)
        outcomes = array("B", parts.outcome)
        for place in compress(range(len(kinds)), kinds.tobytes().translate(_REQUESTED)):
            outcomes[place] = _PENDING
        if _ERROR in outcomes.tobytes():
            excuse_probes(outcomes, parts.method)
        columns = (
            (self.mono, parts.mono),
            (self.kind, kinds),
            (self.direction, parts.direction),
            (self.source, self.sources.numbers(parts.source)),
            (self.method, self.methods.numbers(parts.method)),
            (self.tool, self.tools.numbers(parts.tool)),
            (self.size, _at_most(0xFFFFFFFF, parts.size)),
            (self.pair, self._places(parts.pair, start)),
            (self.root, self._places(parts.root, start)),
            (self.ident, marks_of(parts.ident)),
            (self.turn, [number or 0 for number in parts.turn]),
            (self.step, _at_most(255, [number or 0 for number in parts.step])),
            (self.call, marks_of([text or "" for text in parts.call])),
            (self.outcome, outcomes),
        )
        return [(column, array(column.typecode, values)) for column, values in columns]

    def _note_rows(self, start: int, parts: RowParts, clocks: Clocks) -> None:
        """Count the new entries from index `start` to the end, which are in the columns."""
        stop = start + len(parts.seq)
        for column in (self.severity, self.marked, self.changed):
            column.frombytes(bytes(stop - len(column)))
        clocks.note_all(start, parts.offsets)
        self._settle_rows(start, parts)
        self._count = stop

    def _settle_rows(self, start: int, parts: RowParts) -> None:
        """Update entries by the new ones from index `start` on, which are in the columns."""
        stop = start + len(parts.seq)
        kinds, outcomes = self.kind[start:stop].tobytes(), self.outcome[start:stop].tobytes()
        acts = either(kinds.translate(_ACTS), outcomes.translate(_ENDED))
        self._settle(compress(range(start, stop), acts))

    def _places(self, seqs: Sequence[int], start: int) -> list[int]:
        if self._jumps:
            return [self._find(seq, most) + 1 for most, seq in enumerate(seqs, start + 1)]
        before = self.first - 1
        return [
            place if 0 < (place := seq - before) <= most else 0 for most, seq in enumerate(seqs, start + 1)
        ]

    def _settle(self, indices: Iterable[int]) -> None:
        """Update earlier entries by these."""
        kinds, outcomes, pairs = self.kind, self.outcome, self.pair
        late, (start, end) = self._late, self.hole
        for index in indices:
            kind, outcome, source = kinds[index], outcomes[index], self.source[index]
            pending = self._pending.setdefault(source, set())
            if kind in REQUESTS:
                pending.add(index)
            elif kind == Kind.EVENT and (word := self.methods.texts[self.method[index]]) in _ENDS:
                if word != "stop" or outcome == _CANCELLED:
                    self._end(pending, Outcome(outcome or Outcome.LOST))
            elif (partner := pairs[index] - 1) < 0:
                continue
            elif kind in ANSWERS or outcome in _FAILED:
                # An error ends its request even if the response could not be parsed.
                pending.discard(partner)
                is_first = not pairs[partner] and not (late and self._late_of(partner))
                pairs[partner] = index + 1 if is_first else pairs[partner]
                if is_first or kind == Kind.EVENT:  # the host rejects a response after it arrived
                    outcomes[partner] = outcome
                    if not start <= partner < end:  # otherwise nobody has seen it
                        self.touched.append(partner)
            elif outcome == _CANCELLED:
                pending.discard(partner)
                if outcomes[partner] == _PENDING:
                    self._end({partner}, Outcome.CANCELLED)
            elif kind == Kind.EVENT:
                self._change(pairs[partner] - 1, word)

    def _change(self, answer: int, word: str) -> None:
        """Mark a response that mcptui changed, by the word of the event."""
        if word in CHANGES and answer >= 0:
            self.changed[answer] = CHANGE_WORDS.index(CHANGES[word])
            if self.is_here(answer):
                self.touched.append(answer)

    def _end(self, pending: set[int], outcome: Outcome) -> None:
        """End requests without responses."""
        for index in pending:
            self.outcome[index] = end_of(self.methods.texts[self.method[index]], outcome)
        self.touched.extend(pending)
        pending.clear()

    def _late_of(self, index: int) -> int:
        return self._late.get(index, (0, 0))[0]

    def set_severities(self, flagged: Iterable[tuple[Severity, Iterable[int]]]) -> None:
        """Raise the severities of entries, by their seqs."""
        for severity, seqs in flagged:
            for index in map(self.index, seqs):
                if index >= 0 and severity > self.severity[index]:
                    self.severity[index] = severity
                    if self.is_here(index):
                        self.touched.append(index)

    def mark(self, index: int, marked: bool) -> None:
        self.marked[index] = marked
        if self.is_here(index):
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

    @property
    def last(self) -> int:
        """Seq of the last entry, 0 for none."""
        return self.seq(self._count - 1) if self._count else 0

    def seqs(self, indices: Sequence[int]) -> Sequence[int]:
        if isinstance(indices, range) and not self._jumps:
            return range(self.first + indices.start, self.first + indices.stop)
        return [self.first + index for index in indices] if not self._jumps else list(map(self.seq, indices))

    def index(self, seq: int) -> int:
        """Return the index of a seq, -1 if no entry has it."""
        return self._find(seq, self._count)

    def position(self, seq: int) -> int:
        """Return the index of a seq, or of the first entry after it if no entry has it."""
        start, at, stop = self._stretch(seq, self._count)
        return max(at, min(at + seq - start, stop))

    def _find(self, seq: int, count: int) -> int:
        """Return the index of a seq among the first `count` entries, -1 if it is not among them."""
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

    @property
    def ready(self) -> int:
        """Number of entries from the first one on that are loaded without a hole."""
        start, end = self.hole
        return start if start < end else self._count

    @property
    def loaded(self) -> int:
        """Number of loaded entries."""
        count, (start, end) = self._count, self.hole
        return count - (end - start)

    def is_here(self, index: int) -> bool:
        """Return whether an entry is loaded, not in the hole."""
        start, end = self.hole
        return not start <= index < end

    def _clocks_of(self, index: int) -> Clocks:
        start, end = self.hole
        return self._clocks_behind if start < end <= index else self._clocks

    def wall_ns(self, index: int) -> int:
        return self.mono[index] + self._clocks_of(index).offset(index)

    def clocks(self, start: int, stop: int) -> Iterator[tuple[int, int, int]]:
        """Yield the parts of `start` to `stop` with one clock offset: from, to, wall minus monotonic ns."""
        return self._clocks_of(start).ranges(start, stop)

    def newest(self, kind: Kind, method: str) -> Iterator[int]:
        """Yield the indices of the messages of a method, the newest first."""
        with suppress(ValueError):  # nothing recorded has the name
            number = self.methods.texts.index(method)
            for index in reversed([*places_of(self.method, number, 0, len(self))]):
                if self.kind[index] == kind:
                    yield index

    def partner(self, index: int) -> int:
        """Return the index of the partner, -1 for none; the partner may not be loaded yet."""
        return (self.pair[index] or self._late_of(index)) - 1

    def with_partners(self, indices: Iterable[int]) -> list[int]:
        """Return the indices in order, with the request and the response of each that has them."""
        found = set(indices)
        for index in list(found):
            for one in (partner := self.partner(index), self.partner(partner) if partner >= 0 else -1):
                if one >= 0 and self.is_here(one):
                    found.add(one)
        return sorted(found)

    def origin(self, index: int) -> int:
        """Return the index of the first request of the call, -1 for none; it may not be loaded yet."""
        return (self.root[index] or self._late.get(index, (0, 0))[1]) - 1

    def is_uncertain(self, index: int) -> bool:
        """Return whether the partner of an entry is, or may be, in the hole."""
        start, end = self.hole
        if start == end:
            return False
        waits = index < start and self.outcome[index] == Outcome.PENDING
        return waits or self._late_of(index) > 0

    def latency_ns(self, index: int) -> int:
        """Return how long the response took, on the request and on its response; -1 for none."""
        partner = self.pair[index] - 1
        if partner < 0 or not self.is_answer(max(index, partner)):
            return -1
        return abs(self.mono[partner] - self.mono[index])

    def latency_of(self, seq: int) -> int:
        """Return `latency_ns` of the entry with a seq; -1 also if no entry has it."""
        index = self.index(seq)
        return self.latency_ns(index) if index >= 0 else -1

    def pending(self) -> list[int]:
        waiting = [*self._pending.values(), *self._pending_behind.values()]
        return sorted(index for each in waiting for index in list(each))

    def is_answer(self, index: int) -> bool:
        """Return whether an entry ends a request: a response, or one that could not be parsed."""
        kind = self.kind[index]
        return kind in ANSWERS or (self.outcome[index] == Outcome.ERROR and kind not in REQUESTS)


def column_row(entry: Entry) -> ListRow:
    """Return an entry as `EntryColumns.extend` takes it."""
    cause = entry.cause
    return entry[:13] + (_NO_CAUSE if cause is None else (cause.turn, cause.step, cause.call))
