"""Sends HTTP requests to one remote server and passes responses to the gate, for all HTTP transports."""

import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from dataclasses import replace

import httpx2

from tui.core.errors import McptuiError
from tui.core.http_waits import is_down
from tui.core.jsonrpc.framing import Event, EventCutter
from tui.core.jsonrpc.messages import Failure, Id, Message, Request, Stray, find_ids
from tui.core.server_secrets import resolved_headers
from tui.core.servers import ServerSpec
from tui.core.text import clean_line
from tui.core.web import Reach
from tui.host.frames.id_gate import RESULT_TOO_LARGE, Gate, same_id
from tui.host.frames.inbox import Inbox
from tui.host.frames.message_reader import MessageReader
from tui.host.frames.stage import Stage
from tui.host.frames.tap import WireTap
from tui.host.passthrough.http_exchange import KEPT, HttpExchange
from tui.host.transports import http_faults as faults
from tui.host.transports.http_client import (
    EXCHANGE,
    Sending,
    TappedTransport,
    Unwanted,
    header_bytes,
    open_client,
    send_within_origin,
)
from tui.host.transports.http_faults import HttpFault
from tui.host.transports.staged_http import StagedHttp

HEAD = 64 * 1024
"""Maximum bytes read from a body that is not a message, to quote the server's own words."""

ENDLESS = 128 * 1024 * 1024
"""Maximum bytes of an unfinished event, as of a line on stdout."""

HeaderValues = Mapping[str, str | bytes]
"""Headers of a request by name: text is ASCII, and what a server said is sent in its own bytes."""

_OPTIONAL = "mcptui.optional"
_OWN_STREAM = "mcptui.stream"
_HEAD = "mcptui.head"


