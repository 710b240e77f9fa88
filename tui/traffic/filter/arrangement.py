"""Sorts the rows of a view. Pure."""

import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from heapq import merge
from itertools import islice

from tui.core.language.translate import N_
from tui.core.text import fold
from tui.traffic.filter.fields import asks_for
from tui.traffic.filter.housekeeping import Housekeeping
from tui.traffic.filter.view import Unfolded, View
from tui.traffic.record.column_parts import Names
from tui.traffic.record.entry_columns import EntryColumns

CHUNK = 4_096
"""Rows in one slice: about 3 ms."""

REST = 20
"""Minimum time between two sorts while entries arrive, as a multiple of the sorting time."""

_INDEX = (1 << 32) - 1


class SortColumn(Enum):
    """A column that rows can be sorted by; the value is its heading."""

    TIME = N_("time")
    SERVER = N_("server")
    KIND = N_("kind")
    METHOD = N_("method")
    SIZE = N_("size")
    LATENCY = N_("latency")


@dataclass(frozen=True, slots=True)
class Order:
    """The column that rows are sorted by, and whether the largest value is first."""

    column: SortColumn
    descending: bool = False


def next_order(order: Order | None, column: SortColumn) -> Order | None:
    """Return the next order when a column's key is pressed: sorted, then reversed, then by time again.

    Numbers start with the largest.
    """
    first = column in (SortColumn.TIME, SortColumn.SIZE, SortColumn.LATENCY)
    if order is None or order.column is not column:
        return Order(column, first)
    return Order(column, not first) if order.descending is first and column is not SortColumn.TIME else None


class Arrangement(Unfolded):
    """Sorts a view, with the same interface.

    Sorted by latency, the rows are the completed calls, each once, without housekeeping and model requests
    unless the filter names a method, or for model requests a server. Sorted by another column, housekeeping
    is left out if it is folded (`folds`).
    """

    in_time_order = False

    def __init__(
        self,
        view: View,
        entries: EntryColumns,
        order: Order,
        *,
        folds: bool = False,
        rule: Housekeeping | None = None,
    ) -> None:
        self.view, self.order = view, order
        self.folds = folds and not asks_for(view.query.root, "method")
        self.revision = self.moves = 0
        self._entries = entries
        self._rule = rule or Housekeeping(entries)
        self._rows = array("I")
        self._places = array("I")  # row + 1 in sorted order, by index
        self._seen = 0
        self._stop = 0  # rows of the view in this sort
        self._state: tuple[int, ...] = ()
        self._runs: list[list[int]] = []
        self._merged: Iterator[int] | None = None
        self._next = array("I")
        self._began = self._ended = 0.0

    @property
    def calls_only(self) -> bool:
        """Whether the rows are requests that also represent their responses."""
        return self.order.column is SortColumn.LATENCY

    @property
    def folded(self) -> int:
        """The number of entries that are left out as housekeeping, once all are sorted."""
        return 0 if self.calls_only or self.is_at_work else len(self.view) - len(self)

    def __len__(self) -> int:
        return len(self._rows)

    def index(self, row: int) -> int:
        return self._rows[row]

    def indices(self, start: int, stop: int) -> Sequence[int]:
        return self._rows[max(0, start) : max(0, stop)]

    def seq(self, row: int) -> int:
        return self._entries.seq(self._rows[row])

    def row_of(self, seq: int) -> int:
        row = self.row_near(seq)
        return row if row < len(self) and self.seq(row) == seq else -1

    def row_near(self, seq: int) -> int:
        index = self._entries.index(seq)
        return self._places[index] - 1 if 0 <= index < len(self._places) and self._places[index] else 0

    @property
    def is_at_work(self) -> bool:
        return self._merged is not None or bool(self._runs) or self._seen < self._stop

    def advance(self, budget_ms: float = 4.0) -> bool:
        """Work for about `budget_ms`; return whether all work is done for now."""
        deadline = time.perf_counter() + budget_ms / 1000
        self.view.advance(budget_ms)
        if not self.view.is_at_work:
            self._check_view()
        while self._step():
            if time.perf_counter() >= deadline:
                break
        return not self.is_at_work

    def _check_view(self) -> None:
        """Start over unless rows were only appended to the view."""
        view, entries = self.view, self._entries
        is_loaded = entries.hole[0] == entries.hole[1]
        state = (view.moves, is_loaded, view.revision)
        if state == self._state:
            return
        if self._state:
            now = time.perf_counter()
            if self.is_at_work or now - self._ended < REST * (self._ended - self._began):
                return
        self._began = time.perf_counter()
        self._state = state
        self._seen, self._runs, self._merged, self._stop = 0, [], None, len(view)

    def _step(self) -> bool:
        """Process one slice; return whether there was work."""
        if self._merged is not None:
            self._take_merged(self._merged)
            return True
        if self._seen < self._stop:
            stop = min(self._seen + CHUNK, self._stop)
            rows = self.view.indices(self._seen, stop)
            self._seen = stop
            self._runs.append(self._keys(rows, self.order))
            return True
        if self._runs:
            self._merged, self._runs, self._next = merge(*self._runs), [], array("I")
            return True
        return False

    def _keys(self, rows: Sequence[int], order: Order) -> list[int]:
        """Return a sorted run: for each row its value, then its index, as one number."""
        rule, root = self._rule, self.view.query.root
        if order.column is SortColumn.LATENCY:
            rows = [index for index in rows if rule.is_call(index, root)]
        elif self.folds:
            setup, methods = rule.methods(), self._entries.method
            rows = [index for index in rows if not (setup[methods[index]] and rule.folds(index))]
        value = self._values(order.column)
        if order.descending:
            return sorted(-value(index) << 32 | index for index in rows)
        return sorted(value(index) << 32 | index for index in rows)

    def _values(self, column: SortColumn) -> Callable[[int], int]:
        entries = self._entries
        match column:
            case SortColumn.LATENCY:
                return entries.latency_ns
            case SortColumn.SERVER:
                ranks, sources = _ranks(entries.sources), entries.source
                return lambda index: ranks[sources[index]]
            case SortColumn.METHOD:
                methods, tools = _ranks(entries.methods), _ranks(entries.tools)
                return lambda index: methods[entries.method[index]] << 17 | tools[entries.tool[index]]
        plain = {SortColumn.TIME: entries.mono, SortColumn.SIZE: entries.size, SortColumn.KIND: entries.kind}
        return plain[column].__getitem__

    def _take_merged(self, merged: Iterator[int]) -> None:
        found = [key & _INDEX for key in islice(merged, CHUNK // 2)]
        if found:
            self._next.extend(found)
            if not self._rows:  # at first, the rows grow as they are found
                self._rows = self._next
        if self._rows is self._next:
            self._place(len(self._rows) - len(found))
            self.revision += 1
        if found:
            return
        self._merged, self._ended = None, time.perf_counter()
        if self._rows is not self._next:
            self._rows = self._next
            self._place(0)
        self.moves += 1
        self.revision += 1

    def _place(self, start: int) -> None:
        missing = len(self._entries) - len(self._places)
        if not start:
            self._places = array("I", bytes(4 * len(self._entries)))
        elif missing > 0:
            self._places.frombytes(bytes(4 * missing))
        places = self._places
        for row in range(start, len(self._rows)):
            places[self._rows[row]] = row + 1


def _ranks(names: Names) -> list[int]:
    texts = list(names.texts)
    ranks = [0] * len(texts)
    for rank, number in enumerate(sorted(range(len(texts)), key=lambda number: fold(texts[number]))):
        ranks[number] = rank
    return ranks
