"""The bytes that a `passthrough.Passthrough` moved, split into lines, as `Captured` values. Pure.

Lines look like those from the taps of mcptui's own connections, so that a recording of another host reads
like one of mcptui.
"""

import json
from collections.abc import Iterator
from typing import Any

from tui.core.jsonrpc.framing import LINE_LIMIT, Framer, Oversize
from tui.core.traffic import Captured, Direction, Kind
from tui.host.passthrough.passthrough import ERRORS, FROM_SERVER, TO_SERVER

_WAYS = {TO_SERVER: Direction.OUT, FROM_SERVER: Direction.IN, ERRORS: Direction.NONE}
_NAMES = {TO_SERVER: "stdin", FROM_SERVER: "stdout", ERRORS: "stderr"}


class PassthroughLines:
    """Splits three streams into lines; one of more than `kept` bytes is recorded as head, size and SHA-256.

    `wall_offset_ns` added to the monotonic clock is the time since 1970.
    """

    def __init__(self, source: str, wall_offset_ns: int, kept: int = LINE_LIMIT) -> None:
        self._source = source
        self._offset = wall_offset_ns
        self._lines = {stream: Framer(kept) for stream in _WAYS}
        self._ended: set[int] = set()

    def feed(self, stream: int, at_ns: int, chunk: bytes) -> Iterator[Captured]:
        """b"" is the stream's end."""
        if not chunk:
            yield from self._end(stream, at_ns)
            return
        for line in self._lines[stream].feed(chunk):
            yield self._captured(stream, line, at_ns)

    def _end(self, stream: int, at_ns: int) -> Iterator[Captured]:
        if stream in self._ended:
            return
        self._ended.add(stream)
        if (line := self._lines[stream].finish()) is not None:
            yield self._captured(stream, line, at_ns, newline=False)
        yield self.event(at_ns, "end", stream=_NAMES[stream])

    def cut(self, at_ns: int, missing: int) -> Iterator[Captured]:
        """Yield the unfinished lines, and report that `missing` bytes after them were not seen."""
        for stream, lines in self._lines.items():
            if (line := lines.finish()) is not None:
                yield self._captured(stream, line, at_ns, newline=False)
        yield self.event(at_ns, "dropped", bytes=missing)

    def finish(self, at_ns: int) -> Iterator[Captured]:
        for stream in _WAYS:
            yield from self._end(stream, at_ns)

    def event(self, at_ns: int, word: str, **what: Any) -> Captured:
        detail = {"event": word, **what}
        raw = json.dumps(detail, ensure_ascii=False).encode("utf-8", "backslashreplace")
        return Captured(
            self._source, Direction.NONE, at_ns, at_ns + self._offset, raw, Kind.EVENT, detail=detail
        )

    def _captured(self, stream: int, line: bytes | Oversize, at_ns: int, **detail: Any) -> Captured:
        kind, way = Kind.STDERR if stream == ERRORS else None, _WAYS[stream]
        raw, size = line if isinstance(line, bytes) else line.head, -1
        if isinstance(line, Oversize):
            size, detail["sha256"] = line.size, line.sha256
        return Captured(self._source, way, at_ns, at_ns + self._offset, raw, kind, size, detail=detail)
