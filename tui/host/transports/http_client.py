"""HTTP to one remote server: requests that a tap sees, with the proxies and certificates of the environment.

A redirect is followed only within the origin of the request, with its method, because the request was meant
for that origin. The rule is that of the SDK (mcp 2.3, `stream_within_origin`).
"""

import asyncio
import contextlib
import itertools
import re
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextvars import ContextVar
from http.cookiejar import Cookie, CookieJar
from typing import Any

import httpcore2
import httpx2

from tui import __version__
from tui.core.errors import reason_of
from tui.core.jsonrpc.messages import Id
from tui.core.language.translate import message
from tui.core.text import clean_line
from tui.core.traffic import TrafficSink
from tui.core.web import (
    FRAMING,
    MAX_COOKIES,
    Proxy,
    header_name_fault,
    header_value_fault,
    proxy_for,
    tls_context,
    with_headers,
)
from tui.host.frames.id_gate import NEVER_SENT
from tui.host.passthrough.http_exchange import HttpExchange
from tui.host.sign_in.authorization_server import discard

CONNECT_SECONDS = 10.0
WRITE_SECONDS = 30.0
REDIRECTS = 5
KEEPALIVE_SECONDS = 60
_LIMITS = httpx2.Limits(max_connections=None, max_keepalive_connections=10, keepalive_expiry=4.0)
"""An idle connection is reused for 4 s only, because many servers close it after 5 s."""

SLICE = 16 * 1024
"""Bytes of a stream that are read before other tasks run; a flood of small events takes some 5 ms."""

EXCHANGE = "mcptui.exchange"
"""Key in a response's extensions for the part that was read."""

MAX_COOKIE = 4096
"""Maximum characters of the value of a cookie."""

SENDING = "mcptui.sending"
"""Key in a request's extensions: its `Sending`, if it may be cancelled before it is sent."""


class Unwanted(httpx2.HTTPError):
    """A request was cancelled before it was sent."""


class Sending:
    """One request of ours on its way, which may wait for a connection, a sign-in or another server.

    `is_wanted` is asked right before each write. `task` sends it.
    """

    def __init__(
        self,
        message: dict[str, Any],
        body: bytes,
        headers: Mapping[str, str],
        is_wanted: Callable[[], bool],
    ) -> None:
        self.id: Id = message["id"]
        self.method = str(message["method"])
        self.message, self.body, self.headers = message, body, headers
        self.task: asyncio.Task[None] | None = None
        self._is_wanted = is_wanted
        self._is_begun = self._is_sent = False

    @property
    def extensions(self) -> dict[str, Any]:
        """Those of each HTTP request for it."""
        return {SENDING: self, "trace": self._trace}

    def check(self) -> None:
        """Raise Unwanted if it was cancelled."""
        if not self._is_wanted():
            raise Unwanted(NEVER_SENT)

    def take_back(self) -> bool:
        """Stop sending a cancelled message; return False if the server has all of it.

        A request that breaks off in the middle of its body has no effect.
        """
        if self._is_begun and not self._is_sent:
            self.cancel()
        return not self._is_sent

    def cancel(self) -> None:
        """Close the request."""
        if self.task is not None:
            self.task.cancel()

    async def _trace(self, event: str, about: Mapping[str, Any]) -> None:
        if event == "http11.send_request_headers.started" and about["request"].method == b"POST":
            self.check()
            self._is_begun, self._is_sent = True, False
        elif event in ("http11.send_request_body.complete", "http11.send_request_body.failed"):
            self._is_sent = self._is_begun


INTERIM_BYTES = 256 * 1024
"""Maximum bytes before the headers of a response are complete, with all interim responses (1xx)."""

INTERIM_READ = 8 * 1024
"""Bytes to read at once until then: the library parses thousands of interim responses without a pause."""

_head_left: ContextVar[list[int] | None] = ContextVar("mcptui_head_left", default=None)
_Trace = Callable[[str, Mapping[str, Any]], Awaitable[None]]


class TooManyInterims(httpcore2.RemoteProtocolError):
    """A server sends interim responses without end; a class of its own, whose words are kept."""


