"""The findings of the linter about the messages of a case, and what its server printed meanwhile.

Messages are linted once, as they come: the traffic of each server passes through a linter of its own.
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tui.core.traffic import ANSWERS, Captured, Direction, Entry, Finding, Kind
from tui.host.schemas.judge import ModelJudge
from tui.traffic.lint.lint import Linter
from tui.traffic.lint.rules_tools import SchemaValidator
from tui.traffic.record.entry_reader import EntryReader

MOST_WAITING, MOST_BYTES = 4_000, 16 * 1024 * 1024
"""Maximum entries of one server, and their bytes, between two cases. Of a flood, the rest is not linted,
except the first line of stray output after each message of ours.
"""

MOST_OWN = 2 * MOST_WAITING
"""Maximum entries with messages of ours too."""

MOST_LINES, LINE_BYTES = 500, 2_000
"""Maximum lines of stderr and stray output of a suite that are kept, and bytes of each."""

MOST_WORDS = 1_000
"""Lines of stderr that are kept for a case: a traceback in boxes has hundreds."""

MOST_FINDINGS = 100
MOST_CALLS = 1_000
"""Maximum requests of a server that are kept, to know whose response comes again."""

AGAIN = "duplicate-answer"
"""The finding about a response that comes again. It may come during a later case."""

STRAY = frozenset({Kind.NOT_JSON, Kind.NOT_RPC})


class _ModelsOnly(SchemaValidator):
    """Validates messages against the SDK's models. Results are checked against their schemas elsewhere."""

    def __init__(self, judge: ModelJudge) -> None:
        self._judge = judge

    def problems(
        self, revision: str, direction: Direction, role: str, method: str, value: Mapping[str, Any] | None
    ) -> Sequence[str]:
        if direction is Direction.OUT:  # our own
            return ()
        return self._judge.problems(revision, direction, role, method, value)

    def schema_problem(self, schema: Any) -> str:
        return ""

    def violation(self, schema: Mapping[str, Any], value: Any) -> str:
        return ""


