"""A filter put to the columns: which entries it lets through, and which bodies have to be read for it. Pure.

`Filter.mask` answers for a stretch of entries. What is asked of bodies is answered by whoever has a
reader; before that `Filter.possible` says which entries could still pass, so that no other is read.
"""

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter

from tui.core.traffic import BodyTerm
from tui.traffic.filter import masks
from tui.traffic.filter.column_fields import CHANGING, Check, CheckWithin, Columns
from tui.traffic.filter.nodes import And, Name, Node, Not, Or, Pattern, Term, Text
from tui.traffic.filter.query import Query
from tui.traffic.record.entry_columns import EntryColumns


@dataclass(frozen=True, slots=True)
class BodyHits:
    """What was found in the bodies of a stretch from index `start`: a mask for each of the terms."""

    start: int
    masks: Sequence[bytes]


_ANYTHING_FIRST = re.compile(r"(?:\.\*\??(?![?+*{]))+")
"""`/.*milk/` finds what `/milk/` finds, in a time that grows with the square of the body's length."""

Step = Callable[[int, int, "BodyHits | None", bytes | None], bytes]
"""Which entries of a stretch pass. The last is a mask of those that still matter; None for all."""


class Filter:
    """A query made ready for the columns of one recording.

    Attributes:
        terms: what has to be sought in bodies; the order is that of `BodyHits.masks`.
        changes: whether an entry that was there before can begin or cease to pass (its request was
            answered, it was marked, …).
    """

    def __init__(
        self,
        query: Query,
        frames: EntryColumns,
        *,
        notes: Mapping[int, str] | None = None,
        now_ns: int | None = None,
    ) -> None:
        """Make a filter.

        Args:
            query: what passes; one with problems lets pass what could be understood of it.
            frames: the columns.
            notes: what the person noted, by seq; looked at anew each time.
            now_ns: what `since:5m` counts from, nanoseconds since 1970; None for now. It does not move on
                while the filter is in use.
        """
        self._frames = frames
        self._columns = Columns(frames, notes if notes is not None else {}, now_ns or time.time_ns())
        self._terms: list[BodyTerm] = []
        self.changes = False
        self._step = self._made(query.root, False, None)[1] if query.root is not None else _everything
        self.terms = tuple(self._terms)

    def mask(self, start: int, stop: int, found: BodyHits | None = None) -> bytes:
        """Return which entries of a stretch pass, one byte each; with terms, what was found is needed."""
        if self.terms and found is None:
            raise ValueError("this filter asks for bodies")
        return self._step(start, stop, found, None)

    def possible(self, start: int, stop: int) -> bytes:
        """Return which entries could pass, whatever their bodies are."""
        return self._step(start, stop, None, None)

    def found(self, start: int, stop: int, seqs: Sequence[frozenset[int]]) -> BodyHits:
        """Return what a reader found as `mask` needs it: for each term the seqs of the stretch."""
        places = self._frames.indices
        count = stop - start
        return BodyHits(
            start, [masks.placed(count, [index - start for index in places(each)]) for each in seqs]
        )

    # ---- making ---------------------------------------------------------------------------------------

    def _made(self, node: Node, negated: bool, begin_ns: int | None) -> tuple[int, Step]:
        """Return what it costs (cheap ones go first) and the step; `not` is pushed down to the leaves.

        Below there is no `not` over a question to bodies that is still open, so "could be" stays "could be".
        `begin_ns` is what a `since` means that stands beside the node, or around it.
        """
        match node:
            case Not(part):
                return self._made(part, not negated, begin_ns)
            case And(parts) | Or(parts):
                if isinstance(node, And):
                    begin_ns = self._begin_ns(parts, begin_ns)
                made = sorted((self._made(part, negated, begin_ns) for part in parts), key=itemgetter(0))
                steps = [step for _, step in made]
                join = _all if isinstance(node, And) is not negated else _any
                return sum(cost for cost, _ in made), join(steps)
            case Text(text):
                column = self._leaf(self._columns.named(text), negated)
                body = self._body(BodyTerm(text), negated)
                return _BODY, (_all if negated else _any)([column, body])
            case Pattern(pattern, fold):
                return _BODY, self._body(BodyTerm(pattern[_leading(pattern) :], True, fold), negated)
            case Term("body", values):
                needles = [value.text for value in values if isinstance(value, Name)]
                steps = [self._body(BodyTerm(needle), negated) for needle in needles]
                return _BODY, (_all if negated else _any)(steps)
            case Term("latency", values):
                self.changes = True
                return _LATENCY, self._late(self._columns.latency(values), negated)
            case Term(field, values):
                self.changes = self.changes or field in CHANGING
                cost, check = self._columns.check(field, values, begin_ns)
                return cost, self._leaf(check, negated)

    def _begin_ns(self, parts: Sequence[Node], around: int | None) -> int | None:
        """Return the last moment that a `since` of these terms means, or one around them."""
        terms = [part for part in parts if isinstance(part, Term) and part.field == "since"]
        found = [self._columns.begin_ns(term.values) for term in terms]
        return max(found if around is None else [around, *found], default=None)

    def _leaf(self, check: Check, negated: bool) -> Step:
        if negated:
            return lambda start, stop, _found, _within: masks.inverted(check(start, stop))
        return lambda start, stop, _found, _within: check(start, stop)

    def _late(self, check: CheckWithin, negated: bool) -> Step:
        if negated:
            return lambda start, stop, _found, within: masks.inverted(check(start, stop, within))
        return lambda start, stop, _found, within: check(start, stop, within)

    def _body(self, term: BodyTerm, negated: bool) -> Step:
        if term not in self._terms:
            self._terms.append(term)
        place = self._terms.index(term)

        def step(start: int, stop: int, found: BodyHits | None, within: bytes | None) -> bytes:
            if found is None:
                return masks.every(stop - start)
            mask = found.masks[place][start - found.start : stop - found.start]
            return masks.inverted(mask) if negated else mask

        return step


_LATENCY = 130
_BODY = 1000
"""What the dear questions cost, in ns an entry, roughly; a body more than any column."""


def _leading(pattern: str) -> int:
    """Return how many characters at the beginning of a pattern say "anything"."""
    found = _ANYTHING_FIRST.match(pattern)
    return found.end() if found else 0


def _everything(start: int, stop: int, _found: BodyHits | None, _within: bytes | None) -> bytes:
    return masks.every(stop - start)


def _all(steps: Sequence[Step]) -> Step:
    def step(start: int, stop: int, found: BodyHits | None, within: bytes | None) -> bytes:
        mask = steps[0](start, stop, found, within)
        for other in steps[1:]:
            if 1 not in mask:
                break
            mask = masks.both(mask, other(start, stop, found, mask))
        return mask

    return step


def _any(steps: Sequence[Step]) -> Step:
    def step(start: int, stop: int, found: BodyHits | None, within: bytes | None) -> bytes:
        mask = steps[0](start, stop, found, within)
        for other in steps[1:]:
            if 0 not in mask:
                break
            mask = masks.either(mask, other(start, stop, found, within))
        return mask

    return step
