"""A process between a host and its HTTP server: requests and responses pass, and a sink sees them.

An ASGI application (https://asgi.readthedocs.io) for a server that listens on loopback. Bodies and event
streams pass as they arrive; headers unchanged, except those of one connection (RFC 9110, 7.6.1) and
`Accept-Encoding`, so that the recording is readable. Redirects are up to the client.

Web pages must not reach the server through this, so a Host or Origin that is not loopback is rejected
(DNS rebinding; MCP 2026-07-28, basic/transports/streamable-http, "Security").
"""

import asyncio
import itertools
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, MutableMapping, Sequence
from contextlib import AbstractAsyncContextManager
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, Protocol
from urllib.parse import urlsplit, urlunsplit

import httpx2

from tui.core.background import first_of
from tui.core.jsonrpc.headers import repeats_message
from tui.core.traffic import TrafficSink
from tui.core.web import host_of, is_loopback
from tui.host.frames.stage import Stage
from tui.host.frames.tap import WireTap
from tui.host.passthrough.http_exchange import KEPT, Header, HttpExchange
from tui.host.transports.http_client import CONNECT_SECONDS, EXCHANGE, HeardStream, RoutedTransport
from tui.host.transports.http_faults import unreachable
from tui.host.transports.http_link import shown_origin
from tui.host.transports.staged_http import BrokenOff, StagedHttp

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

SESSION = "mcp-session-id"
MAX_PEERS = 4096
MAX_KNOWN = 1024

MAX_REQUEST = 256 * 1024 * 1024
"""Maximum bytes of the body of a request, which is in memory until it is complete."""

_TOO_LARGE = f"the body of the request is larger than {MAX_REQUEST // 1024 // 1024} MiB"

_OF_ONE_CONNECTION = frozenset(
    b"connection keep-alive proxy-connection te trailer transfer-encoding upgrade host".split()
)
_NOT_FORWARDED = _OF_ONE_CONNECTION | {b"accept-encoding"}


class HttpKeeper(AbstractAsyncContextManager[Any], Protocol):
    """Runs the server itself, and replaces it while sessions of hosts live on, from its entry to its exit."""

    def target(self, url: str) -> str:
        """Return the URL of the first server, given that of the command line."""

    def over(self, sends: httpx2.AsyncBaseTransport, records: WireTap) -> httpx2.AsyncBaseTransport:
        """Return what sends requests to the server of the moment with `sends`. Called before the entry."""


class HttpPassthrough:
    """Forwards to one server. Call `close` in the loop that ran it.

    The path of `target` is used for requests to `/`. Errors in `sink` do not affect requests. Messages pass
    `stages`. A `keeper` runs the server.
    """

    def __init__(
        self,
        target: str,
        source: str,
        sink: TrafficSink,
        stages: Sequence[Stage] = (),
        keeper: HttpKeeper | None = None,
    ) -> None:
        self._target = urlsplit(target)
        self._is_staged = bool(stages) or keeper is not None
        sends: httpx2.AsyncBaseTransport = _Recorded(lambda: HttpExchange(source, next(self._numbers), sink))
        records = WireTap(source, sink)
        if keeper is not None:
            sends = keeper.over(sends, records)
        self._source = source
        self._sink = sink
        self._numbers = itertools.count(1)
        self._peers = Peers()
        self._client = httpx2.AsyncClient(
            transport=StagedHttp(sends, source, stages, records) if self._is_staged else RoutedTransport(),
            timeout=httpx2.Timeout(None, connect=CONNECT_SECONDS),
            follow_redirects=False,
            # Cookies are between a host and its server, and several hosts may use one tap.
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        )

    async def close(self) -> None:
        await self._client.aclose()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        if why := _refusal(scope["headers"]):
            await _answer(send, 403, why)
            return
        if wrong := _unusable(scope):
            await _answer(send, *wrong)
            return
        body: bytes | None = None
        if any(name in (b"content-length", b"transfer-encoding") for name, _ in scope["headers"]):
            if (body := await _body(receive)) is None:
                return  # the client is gone, and the server must not take a part for the whole
            if len(body) > MAX_REQUEST:
                await _answer(send, 413, _TOO_LARGE)
                return
        headers = [*_forwarded(scope["headers"], _NOT_FORWARDED), (b"accept-encoding", b"identity")]
        try:
            # Not that of the client, which would add headers that the host has not sent.
            request = httpx2.Request(scope["method"], self._url(scope), headers=headers, content=body)
        except (httpx2.InvalidURL, ValueError):
            await _answer(send, 400, "the request is not valid: its path or query cannot be part of a URL")
            return
        exchange = HttpExchange(self._source, next(self._numbers), self._sink, peer=self._peers.of(scope))
        if self._is_staged:
            request.extensions = {_RECORDED: (exchange, scope["headers"]), EXCHANGE: exchange}
            exchange = HttpExchange(self._source, 0, lambda captured: None, peer=exchange.peer)
        else:
            exchange.asked(scope["method"], str(request.url), scope["headers"], (body or b"")[:KEPT])

        async def gone() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass

        forwarding = asyncio.create_task(self._forward(request, exchange, send))
        await first_of(forwarding, gone())
        if not forwarding.cancelled():
            forwarding.result()

    def _url(self, scope: Scope) -> str:
        path = scope.get("raw_path", b"").decode("ascii", "replace").partition("?")[0] or scope["path"]
        if path == "/":
            path = self._target.path or "/"
        query = scope["query_string"].decode("ascii", "replace") or self._target.query
        return str(urlunsplit((self._target.scheme, self._target.netloc, path, query, "")))

    async def _forward(self, request: httpx2.Request, exchange: HttpExchange, send: Send) -> None:
        try:
            response = await self._client.send(request, stream=True)
        except BrokenOff:
            # What is incomplete breaks off the connection; nothing else does, before a response has begun.
            headers = [(b"content-length", b"1")]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            return
        except httpx2.HTTPError as error:
            exchange.failed(error)
            await _answer(send, 502, str(unreachable(error, shown_origin(request.url))))
            return
        try:
            headers = response.headers.raw
            exchange.answered(response.status_code, headers)
            if response.status_code > 599:
                await _answer(send, 502, f"the server answered with the status {response.status_code}")
                return
            if any(name.lower() == b"transfer-encoding" for name, _ in headers):  # RFC 9112, 6.3
                headers = [(name, value) for name, value in headers if name.lower() != b"content-length"]
            self._peers.know(SESSION, response.headers.get(SESSION, ""), exchange.peer)
            start = {"type": "http.response.start", "status": response.status_code}
            await send({**start, "headers": _forwarded(headers, _OF_ONE_CONNECTION)})
            async for block in response.aiter_raw():
                await send({"type": "http.response.body", "body": block, "more_body": True})
                exchange.heard(block)
                if exchange.endpoint:
                    query = exchange.endpoint.partition("#")[0].partition("?")[2]  # it need not be a URL
                    self._peers.know("", query, exchange.peer)
            await send({"type": "http.response.body", "body": b""})
        except httpx2.HTTPError as error:
            exchange.failed(error)  # the response has begun: leaving it incomplete breaks it off
        finally:
            exchange.end()
            await response.aclose()