class ServerTraffic:
    """What one server sends: linted on request, bounded."""

    def __init__(self, judge: ModelJudge, redact: Callable[[str], str]) -> None:
        self.redact = redact
        self._waiting: deque[Captured] = deque()
        self._bytes = 0
        self._dropped = False
        self._has_stray = False  # since our last message, after the limit
        self._linter = Linter(_ModelsOnly(judge))
        self._reader = EntryReader(lambda raw: (raw, ()), 0)
        self.lines: deque[str] = deque(maxlen=MOST_LINES)
        self.words: deque[str] = deque(maxlen=MOST_WORDS)
        """The lines of stderr since the case began, as printed."""
        self.answered = 0
        """Bytes of the last response."""
        self.late: deque[tuple[int, Finding]] = deque(maxlen=MOST_FINDINGS)
        """Findings about the responses of earlier cases, by their number."""
        self.case = 0
        """The number of the case that runs, or ran last."""
        self._cases: dict[str, int] = {}  # of the last requests, by id
        self._faults: deque[str] = deque(maxlen=MOST_FINDINGS)  # since the case began
        self._in_case = False
        self.start_faults: deque[tuple[str, str]] = deque(maxlen=MOST_FINDINGS)
        """The faults that were injected before a case, into a start or a list, each with the method."""

    def begin(self) -> None:
        """Begin a case: its last words are those from now on."""
        self.words.clear()
        self._faults.clear()
        self._in_case = True
        self.case += 1

    def faults(self, *, has_failed: bool) -> tuple[str, ...]:
        """End a case; return its faults. If it has failed without any, the cause may be those before it."""
        self._in_case = False
        own = tuple(self._faults)
        self._faults.clear()
        return own or (tuple(fault for _, fault in self.start_faults) if has_failed else ())

    def take(self, captured: Captured) -> None:
        """Take what a tap saw. Never raises or waits."""
        if captured.kind is Kind.STDERR:
            line = captured.raw[:LINE_BYTES].decode("utf-8", "replace").rstrip("\r\n")
            self.lines.append(line)
            self.words.append(line)
        elif captured.kind is Kind.EVENT and captured.detail.get("event") == "fault":
            fault, method = (str(captured.detail.get(key, "")) for key in ("fault", "method"))
            if self._in_case:
                self._faults.append(fault)
            else:
                self.start_faults.append((method, fault))
        elif len(self._waiting) < MOST_WAITING and self._bytes < MOST_BYTES:
            self._keep(captured)
        elif captured.direction is Direction.OUT and len(self._waiting) < MOST_OWN:
            self._has_stray = False
            self._keep(captured)
        else:
            self._dropped = True
            if not self._has_stray and _is_stray(captured) and len(self._waiting) < MOST_OWN:
                self._has_stray = True
                raw = captured.raw[:LINE_BYTES]
                self._keep(captured._replace(raw=raw, size=len(raw)))

    def _keep(self, captured: Captured) -> None:
        self._bytes += len(captured.raw)
        self._waiting.append(captured)

    def findings(self, call: str) -> tuple[Sequence[Finding], float | None]:
        """Lint what came since the last time; return the findings about a call, and its milliseconds.

        Those are about its messages, and about stray output before its response. What comes later may be of
        the next case, depending on luck. Responses that come again are `late`.
        """
        entries = list[Entry]()
        was_dropped, self._has_stray = self._dropped, False
        if was_dropped:  # what seems to answer nothing may answer what was dropped
            self._dropped = False
            gone = Captured("", Direction.NONE, 0, 0, b"", Kind.EVENT, detail={"event": "dropped"})
            self._reader.read(gone, entries)
        while self._waiting:
            self._reader.read(self._waiting.popleft(), entries)
        self._bytes = 0
        found, later = list[Finding](), list[Finding]()
        began_ns = ended_ns = 0
        waits = False
        for entry in entries:
            said = self._linter.feed(entry)
            is_ours = entry.cause is not None and entry.cause.call == call
            is_stray = entry.direction is Direction.IN and entry.kind in STRAY
            if is_stray:
                self.lines.append(entry.body[:LINE_BYTES].decode("utf-8", "replace"))
            if is_ours and entry.direction is Direction.OUT and entry.kind is Kind.REQUEST:
                began_ns, waits = began_ns or entry.mono_ns, True
                self._cases.pop(entry.ident, None)
                self._cases[entry.ident] = self.case
                if len(self._cases) > MOST_CALLS:
                    del self._cases[next(iter(self._cases))]
            elif entry.kind in ANSWERS and entry.direction is Direction.IN and entry.ident in self._cases:
                again = [(self._cases[entry.ident], one) for one in said if one.code == AGAIN]
                self.late += again[:1]
            if waits and (is_stray or (is_ours and entry.direction is Direction.IN)):
                later += said
                if is_ours and entry.kind in ANSWERS:
                    ended_ns, waits, self.answered = entry.mono_ns, False, entry.size
                    found, later = found + later, []
        if waits and was_dropped:  # so was the response
            found += later
        ms = (ended_ns - began_ns) / 1e6 if began_ns and ended_ns else None
        return found[:MOST_FINDINGS], ms


def _is_stray(captured: Captured) -> bool:
    """Return whether a line is stray output by its first character. Takes microseconds."""
    start = captured.raw[:LINE_BYTES].lstrip()[:1]
    return captured.direction is Direction.IN and captured.kind is None and start not in (b"", b"{", b"[")


class TrafficByServer:
    """The traffic of the servers of a run; a listener of the recording."""

    def __init__(self, redact: Callable[[str], str]) -> None:
        self._redact = redact
        self._judge = ModelJudge()
        self._servers: dict[str, ServerTraffic] = {}

    def of(self, server: str) -> ServerTraffic:
        """Return the traffic of a server, from now on."""
        return self._servers.setdefault(server, ServerTraffic(self._judge, self._redact))

    def __call__(self, captured: Captured) -> None:
        if (known := self._servers.get(captured.source)) is not None:
            known.take(captured)
