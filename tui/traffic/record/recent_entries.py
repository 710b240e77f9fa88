"""The last entries in memory, while storing fails."""

from collections import deque
from collections.abc import Sequence
from itertools import islice
from threading import Lock

from tui.core.traffic import Entry, Finding

RING_BYTES = 32 * 1024 * 1024
RING_ENTRIES = 20_000


class RecentEntries:
    """The last entries with their bodies, for any thread; read like a store, but without searching."""

    def __init__(self, max_bytes: int = RING_BYTES, max_entries: int = RING_ENTRIES) -> None:
        self._max_bytes, self._max_entries = max_bytes, max_entries
        self._entries: deque[Entry] = deque()
        self._findings: deque[Finding] = deque(maxlen=max_entries)
        self._bytes = 0
        self._lock = Lock()

    def add(self, entries: Sequence[Entry], findings: Sequence[Finding] = ()) -> None:
        """Add entries and findings; the oldest are dropped."""
        with self._lock:
            for entry in entries:
                self._entries.append(entry)
                self._bytes += len(entry.body)
            while len(self._entries) > 1 and (
                self._bytes > self._max_bytes or len(self._entries) > self._max_entries
            ):
                self._bytes -= len(self._entries.popleft().body)
            self._findings.extend(findings)

    def columns(self, after: int, limit: int) -> Sequence[Entry]:
        return [entry._replace(redactions=()) for entry in self.whole(after, limit, 0)]

    def whole(self, after: int, limit: int, most: int) -> Sequence[Entry]:
        found = islice((entry for entry in self._copy() if entry.seq > after), limit)
        return [entry if len(entry.body) <= most else entry._replace(body=b"") for entry in found]

    def entry(self, seq: int, body_limit: int = 1 << 20) -> Entry | None:
        with self._lock:
            index = seq - self._entries[0].seq if self._entries else -1
            found = self._entries[index] if 0 <= index < len(self._entries) else None
        if found is None or len(found.body) <= body_limit:
            return found
        return found._replace(body=found.body[:body_limit])

    def body(self, seq: int, start: int = 0, length: int = -1) -> bytes:
        found = self.entry(seq, RING_BYTES * 2)
        if found is None:
            return b""
        return found.body[start:] if length < 0 else found.body[start : start + length]

    def bodies(self, first: int, last: int) -> Sequence[tuple[int, bytes]]:
        return [(entry.seq, entry.body) for entry in self._copy() if first <= entry.seq <= last]

    def findings_of(self, seq: int) -> Sequence[Finding]:
        with self._lock:
            return [finding for finding in self._findings if finding.seq == seq]

    def _copy(self) -> list[Entry]:
        with self._lock:
            return list(self._entries)
