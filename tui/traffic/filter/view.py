"""The rows of a traffic list: the entries that match a filter, updated as the recording grows.

Nothing here blocks: `advance` works in slices of a few milliseconds, the newest entries first, and is called
from the screen's timer. Bodies are searched in a thread, range by range. All methods are for the screen's
thread.
"""

import time
from array import array
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from itertools import compress

from tui.core.errors import reason_of
from tui.core.traffic import TrafficReader
from tui.traffic.filter.filter import Filter
from tui.traffic.filter.query import EVERYTHING, Query
from tui.traffic.record.entry_columns import EntryColumns
from tui.traffic.record.open_recording import ReaderThread

CHUNK = 16_384
"""Entries in one slice: about 4 ms for the most expensive check of columns, below 1 ms for most."""

FIRST_BLOCK, LARGEST_BLOCK = 2_048, 65_536
"""Entries whose bodies are read together: few at first, so that the first rows appear quickly."""

IN_FLIGHT = 3
"""Ranges queued for the worker: enough to keep it busy, few enough to search new entries soon."""

NEAR = 256
"""Changed entries at most this far apart are checked again together with those between them."""


class Unfolded:
    """Rows none of which represents others."""

    def follow_view(self) -> None:
        """Nothing to do, unlike in a view with folds, whose rows follow at once."""

    def fold_at(self, index: int) -> None:
        """No row represents others."""

    def unfold(self, index: int) -> bool:
        """Return that nothing was unfolded."""
        return False

    def reveal(self, seq: int) -> bool:
        """Return that nothing was unfolded: what an order leaves out stays so until that of time is back."""
        return False