_RECORDED = "mcptui.recorded"
"""Key in a request's extensions: its exchange, and the headers of the host, if there are stages."""


class _Recorded(httpx2.AsyncBaseTransport):
    """Sends requests, and records them as they reach the server, behind stages."""

    def __init__(self, new_exchange: Callable[[], HttpExchange]) -> None:
        """Record requests that no host has sent as the exchanges that `new_exchange` returns."""
        self._routed = RoutedTransport()
        self._new_exchange = new_exchange

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        known = request.extensions.get(_RECORDED)
        exchange, headers = known or (self._new_exchange(), request.headers.raw)
        if (was := _repeated(headers)) != (now := _repeated(request.headers.raw)):  # as a stage changed it
            headers = [*(header for header in headers if header not in was), *now]
        exchange.asked(request.method, str(request.url), headers, (await request.aread())[:KEPT])
        try:
            response = await self._routed.handle_async_request(request)
        except httpx2.HTTPError as error:
            exchange.failed(error)
            raise
        exchange.answered(response.status_code, response.headers.raw)
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = HeardStream(response.stream, exchange)
        return response

    async def aclose(self) -> None:
        await self._routed.aclose()


def _repeated(headers: Iterable[Header]) -> list[Header]:
    return [header for header in headers if repeats_message(header[0])]


class Peers:
    """Numbers the clients of one server, which may use the same ids at the same time.

    A client is known by its session, by the query of the address for messages that its stream of HTTP+SSE has
    named, or else by its connection: several of one client may count as several.
    """

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._known: OrderedDict[tuple[str, str], int] = OrderedDict()

    def of(self, scope: Scope) -> int:
        """Return the number of the client that sent a request."""
        headers = [value.decode("latin-1") for name, value in scope["headers"] if name == SESSION.encode()]
        host, port = scope.get("client") or ("", 0)
        connection = ("connection", f"{host}:{port}")
        query = scope["query_string"].decode("ascii", "replace")
        for key in ((SESSION, headers[0] if headers else ""), ("", query), connection):
            if key[1] and (found := self._known.get(key)) is not None:
                self._known.move_to_end(key)
                return found
        found = next(self._numbers)
        self.know(*connection, found)
        return found

    def know(self, kind: str, value: str, peer: int) -> None:
        """Remember by what a client is known."""
        if value and len(value) <= MAX_KNOWN:
            self._known[kind, value] = peer
            if len(self._known) > MAX_PEERS:
                self._known.popitem(last=False)


def _refusal(headers: Iterable[Header]) -> str:
    """Return why a request does not come from a program on this machine, or ""."""
    for name, value in headers:
        text = value.decode("latin-1")
        if name == b"host" and not is_loopback(host_of(f"//{text}")):
            return "the Host header names another machine"
        if name == b"origin" and not is_loopback(host_of(text)):
            return "the Origin is not on this machine"
    return ""


def _unusable(scope: Scope) -> tuple[int, str] | None:
    """Return the status and the reason for a request that cannot be forwarded, or None."""
    if scope["method"] == "CONNECT":
        return 405, "CONNECT is not supported. This is a proxy of one server"
    lengths = [value for name, value in scope["headers"] if name == b"content-length"]
    if lengths and any(name == b"transfer-encoding" for name, _ in scope["headers"]):
        return 400, "the request is not valid: it has both Content-Length and Transfer-Encoding"
    return (413, _TOO_LARGE) if any(int(length) > MAX_REQUEST for length in lengths) else None


async def _body(receive: Receive) -> bytes | None:
    """Return the body, or more than `MAX_REQUEST` bytes of it; None if the client left before its end."""
    parts: list[bytes] = []
    size = 0
    while size <= MAX_REQUEST:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if not message.get("more_body"):
            break
    return b"".join(parts)


def _forwarded(headers: Iterable[Header], without: Iterable[bytes]) -> list[Header]:
    return [(name, value) for name, value in headers if name.lower() not in without]


async def _answer(send: Send, status: int, why: str) -> None:
    body = f"mcptui tap: {why}\n".encode("utf-8", "replace")
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", b"%d" % len(body))]
    headers.append((b"connection", b"close"))  # the rest of the request may not be read
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
