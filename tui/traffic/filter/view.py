"""The rows of a traffic list: the entries that match a filter, updated as the recording grows.

Nothing here blocks: `advance` works in slices of a few milliseconds, the newest entries first, and is called
from the screen's timer. Bodies are read by one worker (`BodySearchThread`). All methods are for the
screen's thread.
"""

import time
from array import array
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from queue import SimpleQueue

from tui.core.daemon_thread import DaemonThread
from tui.core.traffic import BodyTerm, TrafficReader
from tui.traffic.filter.filter import Filter
from tui.traffic.filter.query import EVERYTHING, Query
from tui.traffic.record.entry_columns import EntryColumns


@dataclass(frozen=True, slots=True)
class EntryRange:
    """Entries from index `start` to before `stop`; bodies are read from seq `first` to `last`."""

    start: int
    stop: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class BodyMatches:
    """The matches in a range: for each term its seqs; `problem` says why reading failed, or is ""."""

    start: int
    stop: int
    seqs: Sequence[frozenset[int]]
    problem: str = ""


class BodySearchThread:
    """Searches ranges for the same terms, one after the other. The thread starts with the first range."""

    def __init__(self, open_reader: Callable[[], TrafficReader], terms: Sequence[BodyTerm]) -> None:
        self._open_reader, self._terms = open_reader, terms
        self._asked: SimpleQueue[tuple[int, EntryRange] | None] = SimpleQueue()
        self._answers: deque[tuple[int, BodyMatches]] = deque()
        self._blocks: deque[EntryRange] = deque()
        self._round = 0
        self._closed = False
        self._reader: TrafficReader | None = None
        self._thread: DaemonThread | None = None
        self._reading: tuple[int, EntryRange] | None = None

    @property
    def asked(self) -> Sequence[tuple[int, int]]:
        return [(block.start, block.stop) for block in self._blocks]

    def ask(self, start: int, stop: int, first: int, last: int) -> None:
        if self._closed:
            return
        if self._thread is None:
            self._thread = DaemonThread("mcptui-body-search", self._run, failed=self._failed)
            self._thread.start()
        block = EntryRange(start, stop, first, last)
        self._blocks.append(block)
        self._asked.put((self._round, block))

    def answer(self) -> BodyMatches | None:
        """Return the next result, in the order of the requests, or None if there is none yet."""
        while self._answers:
            its_round, answer = self._answers.popleft()
            if its_round == self._round:
                self._blocks.popleft()
                return answer
        return None

    def cancel(self) -> Sequence[tuple[int, int]]:
        """Cancel pending ranges, and return them."""
        self._round += 1
        left = self.asked
        self._blocks.clear()
        if (reader := self._reader) is not None:
            reader.interrupt()
        return left

    def close(self, wait: bool = False) -> None:
        """End the thread; with `wait` it has ended on return."""
        self._closed = True
        self.cancel()
        self._asked.put(None)
        if self._thread is not None:
            self._thread.closing.set()
            if wait:
                self._thread.join(None)

    # ---- the thread -----------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            reader = self._open_reader()
        # Any failure to open a recording is shown; rows that need only the columns stay.
        except Exception as error:
            self._refuse_all(str(error) or type(error).__name__)
            return
        self._reader = reader
        try:
            while (asked := self._asked.get()) is not None:
                self._reading = asked
                self._read(reader, *asked)
                self._reading = None
        finally:
            self._reader = None
            reader.close()

    def _read(self, reader: TrafficReader, its_round: int, block: EntryRange) -> None:
        # In this order: cancelling increments the round before it interrupts.
        reader.rearm()
        if its_round != self._round:
            return
        try:
            seqs = reader.search(self._terms, block.first, block.last)
        # A recording that cannot be read here may be readable in another place: this range has no match.
        except Exception as error:
            self._refuse(its_round, block, str(error) or type(error).__name__)
        else:
            self._answers.append((its_round, BodyMatches(block.start, block.stop, seqs)))

    def _failed(self, error: Exception, is_over: bool) -> None:
        """Answer the range that was being read, so that nobody waits for it, and at the end all others."""
        problem = f"an internal error ({type(error).__name__})"
        if self._reading is not None:
            asked, self._reading = self._reading, None
            self._refuse(*asked, problem)
        if is_over and not self._closed:
            self._refuse_all(problem)

    def _refuse_all(self, problem: str) -> None:
        while (asked := self._asked.get()) is not None:
            self._refuse(*asked, problem)

    def _refuse(self, its_round: int, block: EntryRange, problem: str) -> None:
        found = BodyMatches(block.start, block.stop, [frozenset()] * len(self._terms), problem)
        self._answers.append((its_round, found))


CHUNK = 16_384
"""Entries in one slice: about 4 ms for the most expensive check of columns, below 1 ms for most."""

FIRST_BLOCK, LARGEST_BLOCK = 2_048, 65_536
"""Entries whose bodies are read together: few at first, so that the first rows appear quickly."""

