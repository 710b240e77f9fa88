"""Captured messages, a store in memory and a secret, for tests of the recorder."""

import json
import threading
from collections.abc import Sequence
from typing import Any

from tui.core.traffic import Captured, Direction, Entry, Finding, Kind, Redaction

SECRET = b"hunter2hunter2"
MARK = b"[redacted:pw]"


def hide(raw: bytes) -> tuple[bytes, tuple[Redaction, ...]]:
    """Redact one secret."""
    spans = []
    place = raw.find(SECRET)
    while place >= 0:
        raw = raw[:place] + MARK + raw[place + len(SECRET) :]
        spans.append(Redaction(place, place + len(MARK), "pw"))
        place = raw.find(SECRET)
    return raw, tuple(spans)


def seen(
    raw: bytes = b"",
    way: Direction = Direction.IN,
    kind: Kind | None = None,
    source: str = "weather",
    **more: Any,
) -> Captured:
    """Return a captured message as a tap passes it on."""
    return Captured(source, way, 1_000, 2_000, raw, kind, **more)


def line(**fields: Any) -> bytes:
    """Return a JSON-RPC message."""
    return json.dumps({"jsonrpc": "2.0", **fields}).encode()


class MemoryStore:
    """A `TrafficWriter` in memory that can fail, raise or hang."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.findings: list[Finding] = []
        self.judged = 0
        self.threads: set[int] = set()
        self.problem = ""
        self.gone = 0
        self.error: Exception | None = None
        self.closed = 0
        self.going = threading.Event()
        self.going.set()

    def write(self, entries: Sequence[Entry], findings: Sequence[Finding] = (), judged: int = 0) -> None:
        """Keep entries and findings, or do what the test wants."""
        self.going.wait(10)
        self.threads.add(threading.get_ident())
        if self.error:
            raise self.error
        if not self.problem:
            self.entries.extend(entries)
            self.findings.extend(findings)
            self.judged = judged

    def note(self, seq: int, *, marked: bool | None = None, text: str | None = None) -> None: ...

    def close(self) -> None:
        """Count."""
        self.closed += 1
