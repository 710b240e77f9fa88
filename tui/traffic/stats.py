"""Statistics: counts, durations and sizes per server and tool, updated as a recording grows. Pure.

A call counts once, from its first request to the response that ends it: the rounds of a call that asked for
input are one call with one duration. The figures of a server exclude what every start needs: handshake,
lists, and `subscriptions/listen`, which stays open on purpose. There are at most `MAX_LINES` lines.
"""

import time
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import compress

from tui.core.jsonrpc.protocol import STAY_OPEN
from tui.core.traffic import ANSWERS, REQUESTS, Kind, Outcome
from tui.traffic.methods import is_setup
from tui.traffic.record.column_parts import both, either, inverted, table
from tui.traffic.record.entry_columns import EntryColumns

EXACT = 256
"""Maximum different durations to store exactly. With more, percentiles are within 1/32 (about 3 %)."""


def _rounded(ns: int) -> int:
    """Return a duration to five binary digits, of which there are 16 for each power of two."""
    shift = max(0, ns.bit_length() - 5)
    return (ns >> shift << shift) + (1 << shift >> 1)


class LatencyHistogram:
    """Durations in nanoseconds; `longest` is exact, the percentiles only if `is_exact`."""

    def __init__(self) -> None:
        self.count = self.longest = 0
        self._counts = Counter[int]()
        self.is_exact = True

    def add(self, durations: Sequence[int]) -> None:
        """Add durations; negative ones count as 0."""
        self.count += len(durations)
        self.longest = max(self.longest, *durations, 0)
        self._counts.update(durations if self.is_exact else map(_rounded, durations))
        if self.is_exact and len(self._counts) > EXACT:
            counts, self._counts, self.is_exact = self._counts, Counter(), False
            for ns, number in counts.items():
                self._counts[_rounded(ns)] += number

    def percentile(self, percent: int) -> int:
        """Return the nanoseconds that `percent` of the durations do not exceed; 0 without durations."""
        left = max(1, -(-self.count * percent // 100))
        for ns, number in sorted(self._counts.items()):
            left -= number
            if left <= 0:
                return max(0, min(ns, self.longest))
        return 0

    @classmethod
    def together(cls, several: Iterable["LatencyHistogram"]) -> "LatencyHistogram":
        whole = cls()
        for one in several:
            whole.count += one.count
            whole.longest = max(whole.longest, one.longest)
            whole.is_exact = whole.is_exact and one.is_exact
            whole._counts.update(one._counts)
        return whole


CHUNK = 4_096
"""Entries of one slice: about 3 ms."""

MAX_LINES = 2_000
"""Maximum lines; further ones count as "(other)"."""

SPARKS = 60
"""Intervals in which calls are counted. When all are used, pairs are merged."""

_NOT_PENDING = STAY_OPEN | {"server/discover"}
"""Requests without a response that are not pending: streams, an abandoned probe."""

_FIRST_WIDTH_NS = 1_000_000_000
_OTHER = 0xFFFF_FFFF
_REQUESTED = table(REQUESTS)
_NO_REQUEST = inverted(_REQUESTED)
_UNREADABLE = table({Outcome.ERROR, Outcome.PROBE})
_ANSWERED = table(ANSWERS)
_FAILED = frozenset({Outcome.ERROR, Outcome.TOOL_ERROR})
_ONE_ROUND, _PROBE = int(Outcome.INPUT_REQUIRED), int(Outcome.PROBE)
_GONE = frozenset({Outcome.CANCELLED, Outcome.LOST})
_GIVEN_UP = table(_GONE)


@dataclass(frozen=True, slots=True)
class Figures:
    """One line of the statistics, of a server or of a method and tool.

    Attributes:
        method, tool: both "" for a whole server, "(other)" for the lines beyond the maximum.
        errors: calls that ended with an error of the tool or the protocol.
        waiting: calls without a response; 0 until all entries are counted, because the response may be among
            the others.
        octets: bytes in both directions.
        timed: responses with a duration; a rejected probe has none.
        p50_ns, p95_ns, longest_ns: durations of calls with a response.
        is_exact: whether the percentiles are exact; otherwise within 3 %.
        sparks: calls in each interval, see `Stats.spark_start_ns`.
    """

    server: str
    method: str
    tool: str
    calls: int
    errors: int
    cancelled: int
    lost: int
    waiting: int
    octets: int
    timed: int
    p50_ns: int
    p95_ns: int
    longest_ns: int
    is_exact: bool
    sparks: tuple[int, ...]

    @property
    def is_setup(self) -> bool:
        """Whether these are handshakes or lists, which no server's figures include."""
        return is_setup(self.method)


class _Line:
    """The counts of one server, method and tool."""

    def __init__(self) -> None:
        self.calls = self.ended = self.errors = self.cancelled = self.lost = self.octets = 0
        self.latencies = LatencyHistogram()
        self.sparks = array("I", bytes(4 * SPARKS))


class Stats:
    """The statistics of one recording; `advance` is called from the screen's timer.

    The first interval of the sparks starts at `spark_start_ns` (monotonic).
    """

    def __init__(self, entries: EntryColumns) -> None:
        self._entries = entries
        self._done = 0
        self._changes_seen = 0
        self._lines: dict[int, _Line] = {}
        self._gone: set[int] = set()
        self._is_complete = False  # all entries are loaded and counted
        self.spark_start_ns = 0
        self.spark_width_ns = _FIRST_WIDTH_NS

    @property
    def share(self) -> float:
        """The share of loaded entries that is counted."""
        return self._done / max(1, self._entries.ready)

    def advance(self, budget_ms: float = 4.0) -> bool:
        """Count for about `budget_ms`, at least one slice; return whether all loaded entries are counted."""
        deadline = time.perf_counter() + budget_ms / 1000
        entries, touched = self._entries, self._entries.touched
        upto = len(touched)  # calls that have been cancelled since: no response of theirs says so
        for index in touched[self._changes_seen : upto] if self._done else ():
            if index < self._done and entries.outcome[index] in _GONE:
                self._lose(index)
        self._changes_seen = upto
        while self._done < self._entries.ready:
            self._count(self._done, min(self._done + CHUNK, self._entries.ready))
            if time.perf_counter() >= deadline:
                break
        is_done = self._done >= self._entries.ready
        start, end = self._entries.hole
        self._is_complete = is_done and start == end
        return is_done

    def tools(self, server: str = "") -> list[Figures]:
        """Return a line for each method and tool called, of one server or of all.

        Most calls first. Handshakes and lists come last.
        """
        entries = self._entries
        found = []
        for code, line in self._lines.items():
            source = entries.sources.texts[code >> 32]
            if line.calls and server in ("", source):
                method, tool = "(other)", "(other)"
                if code & _OTHER != _OTHER:
                    method = entries.methods.texts[code >> 16 & 0xFFFF]
                    tool = entries.tools.texts[code & 0xFFFF]
                is_pending = self._is_complete and method not in _NOT_PENDING
                found.append(_figures([line], source, method, tool, is_pending))
        return sorted(
            found, key=lambda each: (is_setup(each.method), -each.calls, each.server, each.method, each.tool)
        )

    def servers(self) -> list[Figures]:
        grouped: dict[int, list[int]] = defaultdict(list)
        for code in self._lines:
            grouped[code >> 32].append(code)
        names = self._entries.sources.texts
        figures = [self._sum(names[source], codes) for source, codes in grouped.items()]
        return sorted(figures, key=lambda each: each.server)

    def total(self) -> Figures:
        """Return the line for all servers together."""
        return self._sum("", list(self._lines))

    def _sum(self, server: str, codes: list[int]) -> Figures:
        methods = self._entries.methods.texts
        calls = [
            self._lines[code]
            for code in codes
            if code & _OTHER == _OTHER or not is_setup(methods[code >> 16 & 0xFFFF])
        ]
        octets = sum(self._lines[code].octets for code in codes)
        return replace(_figures(calls, server, "", "", self._is_complete), octets=octets)

    def _line(self, code: int) -> _Line:
        line = self._lines.get(code)
        if line is None:
            if len(self._lines) >= MAX_LINES:
                code |= _OTHER
            line = self._lines.setdefault(code, _Line())
        return line

    def _code(self, index: int) -> int:
        entries = self._entries
        return entries.source[index] << 32 | entries.method[index] << 16 | entries.tool[index]

    def _count(self, start: int, stop: int) -> None:
        entries = self._entries
        self.spark_start_ns = self.spark_start_ns or entries.mono[start]
        columns = (entries.source[start:stop], entries.method[start:stop], entries.tool[start:stop])
        codes = [source << 32 | method << 16 | tool for source, method, tool in zip(*columns, strict=True)]
        octets: dict[int, int] = defaultdict(int)
        for code, size in zip(codes, entries.size[start:stop], strict=True):
            octets[code] += size
        for code, size in octets.items():
            self._line(code).octets += size
        self._done = stop
        raw = entries.kind[start:stop].tobytes()
        asked = list(compress(range(start, stop), raw.translate(_REQUESTED)))
        self._begin([index for index in asked if entries.root[index] in (0, index + 1)], codes, start)
        outcomes = entries.outcome[start:stop].tobytes()
        # An error that is not a request is a response that could not be parsed.
        unreadable = both(outcomes.translate(_UNREADABLE), raw.translate(_NO_REQUEST))
        ended = either(raw.translate(_ANSWERED), unreadable)
        self._end(list(compress(range(start, stop), ended)), codes, start)
        # Also for later rounds, each of which can be cancelled.
        gone = both(outcomes.translate(_GIVEN_UP), raw.translate(_REQUESTED))
        for index in compress(range(start, stop), gone):
            self._lose(index)

    def _begin(self, firsts: list[int], codes: list[int], start: int) -> None:
        for code, number in Counter([codes[index - start] for index in firsts]).items():
            self._line(code).calls += number
        if not firsts:
            return
        origin = self.spark_start_ns
        moments = list(map(self._entries.mono.__getitem__, firsts))
        while max(moments) - origin >= self.spark_width_ns * SPARKS:
            self.spark_width_ns *= 2
            for line in self._lines.values():
                pairs = zip(line.sparks[::2], line.sparks[1::2], strict=True)
                line.sparks = array("I", [*map(sum, pairs), *[0] * (SPARKS // 2)])
        for index, moment in zip(firsts, moments, strict=True):
            self._line(codes[index - start]).sparks[max(0, (moment - origin) // self.spark_width_ns)] += 1

    def _end(self, answers: list[int], codes: list[int], start: int) -> None:
        entries, gone = self._entries, self._gone
        mono, outcomes, pairs, roots = entries.mono, entries.outcome, entries.pair, entries.root
        took: dict[int, list[int]] = defaultdict(list)
        for index in answers:
            outcome, request = outcomes[index], pairs[index] - 1
            if request < 0 or outcome == _ONE_ROUND:
                continue
            answer = pairs[request] - 1
            # A request is ended by its first response only, which the host may reject later.
            if answer != index and (entries.kind[index] != Kind.EVENT or outcome == _PROBE):
                continue
            first = roots[request] - 1 if roots[request] else request
            if first in gone:
                continue
            # The line is that of the call, because a message that could not be parsed has no names.
            code = codes[first - start] if first >= start else self._code(first)
            if outcome == _PROBE:  # the wait for a rejected probe is not a latency of the server
                self._line(code).ended += 1
                continue
            if outcome in _FAILED:
                self._line(code).errors += 1
            if answer == index or outcomes[answer] == _ONE_ROUND:
                took[code].append(mono[index] - mono[first])
        for code, durations in took.items():
            line = self._line(code)
            line.ended += len(durations)
            line.latencies.add(durations)

    def _lose(self, index: int) -> None:
        entries = self._entries
        first = entries.root[index] - 1 if entries.root[index] else index
        if first in self._gone:
            return
        self._gone.add(first)
        line = self._line(self._code(first))
        line.ended += 1
        if entries.methods.texts[entries.method[first]] in STAY_OPEN:
            return
        is_cancelled = entries.outcome[index] == Outcome.CANCELLED
        line.cancelled += is_cancelled
        line.lost += not is_cancelled


def _figures(lines: list[_Line], server: str, method: str, tool: str, is_complete: bool) -> Figures:
    several = [line.latencies for line in lines]
    latencies = several[0] if len(several) == 1 else LatencyHistogram.together(several)
    return Figures(
        server,
        method,
        tool,
        calls=sum(line.calls for line in lines),
        errors=sum(line.errors for line in lines),
        cancelled=sum(line.cancelled for line in lines),
        lost=sum(line.lost for line in lines),
        waiting=max(0, sum(line.calls - line.ended for line in lines)) if is_complete else 0,
        octets=sum(line.octets for line in lines),
        timed=latencies.count,
        p50_ns=latencies.percentile(50),
        p95_ns=latencies.percentile(95),
        longest_ns=latencies.longest,
        is_exact=latencies.is_exact,
        sparks=tuple(map(sum, zip(*(line.sparks for line in lines), strict=True))) if lines else (),
    )