class HttpLink:
    """Sends HTTP requests to one server and passes the messages in the responses to the gate.

    `reach` says whether the server responds; `on_change` is called when that changes, and must not raise.
    `auth` signs in to it; the user can act on its errors. `remember` takes secrets of headers to redact from
    now on. Messages pass `stages`. `messages` measures what the messages cost, and counts content that was
    none, of which `why_noise` describes the last.
    """

    def __init__(
        self,
        spec: ServerSpec,
        *,
        tap: WireTap,
        gate: Gate,
        inbox: Inbox,
        on_change: Callable[[], None],
        auth: httpx2.Auth | None = None,
        remember: Callable[[Mapping[str, str]], None] = lambda secrets: None,
        stages: Sequence[Stage] = (),
    ) -> None:
        self.url = httpx2.URL(spec.url or "")
        self.reach = Reach(clean_line(spec.shown_url, 300))
        self.why_noise = ""
        self._tap = tap
        self._gate = gate
        self.messages = MessageReader(gate, inbox)
        self._on_change = on_change
        tapped = TappedTransport(spec.name, tap.sink, self._answered)
        staged = StagedHttp(tapped, spec.name, stages, tap, self.message) if stages else tapped
        self._client = open_client(staged, {})
        self._auth = auth
        self._spec = spec
        self._remember = remember
        self._has_headers = False

    async def close(self) -> None:
        await self._client.aclose()

    @contextlib.asynccontextmanager
    async def exchange(
        self,
        method: str,
        headers: HeaderValues,
        body: bytes = b"",
        *,
        url: httpx2.URL | None = None,
        sending: Sending | None = None,
        optional: bool = False,
    ) -> AsyncIterator[httpx2.Response]:
        """Send a request and yield its response, unread; sign in first if the server requires it.

        `sending` is the message in it, which may be cancelled before it is sent. A server need not support
        what is `optional`: a rejection of it says nothing about the server. Raises HttpFault if there is no
        response.
        """
        about = {_OPTIONAL: optional, **(sending.extensions if sending is not None else {})}
        url = url or self.url
        try:
            if not self._has_headers:
                configured = await resolved_headers(self._spec, self._remember)
                self._client.headers.update(header_bytes(configured))
                self._has_headers = True
            content = body if method == "POST" else None
            sent = header_bytes(headers)
            request = self._client.build_request(method, url, headers=sent, content=content, extensions=about)
            response = await send_within_origin(self._client, request, self._auth)
        except McptuiError as error:  # from signing in, or from the keychain
            raise HttpFault(error.message, next_step=error.next_step, status=401, refused=True) from error
        except Unwanted as error:
            raise HttpFault(f"{error}.", next_step="", refused=True) from error
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            fault = faults.unreachable(error, shown_origin(url))
            self._set_reach(replace(self.reach, answers=False, problem=fault.message))
            raise fault from error
        try:
            yield response
        finally:
            await response.aclose()

    def _answered(self, response: httpx2.Response) -> None:
        request = response.request
        if origin(request.url) == origin(self.url):
            is_rejected = response.is_error and request.extensions.get(_OPTIONAL, False)
            status = (self.reach.status if is_rejected else 0) or response.status_code
            self._set_reach(replace(self.reach, answers=True, status=status, problem=""))

    def _set_reach(self, reach: Reach) -> None:
        if reach != self.reach:
            self.reach = reach
            self.changed()

    def changed(self) -> None:
        with contextlib.suppress(Exception):  # a bug in a listener must not affect the server
            self._on_change()

    # ---- what comes back -------------------------------------------------------------------------------

    async def events(self, response: httpx2.Response) -> AsyncGenerator[Event]:
        """Yield the events of a stream. Raises HttpFault if it breaks off or one of them does not end."""
        exchange: HttpExchange = response.extensions[EXCHANGE]
        stream = stream_of(response)
        heard = stream is exchange.stream
        blocks = response.aiter_raw() if heard else response.aiter_bytes()
        try:
            async for block in blocks:
                await self._tap.wait_for_room()
                self.messages.begin()
                if not heard:
                    exchange.events.clear()
                    exchange.events.extend(stream.feed(block))
                while exchange.events:
                    yield exchange.events.popleft()
                    await self.messages.rest()
                if stream.partial > ENDLESS:
                    self._tap.event("too large", bytes=stream.partial, limit=KEPT)
                    raise faults.too_large(None, KEPT, response.status_code)
        except httpx2.HTTPError as error:
            raise faults.broken(error, response.status_code) from error

    async def listen(self, response: httpx2.Response) -> bool:
        """Take the messages of a stream until it ends or breaks; return whether there was one."""
        heard = False
        with contextlib.suppress(HttpFault):
            async with contextlib.aclosing(self.events(response)) as events:
                async for event in events:
                    heard = True
                    await self.event(event)
        return heard

    async def body(self, response: httpx2.Response) -> bytes:
        """Return a whole body. Raises HttpFault if it breaks off or is too large."""
        if _HEAD in response.extensions:
            return bytes(response.extensions[_HEAD])
        status = response.status_code
        said = response.headers.get("content-length", "")
        if said.isdigit() and int(said) > KEPT and is_plain(response):
            raise faults.too_large(int(said), KEPT, status)
        exchange: HttpExchange = response.extensions[EXCHANGE]
        own = None if is_plain(response) else bytearray()
        try:
            async for block in response.aiter_raw() if own is None else response.aiter_bytes():
                if own is not None:
                    own += block
                if (exchange.size if own is None else len(own)) > KEPT:
                    raise faults.too_large(None, KEPT, status)
        except httpx2.HTTPError as error:
            raise faults.broken(error, status) from error
        found = exchange.body() if own is None else bytes(own)
        response.extensions[_HEAD] = found[:HEAD]
        return found

    async def head(self, response: httpx2.Response) -> bytes:
        """Return the beginning of a body to show, even if the rest is lost, or has been read."""
        if _HEAD in response.extensions:
            return bytes(response.extensions[_HEAD])
        found = bytearray()
        with contextlib.suppress(httpx2.HTTPError):
            async for block in response.aiter_bytes():
                found += block
                if len(found) >= HEAD:
                    break
        response.extensions[_HEAD] = bytes(found[:HEAD])
        return bytes(found[:HEAD])

    async def refusal(self, response: httpx2.Response) -> HttpFault:
        """Return the fault for a response that is not a JSON-RPC message."""
        return faults.refused(response, await self.head(response), running=bool(self._gate.version))

    async def message(self, raw: bytes, asked: Id | None = None, *, status: int = 200) -> list[Message]:
        """Pass the messages of a body or an event to the gate, and return them.

        An error without an id answers the request `asked`; in a rejection, an error with any id does, because
        many servers invent one. If the server failed or is busy, the error includes the `status`.
        """
        if self.messages.drop_surplus(raw):
            return []
        messages = list(await self.messages.parse(raw))
        for place, message in enumerate(messages):
            if isinstance(message, Failure) and asked is not None and (status >= 400 or message.id is None):
                words = message.message
                if is_down(status):  # then the status says more
                    words = f"{faults.status_text(status)}: {words}"
                messages[place] = replace(message, id=asked, message=words)
                is_other = message.id is not None and same_id(message.id, (asked,)) is None
                if is_other and self._gate.is_pending(asked):
                    self._tap.gave_up(asked, words)  # nothing else ends it in the traffic
        for message in messages:
            if not self.messages.admit(message, len(raw)):
                self.strange(message.why if isinstance(message, Stray) else "it echoes the request", raw)
            elif isinstance(message, Request) and asked is not None:
                self._gate.came_with(message.id, asked)
        return messages

    async def event(self, event: Event, asked: Id | None = None) -> list[Message]:
        """Pass the message of an event to the gate, and return it; if it is too large, its request fails.

        Some servers send errors as events of that name, which answer the request whatever their id is.
        """
        is_error = event.kind == "error" and b'"jsonrpc"' in event.data
        if not (event.kind in ("", "message") or is_error) or not event.size:
            return []
        if event.size <= len(event.data):
            return await self.message(event.data, asked, status=400 if is_error else 200)
        fault = faults.too_large(event.size, KEPT, self.reach.status)
        ids = find_ids(event.data)
        self._tap.event("too large", bytes=event.size, limit=KEPT)
        self._gate.fail(ids or (() if asked is None else (asked,)), RESULT_TOO_LARGE, str(fault))
        return []

    def strange(self, why: str, raw: bytes) -> None:
        """Count content that was not a message."""
        self.why_noise = why
        self.messages.reject(raw, why)
        self.changed()


