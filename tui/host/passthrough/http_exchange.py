"""Records one HTTP request and its response as messages, events of a stream, and failures.

Shared by the proxy of `mcptui tap --listen` and by the transports for remote servers.
"""

import contextlib
import json
import re
import time
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from tui.core.traffic import CAUSE, Captured, Direction, Kind, TrafficSink
from tui.core.web import http_error_text

Header = tuple[bytes, bytes]

KEPT = 16 * 1024 * 1024
"""Maximum recorded bytes of one body."""

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


class EventCutter:
    """Splits an event stream (HTML Living Standard, 9.2.6); `kept` is the limit of bytes kept of an event.

    `last_id` is the id of the last event, in its own bytes, after which the stream can be resumed; None if no
    event had one. One that is too long or does not fit in a header is ignored. `retry_ms` is how long the
    server asks to wait before that, within bounds. `partial` is the number of bytes of the unfinished event.
    """

    def __init__(self, kept: int) -> None:
        self._kept = kept
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
            if event := self._take(line, size):
                yield event
        self._extend(rest)

    def _extend(self, piece: bytes) -> None:
        self._size += len(piece)
        room = self._kept + MAX_LINE - len(self._line)
        self._line += piece[: max(0, room)]

    def _take(self, line: bytearray, size: int) -> Event | None:
        if self._first:
            line, self._first = line.removeprefix(b"\xef\xbb\xbf"), False
        if not line:
            return self._dispatch()
        end = line.find(b":", 0, LONGEST_FIELD)
        name = line if end < 0 else line[:end]
        begin = len(line) if end < 0 else end + 1 + line.startswith(b" ", end + 1)
        if name == b"data":
            room = self._kept - len(self._more)
            self._octets += size - begin
            with memoryview(line) as seen:  # megabytes are copied once
                if self._data is None:
                    self._data = bytes(seen[begin : begin + room])
                else:  # in one piece: a list of sixteen million empty lines takes far more than their bytes
                    self._octets += 1
                    self._more += b"\n"[: max(0, room - len(self._data))]
                    self._more += seen[begin : begin + max(0, room - len(self._data) - 1)]
            return None
        value = line[begin:]
        if name == b"event":
            self._kind = value.decode("utf-8", "replace")[:200]
        elif name == b"id":
            if len(value) <= MAX_ID and not _NOT_IN_HEADER.search(value):
                self._ident = bytes(value)
        elif name == b"retry" and value.isdigit():
            asked = int(value) if len(value) < 10 else LONGEST_RETRY
            self.retry_ms = max(SHORTEST_RETRY, min(LONGEST_RETRY, asked))
        return None

    def _dispatch(self) -> Event | None:
        data = self._data
        whole = (data or b"") + self._more if self._more else data or b""
        ident = (self._ident or b"").decode("utf-8", "replace")[:1000]
        found = Event(self._kind, ident, whole, self._octets)
        if self._ident is not None:
            self.last_id = self._ident.strip(b"\t ")  # as it arrives in a header
        self._begin()
        return None if data is None else found


