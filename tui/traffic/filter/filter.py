"""Applies a filter, parsed by `query`, to the columns: which match, and which bodies must be read. Pure.

`Filter.mask` works on a range of entries. A reader searches bodies for terms; before that, it returns the
entries that could still match, so that only those are read.
"""

import time
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from datetime import time as clock_time
from operator import itemgetter

from tui.core.jsonrpc.protocol import STAY_OPEN
from tui.core.text import fold
from tui.core.traffic import ANSWERS, REQUESTS, BodyTerm, Outcome
from tui.traffic.filter.fields import (
    FIELDS,
    Ago,
    And,
    Between,
    ClockTime,
    Name,
    Node,
    Not,
    Or,
    Term,
    Text,
    Value,
    glob_pattern,
)
from tui.traffic.filter.query import Query
from tui.traffic.record.column_parts import Names, both, either, inverted, mark_of, table
from tui.traffic.record.entry_columns import EntryColumns

Check = Callable[[int, int], bytes]
"""Returns a mask of the entries that match, from one index to before another."""

BodyHits = Sequence[bytes]
"""The matches in the bodies of a range: a mask for each term."""

Step = Callable[[int, int, BodyHits | None], bytes]
"""Returns which entries of a range match."""


class NameMarks:
    """Which names of a column satisfy `accepts`. New names are decided on arrival."""

    def __init__(self, names: Names, accepts: Callable[[str], bool]) -> None:
        self._names, self._accepts = names, accepts
        self._decided = bytearray()

    def decided(self) -> bytearray:
        """Return 1 or 0 for each name, by its number."""
        texts = self._names.texts
        while len(self._decided) < len(texts):
            self._decided.append(self._accepts(texts[len(self._decided)]))
        return self._decided


CHANGING = frozenset({"status", "latency", "lint", "marked", "note", "pair", "root"})
"""Fields that can change for an existing entry."""

_TIMED = table(ANSWERS | REQUESTS)
_UNREADABLE = table({Outcome.ERROR})
"""On an entry of another kind, this outcome marks a response that could not be parsed."""
_COLUMNS = {"server": "source", "dir": "direction", "status": "outcome", "lint": "severity"}
"""Columns with another name than their field."""

