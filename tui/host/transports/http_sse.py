"""HTTP+SSE, the transport of 2024-11-05: messages from the server in a stream, to it in requests.

The stream begins with the address for messages, and is the session: when it ends, pending requests are lost.
It is reopened by repeating the handshake. Some servers answer in the response to a request, which the
specification does not allow; such answers are accepted too.
"""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import aclosing
from typing import Any
from urllib.parse import urljoin

import httpx2

from tui.core.background import first_of
from tui.core.jsonrpc.messages import Failure, Id, Message, Response, write_line
from tui.core.language.translate import message
from tui.core.text import quoted_name
from tui.core.time_limits import TimeLimit
from tui.host.transports import http_faults as faults
from tui.host.transports.http_client import Sending
from tui.host.transports.http_faults import HttpFault
from tui.host.transports.http_link import is_stream, origin, stream_of
from tui.host.transports.remote import OPENING, RemoteTransport
from tui.host.transports.request_wire import RequestWire

ENDPOINT_SECONDS = 10.0
"""How long a server may take to open a stream and name the address for messages, each time."""

ACCEPTED = 202
"""The status for a message whose answer comes on the stream, whatever its body says."""

_IF_HTTP = message('Check the URL. If the server speaks Streamable HTTP, set transport = "http".')


class HttpSse(RequestWire):
    """HTTP+SSE as a `Wire`. It has no versions in headers, and closing the stream ends the session."""

    kind = "HTTP+SSE"
    probe_seconds = 2.0

    def __init__(self, remote: RemoteTransport) -> None:
        super().__init__(remote)
        self._endpoint: httpx2.URL | None = None
        self._under_way: set[Id] = set()

    def open(self) -> None:
        super().open()
        self._remote.start(self._remote.keep_open(self._one_stream, self._lost), "stream")

    async def _deliver(self, message: Mapping[str, Any], body: bytes, headers: Mapping[str, str]) -> None:
        await self._send(message, body)

    async def _exchange(self, sending: Sending) -> None:
        await self._send(sending.message, sending.body, sending)

    async def _done(self, sending: Sending, fault: HttpFault | None) -> None:
        if fault is None:
            return
        self._under_way.discard(sending.id)
        if fault.is_final and not self._gate.version and sending.method in OPENING:
            self._remote.end(fault)
        else:
            self._remote.fail(sending.id, fault)

    async def _send(self, message: Mapping[str, Any], body: bytes, sending: Sending | None = None) -> None:
        """Send a message, whose answer arrives on the stream. Raises HttpFault if it is not accepted."""
        await self._remote.until_ready()
        await self._post(message, body, sending)

    async def _post(self, message: Mapping[str, Any], body: bytes, sending: Sending | None = None) -> None:
        headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
        asked: Id | None = message.get("id") if "method" in message else None
        if asked is not None:
            self._under_way.add(asked)
        to = self._endpoint
        async with self._link.exchange("POST", headers, body, url=to, sending=sending) as response:
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

    def _lost(self, fault: HttpFault) -> None:
        """Fail the requests whose answers would have come on the stream."""
        for wire_id in self._under_way:
            self._remote.fail(wire_id, fault)
        self._under_way.clear()

    async def _one_stream(self) -> None:
        """Open a stream and read it to its end. Raises HttpFault, however it ends.

        The time in which it must open does not count while the user signs in.
        """
        self._endpoint = None
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
            text = message(
                "the server sent no message endpoint within {seconds:g} s.",
                seconds=ENDPOINT_SECONDS,
            )
            step = faults.GONE if self._gate.version else _IF_HTTP
            raise HttpFault(text, next_step=step, status=self._link.reach.status) from None
        raise faults.ended(200)

    async def _read(self, response: httpx2.Response, opening: TimeLimit) -> None:
        """Read a stream until it ends, or its session is refused, which raises HttpFault."""
        refused: asyncio.Future[HttpFault] = asyncio.get_running_loop().create_future()
        reading = asyncio.ensure_future(self._take_events(response, opening, refused.set_result))
        await first_of(reading, refused)
        if not refused.cancelled():
            raise refused.result()
        reading.result()

    async def _take_events(
        self, response: httpx2.Response, opening: TimeLimit, lose: Callable[[HttpFault], None]
    ) -> None:
        handshake: asyncio.Task[None] | None = None

        async def again(message: dict[str, Any]) -> None:
            await self._post(message, write_line(message))

        try:
            async with aclosing(self._link.events(response)) as events:
                async for event in events:
                    if event.kind != "endpoint":
                        self._remote.delivered()
                        self._take(await self._link.event(event))
                    elif self._endpoint is None:
                        self._endpoint = self._address(response.request.url, event.data)
                        opening.end()
                        handshake = self._remote.start(self._remote.let_pass(again, lose), "handshake")
                    if (retry_ms := stream_of(response).retry_ms) is not None:
                        self._remote.again.asked_for(retry_ms)
        finally:
            if handshake is not None:
                handshake.cancel()

    def _address(self, base: httpx2.URL, data: bytes) -> httpx2.URL:
        said = data.decode("utf-8", "replace").strip()
        try:
            found = httpx2.URL(urljoin(str(base), said))
        except (httpx2.InvalidURL, ValueError):
            found = httpx2.URL("")
        if origin(found) != origin(base) or found.userinfo != base.userinfo:
            shown = str(found.copy_with(userinfo=b"", query=None, fragment=None)) or said
            text = message(
                "the server's message endpoint {url} has another origin. Nothing was sent there.",
                url=quoted_name(shown, 200),
            )
            raise HttpFault(
                text, next_step=message("Do not use this server, or contact its operator."), status=200
            )
        return found

    def _take(self, messages: list[Message]) -> None:
        for one in messages:
            if isinstance(one, Response | Failure) and one.id is not None:
                self._under_way.discard(one.id)
                self._let_go(one.id)
