"""The fields of the filter language as checks over the columns. Pure."""

import time
from array import array
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, timedelta
from datetime import time as clock_time
from functools import partial, reduce
from itertools import compress

from tui.core.text import fold
from tui.core.traffic import ANSWERS, REQUESTS, Outcome
from tui.traffic.filter import masks
from tui.traffic.filter.fields import FIELDS, glob_pattern
from tui.traffic.filter.nodes import Ago, Between, ClockTime, Compare, Name, Value
from tui.traffic.methods import STAYS_OPEN
from tui.traffic.record.column_parts import Names, mark_of
from tui.traffic.record.entry_columns import EntryColumns

_SMALL = 256


Check = Callable[[int, int], bytes]
"""Returns a mask of the entries that match, from one index to before another."""


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


def name_check(column: "array[int]", names: Names, accepts: Callable[[str], bool]) -> Check:
    """Return a check for rows whose name satisfies `accepts`."""
    marks = NameMarks(names, accepts)

    def check(start: int, stop: int) -> bytes:
        rows = column[start:stop]
        # After copying the rows, every number in them has a name.
        decided = marks.decided()
        if len(decided) <= _SMALL:
            return masks.low_bytes(rows.tobytes(), rows.itemsize).translate(decided.ljust(_SMALL, b"\0"))
        return bytes(map(decided.__getitem__, rows))

    return check


CheckWithin = Callable[[int, int, bytes | None], bytes]
"""The same for the entries of a mask only. The result for others is undefined."""

CHANGING = frozenset({"status", "latency", "lint", "marked", "note", "pair", "root"})
"""Fields that can change for an existing entry."""

_TIMED = masks.table(ANSWERS | REQUESTS)
_UNREADABLE = masks.table({Outcome.ERROR})
"""On an entry of another kind, this outcome marks a response that could not be parsed."""
_PENDING = masks.table({Outcome.PENDING})
_LOST = int(Outcome.LOST)
_LOST_TABLE = masks.table({_LOST})