class HttpExchange:
    """Reports one request and its response to `sink`, and cuts an event stream into events.

    Call `asked`, `answered`, `heard` for each block, `failed` if it broke, then `end`. `events` are those of
    the stream that have not been taken yet, if `wanted`. A request that is rejected without a JSON-RPC
    response is reported as given up, unless the caller reports that (`judging` False). Errors in the sink do
    not affect the exchange. `peer` is the number of the client, 0 if there is only one. `endpoint` is the
    address for messages that a stream of HTTP+SSE has named.
    """

    def __init__(
        self,
        source: str,
        number: int,
        sink: TrafficSink,
        *,
        judging: bool = True,
        wanted: bool = False,
        peer: int = 0,
    ) -> None:
        self.endpoint = ""
        self.peer = peer
        self.events: deque[Event] = deque()
        self.stream: EventCutter | None = None
        self._source = source
        self._place = {"exchange": number, **({"peer": peer} if peer else {})}
        self._sink = sink
        self._judging = judging
        self._wanted = wanted
        self._kept = bytearray()  # not a list: of blocks of two bytes, it takes twenty times their size
        self._whole: bytes | None = None
        self._size = 0
        self._heard_ns = 0
        self._detail: dict[str, Any] = {}
        self._told = False
        self._id: Any = None

    def asked(self, method: str, url: str, headers: Iterable[Header], body: bytes) -> None:
        detail = {**self._place, "http": method, "url": url, "headers": _texts(headers)}
        self._id = _request_id(body) if self._judging else None
        self._report(Direction.OUT, body, detail, time.monotonic_ns())

    def answered(self, status: int, headers: Iterable[Header]) -> None:
        known = _texts(headers)
        self._detail = {**self._place, "status": status, "headers": known}
        kind = next((value for name, value in known if name.lower() == "content-type"), "")
        if kind.partition(";")[0].strip().lower() == "text/event-stream":
            self.stream = EventCutter(KEPT)

    def heard(self, block: bytes) -> None:
        with contextlib.suppress(Exception):  # an observer must not break the response
            self._hear(block, time.monotonic_ns())

    def _hear(self, block: bytes, at_ns: int) -> None:
        if self.stream is None:
            self._heard_ns = at_ns
            if self._size < KEPT:
                self._kept += block[: KEPT - self._size]
            self._size += len(block)
            return
        for event in self.stream.feed(block):
            if self._wanted:
                self.events.append(event)
            about = {"event": event.kind, "id": event.ident}
            detail = {**self._detail, "sse": about}
            if event.kind == "endpoint":  # HTTP+SSE: not a message, but the address for messages
                detail["event"] = "endpoint"
                self.endpoint = event.data[:MAX_LINE].decode("utf-8", "replace").strip()
            self._report(Direction.IN, event.data, detail, at_ns, event.size)
            self._told = True
            self._detail = {**self._place, "status": self._detail["status"]}

    @property
    def size(self) -> int:
        """Number of bytes received of a body."""
        return self._size

    def body(self) -> bytes:
        """Return the first `KEPT` bytes of a body; call it when the body has ended."""
        if self._whole is None:
            self._whole = bytes(self._kept)
            self._kept.clear()
        return self._whole

    def failed(self, error: Exception) -> None:
        why = f"{type(error).__name__}: {http_error_text(error)}"
        detail = {**self._detail, **self._place, "event": "broken", "why": why}
        self._report(Direction.IN, b"", detail, time.monotonic_ns())
        self._told = True
        if "status" not in self._detail:  # a stream that broke may be resumed (Last-Event-ID)
            self._give_up(why)

    def end(self) -> None:
        """Report the response, unless events of its stream were reported."""
        if not self._told:
            at = self._heard_ns or time.monotonic_ns()
            self._report(Direction.IN, self.body(), self._detail, at, self._size)
            self._told = True
        status = self._detail.get("status", 0)
        if self._id is not None and status >= 400 and not _answers(self.body(), self._id):
            self._give_up(f"HTTP {status}")

    def _give_up(self, why: str) -> None:
        if self._id is not None:
            detail = {"event": "gave up", "id": self._id, "why": why, **self._place}
            self._report(Direction.NONE, b"", detail, time.monotonic_ns())

    def _report(self, way: Direction, raw: bytes, detail: dict[str, Any], at_ns: int, size: int = -1) -> None:
        kind = Kind.EVENT if "event" in detail else None
        if not raw:
            kind, detail = Kind.EVENT, {"event": "http", **detail}
        with contextlib.suppress(Exception):  # a sink must not raise, but no request fails if one does
            wall = time.time_ns() - time.monotonic_ns() + at_ns
            known = size if size > len(raw) else -1
            cause = CAUSE.get() if way is Direction.OUT else None
            self._sink(Captured(self._source, way, at_ns, wall, raw, kind, known, cause, detail))


def _request_id(body: bytes) -> Any:
    found = _object(body)
    return found.get("id") if "method" in found else None


def _answers(body: bytes, ident: Any) -> bool:
    """Whether a rejection answers the request; many have no id, and are paired by their exchange."""
    found = _object(body)
    return bool("error" in found) if found.get("id") is None else bool(found["id"] == ident)


def _object(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _texts(headers: Iterable[Header]) -> list[list[str]]:
    return [[name.decode("latin-1"), value.decode("latin-1")[:4000]] for name, value in headers]