def is_plain(response: httpx2.Response) -> bool:
    """Whether a body is not compressed, so that its bytes are those that the tap saw."""
    return response.headers.get("content-encoding", "identity").strip().lower() in ("", "identity")


def is_stream(response: httpx2.Response) -> bool:
    """Whether a response is an event stream."""
    return faults.content_type(response) == "text/event-stream"


def stream_of(response: httpx2.Response) -> EventCutter:
    """Return the state of an event stream: that of the tap, unless it is compressed."""
    exchange: HttpExchange = response.extensions[EXCHANGE]
    if exchange.stream is not None and is_plain(response):
        return exchange.stream
    known: EventCutter = response.extensions.setdefault(_OWN_STREAM, EventCutter(KEPT))
    return known


def raw_header(response: httpx2.Response, known: str) -> bytes:
    """Return a header of a response in its own bytes, b"" if there is none."""
    return b", ".join(value for name, value in response.headers.raw if name.lower() == known.encode())


def origin(url: httpx2.URL) -> tuple[str, str, int | None]:
    """Return the scheme, host and port of an address."""
    return url.scheme, url.host, url.port


def shown_origin(url: httpx2.URL) -> str:
    """Return the origin of an address as it is shown, without a user."""
    return clean_line(str(url.copy_with(userinfo=b"", path="", query=None, fragment=None)), 200)