class Columns:
    """Makes checks over the columns of one recording. Costs are approximate ns per entry."""

    def __init__(self, entries: EntryColumns, notes: Mapping[int, str], now_ns: int) -> None:
        self._entries, self._notes, self._now_ns = entries, notes, now_ns

    def check(self, field: str, values: Sequence[Value], begin_ns: int | None = None) -> tuple[int, Check]:
        """Return the cost and the check of a term; `begin_ns` is the moment of a `since` next to it."""
        entries = self._entries
        match field:
            case "server":
                return 2, name_check(entries.source, entries.sources, _name_test(values))
            case "method":
                return 2, name_check(entries.method, entries.methods, _name_test(values))
            case "tool":
                return 2, name_check(entries.tool, entries.tools, _name_test(values))
            case "status":
                return 1, self._status(values)
            case "kind" | "dir" | "lint" | "marked":
                return 1, self._choice(field, values)
            case "size" | "turn" | "step":
                tests = [partial(masks.between, low=low, high=high) for low, high in map(_limits, values)]
                return 15, _any_of(getattr(entries, field), tests)
            case "id" | "call":
                return 8 * len(values), self._marks(field, values)
            case "seq":
                return 1, self._seqs(values)
            case "pair" | "root":
                return 10, self._belongs(field, values)
            case "since" | "until":
                return 30, self._moments(field, values, begin_ns)
            case "note":
                return 5, self._note_check(values)
        raise ValueError(f"no column for {field}")

    def named(self, text: str) -> Check:
        wanted, entries = fold(text), self._entries

        def has(name: str) -> bool:
            return wanted in fold(name)

        checks = (
            name_check(entries.source, entries.sources, has),
            name_check(entries.method, entries.methods, has),
            name_check(entries.tool, entries.tools, has),
        )
        return lambda start, stop: reduce(masks.either, [check(start, stop) for check in checks])

    def _choice(self, field: str, values: Sequence[Value]) -> Check:
        words = {"dir": "direction", "status": "outcome", "lint": "severity"}
        column: array[int] = getattr(self._entries, words.get(field, field))
        accepts = _name_test(values, "no" if field == "marked" else "none")
        choices = FIELDS[field].choices
        numbers = {number for word, each in choices.items() if accepts(word) for number in each}
        table = masks.table(numbers)
        return lambda start, stop: column[start:stop].tobytes().translate(table)

    def _status(self, values: Sequence[Value]) -> Check:
        check, accepts = self._known(self._choice("status", values)), _name_test(values, "none")
        choices = FIELDS["status"].choices
        is_named = any(accepts(word) for word in choices if word != "failed" and _LOST in choices[word])
        if not accepts("failed") or is_named:
            return check
        ended, methods = self._entries.outcome, self._entries.methods
        lasting = name_check(self._entries.method, methods, lambda method: method == STAYS_OPEN)

        def failed(start: int, stop: int) -> bytes:
            lost = ended[start:stop].tobytes().translate(_LOST_TABLE)
            return masks.both(check(start, stop), masks.inverted(masks.both(lost, lasting(start, stop))))

        return failed

    def _known(self, check: Check) -> Check:
        """Exclude pending requests before the hole, because their responses may be in it."""
        entries = self._entries

        def known(start: int, stop: int) -> bytes:
            mask, hole = check(start, stop), entries.hole
            if start < hole[0] < hole[1]:
                waiting = entries.outcome[start:stop].tobytes().translate(_PENDING)
                mask = masks.both(mask, masks.inverted(waiting))
            return mask

        return known

    def _marks(self, field: str, values: Sequence[Value]) -> Check:
        texts = [value.text for value in values if isinstance(value, Name)]
        if field == "id":
            # `id:7` means the number 7 as well as the string "7".
            texts += ['"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"' for text in texts]
        column = self._entries.ident if field == "id" else self._entries.call
        return _any_of(column, [partial(masks.equal, number=mark_of(text)) for text in texts])

    def _seqs(self, values: Sequence[Value]) -> Check:
        limits = [_limits(value) for value in values]

        def check(start: int, stop: int) -> bytes:
            count, position = stop - start, self._entries.position
            mask = masks.none(count)
            for low, high in limits:
                end = count if high is None else position(high + 1) - start
                mask = masks.either(mask, masks.stretch(count, position(low) - start, end))
            return mask

        return check

    def _belongs(self, field: str, values: Sequence[Value]) -> Check:
        seqs = [value.number for value in values if isinstance(value, Compare)]

        def check(start: int, stop: int) -> bytes:
            entries, count = self._entries, stop - start
            column = entries.root if field == "root" else entries.pair
            raw = column[start:stop].tobytes()
            mask = masks.none(count)
            for index in map(entries.index, seqs):
                if index < 0:
                    continue
                head = column[index] - 1 if field == "root" and column[index] else index
                near = [index, head, entries.partner(index)]
                mask = masks.either(mask, masks.placed(count, [each - start for each in near]))
                mask = masks.either(mask, masks.equal(raw, column.itemsize, head + 1))
            return mask

        return check

    def begin_ns(self, values: Sequence[Value]) -> int:
        """Return the moment of a `since`: the earliest of several values."""
        return min(since_ns(value, self._now_ns) for value in values if isinstance(value, Ago | ClockTime))

    def _moments(self, field: str, values: Sequence[Value], begin_ns: int | None) -> Check:
        if field == "since":
            wall = self.begin_ns(values)
        else:
            moments = [value for value in values if isinstance(value, Ago | ClockTime)]
            wall = max(until_ns(value, self._now_ns, begin_ns) for value in moments) + 1
        entries = self._entries

        def check(start: int, stop: int) -> bytes:
            parts = [
                masks.at_least(entries.mono[begin:end].tobytes(), 8, wall - offset)
                for begin, end, offset in entries.clocks(start, stop)
            ]
            mask = b"".join(parts)
            return mask if field == "since" else masks.inverted(mask)

        return check

    def latency(self, values: Sequence[Value]) -> CheckWithin:
        """Return the check for how long a response took, on the request and on its response.

        The partner may be anywhere, so this check cannot be vectorized. It is only done for entries that no
        other check excludes.
        """
        limits = [(low, high if high is not None else 1 << 63) for low, high in map(_limits, values)]
        entries = self._entries

        def check(start: int, stop: int, within: bytes | None) -> bytes:
            pairs, ats, mono = entries.pair[start:stop], entries.mono[start:stop], entries.mono
            timed = masks.either(
                entries.kind[start:stop].tobytes().translate(_TIMED),
                entries.outcome[start:stop].tobytes().translate(_UNREADABLE),
            )
            timed = masks.both(timed, masks.at_least(pairs.tobytes(), pairs.itemsize, 1))
            if within is not None:
                timed = masks.both(timed, within)
            few = timed.count(1) * 3 < stop - start
            rows = (compress(pairs, timed), compress(ats, timed)) if few else (pairs, ats)
            # Without a partner the last entry is used, and `timed` excludes it.
            if len(limits) == 1:
                low, high = limits[0]
                matching = bytes(
                    [low <= abs(mono[pair - 1] - at) <= high for pair, at in zip(*rows, strict=True)]
                )
            else:
                took = [abs(mono[pair - 1] - at) for pair, at in zip(*rows, strict=True)]
                matching = bytes([any(low <= each <= high for low, high in limits) for each in took])
            if few:
                return masks.placed(stop - start, compress(compress(range(stop - start), timed), matching))
            return masks.both(timed, matching)

        return check

    def _note_check(self, values: Sequence[Value]) -> Check:
        names = [value for value in values if isinstance(value, Name)]
        is_like = _name_test([name for name in names if name.glob])
        words = [fold(name.text) for name in names if not name.glob]

        def check(start: int, stop: int) -> bytes:
            notes = [(seq, text, fold(text)) for seq, text in list(self._notes.items())]
            noted = self._entries.indices(
                seq for seq, text, folded in notes if is_like(text) or any(word in folded for word in words)
            )
            return masks.placed(stop - start, [index - start for index in noted])

        return check