IN_FLIGHT = 3
"""Ranges queued for the worker: enough to keep it busy, few enough to search new entries soon."""

NEAR = 256
"""Changed entries at most this far apart are checked again together with those between them."""


@dataclass(frozen=True, slots=True)
class Match:
    """The result of `next` and `previous`: the entry, its row, and whether the search wrapped around."""

    seq: int
    row: int
    wrapped: bool


class View:
    """The entries that match a query, in order.

    Attributes:
        problem: why bodies could not be read, or "".
        moves: grows whenever rows were inserted or removed before others, or changed.
    """

    def __init__(
        self,
        entries: EntryColumns,
        query: Query = EVERYTHING,
        *,
        reader: Callable[[], TrafficReader] | None = None,
        notes: Mapping[int, str] | None = None,
        now_ns: int | None = None,
        newest_first: bool = True,
    ) -> None:
        """Create a view; it has rows after the first `advance`.

        `reader` opens a recording to read bodies; it is called and used in a thread of the view. Without it,
        no body matches. `since:5m` counts from `now_ns`, None for now. `newest_first` checks the last entries
        first.
        """
        self.query = query
        self.revision = self.moves = 0
        self.problem = ""
        self._entries = entries
        self._filter = Filter(query, entries, notes=notes, now_ns=now_ns)
        self._newest_first = newest_first
        self._is_all = query.root is None
        self._rows = array("I")
        self._first, self._gone = entries.first, entries.gone
        self._seen = 0
        self._hole = (0, 0)
        self._changes_seen = len(entries.touched)
        self._todo: list[tuple[int, int]] = []
        self._block = FIRST_BLOCK
        self._search = BodySearchThread(reader, self._filter.terms) if reader and self._filter.terms else None

    in_time_order = True

    def __len__(self) -> int:
        return self._seen if self._is_all else len(self._rows)

    def index(self, row: int) -> int:
        return row if self._is_all else self._rows[row]

    def indices(self, start: int, stop: int) -> Sequence[int]:
        """Return the indices of the rows from `start` to before `stop`, as far as they exist."""
        stop = min(stop, len(self))
        return range(max(0, start), stop) if self._is_all else self._rows[max(0, start) : max(0, stop)]

    def seq(self, row: int) -> int:
        return self._entries.seq(self.index(row))

    def row_of(self, seq: int) -> int:
        """Return the row of an entry, -1 if it does not match."""
        row = self.row_near(seq)
        return row if row < len(self) and self.seq(row) == seq else -1

    def row_near(self, seq: int) -> int:
        """Return the row where an entry is or would be; `len()` if it is after all others."""
        index = self._entries.position(seq)
        return min(index, self._seen) if self._is_all else bisect_left(self._rows, index)

    def next(self, seq: int, wrap: bool = True) -> Match | None:
        """Return the first row after an entry; None if there is none, or none yet (see `is_done`)."""
        row = self.row_near(seq + 1)
        if row < len(self):
            checked = self._is_checked(self._entries.position(seq + 1), self.index(row))
            return Match(self.seq(row), row, False) if checked else None
        return Match(self.seq(0), 0, True) if wrap and self.is_done and len(self) else None

    def previous(self, seq: int, wrap: bool = True) -> Match | None:
        """Return the last row before an entry; None if there is none, or none yet (see `is_done`)."""
        row = self.row_near(seq) - 1
        if row >= 0:
            checked = self._is_checked(self.index(row) + 1, self._entries.position(seq))
            return Match(self.seq(row), row, False) if checked else None
        last = len(self) - 1
        return Match(self.seq(last), last, True) if wrap and self.is_done and last >= 0 else None

    @property
    def is_done(self) -> bool:
        """Whether every entry was checked; some may still be loaded otherwise."""
        start, end = self._hole
        return start == end and not self.is_at_work

    @property
    def is_at_work(self) -> bool:
        """Whether some loaded entries are still unchecked."""
        return bool(self._todo) or bool(self._asked)

    @property
    def can_advance(self) -> bool:
        """Whether `advance` has work now, other than waiting for bodies."""
        return bool(self._todo) and len(self._asked) < IN_FLIGHT

    @property
    def _asked(self) -> Sequence[tuple[int, int]]:
        return self._search.asked if self._search is not None else ()

    @property
    def progress(self) -> tuple[int, int]:
        start, end = self._hole
        left = end - start + sum(stop - start for start, stop in (*self._todo, *self._asked))
        return max(0, self._seen - left), self._seen

    def advance(self, budget_ms: float = 4.0) -> bool:
        """Work for about `budget_ms`, at least one slice; return whether all work is done for now."""
        deadline = time.perf_counter() + budget_ms / 1000
        self._note_dropped()
        self._note_changes()
        self._note_growth()
        while True:
            if not self._collect() and not self._work():
                break
            if time.perf_counter() >= deadline:
                break
        return not self.is_at_work

    def recheck(self, seqs: Sequence[int]) -> None:
        """Check entries again after a change that is not in the columns, such as a note."""
        self._again(self._entries.indices(seqs))

    def cancel(self) -> None:
        """Skip unchecked entries. Rows stay, and new entries are checked."""
        self._todo.clear()
        if self._search is not None:
            self._search.cancel()

    def close(self, wait: bool = False) -> None:
        """Close permanently, including the thread. With `wait`, it has ended on return."""
        self._todo.clear()
        if self._search is not None:
            self._search.close(wait)

    def _is_checked(self, start: int, stop: int) -> bool:
        """Whether no entry of a range can become a row, except by a change."""
        left = (*self._todo, self._hole, *self._asked)
        return self._is_all or not any(begin < stop and start < end for begin, end in left if begin < end)

    def _note_growth(self) -> None:
        # In this order: a hole is set before `len` includes its entries.
        count, hole = len(self._entries), self._entries.hole
        if count > self._seen:
            # At first, the entries after a hole are loaded; later, the hole is filled from its start.
            start = max(self._seen, hole[1])
            self._todo.insert(len(self._todo) if self._newest_first else 0, (start, count))
            self._hole = self._hole if self._seen else (0, hole[1])
            self._seen = count
            self.revision += 1
        start, end = self._hole
        filled = hole[0] if hole[0] < hole[1] else end
        if filled > start:
            self._todo.insert(0 if self._newest_first else len(self._todo), (start, filled))
            self._hole = (filled, end)
            self.revision += 1
        if self._is_all:
            self._todo.clear()

    def _note_changes(self) -> None:
        touched = self._entries.touched
        upto = len(touched)
        if upto == self._changes_seen:
            return
        if self._filter.changes:
            self._again(touched[self._changes_seen : upto])
        self._changes_seen = upto
        self.revision += 1

    def _again(self, indices: Sequence[int]) -> None:
        """Add entries to be checked again. Adjacent ranges are merged."""
        stretches: list[tuple[int, int]] = []
        for index in sorted(set(indices)):
            if not 0 <= index < self._seen:
                continue
            if stretches and index - stretches[-1][1] < NEAR:
                stretches[-1] = (stretches[-1][0], index + 1)
            else:
                stretches.append((index, index + 1))
        self._todo.extend(stretches)

    def _note_dropped(self) -> None:
        """Adjust after the oldest entries were dropped from the store, and maybe from the columns."""
        if self._gone != self._entries.gone:
            self._gone = self._entries.gone
            self.revision += 1
        gone = self._entries.first - self._first
        if not gone:
            return
        self._first = self._entries.first
        self._rows = array("I", [index - gone for index in self._rows if index >= gone])
        self._seen = max(0, min(self._seen - gone, len(self._entries)))
        self._todo = [(max(0, start - gone), stop - gone) for start, stop in self._todo if stop > gone]
        self._changes_seen = min(self._changes_seen, len(self._entries.touched))
        if self._search is not None:
            # Those ranges have outdated indices: check them again.
            self._todo.extend((max(0, a - gone), b - gone) for a, b in self._search.cancel() if b > gone)
        self.revision += 1

    def _work(self) -> bool:
        if not self.can_advance:
            return False
        if self._search is not None:
            self._ask(*self._slice(self._block))
            return True
        start, stop = self._slice(CHUNK)
        found = self._filter.found(start, stop, [frozenset()] * len(self._filter.terms))
        self._settle(start, self._filter.mask(start, stop, found))
        return True

    def _slice(self, size: int) -> tuple[int, int]:
        start, stop = self._todo.pop()
        if stop - start > size:
            if self._newest_first:
                self._todo.append((start, stop - size))
                return stop - size, stop
            self._todo.append((start + size, stop))
            stop = start + size
        return start, stop

    def _ask(self, start: int, stop: int) -> None:
        """Request the bodies of a range, from the first to the last that could match."""
        possible = self._filter.possible(start, stop)
        low, high = possible.find(1), possible.rfind(1)
        if low < 0:
            self._settle(start, possible)
            return
        self._block = min(self._block * 2, LARGEST_BLOCK)
        assert self._search is not None
        seq = self._entries.seq
        self._search.ask(start, stop, seq(start + low), seq(start + high))

    def _collect(self) -> bool:
        if self._search is None or (answer := self._search.answer()) is None:
            return False
        self.problem = answer.problem or self.problem
        found = self._filter.found(answer.start, answer.stop, answer.seqs)
        for start in range(answer.start, answer.stop, CHUNK):
            self._settle(start, self._filter.mask(start, min(start + CHUNK, answer.stop), found))
        return True

    def _settle(self, start: int, mask: bytes) -> None:
        stop = start + len(mask)
        new = array("I", compress(range(start, stop), mask)) if 1 in mask else array("I")
        low, high = bisect_left(self._rows, start), bisect_left(self._rows, stop)
        if new or low != high:
            self.moves += low < len(self._rows)
            self._rows[low:high] = new
            self.revision += 1
