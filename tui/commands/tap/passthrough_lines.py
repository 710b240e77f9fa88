"""The bytes that a `passthrough.Passthrough` moved, split into lines, as `Captured` values. Pure.

Lines look like those from the taps of mcptui's own connections, so that a recording of another host reads
like one of mcptui.
"""

import json
from collections.abc import Iterator
from typing import Any

from tui.commands.tap.passthrough import ERRORS, FROM_SERVER, TO_SERVER
from tui.core.jsonrpc.framing import LINE_LIMIT, Framer, Oversize
from tui.core.traffic import Captured, Direction, Kind

_WAYS = {TO_SERVER: Direction.OUT, FROM_SERVER: Direction.IN, ERRORS: Direction.NONE}
_NAMES = {TO_SERVER: "stdin", FROM_SERVER: "stdout", ERRORS: "stderr"}


class PassthroughLines:
    """Splits three streams into lines; one of more than `kept` bytes is recorded as its head and digest.

    `wall_offset_ns` added to the monotonic clock is the time since 1970.
    """

    def __init__(self, source: str, wall_offset_ns: int, kept: int = LINE_LIMIT) -> None:
        self._source = source
        self._offset = wall_offset_ns
        self._framers = {stream: Framer(kept) for stream in _WAYS}
        self._ended: set[int] = set()

    def feed(self, stream: int, at_ns: int, chunk: bytes) -> Iterator[Captured]:
        """b"" is the stream's end."""
        for line in self._framers[stream].feed(chunk):
            yield self._captured(stream, line, at_ns)
        if not chunk and stream not in self._ended:
            self._ended.add(stream)
            yield from self._unfinished(stream, at_ns)
            yield self.event(at_ns, "end", stream=_NAMES[stream])

    def _unfinished(self, stream: int, at_ns: int) -> Iterator[Captured]:
        if (line := self._framers[stream].finish()) is not None:
            yield self._captured(stream, line, at_ns, newline=False)

    def cut(self, at_ns: int, missing: int) -> Iterator[Captured]:
        """Yield the unfinished lines, and report that `missing` bytes after them were not seen."""
        for stream in _WAYS:
            yield from self._unfinished(stream, at_ns)
        yield self.event(at_ns, "dropped", bytes=missing)

    def finish(self, at_ns: int) -> Iterator[Captured]:
        for stream in _WAYS:
            yield from self.feed(stream, at_ns, b"")

    def event(self, at_ns: int, word: str, **what: Any) -> Captured:
        detail = {"event": word, **what}
        raw = json.dumps(detail, ensure_ascii=False).encode("utf-8", "backslashreplace")
        return Captured(
            self._source, Direction.NONE, at_ns, at_ns + self._offset, raw, Kind.EVENT, detail=detail
        )

    def _captured(self, stream: int, line: bytes | Oversize, at_ns: int, **detail: Any) -> Captured:
        raw, size = (line, -1) if isinstance(line, bytes) else (line.head, line.size)
        if isinstance(line, Oversize):
            detail["sha256"] = line.sha256
        kind = Kind.STDERR if stream == ERRORS else None
        return Captured(
            self._source, _WAYS[stream], at_ns, at_ns + self._offset, raw, kind, size, detail=detail
        )