class _HeadGuard:
    """Limits what a server may send before the headers of a response; the trace of one request.

    A connection is passed to the trace when it is opened, and is read in the task of its request.
    """

    def __init__(self, inner: _Trace | None) -> None:
        self._inner = inner

    async def __call__(self, event: str, about: Mapping[str, Any]) -> None:
        if event.endswith(("connect_tcp.complete", "start_tls.complete")):
            _guard(about["return_value"])
        elif event.endswith("receive_response_headers.started"):
            _head_left.set([INTERIM_BYTES])
        elif event.endswith(("receive_response_headers.complete", "receive_response_headers.failed")):
            _head_left.set(None)
        if self._inner is not None:
            await self._inner(event, about)


def _guard(stream: Any) -> None:
    read = stream.read

    async def guarded(max_bytes: int, timeout: float | None = None) -> bytes:
        if (left := _head_left.get()) is None:
            found: bytes = await read(max_bytes, timeout=timeout)
            return found
        found = await read(min(max_bytes, INTERIM_READ), timeout=timeout)
        left[0] -= len(found)
        if left[0] < 0:
            raise TooManyInterims(message("too many interim responses"))
        if left[0] < INTERIM_BYTES - INTERIM_READ:
            await asyncio.sleep(0)  # buffered bytes are read without a pause; ordinary heads have come by now
        return found

    setattr(stream, "read", guarded)  # noqa: B010, the library has no place for this


class Unsendable(httpx2.LocalProtocolError):
    """A request has a header that cannot be sent. The message names it, not its value."""


class UnusableRoute(httpx2.ConnectError):
    """The certificates or the proxy of the environment cannot be used."""


class UnreadableCertificates(UnusableRoute):
    """A file of the environment is not one of certificates, or cannot be read."""


class RoutedTransport(httpx2.AsyncBaseTransport):
    """Sends requests through the proxies and with the certificates of the environment."""

    def __init__(self) -> None:
        self._proxies: dict[tuple[str, str, int | None], Proxy | None] = {}
        self._routes: dict[tuple[str, str | None], httpx2.AsyncHTTPTransport] = {}

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if not isinstance(trace := request.extensions.get("trace"), _HeadGuard):
            request.extensions = {**request.extensions, "trace": _HeadGuard(trace)}
        return await (await self._route(request.url)).handle_async_request(request)

    async def _route(self, url: httpx2.URL) -> httpx2.AsyncHTTPTransport:
        """Raises UnusableRoute for certificates or a proxy that cannot be used."""
        place = (url.scheme, url.host, url.port)
        if place not in self._proxies:
            self._proxies[place] = proxy_for(str(url))
        if (proxy := self._proxies[place]) is not None and proxy.fault:
            raise UnusableRoute(proxy.fault)
        key = (url.scheme, None if proxy is None else proxy.url)
        if key not in self._routes:
            problem: UnusableRoute | None = None
            try:
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # has no certificates, and costs nothing
                if url.scheme == "https" or (key[1] or "").startswith("https"):
                    context = await asyncio.to_thread(tls_context, httpx2.create_ssl_context, trust_env=True)
                made = httpx2.AsyncHTTPTransport(
                    verify=context, proxy=key[1], limits=_LIMITS, socket_options=_KEEP_ALIVE
                )
                self._routes.setdefault(key, made)
            except OSError as error:  # ssl.SSLError too
                problem = UnreadableCertificates(
                    message("cannot read the certificates: {reason}", reason=reason_of(error))
                )
            except (ImportError, ValueError):
                fault = (
                    message("{named} cannot be used", named=proxy.named)
                    if proxy is not None
                    else message("the URL is invalid")
                )
                problem = UnusableRoute(fault)
            if problem is not None:  # not in `except`: the cause would be reported instead
                raise problem
        return self._routes[key]

    async def aclose(self) -> None:
        for route in self._routes.values():
            await route.aclose()