_PENDING = table({Outcome.PENDING})
_LOST = int(Outcome.LOST)
_LOST_TABLE = table({_LOST})


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
        self._entries, self._notes = entries, notes if notes is not None else {}
        self._now_ns = now_ns or time.time_ns()
        self.terms: list[BodyTerm] = []
        self.changes = False
        self._step = self._compiled(query.root or And(()), False, None)[1]

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
                    begin_ns = max([*around, *map(self._begin_ns, since)], default=None)
                made = sorted((self._compiled(part, negated, begin_ns) for part in parts), key=itemgetter(0))
                steps = [step for _, step in made]  # those that need bodies are last
                every = isinstance(node, And) is not negated
                return any(needs for needs, _ in made), _joined(steps, every=every)
            case Text(text):
                wanted, fields = fold(text), ("server", "method", "tool")
                names = [self._names(field, lambda name: wanted in fold(name)) for field in fields]
                steps = [_of_columns(check, negated) for check in names]
                return True, _joined([*steps, self._body(BodyTerm(text), negated)], every=negated)
            case BodyTerm():
                return True, self._body(node, negated)
            case Term("body", values):
                needles = [value.text for value in values if isinstance(value, Name)]
                steps = [self._body(BodyTerm(needle), negated) for needle in needles]
                return True, _joined(steps, every=negated)
            case Term(field, values):
                self.changes = self.changes or field in CHANGING
                return False, _of_columns(self._check(field, values, begin_ns), negated)

    def _body(self, term: BodyTerm, negated: bool) -> Step:
        if term not in self.terms:
            self.terms.append(term)
        place = self.terms.index(term)

        def step(start: int, stop: int, found: BodyHits | None) -> bytes:
            if found is None:
                return b"\x01" * (stop - start)
            return inverted(found[place]) if negated else found[place]

        return step

    # ---- checks of the columns -------------------------------------------------------------------------

    def _check(self, field: str, values: Sequence[Value], begin_ns: int | None) -> Check:
        """Return the check of a term; `begin_ns` is the moment of a `since` next to it."""
        entries = self._entries
        match field:
            case "server" | "method" | "tool":
                return self._names(field, name_test(values))
            case "status":
                return self._status(values)
            case "kind" | "dir" | "lint" | "marked":
                return self._choice(field, values)
            case "size" | "turn" | "step":
                column, limits = getattr(entries, field), _ranges(values)
                return lambda start, stop: in_limits(column[start:stop], limits)
            case "latency":
                return self._latency(values)
            case "id" | "call":
                return self._marks(field, values)
            case "seq":
                return self._seqs(values)
            case "pair" | "root":
                return self._belongs(field, values)
            case "since" | "until":
                return self._moments(field, values, begin_ns)
            case _:
                return self._note_check(values)

    def _names(self, field: str, accepts: Callable[[str], bool]) -> Check:
        column: array[int] = getattr(self._entries, _COLUMNS.get(field, field))
        names: Names = getattr(self._entries, f"{_COLUMNS.get(field, field)}s")
        marks = NameMarks(names, accepts)

        def check(start: int, stop: int) -> bytes:
            rows = column[start:stop]
            # After copying the rows, every number in them has a name.
            return bytes(map(marks.decided().__getitem__, rows))

        return check

    def _choice(self, field: str, values: Sequence[Value]) -> Check:
        column: array[int] = getattr(self._entries, _COLUMNS.get(field, field))
        accepts = name_test(values, "no" if field == "marked" else "none")
        choices = FIELDS[field].choices
        numbers = {number for word, each in choices.items() if accepts(word) for number in each}
        chosen = table(numbers)
        return lambda start, stop: column[start:stop].tobytes().translate(chosen)

    def _status(self, values: Sequence[Value]) -> Check:
        chosen, accepts = self._choice("status", values), name_test(values, "none")
        choices, entries = FIELDS["status"].choices, self._entries
        is_named = any(accepts(word) for word in choices if word != "failed" and _LOST in choices[word])
        with_lasting = is_named or not accepts("failed")
        lasting = self._names("method", STAY_OPEN.__contains__)

        def check(start: int, stop: int) -> bytes:
            mask, hole = chosen(start, stop), entries.hole
            outcomes = entries.outcome[start:stop].tobytes()
            if start < hole[0] < hole[1]:  # responses of pending requests may be in the hole
                mask = both(mask, inverted(outcomes.translate(_PENDING)))
            if not with_lasting:
                mask = both(mask, inverted(both(outcomes.translate(_LOST_TABLE), lasting(start, stop))))
            return mask

        return check

    def _marks(self, field: str, values: Sequence[Value]) -> Check:
        texts = [value.text for value in values if isinstance(value, Name)]
        if field == "id":
            # `id:7` means the number 7 as well as the string "7".
            texts += ['"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"' for text in texts]
        column = self._entries.ident if field == "id" else self._entries.call
        wanted = frozenset(map(mark_of, texts))
        return lambda start, stop: bytes(map(wanted.__contains__, column[start:stop]))

    def _seqs(self, values: Sequence[Value]) -> Check:
        limits = _ranges(values)

        def check(start: int, stop: int) -> bytes:
            count, position = stop - start, self._entries.position
            mask = bytes(count)
            for low, high in limits:
                end = count if high is None else position(high + 1) - start
                mask = either(mask, stretch(count, position(low) - start, end))
            return mask

        return check

    def _belongs(self, field: str, values: Sequence[Value]) -> Check:
        seqs = [value.low for value in _ranges(values)]

        def check(start: int, stop: int) -> bytes:
            entries, count = self._entries, stop - start
            column = entries.root if field == "root" else entries.pair
            rows, mask = column[start:stop], bytes(count)
            for index in map(entries.index, seqs):
                if index < 0:
                    continue
                head = column[index] - 1 if field == "root" and column[index] else index
                near = [index, head, entries.partner(index)]
                mask = either(mask, placed(count, near, start))
                mask = either(mask, bytes(map((head + 1).__eq__, rows)))
            return mask

        return check

    def _begin_ns(self, values: Sequence[Value]) -> int:
        """Return the moment of a `since`: the earliest of several values."""
        return min(since_ns(value, self._now_ns) for value in values if isinstance(value, Ago | ClockTime))

    def _moments(self, field: str, values: Sequence[Value], begin_ns: int | None) -> Check:
        if field == "since":
            wall = self._begin_ns(values)
        else:
            moments = [value for value in values if isinstance(value, Ago | ClockTime)]
            wall = max(until_ns(value, self._now_ns, begin_ns) for value in moments) + 1
        entries = self._entries

        def check(start: int, stop: int) -> bytes:
            parts = [
                bytes(map((wall - offset).__le__, entries.mono[begin:end]))
                for begin, end, offset in entries.clocks(start, stop)
            ]
            mask = b"".join(parts)
            return mask if field == "since" else inverted(mask)

        return check

    def _latency(self, values: Sequence[Value]) -> Check:
        """Return the check for how long a response took, on the request and on its response."""
        limits, entries = _ranges(values), self._entries

        def check(start: int, stop: int) -> bytes:
            pairs, ats, mono = entries.pair[start:stop], entries.mono[start:stop], entries.mono
            timed = either(
                entries.kind[start:stop].tobytes().translate(_TIMED),
                entries.outcome[start:stop].tobytes().translate(_UNREADABLE),
            )
            rows = zip(pairs, ats, timed, strict=True)
            took = [abs(mono[pair - 1] - at) if pair and is_timed else -1 for pair, at, is_timed in rows]
            return in_limits(took, limits)

        return check

    def _note_check(self, values: Sequence[Value]) -> Check:
        names = [value for value in values if isinstance(value, Name)]
        is_like = name_test([name for name in names if name.glob])
        words = [fold(name.text) for name in names if not name.glob]

        def check(start: int, stop: int) -> bytes:
            notes = [(seq, text, fold(text)) for seq, text in list(self._notes.items())]
            noted = [
                seq for seq, text, folded in notes if is_like(text) or any(word in folded for word in words)
            ]
            return placed(stop - start, map(self._entries.index, noted), start)

        return check


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


