"""Recordings for the tests of the traffic screen: entries added in one line, and a reader over them."""

import json
import sys
from collections.abc import Callable, Sequence
from typing import Any

from tui.core.search_text import readings
from tui.core.text import fold
from tui.core.traffic import BodyTerm, Cause, Direction, Entry, Finding, Kind, Outcome
from tui.traffic.record.entry_columns import EntryColumns
from tui.traffic.record.open_recording import Linting, Recording

WALL_NS = 1_790_000_000 * 1_000_000_000
MS = 1_000_000


class FakeReader:
    """A `TrafficReader` over a list."""

    def __init__(self, recorded: "Recorded") -> None:
        self._recorded = recorded

    def columns(self, after: int, limit: int) -> Sequence[Entry]:
        return [entry._replace(body=b"", redactions=()) for entry in self._recorded.entries[after:][:limit]]

    def entry(self, seq: int, body_limit: int = 1 << 20) -> Entry | None:
        if not self._recorded.dropped < seq <= len(self._recorded.entries):
            return None
        entry = self._recorded.entries[seq - 1]
        return entry._replace(body=entry.body[:body_limit])

    def body(self, seq: int, start: int = 0, length: int = -1) -> bytes:
        body = self._recorded.entries[seq - 1].body
        return body[start:] if length < 0 else body[start : start + length]

    def search(self, terms: Sequence[BodyTerm], first: int, last: int) -> Sequence[frozenset[int]]:
        entries = self._recorded.entries
        return [
            frozenset(
                seq
                for seq in range(first, min(last, len(entries)) + 1)
                if any(fold(term.needle) in fold(text) for text in readings(entries[seq - 1].body))
            )
            for term in terms
        ]

    def rearm(self) -> None:
        pass

    def interrupt(self) -> None:
        pass

    def findings_of(self, seq: int) -> Sequence[Finding]:
        return [finding for finding in self._recorded.findings if finding.seq == seq]

    def close(self) -> None:
        self._recorded.closed += 1


class Recorded:
    """A growing recording: its entries, columns and readers."""

    def __init__(self) -> None:
        self.columns = EntryColumns()
        self.entries: list[Entry] = []
        self.findings: list[Finding] = []
        self.closed = 0
        self.dropped = 0
        self.now_ns = 0

    def recording(self, *, judged: Callable[[], int] = lambda: sys.maxsize, **fields: Any) -> Recording:
        return Recording(self.columns, lambda: FakeReader(self), linting=Linting(judged), **fields)

    def add(self, kind: Kind, body: object = b"", *, after_ms: float = 1, **fields: Any) -> int:
        """Add an entry; return its seq."""
        self.now_ns += int(after_ms * MS)
        raw = body if isinstance(body, bytes) else json.dumps(body, ensure_ascii=False).encode()
        seq = len(self.entries) + 1
        way = Direction.NONE if kind in (Kind.STDERR, Kind.EVENT) else Direction.IN
        if kind in (Kind.REQUEST, Kind.MODEL_REQUEST):
            way = Direction.OUT
        values = {"source": "weather", "direction": way, "size": len(raw)} | fields
        entry = Entry(seq, self.now_ns, WALL_NS + self.now_ns, kind=kind, body=raw, **values)
        self.entries.append(entry)
        self.columns.append(entry)
        return seq

    def call(
        self,
        tool: str = "get_weather",
        *,
        takes_ms: float = 4.1,
        outcome: Outcome = Outcome.OK,
        result: object = None,
        arguments: object = None,
        **fields: Any,
    ) -> tuple[int, int]:
        """Add a request and its response; return the seq of each."""
        seq = len(self.entries) + 1
        named = {"method": "tools/call", "tool": tool, "ident": str(seq), "root": seq} | fields
        params = {"name": tool, "arguments": arguments or {"location": "Beijing"}}
        asked = {"jsonrpc": "2.0", "id": seq, "method": "tools/call", "params": params}
        self.add(Kind.REQUEST, asked, **named)
        told = {
            "jsonrpc": "2.0",
            "id": seq,
            "result": result or {"content": [{"type": "text", "text": "25 °C"}]},
        }
        answer = self.add(Kind.RESPONSE, told, after_ms=takes_ms, pair=seq, outcome=outcome, **named)
        return seq, answer


def some() -> Recorded:
    """Return a recording with a few entries of each kind."""
    recorded = Recorded()
    recorded.add(Kind.EVENT, method="spawn", detail={"argv": ["python", "weather.py"], "pid": 4711})
    first = Cause(1, 1, "call-1")
    recorded.call(cause=first)
    recorded.call("search_notes", takes_ms=412, source="notes", cause=Cause(1, 2, "call-2"))
    recorded.add(Kind.NOT_JSON, b"DEBUG connecting to database", source="notes")
    recorded.add(Kind.STDERR, b"warning: \x1b[31mcache is cold", source="notes")
    recorded.add(Kind.NOTIFICATION, {"jsonrpc": "2.0"}, method="notifications/tools/list_changed")
    recorded.call("get_weather", takes_ms=2, outcome=Outcome.TOOL_ERROR)
    seq = len(recorded.entries) + 1
    recorded.add(Kind.REQUEST, method="tools/call", tool="wait", ident="22", source="slow", root=seq)
    return recorded
