"""Splits bytes into lines: bounded, linear, and resynchronized after a line that is too long.

Pure: no I/O, no clock, no JSON. A line ends with LF (MCP stdio: one message a line); a CR before it is part
of the line. Any split of the same bytes gives the same lines.
"""

from dataclasses import dataclass
from hashlib import sha256

LINE_LIMIT = 16 * 1024 * 1024
"""Maximum bytes of a line; a longer one is discarded as it arrives."""

EDGE, HEAD = 4096, 256 * 1024
"""Bytes kept of the end and of the beginning of an oversize line: enough to find the id of its call, and as
much as is recorded of any body.
"""


@dataclass(frozen=True, slots=True)
class Oversize:
    """A line that was longer than the limit: its first bytes, at most `HEAD`, and its last, at most `EDGE`.

    `size` is its length in bytes without the newline, `sha256` the hex digest of all of it.
    """

    head: bytes
    tail: bytes
    size: int
    sha256: str = ""


class Framer:
    """Cuts a stream of bytes into lines of at most `limit` bytes."""

    def __init__(self, limit: int = LINE_LIMIT) -> None:
        self._limit = limit
        self._edge = min(EDGE, limit)
        self._buffer = bytearray()
        self._head = b""
        self._skipped = 0
        self._hash = sha256()

    @property
    def partial(self) -> int:
        return self._skipped or len(self._buffer)

    @property
    def opening(self) -> bytes:
        """The first bytes of an unfinished line, at most `EDGE`."""
        return self._head[:EDGE] or bytes(self._buffer[:EDGE])

    def feed(self, chunk: bytes) -> list[bytes | Oversize]:
        """Add bytes and return the lines that they complete, without their newlines."""
        if b"\n" not in chunk:  # a part of a long line: split would copy it
            self.extend(chunk)
            return []
        first, *others = chunk.split(b"\n")
        self.extend(first)
        if not others:
            return []
        lines: list[bytes | Oversize] = [self.end()]
        rest = others.pop()
        limit = self._limit
        for line in others:
            if len(line) > limit:
                self.extend(line)
                lines.append(self.end())
            else:
                lines.append(line)
        self.extend(rest)
        return lines

    def finish(self) -> bytes | Oversize | None:
        """Return the unfinished line at the end of the stream, or None; ready for a new stream."""
        return self.end() if self.partial else None

    def extend(self, piece: bytes) -> None:
        """Add bytes to the current line without searching them."""
        buffer = self._buffer
        if self._skipped:
            self._skipped += len(piece)
            self._hash.update(piece)
            buffer += piece[-self._edge :]
            del buffer[: -self._edge]
            return
        buffer += piece
        if len(buffer) > self._limit:
            self._head = bytes(buffer[: min(HEAD, self._limit)])
            self._skipped = len(buffer)
            self._hash = sha256(buffer)
            del buffer[: -self._edge]

    def end(self) -> bytes | Oversize:
        """End the current line here and return it."""
        line = bytes(self._buffer)
        size, head = self._skipped, self._head
        self._buffer = bytearray()
        self._skipped, self._head = 0, b""
        return Oversize(head, line, size, self._hash.hexdigest()) if size else line
