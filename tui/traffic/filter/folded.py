"""The rows of a view with the housekeeping of each server folded into one row. Pure.

Only the hidden rows are kept, so that a recording of a million entries is shown before it has been checked.
"""

import time
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import compress

from tui.core.traffic import Outcome
from tui.traffic.filter.arrangement import Arrangement
from tui.traffic.filter.fields import Node, asks_for
from tui.traffic.filter.housekeeping import Housekeeping
from tui.traffic.filter.view import View
from tui.traffic.record.entry_columns import EntryColumns

CHUNK = 8_192
"""Rows in one slice: about 1 ms."""

CHANGES = 512
"""Changed entries in one slice."""

_PRECISE = "method id call pair root seq lint marked note status latency size".split()


def is_precise(node: Node | None) -> bool:
    """Whether a filter asks for particular entries, so that none of its matches should be folded."""
    return asks_for(node, *_PRECISE, texts=True)


@dataclass(slots=True)
class Fold:
    """The rows of a server that are folded into the first of them, in order, and their bytes."""

    rows: "array[int]" = field(default_factory=lambda: array("I"))
    octets: int = 0

    @property
    def entries(self) -> int:
        return len(self.rows)


class FoldedView:
    """A view whose housekeeping is folded, with the same interface."""

    in_time_order = True
    order = None
    calls_only = False

    def __init__(self, view: View, entries: EntryColumns, rule: Housekeeping) -> None:
        self.view, self._entries, self._rule = view, entries, rule
        self._hidden = array("I")  # rows of the view, without the first one of each fold
        self._folds: dict[int, Fold] = {}  # by the number of the server
        self._revealed: set[int] = set()  # seqs
        self._unfolded: set[int] = set()  # numbers of servers
        self._pending: set[int] = set()  # indices of folded requests that may become slow
        self._todo: list[tuple[int, int]] = []  # rows of the view, the last ones first
        self._seen = self._changes = self._moved = 0
        self._view_moves, self._had_hole = -1, False

    # ---- rows ------------------------------------------------------------------------------------------

    @property
    def revision(self) -> int:
        return self.view.revision + self._moved

    @property
    def moves(self) -> int:
        return self.view.moves + self._moved

    @property
    def folded(self) -> int:
        """The number of entries that are folded."""
        return sum(fold.entries for fold in self._folds.values() if fold.entries > 1)

    def __len__(self) -> int:
        return max(0, len(self.view) - len(self._hidden))

    def index(self, row: int) -> int:
        return self.view.index(self._view_row(row))

    def indices(self, start: int, stop: int) -> Sequence[int]:
        first, last = self._view_row(max(0, start)), self._view_row(max(0, min(stop, len(self)) - 1))
        if start >= len(self):
            return []
        mask = bytearray(b"\1") * (last + 1 - first)
        for row in self._hidden[bisect_left(self._hidden, first) : bisect_right(self._hidden, last)]:
            mask[row - first] = 0
        return list(compress(self.view.indices(first, last + 1), mask))

    def seq(self, row: int) -> int:
        return self._entries.seq(self.index(row))

    def row_of(self, seq: int) -> int:
        row = self.view.row_of(seq)
        return -1 if row < 0 or _has(self._hidden, row) else row - bisect_left(self._hidden, row)

    def row_near(self, seq: int) -> int:
        row = self.view.row_near(seq)
        return row - bisect_left(self._hidden, row)

    def _view_row(self, row: int) -> int:
        hidden = self._hidden
        return row + bisect_right(range(len(hidden)), row, key=lambda at: hidden[at] - at)

    # ---- folds -----------------------------------------------------------------------------------------

    def fold_at(self, index: int) -> Fold | None:
        """Return the fold that an entry's row represents, None if it represents itself only."""
        fold = self._folds.get(self._entries.source[index])
        is_first = fold is not None and fold.entries > 1 and self.view.index(fold.rows[0]) == index
        return fold if is_first else None

    def folded_at(self, index: int, most: int) -> list[int]:
        """Return the indices of the first entries that the row of an entry represents."""
        fold = self.fold_at(index)
        return [self.view.index(row) for row in fold.rows[:most]] if fold is not None else []

    def reveal(self, seq: int) -> bool:
        """Never fold an entry again; return whether it was folded."""
        row, index = self.view.row_of(seq), self._entries.index(seq)
        if row < 0 or not self._rule.folds(index):
            return False
        self._revealed.add(seq)
        if is_folded := self._is_folded(row, index):
            self._remove(row, index)
        return is_folded

    def unfold(self, index: int) -> bool:
        """Show the entries that the row of an entry represents; return False if it represents itself only."""
        fold = self.fold_at(index)
        if fold is None:
            return False
        self._unfolded.add(self._entries.source[index])
        self._view_moves = -1
        return True

    # ---- work ------------------------------------------------------------------------------------------

    @property
    def is_at_work(self) -> bool:
        return bool(self._todo) or self._view_moves != self.view.moves or self._seen < len(self.view)

    def advance(self, budget_ms: float = 4.0) -> bool:
        """Work for about `budget_ms`, at least one slice; return whether all work is done for now."""
        deadline = time.perf_counter() + budget_ms / 1000
        self.view.advance(budget_ms)
        self.follow_view()
        for index in [*self._pending]:
            self._decide(index)
        while (self._look_again() or self._fold_slice()) and time.perf_counter() < deadline:
            pass
        return not self.is_at_work

    def follow_view(self) -> None:
        """Note what the view has added. Rows that moved, or were not loaded, are checked again."""
        view, count, has_hole = self.view, len(self.view), self._entries.hole[0] < self._entries.hole[1]
        if self._view_moves != view.moves:
            self._moved += 1
            self._view_moves, self._changes = view.moves, len(self._entries.touched)
            self._hidden, self._folds = array("I"), {}
            self._pending.clear()
            self._todo = [(0, count)]
        elif self._had_hole and not has_hole:
            self._todo = [(0, count)]
        elif count > self._seen:
            self._todo.append((self._seen, count))
        self._seen, self._had_hole = count, has_hole

    def _fold_slice(self) -> bool:
        if not self._todo:
            return False
        first, stop = self._todo.pop()
        start = max(first, stop - CHUNK)
        if first < start:
            self._todo.append((first, start))
        entries, setup = self._entries, self._rule.methods()
        indices = self.view.indices(start, stop)
        mask = bytes(map(setup.__getitem__, map(entries.method.__getitem__, indices)))
        if 1 not in mask:
            return True
        found: dict[int, list[int]] = {}
        for row, index in compress(zip(range(start, stop), indices, strict=True), mask):
            folds, is_folded = entries.is_here(index) and self._folds_away(index), self._is_folded(row, index)
            if folds and not is_folded:
                found.setdefault(entries.source[index], []).append(row)
            elif is_folded and not folds:
                self._remove(row, index)
        for source, rows in found.items():
            self._add(source, rows)
        return True

    def _look_again(self) -> bool:
        """Decide again on entries that have changed; return whether there were any."""
        touched, since = self._entries.touched, self._changes
        if since == len(touched):
            return False
        self._changes = min(len(touched), since + CHANGES)
        for index in self._entries.with_partners(touched[since : self._changes]):
            self._decide(index)
        return True

    def _decide(self, index: int) -> None:
        """Fold or unfold an entry, as it is now."""
        entries = self._entries
        row = self.view.row_of(entries.seq(index)) if entries.is_here(index) else -1
        if row < 0:
            return
        folds, is_folded = self._folds_away(index), self._is_folded(row, index)
        if folds and not is_folded:
            self._add(entries.source[index], [row])
        elif is_folded and not folds:
            self._remove(row, index)
        elif entries.outcome[index] != Outcome.PENDING:
            self._pending.discard(index)

    def _folds_away(self, index: int) -> bool:
        is_shown = self._entries.source[index] in self._unfolded or self._entries.seq(index) in self._revealed
        return not is_shown and self._rule.folds(index)

    def _is_folded(self, row: int, index: int) -> bool:
        fold = self._folds.get(self._entries.source[index])
        return fold is not None and _has(fold.rows, row)

    def _add(self, source: int, rows: Sequence[int]) -> None:
        """Add rows in order. Of the fold with these, the first one is shown."""
        fold, entries = self._folds.setdefault(source, Fold()), self._entries
        hidden = sorted((*rows, *fold.rows[:1]))
        _merge(fold.rows, rows)
        hidden.remove(fold.rows[0])
        _merge(self._hidden, hidden)
        for index in map(self.view.index, rows):
            fold.octets += entries.size[index]
            if entries.outcome[index] == Outcome.PENDING:
                self._pending.add(index)
        self._moved += 1

    def _remove(self, row: int, index: int) -> None:
        fold = self._folds[self._entries.source[index]]
        shown = row if row > fold.rows[0] else next(iter(fold.rows[1:2]), -1)
        fold.rows.remove(row)
        fold.octets -= self._entries.size[index]
        if shown >= 0:
            del self._hidden[bisect_left(self._hidden, shown)]
        self._pending.discard(index)
        self._moved += 1


def _has(rows: "array[int]", row: int) -> bool:
    at = bisect_left(rows, row)
    return at < len(rows) and rows[at] == row


def _merge(into: "array[int]", rows: Sequence[int]) -> None:
    """Insert rows, which are in order, among others that are."""
    if rows:
        low, high = bisect_left(into, rows[0]), bisect_left(into, rows[-1])
        into[low:high] = array("I", sorted((*into[low:high], *rows)))


Rows = View | FoldedView | Arrangement
"""What a list shows: all rows by time, with folds, or sorted."""
