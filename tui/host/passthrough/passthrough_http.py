"""A process between a host and its HTTP server: requests and responses pass, and a sink sees them.

An ASGI application (https://asgi.readthedocs.io) for a server that listens on loopback. Bodies and event
streams pass as they arrive; headers unchanged, except those of one connection (RFC 9110, 7.6.1) and
`Accept-Encoding`, so that the recording is readable. Redirects are up to the client.

Web pages must not reach the server through this: a Host or Origin that is not loopback is refused
(DNS rebinding; MCP 2026-07-28, basic/transports/streamable-http, "Security").
"""

import asyncio
import contextlib
import itertools
import json
import re
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, MutableMapping
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit, urlunsplit

from tui.core.traffic import Captured, Direction, Kind, TrafficSink

if TYPE_CHECKING:
    import httpx2

MAX_LINE = 64 * 1024
"""Bytes of a line without data."""

_LINE_END = re.compile(rb"\r\n|\n|\r")


class Event(NamedTuple):
    """A server-sent event; `data` is cut at the limit, `size` is that of all of it."""

    kind: str
    ident: str
    data: bytes
    size: int


class EventCutter:
    """Splits an event stream (HTML Living Standard, 9.2.6); `kept` is the limit of bytes kept of an event."""

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


Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Header = tuple[bytes, bytes]

KEPT = 16 * 1024 * 1024
"""Bytes of one body that are recorded."""

CONNECT_SECONDS = 10.0

_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_OF_ONE_CONNECTION = frozenset(
    b"connection keep-alive proxy-connection te trailer transfer-encoding upgrade host".split()
)
_NOT_FORWARDED = _OF_ONE_CONNECTION | {b"accept-encoding"}


def is_loopback(authority: str) -> bool:
    """Whether the value of a Host header, or what follows `//` in an origin, is this machine."""
    try:
        return urlsplit(f"//{authority}").hostname in _LOOPBACK
    except ValueError:
        return False