class TappedTransport(httpx2.AsyncBaseTransport):
    """Sends requests, and shows each one and its response to a sink, block by block, before it is read.

    Requests of a sign-in do not go through it: they are recorded without their secrets. `on_status` is called
    with each response, and must not raise.
    """

    def __init__(self, source: str, sink: TrafficSink, on_status: Callable[[httpx2.Response], None]) -> None:
        self._source = source
        self._sink = sink
        self._on_status = on_status
        self._numbers = itertools.count(1)
        self._routed = RoutedTransport()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if (sending := request.extensions.get(SENDING)) is not None:
            sending.check()
        exchange = HttpExchange(self._source, next(self._numbers), self._sink, ours=True)
        body = b"" if request.method in ("GET", "DELETE") else await request.aread()
        exchange.asked(request.method, str(request.url), request.headers.raw, body)
        unsendable = False
        try:
            response = await self._routed.handle_async_request(request)
        except httpx2.LocalProtocolError:
            unsendable = True
        except Unwanted:  # whoever cancelled it has reported that
            raise
        except httpx2.HTTPError as error:
            exchange.failed(error)
            raise
        if unsendable:  # the library's message quotes the header, which may be a secret
            refused = Unsendable(_unsendable(request))
            exchange.failed(refused)
            raise refused
        self._on_status(tapped := heard(response, request, exchange))
        return tapped

    async def aclose(self) -> None:
        await self._routed.aclose()


_HIGH = re.compile(rb"[\x80-\xff]")
_RESTORED = re.compile(rb"\x7f([0-9a-f]{2})")
_ESCAPES = {b"set-cookie": b"\x7f%02x", b"location": b"%%%02X"}
"""How a byte of a header is escaped: of a cookie until it is sent (`_restore_cookies`), of an address for
good."""


