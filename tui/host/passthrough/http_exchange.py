"""Records one HTTP request and its response as messages, events of a stream, and failures.

Shared by the proxy of `mcptui tap --listen` and by the transports for remote servers.
"""

import contextlib
import time
from collections import deque
from collections.abc import Iterable
from typing import Any

from tui.core.errors import reason_of
from tui.core.jsonrpc.framing import LINE_LIMIT, MAX_LINE, Event, EventCutter
from tui.core.jsonrpc.reader import json_mapping
from tui.core.traffic import CAUSE, Captured, Direction, Kind, TrafficSink
from tui.core.web import header_in, media_type

Header = tuple[bytes, bytes]

KEPT = LINE_LIMIT
"""Maximum bytes of one body that is read and recorded, as of a line."""


class HttpExchange:
    """Reports one request and its response to `sink`, and cuts an event stream into events.

    Call `asked`, `answered`, `heard` for each block, `failed` if it broke, then `end`. In a request that is
    `ours`, the caller takes the `events` of the stream, and reports if it gives up; otherwise, a request that
    is rejected without a JSON-RPC response is reported as given up. Errors in the sink do not affect the
    exchange. `peer` is the number of the client, 0 if there is only one. `endpoint` is the
    address for messages that a stream of HTTP+SSE has named. `size` counts the bytes of a body.
    """

    def __init__(
        self, source: str, number: int, sink: TrafficSink, *, ours: bool = False, peer: int = 0
    ) -> None:
        self.endpoint = ""
        self.number, self.peer = number, peer
        self.events: deque[Event] = deque()
        self.stream: EventCutter | None = None
        self._source = source
        self._place = {"exchange": number, **({"peer": peer} if peer else {})}
        self._sink = sink
        self._ours = ours
        self._kept = bytearray()  # not a list: of blocks of two bytes, it takes twenty times their size
        self._whole: bytes | None = None
        self.size = 0
        self._heard_ns = 0
        self._detail: dict[str, Any] = {}
        self._told = False
        self._id: Any = None

    def asked(self, method: str, url: str, headers: Iterable[Header], body: bytes) -> None:
        detail = {**self._place, "http": method, "url": url, "headers": _texts(headers)}
        asked = {} if self._ours else json_mapping(body)
        self._id = asked.get("id") if "method" in asked else None
        self._report(Direction.OUT, body, detail, time.monotonic_ns())

    def answered(self, status: int, headers: Iterable[Header]) -> None:
        known = _texts(headers)
        self._detail = {**self._place, "status": status, "headers": known}
        if media_type(header_in(known, "content-type")) == "text/event-stream":
            self.stream = EventCutter(KEPT)

    def heard(self, block: bytes) -> None:
        with contextlib.suppress(Exception):  # an observer must not break the response
            self._hear(block, time.monotonic_ns())

    def _hear(self, block: bytes, at_ns: int) -> None:
        if self.stream is None:
            self._heard_ns = at_ns
            if self.size < KEPT:
                self._kept += block[: KEPT - self.size]
            self.size += len(block)
            return
        for event in self.stream.feed(block):
            if self._ours:
                self.events.append(event)
            about = {"event": event.kind, "id": event.ident}
            detail = {**self._detail, "sse": about}
            if event.kind == "endpoint":  # HTTP+SSE: not a message, but the address for messages
                detail["event"] = "endpoint"
                self.endpoint = event.data[:MAX_LINE].decode("utf-8", "replace").strip()
            self._report(Direction.IN, event.data, detail, at_ns, event.size)
            self._told = True
            self._detail = {**self._place, "status": self._detail["status"]}

    def body(self) -> bytes:
        """Return the first `KEPT` bytes of a body; call it when the body has ended."""
        if self._whole is None:
            self._whole = bytes(self._kept)
            self._kept.clear()
        return self._whole

    def failed(self, error: Exception) -> None:
        why = reason_of(error)
        detail = {**self._detail, **self._place, "event": "broken", "why": why}
        self._report(Direction.IN, b"", detail, time.monotonic_ns())
        self._told = True
        if "status" not in self._detail:  # a stream that broke may be resumed (Last-Event-ID)
            self._give_up(why)

    def end(self) -> None:
        """Report the response, unless events of its stream were reported."""
        if not self._told:
            at = self._heard_ns or time.monotonic_ns()
            self._report(Direction.IN, self.body(), self._detail, at, self.size)
            self._told = True
        status = self._detail.get("status", 0)
        if self._id is not None and status >= 400:
            found = json_mapping(self.body())
            # Many rejections have no id, and are paired by their exchange.
            if "error" not in found if found.get("id") is None else found["id"] != self._id:
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


def _texts(headers: Iterable[Header]) -> list[list[str]]:
    return [[name.decode("latin-1"), value.decode("latin-1")[:4000]] for name, value in headers]