class HttpPassthrough:
    """Forwards to one server. Call `close` in the loop that ran it.

    The path of `target` is used for requests to `/`. Whatever goes wrong in `sink`, requests pass.
    """

    def __init__(self, target: str, source: str, sink: TrafficSink) -> None:
        import httpx2

        self._httpx = httpx2
        self._target = urlsplit(target)
        self._source = source
        self._sink = sink
        self._numbers = itertools.count(1)
        self._client = httpx2.AsyncClient(
            timeout=httpx2.Timeout(None, connect=CONNECT_SECONDS), follow_redirects=False, trust_env=False
        )

    async def close(self) -> None:
        await self._client.aclose()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        if why := _refusal(scope["headers"]):
            await _answer(send, 403, why)
            return
        exchange = _Exchange(self._source, next(self._numbers), self._sink)
        body = bytearray()
        request = self._client.build_request(
            scope["method"],
            self._url(scope),
            headers=[*_forwarded(scope["headers"], _NOT_FORWARDED), (b"accept-encoding", b"identity")],
            content=await _body(receive, body) if _has_body(scope["headers"]) else None,
        )
        exchange.asked(scope["method"], str(request.url), scope["headers"], bytes(body))
        forwarding = asyncio.create_task(self._forward(request, exchange, send))
        leaving = asyncio.create_task(_gone(receive))
        try:
            await asyncio.wait({forwarding, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (forwarding, leaving):
                task.cancel()
            await asyncio.wait({forwarding, leaving})
        if not forwarding.cancelled() and (error := forwarding.exception()) is not None:
            raise error

    def _url(self, scope: Scope) -> str:
        path = scope.get("raw_path", b"").decode("ascii", "replace").partition("?")[0] or scope["path"]
        if path == "/":
            path = self._target.path or "/"
        query = scope["query_string"].decode("ascii", "replace") or self._target.query
        return str(urlunsplit((self._target.scheme, self._target.netloc, path, query, "")))

    async def _forward(self, request: "httpx2.Request", exchange: "_Exchange", send: Send) -> None:
        try:
            response = await self._client.send(request, stream=True)
        except self._httpx.HTTPError as error:
            exchange.failed(error)
            await _answer(send, 502, f"the server cannot be reached: {type(error).__name__}: {error}")
            return
        try:
            headers = response.headers.raw
            exchange.answered(response.status_code, headers)
            start = {"type": "http.response.start", "status": response.status_code}
            await send({**start, "headers": _forwarded(headers, _OF_ONE_CONNECTION)})
            async for block in response.aiter_raw():
                await send({"type": "http.response.body", "body": block, "more_body": True})
                exchange.heard(block)
            await send({"type": "http.response.body", "body": b""})
        except self._httpx.HTTPError as error:
            exchange.failed(error)
            raise  # the response has begun: all that can be done is to break it off as well
        finally:
            exchange.end()
            await response.aclose()


class _Exchange:
    def __init__(self, source: str, number: int, sink: TrafficSink) -> None:
        self._source = source
        self._number = number
        self._sink = sink
        self._events: EventCutter | None = None
        self._body = bytearray()
        self._size = 0
        self._began_ns = 0
        self._detail: dict[str, Any] = {}
        self._told = False
        self._id: Any = None

    def asked(self, method: str, url: str, headers: Iterable[Header], body: bytes) -> None:
        detail = {"exchange": self._number, "http": method, "url": url, "headers": _texts(headers)}
        self._id = _request_id(body)
        self._tell(Direction.OUT, body, detail, time.monotonic_ns())

    def answered(self, status: int, headers: Iterable[Header]) -> None:
        known = _texts(headers)
        self._detail = {"exchange": self._number, "status": status, "headers": known}
        kind = next((value for name, value in known if name.lower() == "content-type"), "")
        if kind.partition(";")[0].strip().lower() == "text/event-stream":
            self._events = EventCutter(KEPT)

    def heard(self, block: bytes) -> None:
        with contextlib.suppress(Exception):  # an observer must not break the response
            self._hear(block, time.monotonic_ns())

    def _hear(self, block: bytes, at_ns: int) -> None:
        if self._events is None:
            self._began_ns = self._began_ns or at_ns
            self._size += len(block)
            self._body += block[: max(0, KEPT - len(self._body))]
            return
        for event in self._events.feed(block):
            about = {"event": event.kind, "id": event.ident}
            self._tell(Direction.IN, event.data, {**self._detail, "sse": about}, at_ns, event.size)
            self._told = True
            self._detail = {"exchange": self._number, "status": self._detail["status"]}

    def failed(self, error: Exception) -> None:
        why = f"{type(error).__name__}: {error}"
        detail = {**self._detail, "exchange": self._number, "event": "broken", "why": why}
        self._tell(Direction.IN, b"", detail, time.monotonic_ns())
        self._told = True
        if "status" not in self._detail:  # a stream that broke may be resumed (Last-Event-ID)
            self._give_up(why)

    def end(self) -> None:
        """Report the response if it was no stream, or a stream without events."""
        if not self._told:
            at = self._began_ns or time.monotonic_ns()
            self._tell(Direction.IN, bytes(self._body), self._detail, at, self._size)
        status = self._detail.get("status", 0)
        if status >= 400 and _answered_id(bytes(self._body)) != self._id:
            self._give_up(f"HTTP {status}")  # many refusals have no id, or a null one

    def _give_up(self, why: str) -> None:
        if self._id is not None:
            detail = {"event": "gave up", "id": self._id, "why": why, "exchange": self._number}
            self._tell(Direction.NONE, b"", detail, time.monotonic_ns())

    def _tell(self, way: Direction, raw: bytes, detail: dict[str, Any], at_ns: int, size: int = -1) -> None:
        kind = None
        if not raw:
            kind, detail = Kind.EVENT, {"event": "http", **detail}
        with contextlib.suppress(Exception):  # a sink promises not to raise; no request fails if one does
            wall = time.time_ns() - time.monotonic_ns() + at_ns
            known = size if size > len(raw) else -1
            self._sink(Captured(self._source, way, at_ns, wall, raw, kind, known, detail=detail))


def _request_id(body: bytes) -> Any:
    found = _object(body)
    return found.get("id") if "method" in found else None


def _answered_id(body: bytes) -> Any:
    return _object(body).get("id")


def _object(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _refusal(headers: Iterable[Header]) -> str:
    """Return why a request does not come from a program on this machine, or ""."""
    for name, value in headers:
        text = value.decode("latin-1")
        if name == b"host" and not is_loopback(text):
            return "the Host header names another machine"
        if name == b"origin" and not is_loopback(text.partition("://")[2]):
            return "the Origin is not on this machine"
    return ""


def _has_body(headers: Iterable[Header]) -> bool:
    return any(name in (b"content-length", b"transfer-encoding") for name, _ in headers)


async def _body(receive: Receive, kept: bytearray) -> bytes:
    """Also keep its head: an MCP request is one message."""
    parts: list[bytes] = []
    while True:
        message = await receive()
        parts.append(message.get("body", b""))
        kept += parts[-1][: max(0, KEPT - len(kept))]
        if not message.get("more_body"):
            return b"".join(parts)


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _forwarded(headers: Iterable[Header], without: Iterable[bytes]) -> list[Header]:
    return [(name, value) for name, value in headers if name.lower() not in without]


def _texts(headers: Iterable[Header]) -> list[list[str]]:
    return [[name.decode("latin-1"), value.decode("latin-1")[:4000]] for name, value in headers]


async def _answer(send: Send, status: int, why: str) -> None:
    body = f"mcptui tap: {why}\n".encode("utf-8", "replace")
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