class _InAscii(httpx2.AsyncBaseTransport):
    """Sends back what a server said in its own bytes: httpx2 fails to if they are not ASCII.

    A response has no more cookies than the client keeps, the last ones.
    """

    def __init__(self, inner: httpx2.AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        _restore_cookies(request)
        response = await self._inner.handle_async_request(request)
        said = response.headers.raw
        dropped = {at for at, (name, _) in enumerate(said) if name.lower() == b"set-cookie"}
        dropped -= set(sorted(dropped)[-MAX_COOKIES:])

        def escaped(name: bytes, value: bytes) -> bytes:
            form = _ESCAPES.get(name.lower())
            return value if form is None else _HIGH.sub(lambda byte: form % ord(byte[0]), value)

        kept = [(name, escaped(name, value)) for at, (name, value) in enumerate(said) if at not in dropped]
        response.headers = httpx2.Headers(kept)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


def _restore_cookies(request: httpx2.Request) -> None:
    """Return the cookies of a request to the bytes that the server has set."""
    if b"\x7f" in (cookies := request.headers.get("cookie", "").encode("latin-1", "replace")):
        sent = _RESTORED.sub(lambda byte: bytes.fromhex(byte[1].decode()), cookies)
        request.headers.update([(b"cookie", sent)])
        request.headers.encoding = "latin-1"  # in which httpx2 can read any bytes


def header_bytes(headers: Mapping[str, str | bytes]) -> list[tuple[bytes, bytes]]:
    """Return headers as they are sent. Raises Unsendable."""
    sent = []
    for name, value in headers.items():
        if not name.isascii() or (isinstance(value, str) and not value.isascii()):
            raise Unsendable(_invalid(name))
        sent.append((name.encode(), value.encode() if isinstance(value, str) else value))
    return sent


class _CookieJar(CookieJar):
    """Keeps the newest cookies of a server: the `Cookie` header of each request has all of them."""

    def __init__(self) -> None:
        super().__init__()
        self._kept: dict[tuple[str, str, str], None] = {}

    def set_cookie(self, cookie: Cookie) -> None:
        if len(cookie.value or "") > MAX_COOKIE:
            return
        key = cookie.domain, cookie.path, cookie.name
        self._kept.pop(key, None)
        self._kept[key] = None
        super().set_cookie(cookie)
        if len(self._kept) > MAX_COOKIES:
            oldest = next(iter(self._kept))
            del self._kept[oldest]
            with contextlib.suppress(KeyError):  # it has expired
                self.clear(*oldest)


def _unsendable(request: httpx2.Request) -> str:
    """Return which header of a request cannot be sent, without its value."""
    for raw_name, raw in request.headers.raw:
        name, value = raw_name.decode("latin-1"), raw.decode("ascii", "ignore")
        own = name.lower() in FRAMING  # set by the library
        if not own and (header_name_fault(name) or header_value_fault(value) or value != value.strip()):
            return _invalid(name)
    return message("a header contains invalid characters")


def _invalid(name: str) -> str:
    return message("invalid header {name}", name=clean_line(name.lower(), 60))


class HeardStream(httpx2.AsyncByteStream):
    """A body, each block of which an exchange hears before it is read."""

    def __init__(self, stream: httpx2.AsyncByteStream, exchange: HttpExchange) -> None:
        self._stream = stream
        self._exchange = exchange

    async def __aiter__(self) -> AsyncIterator[bytes]:
        exchange = self._exchange
        try:
            async for block in self._stream:
                for start in range(0, len(block), SLICE):
                    piece = block[start : start + SLICE]
                    exchange.heard(piece)
                    yield piece
                    if exchange.stream is not None:
                        await asyncio.sleep(0)
        except httpx2.HTTPError as error:
            exchange.failed(error)
            raise

    async def aclose(self) -> None:
        try:
            await self._stream.aclose()
        finally:
            self._exchange.end()


def heard(response: httpx2.Response, request: httpx2.Request, exchange: HttpExchange) -> httpx2.Response:
    """Return a response that an exchange hears as it is read, with the exchange as an extension."""
    exchange.answered(response.status_code, response.headers.raw)
    assert isinstance(response.stream, httpx2.AsyncByteStream)
    return httpx2.Response(
        response.status_code,
        headers=response.headers,
        stream=HeardStream(response.stream, exchange),
        request=request,
        extensions={**response.extensions, EXCHANGE: exchange},
    )


_KEEP_ALIVE = [
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    *(
        (socket.IPPROTO_TCP, getattr(socket, name), value)
        for name, value in (("TCP_KEEPIDLE", KEEPALIVE_SECONDS), ("TCP_KEEPINTVL", 15), ("TCP_KEEPCNT", 4))
        if hasattr(socket, name)
    ),
]
"""Detects within minutes that the other machine is gone, without a request."""


def open_client(transport: httpx2.AsyncBaseTransport, headers: Mapping[str, str]) -> httpx2.AsyncClient:
    """Return a client without a timeout for responses, because calls have their own limits.

    `headers` are added to each request. Compressed responses are not requested, so that the recording is
    readable.
    """
    ours = {"user-agent": f"mcptui/{__version__}", "accept-encoding": "identity"}
    return httpx2.AsyncClient(
        transport=_InAscii(transport),
        headers=with_headers(ours, headers),
        cookies=_CookieJar(),
        timeout=httpx2.Timeout(None, connect=CONNECT_SECONDS, write=WRITE_SECONDS),
        follow_redirects=False,
    )


async def send_within_origin(
    client: httpx2.AsyncClient, request: httpx2.Request, auth: httpx2.Auth | None = None
) -> httpx2.Response:
    """Send and return the response, unread; redirects within the origin are followed, any other is returned.

    Close the response. Raises httpx2.HTTPError if there is none.
    """
    more: dict[str, Any] = {} if auth is None else {"auth": auth}
    for _ in range(REDIRECTS):
        response = await client.send(request, stream=True, follow_redirects=False, **more)
        onward = _redirected_request(response)
        if onward is None:
            return response
        await discard(response)
        request = onward
    return await client.send(request, stream=True, follow_redirects=False, **more)


def redirect_target(response: httpx2.Response) -> str:
    """Return the target of a redirect, without user, query and fragment; "" if there is none."""
    onward = response.next_request
    return "" if onward is None else str(onward.url.copy_with(userinfo=b"", query=None, fragment=None))


def redirects_to_itself(response: httpx2.Response) -> bool:
    """Return whether a redirect leads back to its own address, or there were too many redirects."""
    onward = response.next_request
    return onward is not None and (
        onward.url == response.request.url or _redirected_request(response) is not None
    )


def _redirected_request(response: httpx2.Response) -> httpx2.Request | None:
    onward = response.next_request
    if onward is None:
        return None
    sent = response.request
    same_method = onward.method == sent.method
    own_user = bool(onward.url.userinfo) and onward.url.userinfo != sent.url.userinfo
    upgraded = (sent.url.scheme, onward.url.scheme) == ("http", "https")  # allowed on the default port
    is_default = sent.url.port is None and onward.url.port is None
    same_place = (sent.url.host, sent.url.port) == (onward.url.host, onward.url.port)
    same_scheme = sent.url.scheme == onward.url.scheme or (upgraded and is_default)
    if not same_method or own_user or not (same_place and same_scheme):
        return None
    onward.extensions = {**onward.extensions, **sent.extensions}
    return onward
