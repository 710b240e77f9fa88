"""Applies a filter, parsed by `query`, to the columns: which match, and which bodies must be read. Pure.

`Filter.mask` works on a range of entries. A reader searches bodies for terms; before that, it returns the
entries that could still match, so that only those are read.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter

from tui.core.traffic import BodyTerm
from tui.traffic.filter.column_fields import CHANGING, Check, Columns, placed
from tui.traffic.filter.nodes import And, Name, Node, Not, Or, Term, Text
from tui.traffic.filter.query import Query
from tui.traffic.record.column_parts import both, either, inverted
from tui.traffic.record.entry_columns import EntryColumns

BodyHits = Sequence[bytes]
"""The matches in the bodies of a range: a mask for each term."""

Step = Callable[[int, int, BodyHits | None], bytes]
"""Returns which entries of a range match."""


class Filter:
    """A query compiled for the columns of one recording.

    `terms` are the terms to search for in bodies, in the order of `BodyHits`. `changes`: the result for
    an existing entry can change (its request was answered, it was marked, …).
    """

    def __init__(
        self,
        query: Query,
        entries: EntryColumns,
        *,
        notes: Mapping[int, str] | None = None,
        now_ns: int | None = None,
    ) -> None:
        """Compile a filter. If the query has problems, its parseable part is applied.

        `notes` are read each time. `since:5m` counts from `now_ns` (since 1970; None for now) throughout.
        """
        self._entries = entries
        self._columns = Columns(entries, notes if notes is not None else {}, now_ns or time.time_ns())
        self._terms: list[BodyTerm] = []
        self.changes = False
        self._step = self._compiled(query.root or And(()), False, None)[1]
        self.terms = tuple(self._terms)

    def mask(self, start: int, stop: int, found: Sequence[frozenset[int]] | None = None) -> bytes:
        """Return which entries of a range match, one byte each.

        `found` are the seqs whose bodies contain each term. Without it, entries that could match count.
        """
        if found is None:
            return self._step(start, stop, None)
        places = (map(self._entries.index, seqs) for seqs in found)
        return self._step(start, stop, [placed(stop - start, each, start) for each in places])

    def _compiled(self, node: Node, negated: bool, begin_ns: int | None) -> tuple[bool, Step]:
        """Return whether a node needs bodies, and its step; `not` is pushed down to the leaves.

        As a result, no `not` is over a term about bodies that is still open, so "could match" stays "could
        match". `begin_ns` is the moment of a `since` next to the node, or around it.
        """
        match node:
            case Not(part):
                return self._compiled(part, not negated, begin_ns)
            case And(parts) | Or(parts):
                if isinstance(node, And):
                    since = (one.values for one in parts if isinstance(one, Term) and one.field == "since")
                    around = [] if begin_ns is None else [begin_ns]
                    begin_ns = max([*around, *map(self._columns.begin_ns, since)], default=None)
                made = sorted((self._compiled(part, negated, begin_ns) for part in parts), key=itemgetter(0))
                steps = [step for _, step in made]  # those that need bodies are last
                every = isinstance(node, And) is not negated
                return any(needs for needs, _ in made), _joined(steps, every=every)
            case Text(text):
                column = _of_columns(self._columns.named(text), negated)
                body = self._body(BodyTerm(text), negated)
                return True, _joined([column, body], every=negated)
            case BodyTerm():
                return True, self._body(node, negated)
            case Term("body", values):
                needles = [value.text for value in values if isinstance(value, Name)]
                steps = [self._body(BodyTerm(needle), negated) for needle in needles]
                return True, _joined(steps, every=negated)
            case Term(field, values):
                self.changes = self.changes or field in CHANGING
                return False, _of_columns(self._columns.check(field, values, begin_ns), negated)

    def _body(self, term: BodyTerm, negated: bool) -> Step:
        if term not in self._terms:
            self._terms.append(term)
        place = self._terms.index(term)

        def step(start: int, stop: int, found: BodyHits | None) -> bytes:
            if found is None:
                return b"\x01" * (stop - start)
            return inverted(found[place]) if negated else found[place]

        return step


def _of_columns(check: Check, negated: bool) -> Step:
    if negated:
        return lambda start, stop, _found: inverted(check(start, stop))
    return lambda start, stop, _found: check(start, stop)


def _joined(steps: Sequence[Step], *, every: bool) -> Step:
    """Join steps: all of them must match, or any of them."""
    join = both if every else either
    undecided = int(every)  # the mask value of an entry that a further step could change

    def step(start: int, stop: int, found: BodyHits | None) -> bytes:
        mask = bytes((undecided,)) * (stop - start)
        for other in steps:
            if undecided not in mask:
                break
            mask = join(mask, other(start, stop, found))
        return mask

    return step
