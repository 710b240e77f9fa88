"""A process between a host and its HTTP server: requests and responses pass, and a sink sees them.

An ASGI application (https://asgi.readthedocs.io) for a server that listens on loopback. Bodies and event
streams pass as they arrive; headers unchanged, except those of one connection (RFC 9110, 7.6.1) and
`Accept-Encoding`, so that the recording is readable. Redirects are up to the client.

Web pages must not reach the server through this, so a Host or Origin that is not loopback is rejected
(DNS rebinding; MCP 2026-07-28, basic/transports/streamable-http, "Security").
"""

import asyncio
import itertools
import ssl
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from http.cookiejar import CookieJar
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from tui.core.errors import reason_of
from tui.core.traffic import TrafficSink
from tui.host.passthrough.http_exchange import KEPT, Header, HttpExchange

if TYPE_CHECKING:
    import httpx2

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

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


class _NoCookies(CookieJar):
    """Keeps none: they are between a host and its server, and several hosts may use one tap."""

    def extract_cookies(self, response: object, request: object) -> None:
        """Do nothing."""


class HttpPassthrough:
    """Forwards to one server. Call `close` in the loop that ran it.

    The path of `target` is used for requests to `/`. Errors in `sink` do not affect requests.
    """

    def __init__(self, target: str, source: str, sink: TrafficSink) -> None:
        import httpx2

        self._httpx = httpx2
        self._target = urlsplit(target)
        self._source = source
        self._sink = sink
        self._numbers = itertools.count(1)
        self._client = httpx2.AsyncClient(
            timeout=httpx2.Timeout(None, connect=CONNECT_SECONDS),
            follow_redirects=False,
            trust_env=False,
            cookies=_NoCookies(),
            # Certificates take 25 ms to read; without TLS, the context has none.
            verify=self._target.scheme == "https" or ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
        )

    async def close(self) -> None:
        await self._client.aclose()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        if why := _refusal(scope["headers"]):
            await _answer(send, 403, why)
            return
        exchange = HttpExchange(self._source, next(self._numbers), self._sink)
        body = bytearray()
        # Not that of the client, which would add headers that the host has not sent.
        request = self._httpx.Request(
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

    async def _forward(self, request: "httpx2.Request", exchange: HttpExchange, send: Send) -> None:
        try:
            response = await self._client.send(request, stream=True)
        except self._httpx.HTTPError as error:
            exchange.failed(error)
            await _answer(send, 502, f"cannot connect to the server: {reason_of(error)}")
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
            raise  # the response has begun, so it can only be broken off
        finally:
            exchange.end()
            await response.aclose()


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
    """Return the body and keep its head in `kept`: an MCP request is one message."""
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


async def _answer(send: Send, status: int, why: str) -> None:
    body = f"mcptui tap: {why}\n".encode("utf-8", "replace")
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
