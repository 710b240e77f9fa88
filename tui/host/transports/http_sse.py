"""HTTP+SSE, the transport of 2024-11-05: messages from the server in a stream, to it in requests.

The stream begins with the address for messages, and is the session: when it ends, pending requests are lost.
It is reopened by repeating the handshake. Some servers answer in the response to a request, which the
specification does not allow; such answers are accepted too.
"""

import asyncio
import contextlib
from collections.abc import Mapping
from contextlib import aclosing
from typing import Any
from urllib.parse import urljoin

import httpx2

from tui.core.jsonrpc.messages import Failure, Id, Message, Response, write_line
from tui.core.text import quoted_name
from tui.core.time_limits import TimeLimit
from tui.host.frames.reconnection import Reconnection
from tui.host.transports import http_faults as faults
from tui.host.transports.http_client import Sending
from tui.host.transports.http_faults import HttpFault
from tui.host.transports.http_link import is_stream, origin, stream_of
from tui.host.transports.remote import OPENING, Ordered, RemoteTransport, SendQueue, Wire

ENDPOINT_SECONDS = 10.0
"""How long a server may take to open a stream and name the address for messages, each time."""

READY_SECONDS = 12.0
"""How long a message waits for the stream: longer than a stream may take, whose failure says more."""

ACCEPTED = 202
"""The status for a message whose answer comes on the stream, whatever its body says."""

_IF_HTTP = 'Check the URL. If the server speaks Streamable HTTP, set transport = "http".'


