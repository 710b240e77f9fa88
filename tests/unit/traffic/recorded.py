"""Makes a recording in memory the way the recorder does."""

import json
from typing import Any

from tui.core.secrets.redact import Redactor
from tui.core.traffic import Captured, Direction, Entry, Kind
from tui.traffic.record.entry_reader import EntryReader


class Recorded:
    """Entries with their bodies, read and paired by the recorder's own reader."""

    def __init__(self, source: str = "server") -> None:
        self.entries: list[Entry] = []
        self._source = source
        self._reader = EntryReader(Redactor().redact_bytes, 256 * 1024)
        self._now = 1_000_000

    @property
    def bodies(self) -> dict[int, bytes]:
        return {entry.seq: entry.body for entry in self.entries}

    def wait(self, seconds: float) -> None:
        self._now += int(seconds * 1e9)

    def out(self, message: dict[str, Any], **detail: Any) -> None:
        self._add(Direction.OUT, json.dumps({"jsonrpc": "2.0", **message}).encode(), None, detail)

    def back(self, message: dict[str, Any], **detail: Any) -> None:
        self.back_raw(json.dumps({"jsonrpc": "2.0", **message}).encode(), **detail)

    def out_raw(self, raw: bytes) -> None:
        self._add(Direction.OUT, raw, None, {})

    def back_raw(self, raw: bytes, **detail: Any) -> None:
        self._add(Direction.IN, raw, None, detail)

    def stderr(self, raw: bytes) -> None:
        self._add(Direction.NONE, raw, Kind.STDERR, {})

    def event(self, word: str, **what: Any) -> None:
        detail = {"event": word, **what}
        self._add(Direction.NONE, json.dumps(detail).encode(), Kind.EVENT, detail)

    def _add(self, way: Direction, raw: bytes, kind: Kind | None, detail: dict[str, Any]) -> None:
        self._now += 1_000
        wall = 1_790_000_000_000_000_000 + self._now
        self._reader.read(
            Captured(self._source, way, self._now, wall, raw, kind, detail=detail), self.entries
        )