def name_test(values: Sequence[Value], empty: str = "") -> Callable[[str], bool]:
    """Return a test for any of some names. `*` alone matches every name except the `empty` one."""
    names = [value for value in values if isinstance(value, Name)]
    exact = {fold(name.text) for name in names if not name.glob}
    globs = [fold(name.text) for name in names if name.glob]
    patterns = [glob_pattern(glob) for glob in globs if glob.strip("*")]
    takes_any = len(patterns) < len(globs)

    def test(text: str) -> bool:
        name = fold(text)
        return (
            name in exact
            or (takes_any and name != empty)
            or any(pattern.match(name) is not None for pattern in patterns)
        )

    return test


def in_limits(numbers: Sequence[int], limits: Iterable[tuple[int, int | None]]) -> bytes:
    """Return which numbers are from `low` to `high` of one of the limits; None for no limit."""
    mask = bytes(len(numbers))
    for low, high in limits:
        found = map(low.__le__, numbers) if high is None else [low <= number <= high for number in numbers]
        mask = either(mask, bytes(found))
    return mask


def placed(count: int, indices: Iterable[int], start: int = 0) -> bytes:
    """Return a mask of `count` entries from `start` on, with 1 for those of `indices` that are among them."""
    mask = bytearray(count)
    for index in indices:
        if 0 <= index - start < count:
            mask[index - start] = 1
    return bytes(mask)


def stretch(count: int, start: int, stop: int) -> bytes:
    """Return a mask with 1 from `start` to before `stop`, clipped to `count`."""
    start, stop = max(0, min(count, start)), max(0, min(count, stop))
    return bytes(start) + b"\x01" * max(0, stop - start) + bytes(count - max(start, stop))


def _ranges(values: Sequence[Value]) -> list[Between]:
    return [value for value in values if isinstance(value, Between)]


# ---- moments, in nanoseconds since 1970 -------------------------------------------------------------------


def since_ns(value: Ago | ClockTime, now_ns: int) -> int:
    """Return the moment of `since`: for a bare clock time, the last time that the clock showed it.

    Clock times are local. If a day is given, a time that occurs twice (the clock was set back) means the
    first one. A time that the clock skipped means the time that it would be on a clock that was not set.
    """
    if isinstance(value, Ago):
        return now_ns - value.ns
    if value.day:
        return _moments_on_day(value, now_ns)[0]
    today = _day(now_ns)
    shown = [at for back in (0, 1, 2) for at in _showings(today - timedelta(days=back), value.ns)]
    return max(at for at in shown if at <= now_ns)


def until_ns(value: Ago | ClockTime, now_ns: int, begin_ns: int | None) -> int:
    """Return the moment of `until`: for a bare clock time, the first such time after `begin_ns`.

    `begin_ns` is the moment of a `since` next to it. Without one, a bare clock time means today. In that
    case, and if a day is given, a time that occurs twice means the last one.
    """
    if isinstance(value, Ago):
        return now_ns - value.ns
    if value.day:
        return _moments_on_day(value, now_ns)[-1]
    if begin_ns is None:
        return _showings(_day(now_ns), value.ns)[-1]
    try:
        first = _day(begin_ns)
        shown = [at for ahead in (0, 1, 2) for at in _showings(first + timedelta(days=ahead), value.ns)]
    except _NO_MOMENT:
        return begin_ns
    return min(at for at in shown if at > begin_ns)


_SECOND_NS = 1_000_000_000
_NO_MOMENT = (ValueError, OverflowError, OSError)


def _day(moment_ns: int) -> date:
    return datetime.fromtimestamp(moment_ns // _SECOND_NS).date()


def _moments_on_day(value: ClockTime, now_ns: int) -> list[int]:
    day = date.fromisoformat(value.day)
    try:
        return _showings(day, value.ns)
    except _NO_MOMENT:
        # A day outside the range of the clock is before or after all others.
        return [-(1 << 63) if day < _day(now_ns) else 1 << 63]


def _showings(day: date, of_day_ns: int) -> list[int]:
    """Return the moments of a clock time on a day, in order: two if the clock was set back.

    Raises ValueError, OverflowError or OSError for a day that this machine's clock does not have.
    """
    seconds, rest = divmod(of_day_ns, _SECOND_NS)
    shown = datetime.combine(day, clock_time()) + timedelta(seconds=seconds)
    moments = sorted({int(shown.replace(fold=fold).timestamp()) for fold in (0, 1)})
    real = [at for at in moments if datetime.fromtimestamp(at) == shown]
    return [at * _SECOND_NS + rest for at in real or moments[-1:]]
