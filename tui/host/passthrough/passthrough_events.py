"""Cuts an event stream into its events (HTML Living Standard, 9.2.6). Pure; bounded; bytes stay bytes."""

import re
from collections.abc import Iterator
from typing import NamedTuple

MAX_LINE = 64 * 1024
"""Bytes of a line that is no data."""

_LINE_END = re.compile(rb"\r\n|\n|\r")


class Event(NamedTuple):
    """An event.

    Attributes:
        kind: its type, "" for the usual one.
        ident: its id, "" for none.
        data: its data as it came; at most as much as is kept.
        size: bytes of its data.
    """

    kind: str
    ident: str
    data: bytes
    size: int


class EventCutter:
    """Cuts one stream. Any split of the same bytes gives the same events.

    Args:
        kept: bytes of one event's data that are kept.
    """

    def __init__(self, kept: int) -> None:
        self._kept = kept
        self._line = bytearray()
        self._size = 0
        self._after_cr = False
        self._first = True
        self._begin()

    def _begin(self) -> None:
        self._kind = self._ident = ""
        self._data: list[bytes] = []
        self._held = self._octets = 0

    def feed(self, block: bytes) -> Iterator[Event]:
        """Take the next bytes and give the events that they complete."""
        if self._after_cr and block.startswith(b"\n"):
            block = block[1:]
        self._after_cr = block.endswith(b"\r") if block else self._after_cr
        *lines, rest = _LINE_END.split(block)
        for piece in lines:
            self._extend(piece)
            line, size = bytes(self._line), self._size
            self._line.clear()
            self._size = 0
            if event := self._take(line, size):
                yield event
        self._extend(rest)

    def _extend(self, piece: bytes) -> None:
        self._size += len(piece)
        room = self._kept + MAX_LINE - len(self._line)
        self._line += piece[: max(0, room)]

    def _take(self, line: bytes, size: int) -> Event | None:
        if self._first:
            line, self._first = line.removeprefix(b"\xef\xbb\xbf"), False
        if not line:
            return self._dispatch()
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._octets += size - (len(line) - len(value)) + bool(self._data)
            self._data.append(value[: max(0, self._kept - self._held)])
            self._held += len(self._data[-1]) + 1
        elif name == b"event":
            self._kind = value.decode("utf-8", "replace")[:200]
        elif name == b"id":
            self._ident = value.decode("utf-8", "replace")[:1000]
        return None

    def _dispatch(self) -> Event | None:
        found = Event(self._kind, self._ident, b"\n".join(self._data), self._octets)
        has_data = bool(self._data)
        self._begin()
        return found if has_data else None
