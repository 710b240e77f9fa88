"""A small recording for tests: consecutive entries in columns, and their bodies."""

from collections.abc import Sequence

from tui.core.search.readings import readings
from tui.core.text import fold
from tui.core.traffic import BodyTerm, Cause, Direction, Entry, Finding, Kind, Outcome
from tui.traffic.record.entry_columns import EntryColumns, column_row

WALL = 1_700_000_000_000_000_000
"""Wall clock minus monotonic clock."""

MS = 1_000_000


class Traffic:
    """Entries as a recorder would create them, as `columns`, with `bodies` by seq.

    A reader has no entries up to seq `dropped`; `closed` counts the readers that were closed.
    """

    wall = WALL

    def __init__(self, first: int = 1) -> None:
        self.columns = EntryColumns()
        self.entries: list[Entry] = []
        self.bodies: dict[int, bytes] = {}
        self.findings: list[Finding] = []
        self.dropped = self.closed = 0
        self._seq = first
        self.now = 1_000_000_000

    def add(self, kind: Kind, *, after_ms: float = 1, body: bytes = b"", **fields: object) -> int:
        """Add an entry; return its seq."""
        self.now += int(after_ms * MS)
        fields.setdefault("source", "weather")
        fields.setdefault("direction", Direction.IN)
        fields.setdefault("size", len(body))
        entry = Entry(self._seq, self.now, self.now + self.wall, kind=kind, **fields)  # type: ignore[arg-type]
        self.entries.append(entry)
        self.bodies[entry.seq] = body
        self.columns.extend([column_row(entry)])
        self._seq += 1
        return entry.seq

    def ask(self, tool: str = "get", *, method: str = "tools/call", root: int = 0, **fields: object) -> int:
        """Add a request, the first of its call unless `root` is given."""
        fields.setdefault("direction", Direction.OUT)
        fields.setdefault("ident", str(self._seq))
        root = root or self._seq
        return self.add(Kind.REQUEST, method=method, tool=tool, root=root, **fields)

    def answer(self, request: int, outcome: Outcome = Outcome.OK, **fields: object) -> int:
        """Add the answer to a request."""
        asked = next(entry for entry in self.entries if entry.seq == request)
        kind = Kind.ERROR if outcome is Outcome.ERROR else Kind.RESPONSE
        for name in ("method", "tool", "ident", "source", "cause", "root"):
            fields.setdefault(name, getattr(asked, name))
        return self.add(kind, pair=request, outcome=outcome, **fields)

    def call(self, tool: str = "get", *, took_ms: float = 1, outcome: Outcome = Outcome.OK, **fields) -> int:
        """Add a request and its answer; return the seq of the request."""
        body = fields.pop("body", b"")
        request = self.ask(tool, **fields)
        self.answer(request, outcome, after_ms=took_ms, body=body)
        return request

    def end(self, source: str = "weather") -> int:
        """Add the exit of a server."""
        return self.add(Kind.EVENT, method="exit", source=source, direction=Direction.NONE)

    def skip(self, count: int) -> None:
        """Skip numbers, as a reader does if entries were dropped before it read them."""
        self._seq += count


class Bodies:
    """A `TrafficReader` of entries; `asked` are the ranges that were searched."""

    def __init__(self, traffic: Traffic) -> None:
        self._traffic = traffic
        self.asked: list[tuple[int, int]] = []
        self.is_closed = False

    def columns(self, after: int, limit: int) -> Sequence[Entry]:
        return [entry._replace(redactions=()) for entry in self._traffic.entries if entry.seq > after][:limit]

    def entry(self, seq: int, body_limit: int = 1 << 20) -> Entry | None:
        found = (entry for entry in self._traffic.entries if entry.seq == seq > self._traffic.dropped)
        return next((entry._replace(body=self.body(seq, 0, body_limit)) for entry in found), None)

    def body(self, seq: int, start: int = 0, length: int = -1) -> bytes:
        body = self._traffic.bodies[seq]
        return body[start:] if length < 0 else body[start : start + length]

    def search(self, terms: Sequence[BodyTerm], first: int, last: int) -> Sequence[frozenset[int]]:
        self.asked.append((first, last))
        inside = {seq: body for seq, body in self._traffic.bodies.items() if first <= seq <= last}
        return [
            frozenset(
                seq
                for seq, body in inside.items()
                if any(fold(term.needle) in fold(text) for text in readings(body))
            )
            for term in terms
        ]

    def rearm(self) -> None:
        pass

    def interrupt(self) -> None:
        pass

    def findings_of(self, seq: int) -> Sequence[Finding]:
        return [finding for finding in self._traffic.findings if finding.seq == seq]

    def close(self) -> None:
        self.is_closed = True
        self._traffic.closed += 1


CAUSE = Cause(3, 2, "call_1")


def begun_at_end(traffic: Traffic, here: int) -> EntryColumns:
    """Return columns in which only the last `here` entries are loaded."""
    columns = EntryColumns()
    columns.begin_at_end(1, [column_row(entry) for entry in traffic.entries[-here:]])
    return columns


def fill(columns: EntryColumns, traffic: Traffic, count: int) -> None:
    """Load the next `count` missing entries."""
    start, end = columns.hole
    columns.fill([column_row(entry) for entry in traffic.entries[start : min(end, start + count)]])
