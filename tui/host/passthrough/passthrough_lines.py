"""The bytes that a `passthrough.Passthrough` moved, split into lines, as `Captured` values. Pure.

Lines look like those from the taps of mcptui's own connections, so that a recording of another host reads
like one of mcptui.
"""

import hashlib
import json
from collections.abc import Iterator
from typing import Any

from tui.core.traffic import Captured, Direction, Kind
from tui.host.passthrough.passthrough import ERRORS, FROM_SERVER, TO_SERVER

KEPT = 16 * 1024 * 1024
"""Maximum bytes recorded of one line; a longer one is recorded as its head, its size and its SHA-256."""

_WAYS = {TO_SERVER: Direction.OUT, FROM_SERVER: Direction.IN, ERRORS: Direction.NONE}
_NAMES = {TO_SERVER: "stdin", FROM_SERVER: "stdout", ERRORS: "stderr"}


class _OpenLine:
    __slots__ = ("_digest", "head", "size")

    def __init__(self) -> None:
        self.head = bytearray()
        self.size = 0
        self._digest: hashlib._Hash | None = None

    def extend(self, piece: bytes, kept: int) -> None:
        self.size += len(piece)
        fits = max(0, kept - len(self.head))
        if len(piece) > fits:
            if self._digest is None:
                self._digest = hashlib.sha256(self.head)
            self._digest.update(piece)
        self.head += piece[:fits]

    @property
    def sha256(self) -> str:
        """Hex digest of the whole line if it is longer than its head, otherwise ""."""
        return self._digest.hexdigest() if self._digest is not None else ""


class PassthroughLines:
    """Splits three streams into lines; at most `kept` bytes of each are recorded.

    `wall_offset_ns` added to the monotonic clock is the time since 1970.
    """

    def __init__(self, source: str, wall_offset_ns: int, kept: int = KEPT) -> None:
        self._source = source
        self._offset = wall_offset_ns
        self._kept = kept
        self._lines = {stream: _OpenLine() for stream in _WAYS}
        self._ended: set[int] = set()

    def feed(self, stream: int, at_ns: int, chunk: bytes) -> Iterator[Captured]:
        """b"" is the stream's end."""
        if not chunk:
            yield from self._end(stream, at_ns)
            return
        if b"\n" not in chunk:  # a part of a long line: split would copy it
            self._lines[stream].extend(chunk, self._kept)
            return
        *whole, rest = chunk.split(b"\n")
        for piece in whole:
            line = self._lines[stream]
            line.extend(piece, self._kept)
            self._lines[stream] = _OpenLine()
            yield self._captured(stream, line, at_ns)
        if rest:
            self._lines[stream].extend(rest, self._kept)

    def _end(self, stream: int, at_ns: int) -> Iterator[Captured]:
        if stream in self._ended:
            return
        self._ended.add(stream)
        line = self._lines[stream]
        if line.size:
            self._lines[stream] = _OpenLine()
            yield self._captured(stream, line, at_ns, newline=False)
        yield self.event(at_ns, "end", stream=_NAMES[stream])

    def cut(self, at_ns: int, missing: int) -> Iterator[Captured]:
        """Yield the unfinished lines, and report that `missing` bytes after them were not seen."""
        for stream, line in list(self._lines.items()):
            if line.size:
                self._lines[stream] = _OpenLine()
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

    def _captured(self, stream: int, line: _OpenLine, at_ns: int, **detail: Any) -> Captured:
        if digest := line.sha256:
            detail["sha256"] = digest
        kind = Kind.STDERR if stream == ERRORS else None
        size = line.size if digest else -1
        return Captured(
            self._source,
            _WAYS[stream],
            at_ns,
            at_ns + self._offset,
            bytes(line.head),
            kind,
            size,
            detail=detail,
        )