class HttpSse(Wire):
    """HTTP+SSE as a `Wire`. It has no versions in headers, and closing the stream ends the session."""

    kind = "HTTP+SSE"
    probe_seconds = 2.0

    def __init__(self, remote: RemoteTransport) -> None:
        self._remote = remote
        self._link = remote.link
        self._gate = remote.gate
        self._endpoint: httpx2.URL | None = None
        self._ready = asyncio.Event()
        self._again = Reconnection(gives_up=True)
        self._refused: HttpFault | None = None  # why the last stream is in no session
        self._under_way: set[Id] = set()
        self._in_order: SendQueue[Ordered] = SendQueue(remote.end)

    def open(self) -> None:
        self._remote.start(self._keep_stream_open(), "stream")
        sending = self._remote.send_in_order(
            self._in_order, lambda message, body, _: self._post(message, body)
        )
        self._remote.start(sending, "notifications")

    def send(self, message: dict[str, Any], body: bytes, headers: Mapping[str, str]) -> None:
        """Send requests at once, everything else in order."""
        if "id" not in message or "method" not in message:
            if not self._remote.take_back(message):
                self._in_order.put((message, body, headers), len(body))
            return
        self._remote.request(
            message, body, headers, lambda one: self._post(one.message, one.body, one), self._done
        )

    async def _done(self, sending: Sending, fault: HttpFault | None) -> None:
        if fault is None:
            return
        self._under_way.discard(sending.id)
        if fault.is_final and not self._gate.version and sending.method in OPENING:
            self._remote.end(fault)
        else:
            self._remote.fail(sending.id, fault)

    async def _post(self, message: Mapping[str, Any], body: bytes, sending: Sending | None = None) -> None:
        """Send a message, whose answer arrives on the stream. Raises HttpFault if it is not accepted."""
        with contextlib.suppress(TimeoutError):
            async with self._remote.limit(READY_SECONDS):
                await self._ready.wait()
        endpoint = self._endpoint
        if endpoint is None or not self._ready.is_set():
            reach = self._link.reach
            why = reach.problem or f"cannot connect to {reach.where}: the stream did not open."
            raise HttpFault(why, next_step=faults.CHECK)
        await self._deliver(message, body, endpoint, sending)

    async def _deliver(
        self, message: Mapping[str, Any], body: bytes, endpoint: httpx2.URL, sending: Sending | None = None
    ) -> None:
        headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
        asked: Id | None = message.get("id") if "method" in message else None
        if asked is not None:
            self._under_way.add(asked)
        async with self._link.exchange("POST", headers, body, url=endpoint, sending=sending) as response:
            if not response.is_success:
                content = await self._link.head(response)
                if asked is not None and content.lstrip()[:1] == b"{":
                    await self._link.message(content, asked, status=response.status_code)
                if asked is None or self._gate.is_pending(asked):
                    raise faults.refused(response, content)
            elif faults.content_type(response) == "application/json":
                content = await self._link.body(response)
                if content.lstrip()[:1] == b"{" and b'"jsonrpc"' in content:
                    self._take(await self._link.message(content, asked))
            elif response.status_code != ACCEPTED and faults.content_type(response) == "text/html":
                content = await self._link.head(response)
                if content.lstrip()[:1] == b"<":  # a page from a proxy: no answer will follow
                    raise faults.refused(response, content)

    # ---- the stream --------------------------------------------------------------------------------------

    async def _keep_stream_open(self) -> None:
        while True:
            fault = faults.ended(200)
            try:
                await self._one_stream()
            except HttpFault as found:
                fault = found
            was_open = self._endpoint is not None
            self._endpoint = None
            self._ready.clear()
            for wire_id in self._under_way:
                self._remote.fail(wire_id, fault)
            self._under_way.clear()
            if not self._gate.version or not await self._again.wait():
                self._remote.end(fault, final=bool(self._gate.version) or not was_open)
                return

    async def _one_stream(self) -> None:
        """Open a stream and read it to its end. Raises HttpFault if it does not open, or breaks.

        The time in which it must open does not count while the user signs in.
        """
        self._refused = None
        headers = {"accept": "text/event-stream", "cache-control": "no-store"}
        try:
            async with (
                self._remote.limit(ENDPOINT_SECONDS) as opening,
                self._link.exchange("GET", headers) as response,
            ):
                if not response.is_success or not is_stream(response):
                    why = await self._link.refusal(response)
                    if not self._gate.version and (why.status < 300 or why.status in (400, 404, 405, 406)):
                        why.next_step = _IF_HTTP
                    raise why
                await self._read(response, opening)
        except TimeoutError:
            if self._refused is not None:
                raise self._refused from None
            text = f"the server sent no message endpoint within {ENDPOINT_SECONDS:g} s."
            step = faults.GONE if self._gate.version else _IF_HTTP
            raise HttpFault(text, next_step=step, status=self._link.reach.status) from None

    async def _read(self, response: httpx2.Response, opening: TimeLimit) -> None:
        handshake: asyncio.Task[None] | None = None
        try:
            async with asyncio.timeout(None) as stream, aclosing(self._link.events(response)) as events:
                async for event in events:
                    if event.kind != "endpoint":
                        if self._ready.is_set():  # the answer to a repeated handshake proves nothing
                            self._again.delivered()
                        self._take(await self._link.event(event))
                    elif self._endpoint is None:
                        self._endpoint = self._address(response.request.url, event.data)
                        opening.end()
                        if self._gate.version:
                            handshake = self._remote.start(self._reopen(self._endpoint, stream), "handshake")
                        else:
                            self._is_ready()
                    if (retry_ms := stream_of(response).retry_ms) is not None:
                        self._again.asked_for(retry_ms)
        finally:
            if handshake is not None:
                handshake.cancel()

    def _is_ready(self) -> None:
        self._again.opened()
        self._ready.set()

    def _address(self, base: httpx2.URL, data: bytes) -> httpx2.URL:
        said = data.decode("utf-8", "replace").strip()
        try:
            found = httpx2.URL(urljoin(str(base), said))
        except (httpx2.InvalidURL, ValueError):
            found = httpx2.URL("")
        if origin(found) != origin(base) or found.userinfo != base.userinfo:
            shown = str(found.copy_with(userinfo=b"", query=None, fragment=None)) or said
            named = f"the server's message endpoint {quoted_name(shown, 200)}"
            text = f"{named} has another origin. Nothing was sent there."
            raise HttpFault(text, next_step="Do not use this server, or contact its operator.", status=200)
        return found

    def _take(self, messages: list[Message]) -> None:
        for message in messages:
            if isinstance(message, Response | Failure) and message.id is not None:
                self._under_way.discard(message.id)
                self._remote.let_go(message.id)

    async def _reopen(self, endpoint: httpx2.URL, stream: asyncio.Timeout) -> None:
        """Repeat the handshake on a new stream, or end it."""
        try:
            await self._remote.shake_hands(
                lambda message: self._deliver(message, write_line(message), endpoint)
            )
        except HttpFault as fault:
            self._refused = fault
            stream.reschedule(0.0)
        else:
            self._is_ready()