def _any_of(column: "array[int]", tests: Sequence[Callable[[bytes, int], bytes]]) -> Check:
    def check(start: int, stop: int) -> bytes:
        raw = column[start:stop].tobytes()
        found = (test(raw, column.itemsize) for test in tests)
        return reduce(masks.either, found, masks.none(stop - start))

    return check


def _name_test(values: Sequence[Value], empty: str = "") -> Callable[[str], bool]:
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


def _limits(value: Value) -> tuple[int, int | None]:
    match value:
        case Compare(">", number):
            return number + 1, None
        case Compare(">=", number):
            return number, None
        case Compare("<", number):
            return 0, number - 1
        case Compare("<=", number):
            return 0, number
        case Compare(_, number):
            return number, number
        case Between(low, high):
            return low or 0, high
    raise ValueError(f"{value} has no limits")


# ---- moments, in nanoseconds since 1970 -------------------------------------------------------------------


def since_ns(value: Ago | ClockTime, now_ns: int) -> int:
    """Return the moment of `since`: for a bare clock time, the last time that the clock showed it.

    Clock times are local. If a day is given, a time that occurs twice (the clock was set back) means the
    first one. A time that the clock skipped means the moment when it was set forward.
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
    if not real:  # the clock skipped it
        before, behind = moments
        while behind - before > 1:
            middle = (before + behind) // 2
            is_before = time.localtime(middle).tm_gmtoff == time.localtime(before).tm_gmtoff
            before, behind = (middle, behind) if is_before else (before, middle)
        return [behind * _SECOND_NS]
    return [at * _SECOND_NS + rest for at in real]
