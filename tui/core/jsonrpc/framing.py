"""Splits bytes into lines and event streams into events. Pure: no I/O, no clock, no JSON.

Lines are bounded, linear, and resynchronized after one that is too long. A line ends with LF (MCP stdio: one
message a line); a CR before it is part of the line. Any split of the same bytes gives the same lines.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import NamedTuple

LINE_LIMIT = 24 * 1024 * 1024
"""Maximum bytes of a line; a longer one is discarded as it arrives. A file of 16 MiB fits as base64, since
hosts must support skills of that size."""

EDGE, HEAD = 4096, (256 + 64) * 1024
"""Bytes kept of the end and of the beginning of an oversize line: enough to find the id of its call, and as
much as is recorded of any body, with the 64 KiB after it that its redaction reads.
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
        line = bytes(self._buffer)
        size, head = self._skipped, self._head
        self._buffer = bytearray()
        self._skipped, self._head = 0, b""
        return Oversize(head, line, size, self._hash.hexdigest()) if size else line


MAX_LINE = 64 * 1024
"""Maximum bytes kept of a line besides its data."""

MAX_ID = 4096
"""Maximum bytes of an event id; longer ones cannot be sent back in a header."""

_NOT_IN_HEADER = re.compile(rb"[^\t\x20-\x7e\x80-\xff]")

LONGEST_FIELD = 16
"""Maximum bytes of a field name; longer names are unknown."""

SHORTEST_RETRY, LONGEST_RETRY = 500, 60_000
"""Milliseconds between which a server's `retry:` counts: a stream that ends at once, with `retry: 0`, would
otherwise be opened hundreds of times a second, and one with nine digits never again."""


class Event(NamedTuple):
    """A server-sent event. `data` is truncated at the limit, `size` is its full size."""

    kind: str
    ident: str
    data: bytes
    size: int


STREAM_HEAD = 64 * 1024
"""Bytes at the start of an event stream in which data begins."""

DATA_LINE = re.compile(rb"(?:\A(?:\xef\xbb\xbf)?\s*|[\r\n])data:")
_FIELD = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:data|event|id|retry)?:")


def is_event_stream(body: bytes) -> bool:
    """Return whether a body looks like an event stream: a field or a comment, and data soon."""
    return _FIELD.match(body) is not None and DATA_LINE.search(body, 0, STREAM_HEAD) is not None


class EventCutter:
    """Splits an event stream (HTML Living Standard, 9.2.6); `kept` is the limit of bytes kept of an event.

    With `json_lines`, a line of data that begins a JSON object, or is `[DONE]`, after one that ends an object
    begins a new event: some endpoints of models send no empty lines between.

    `last_id` is the id of the last event, in its own bytes, after which the stream can be resumed; None if no
    event had one. One that is too long or does not fit in a header is ignored. `retry_ms` is how long the
    server asks to wait before that, within bounds. `partial` is the number of bytes of the unfinished event.
    """

    def __init__(self, kept: int, *, json_lines: bool = False) -> None:
        self._kept = kept
        self._json_lines = json_lines
        self._line = bytearray()
        self._size = 0
        self._after_cr = False
        self._first = True
        self.last_id: bytes | None = None
        self.retry_ms: int | None = None
        self._begin()

    @property
    def partial(self) -> int:
        return self._octets + self._size

    def _begin(self) -> None:
        self._kind = ""
        self._ident: bytes | None = None
        self._data: bytes | None = None
        self._more = bytearray()
        self._octets = 0

    def feed(self, block: bytes) -> Iterator[Event]:
        if self._after_cr and block.startswith(b"\n"):
            block = block[1:]
        self._after_cr = block.endswith(b"\r") if block else self._after_cr
        lines = block.splitlines()  # of bytes: at the three line ends of the standard, and no others
        rest = lines.pop() if lines and not block.endswith((b"\n", b"\r")) else b""
        for piece in lines:
            self._extend(piece)
            line, size = self._line, self._size
            self._line, self._size = bytearray(), 0
            yield from self._take(line, size)
        self._extend(rest)

    def close(self) -> Iterator[Event]:
        """Yield a last event without its empty line, which the standard discards."""
        if self._line:
            yield from self._take(self._line, self._size)
        yield from self._dispatch()

    def _extend(self, piece: bytes) -> None:
        self._size += len(piece)
        room = self._kept + MAX_LINE - len(self._line)
        self._line += piece[: max(0, room)]

    def _take(self, line: bytearray, size: int) -> Iterator[Event]:
        if self._first:
            line, self._first = line.removeprefix(b"\xef\xbb\xbf"), False
        if not line:
            yield from self._dispatch()
            return
        end = line.find(b":", 0, LONGEST_FIELD)
        name = line if end < 0 else line[:end]
        begin = len(line) if end < 0 else end + 1 + line.startswith(b" ", end + 1)
        if name == b"data":
            if self._json_lines and (self._more or self._data or b"").endswith(b"}"):
                if line.startswith((b"{", b"[DONE]"), begin):
                    yield from self._dispatch()
            room = self._kept - len(self._more)
            self._octets += size - begin
            with memoryview(line) as seen:  # megabytes are copied once
                if self._data is None:
                    self._data = bytes(seen[begin : begin + room])
                else:  # in one piece: a list of sixteen million empty lines takes far more than their bytes
                    self._octets += 1
                    self._more += b"\n"[: max(0, room - len(self._data))]
                    self._more += seen[begin : begin + max(0, room - len(self._data) - 1)]
            return
        value = line[begin:]
        if name == b"event":
            self._kind = value.decode("utf-8", "replace")[:200]
        elif name == b"id":
            if len(value) <= MAX_ID and not _NOT_IN_HEADER.search(value):
                self._ident = bytes(value)
        elif name == b"retry" and value.isdigit():
            asked = int(value) if len(value) < 10 else LONGEST_RETRY
            self.retry_ms = max(SHORTEST_RETRY, min(LONGEST_RETRY, asked))

    def _dispatch(self) -> Iterator[Event]:
        data = self._data
        whole = (data or b"") + self._more if self._more else data or b""
        ident = (self._ident or b"").decode("utf-8", "replace")[:1000]
        found = Event(self._kind, ident, whole, self._octets)
        if self._ident is not None:
            self.last_id = self._ident.strip(b"\t ")  # as it arrives in a header
        self._begin()
        if data is not None:
            yield found