class View(Unfolded):
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
    ) -> None:
        """Create a view; it has rows after the first `advance`.

        `reader` opens a recording to read bodies; it is called and used in a thread of the view. Without it,
        no body matches. `since:5m` counts from `now_ns`, None for now.
        """
        self.query = query
        self.revision = self.moves = 0
        self.problem = ""
        self._entries = entries
        self._filter = Filter(query, entries, notes=notes, now_ns=now_ns)
        self._no_hits: Sequence[frozenset[int]] = [frozenset()] * len(self._filter.terms)
        self._is_all = query.root is None
        self._rows = array("I")
        self._gone = entries.gone
        self._seen = 0
        self._hole = (0, 0)
        self._changes_seen = len(entries.touched)
        self._todo: list[tuple[int, int]] = []
        self._block = FIRST_BLOCK
        self._thread = ReaderThread(reader) if reader and self._filter.terms else None
        self._asked: deque[tuple[int, int, Future[Sequence[frozenset[int]]]]] = deque()
        self._cancelled = 0
        self._is_closed = False

    in_time_order = True
    order = None
    calls_only = False
    folded = 0

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

    def next(self, seq: int, step: int = 1) -> int:
        """Return the first match after an entry, or with a `step` of -1 the last one before it.

        From the end, it is the first one of all, and vice versa. 0 if there is none, or none yet (see
        `is_done`).
        """
        row = self.row_near(seq + 1) if step > 0 else self.row_near(seq) - 1
        if 0 <= row < len(self):
            position, index = self._entries.position, self.index(row)
            stretch = (position(seq + 1), index) if step > 0 else (index + 1, position(seq))
            return self.seq(row) if self._is_checked(*stretch) else 0
        return self.seq(0 if step > 0 else len(self) - 1) if self.is_done and len(self) else 0

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
        return bool(self._todo) and len(self._asked) < IN_FLIGHT and not self._is_closed

    @property
    def _unchecked(self) -> list[tuple[int, int]]:
        return [*self._todo, *((start, stop) for start, stop, _ in self._asked)]

    @property
    def progress(self) -> tuple[int, int]:
        start, end = self._hole
        left = end - start + sum(stop - start for start, stop in self._unchecked)
        return max(0, self._seen - left), self._seen

    def advance(self, budget_ms: float = 4.0) -> bool:
        """Work for about `budget_ms`, at least one slice; return whether all work is done for now."""
        deadline = time.perf_counter() + budget_ms / 1000
        if self._gone != self._entries.gone:
            self._gone = self._entries.gone
            self.revision += 1
        if (upto := len(self._entries.touched)) != self._changes_seen:
            if self._filter.changes:
                self._again(self._entries.touched[self._changes_seen : upto])
            self._changes_seen = upto
            self.revision += 1
        self._note_growth()
        while (self._collect() or self._work()) and time.perf_counter() < deadline:
            pass
        return not self.is_at_work

    def recheck(self, seqs: Sequence[int]) -> None:
        """Check entries again after a change that is not in the columns, such as a note."""
        self._again(list(map(self._entries.index, seqs)))

    def cancel(self) -> None:
        """Skip unchecked entries. Rows stay, and new entries are checked."""
        self._todo.clear()
        self._cancelled += 1
        for _, _, seqs in self._asked:
            seqs.cancel()
        self._asked.clear()
        if self._thread is not None:
            self._thread.interrupt()

    def close(self, wait: bool = False) -> None:
        """Close permanently, including the thread. With `wait`, it has ended on return."""
        self._is_closed = True
        self.cancel()
        if self._thread is not None:
            self._thread.close(wait)

    def _is_checked(self, start: int, stop: int) -> bool:
        """Whether no entry of a range can become a row, except by a change."""
        left = (*self._unchecked, self._hole)
        return self._is_all or not any(begin < stop and start < end for begin, end in left if begin < end)

    def _note_growth(self) -> None:
        # In this order: a hole is set before `len` includes its entries.
        count, hole = len(self._entries), self._entries.hole
        if count > self._seen:
            # At first, the entries after a hole are loaded; later, the hole is filled from its start.
            start = max(self._seen, hole[1])
            self._todo.append((start, count))
            self._hole = self._hole if self._seen else (0, hole[1])
            self._seen = count
            self.revision += 1
        start, end = self._hole
        filled = hole[0] if hole[0] < hole[1] else end
        if filled > start:
            self._todo.insert(0, (start, filled))
            self._hole = (filled, end)
            self.revision += 1
        if self._is_all:
            self._todo.clear()

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

    def _work(self) -> bool:
        if not self.can_advance:
            return False
        if self._thread is not None:
            self._ask(self._thread, *self._slice(self._block))
            return True
        start, stop = self._slice(CHUNK)
        self._settle(start, self._filter.mask(start, stop, self._no_hits))
        return True

    def _slice(self, size: int) -> tuple[int, int]:
        start, stop = self._todo.pop()
        if stop - start > size:
            self._todo.append((start, stop - size))
            start = stop - size
        return start, stop

    def _ask(self, thread: ReaderThread, start: int, stop: int) -> None:
        """Search the bodies of a range, from the first to the last that could match."""
        possible = self._filter.mask(start, stop)
        low, high = possible.find(1), possible.rfind(1)
        if low < 0:
            self._settle(start, possible)
            return
        self._block = min(self._block * 2, LARGEST_BLOCK)
        seqs, cancelled = self._entries.seqs((start + low, start + high)), self._cancelled

        def search(reader: TrafficReader) -> Sequence[frozenset[int]]:
            # In this order: cancelling counts before it interrupts.
            reader.rearm()
            return reader.search(self._filter.terms, *seqs) if cancelled == self._cancelled else ()

        self._asked.append((start, stop, thread.submit(search)))

    def _collect(self) -> bool:
        if not self._asked or not self._asked[0][2].done():
            return False
        start, stop, seqs = self._asked.popleft()
        hits = self._no_hits
        try:
            hits = seqs.result()
        # A recording that cannot be read here may be readable in another place: this range has no match.
        except Exception as error:
            self.problem = reason_of(error)
        self._settle(start, self._filter.mask(start, stop, hits))
        return True

    def _settle(self, start: int, mask: bytes) -> None:
        stop = start + len(mask)
        new = array("I", compress(range(start, stop), mask)) if 1 in mask else array("I")
        low, high = bisect_left(self._rows, start), bisect_left(self._rows, stop)
        if new or low != high:
            self.moves += low < len(self._rows)
            self._rows[low:high] = new
            self.revision += 1
