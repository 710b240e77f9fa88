"""A remote server over WebSocket: in no revision of MCP, so "unofficial"; compatible with SDK 1.x.

The subprotocol is `mcp`, and each text message one JSON-RPC message. The connection begins as an HTTP request
of the same client as for the other transports, so sign-in, headers, certificates and proxies are the same;
after that, wsproto (RFC 6455) reads and writes the frames, without compression. A lost connection is
reopened: pending requests have failed, and a server with sessions gets a new handshake.
"""

import asyncio
import base64
import contextlib
import hashlib
import logging
import secrets
import time
from collections.abc import Mapping
from contextvars import Context, copy_context
from typing import Any

import anyio
import httpcore2
from wsproto import ConnectionType
from wsproto.connection import Connection
from wsproto.events import BytesMessage, CloseConnection, Event, Message, Ping, Pong, TextMessage
from wsproto.frame_protocol import CloseReason
from wsproto.utilities import LocalProtocolError, RemoteProtocolError

from tui.core.errors import reason_of, sentences
from tui.core.jsonrpc.framing import LINE_LIMIT, Framer, Oversize
from tui.core.jsonrpc.messages import Id, Stray, find_ids, write_line
from tui.core.language.translate import message
from tui.core.text import clean_line, quoted_name
from tui.core.units import size
from tui.host.frames import reconnection
from tui.host.frames.id_gate import CANCELLED, NEVER_SENT, NO_RESPONSE, RESULT_TOO_LARGE
from tui.host.transports import http_faults as faults
from tui.host.transports.http_client import EXCHANGE
from tui.host.transports.http_faults import HttpFault
from tui.host.transports.http_link import ENDLESS, shown_origin
from tui.host.transports.remote import RemoteTransport
from tui.host.transports.request_wire import SendQueue

SUBPROTOCOL = "mcp"
CHUNK = 64 * 1024
PING_SECONDS = 20.0
"""Idle time before a ping; after the same time without an answer, the connection is lost."""

WRITE_SECONDS = 30.0
LEAVE_SECONDS = 1.0
"""How long a server may take to answer a close."""

_MAGIC = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_OPEN = message("Check the URL. There is no WebSocket there.")
_AGAIN = message("Restart it. Pending calls may have taken effect.")
_NOT_READ = message("the server does not read its input.")
_MEANINGS = {reason.value: reason.name.lower().replace("_", " ") for reason in CloseReason}

_BROKEN = (httpcore2.NetworkError, httpcore2.TimeoutException, LocalProtocolError, OSError)
"""Errors of a write to a connection that is lost."""

_PASSING = frozenset({1001, 1006, 1011, 1012, 1013, 1014})
"""Close codes after which the connection is reopened."""

_log = logging.getLogger(__name__)


class WebSocket:
    """WebSocket as a `Wire`."""

    kind = "WebSocket"
    probe_seconds = 2.0

    def __init__(self, remote: RemoteTransport) -> None:
        self._remote = remote
        self._link = remote.link
        self._typed = url = self._link.url
        self._link.url = url.copy_with(scheme={"ws": "http", "wss": "https"}.get(url.scheme, url.scheme))
        self._frames = Connection(ConnectionType.CLIENT)
        self._message = Framer()
        self._stream: httpcore2.AsyncNetworkStream | None = None
        self._held = contextlib.AsyncExitStack()
        self._heard = 0.0
        self._closed = asyncio.Event()
        self._writing = asyncio.Lock()
        self._outbox: SendQueue[tuple[bytes | Event, Context, Id | None]] = SendQueue(remote.end)
        self._lost: HttpFault | None = None
        self._pong: Pong | None = None  # answers the newest ping; the outbox has a place for it
        self._unsent: set[Id] = set()

    def open(self) -> None:
        self._remote.start(self._remote.keep_open(self._connection, self._forget), "connection")

    def send(self, message: dict[str, Any], body: bytes, headers: Mapping[str, str]) -> None:
        """Send in order; messages wait until the connection is open."""
        method = message.get("method")
        asked: Id | None = message["id"] if "id" in message and method is not None else None
        if asked is not None:
            self._unsent.add(asked)
            if not self._remote.ready.is_set():
                self._remote.start(self._expect_ready(asked), "wait")
        if method == CANCELLED and (cancelled := message["params"]["requestId"]) in self._unsent:
            self._unsent.discard(cancelled)
            self._remote.tap.withdrew(cancelled, NEVER_SENT)
            return
        self._outbox.put((body, copy_context(), asked), len(body))

    async def _expect_ready(self, asked: Id) -> None:
        """Fail a request that cannot be sent for long, because the connection is being reopened."""
        try:
            await self._remote.until_ready()
        except HttpFault as fault:
            if asked in self._unsent:
                self._unsent.discard(asked)
                self._remote.fail(asked, fault)

    async def close(self) -> None:
        """Send a close frame, wait briefly for the answer, and drop the connection."""
        with contextlib.suppress(Exception):
            async with asyncio.timeout(LEAVE_SECONDS):
                await self._write(CloseConnection(code=1000))
                while not self._closed.is_set() and self._stream is not None:
                    data = await self._stream.read(CHUNK)
                    self._frames.receive_data(data or None)
                    if any(isinstance(event, CloseConnection) for event in self._frames.events()):
                        break
        await self._held.aclose()

    # ---- the connection ----------------------------------------------------------------------------------

    async def _connection(self) -> None:
        """Connect, and read until the connection ends. Raises HttpFault, however it ends."""
        fault = await self._one_connection()
        await self._held.aclose()
        self._stream = None
        raise fault

    async def _one_connection(self) -> HttpFault:
        """Return how the connection ended."""
        again = bool(self._remote.gate.version)  # agreed on, so a lost connection is opened again unnoticed
        self._frames, self._message = Connection(ConnectionType.CLIENT), Framer()
        self._lost = self._pong = None
        self._remote.incomplete = 0
        try:
            await (self._connect_again() if again else self._connect())
            let_pass = self._remote.let_pass(lambda message: self._send_line(write_line(message)), self._lose)
            work = (self._write_all(), self._keep_alive(), let_pass)
            beside = [self._remote.start(each, "connection") for each in work]
            try:
                return await self._read_all()
            finally:
                self._remote.ready.clear()
                for task in beside:
                    task.cancel()
                await asyncio.wait(beside)
        except HttpFault as found:  # with the address as the user wrote it, not as HTTP has it
            text = found.message.replace(shown_origin(self._link.url), shown_origin(self._typed))
            return HttpFault(text, next_step=found.next_step, status=found.status)
        except (
            httpcore2.NetworkError,
            httpcore2.TimeoutException,
            anyio.ClosedResourceError,
            OSError,
        ) as error:
            return self._lost or faults.unreachable(error, self._link.reach.where)
        except Exception:  # a bug must not leave a call pending forever
            _log.exception("the connection to %s failed with an internal error", self._remote.spec.name)
            fault = HttpFault(
                message("internal error in mcptui."), next_step=message("See mcptui.log for the cause.")
            )
            return self._final(fault)

    def _final(self, fault: HttpFault) -> HttpFault:
        """Return why the server must not be asked again, which ends the connection."""
        self._remote.end(fault, final=bool(self._remote.gate.version) or not self._remote.again.is_open)
        return fault

    def _forget(self, fault: HttpFault) -> None:
        """Fail pending requests, sent or not; nothing is sent after it has failed."""
        self._outbox.clear()
        self._remote.gate.fail(tuple(self._unsent), NO_RESPONSE, sentences(fault.message, faults.NOT_SENT))
        self._unsent.clear()
        self._remote.gate.fail_all(NO_RESPONSE, sentences(fault.message, faults.MAY_HAVE))

    def _lose(self, fault: HttpFault) -> None:
        """End this connection from our side; the reader notices."""
        if self._lost is None:
            self._lost = fault
            self._remote.start(self._held.aclose(), "loss")

    async def _connect_again(self) -> None:
        """Connect in limited time: no start limits it, and no read notices a server that does not answer."""
        try:
            async with self._remote.limit(reconnection.HANDSHAKE_SECONDS):
                await self._connect()
        except TimeoutError:
            seconds = reconnection.HANDSHAKE_SECONDS
            text = message(
                "the server did not accept a new connection within {seconds:g} s.", seconds=seconds
            )
            raise HttpFault(text, next_step=_AGAIN) from None

    async def _connect(self) -> None:
        """Raises HttpFault if the server does not become a WebSocket."""
        key = base64.b64encode(secrets.token_bytes(16)).decode()
        headers = {
            "connection": "Upgrade",
            "upgrade": "websocket",
            "sec-websocket-key": key,
            "sec-websocket-version": "13",
            "sec-websocket-protocol": SUBPROTOCOL,
        }
        response = await self._held.enter_async_context(self._link.exchange("GET", headers))
        if response.is_success:
            text = message(
                "{answer}: the server does not support WebSocket.",
                answer=faults.status_text(response.status_code),
            )
            raise HttpFault(text, next_step=_OPEN, status=response.status_code)
        if response.status_code != 101:
            raise await self._link.refusal(response)
        response.extensions[EXCHANGE].end()
        wanted = base64.b64encode(hashlib.sha1((key + _MAGIC).encode()).digest()).decode()
        if response.headers.get("sec-websocket-accept") != wanted:
            raise HttpFault(message("invalid WebSocket handshake (HTTP 101)."), next_step=_OPEN, status=101)
        spoken = response.headers.get("sec-websocket-protocol", SUBPROTOCOL)
        if spoken.strip() != SUBPROTOCOL:
            shown = quoted_name(spoken, 60)
            text = message(
                "the server speaks {shown} over WebSocket, not {wanted}.",
                shown=shown,
                wanted=quoted_name(SUBPROTOCOL),
            )
            raise HttpFault(text, next_step=_OPEN, status=101)
        self._stream = response.extensions["network_stream"]
        self._heard = time.monotonic()

    async def _write(self, event: Event) -> None:
        """Write one message at a time, so that none is inserted into another."""
        async with self._writing:
            if self._stream is not None:
                await self._stream.write(self._frames.send(event), timeout=WRITE_SECONDS)

    async def _send_line(self, line: bytes) -> None:
        self._remote.tap.sent(line)
        try:
            await self._write(TextMessage(data=line.decode()))
        except _BROKEN:
            raise HttpFault(_NOT_READ, next_step=_AGAIN) from None

    async def _write_all(self) -> None:
        try:
            while True:
                what, sender, asked = await self._outbox.get()
                if isinstance(what, bytes):
                    await self._remote.ready.wait()
                    if asked is not None:
                        self._unsent.discard(asked)
                        if not self._remote.gate.is_wanted(asked):
                            continue
                    sender.run(self._remote.tap.sent, what)
                    what = TextMessage(data=what.decode())
                elif isinstance(what, Pong):
                    what, self._pong = self._pong or what, None
                await self._write(what)
        except _BROKEN:
            self._lose(HttpFault(_NOT_READ, next_step=_AGAIN))

    async def _keep_alive(self) -> None:
        while True:
            await asyncio.sleep(max(0.1, self._heard + PING_SECONDS - time.monotonic()))
            if time.monotonic() - self._heard < PING_SECONDS:
                continue
            asked = time.monotonic()
            self._outbox.put((Ping(), copy_context(), None), 0)
            await asyncio.sleep(PING_SECONDS)
            if self._heard < asked:
                text = message("no response to a ping within {seconds:g} s.", seconds=PING_SECONDS)
                return self._lose(HttpFault(text, next_step=_AGAIN))

    # ---- what comes back ---------------------------------------------------------------------------------

    async def _read_all(self) -> HttpFault:
        """Read until the connection ends, and return how it ended."""
        assert self._stream is not None
        while True:
            data = await self._stream.read(CHUNK)
            self._heard = time.monotonic()
            await self._remote.tap.wait_for_room()
            self._link.messages.begin()
            self._frames.receive_data(data or None)
            try:
                for event in self._frames.events():
                    if isinstance(event, CloseConnection):
                        return await self._farewell(event)
                    await self._take(event)
                    self._remote.incomplete = self._message.partial
                    if self._message.partial > ENDLESS:
                        return HttpFault(
                            message("it sent {size} without ending a message.", size=size(ENDLESS)),
                            next_step=_AGAIN,
                        )
                    await self._link.messages.rest()
            except RemoteProtocolError as error:
                text = message("the server broke the WebSocket protocol: {reason}.", reason=reason_of(error))
                return self._final(HttpFault(text, next_step=_AGAIN))

    async def _take(self, event: Event) -> None:
        if isinstance(event, Ping):
            if self._pong is None:  # a server that does not read gets one answer, not one for each
                self._outbox.put((Pong(), copy_context(), None), 0)
            self._pong = event.response()
        elif isinstance(event, Message):
            part = event.data
            self._message.extend(part.encode() if isinstance(part, str) else bytes(part))
            if event.message_finished:
                await self._take_message(self._message.end(), binary=isinstance(event, BytesMessage))
        else:
            assert isinstance(event, Pong)

    async def _take_message(self, found: bytes | Oversize, *, binary: bool) -> None:
        tap, at = self._remote.tap, time.monotonic_ns()
        if isinstance(found, Oversize):
            text = message(
                "result too large: a message of {size} (limit: {limit}).",
                size=size(found.size),
                limit=size(LINE_LIMIT),
            )
            fault = HttpFault(text, next_step=message("Request less data."), status=101)
            self._remote.gate.fail(find_ids(found.head, found.tail), RESULT_TOO_LARGE, str(fault))
            tap.received(found.head, at, found.size, sha256=found.sha256)
            tap.event("too large", bytes=found.size, limit=LINE_LIMIT)
            return
        tap.received(found, at)
        if binary:
            why = message("a binary message")
            if not self._remote.gate.incoming(Stray(why, find_ids(found))):
                self._link.strange(why, found)
        elif found.strip():
            self._remote.delivered()
            await self._link.message(found)

    async def _farewell(self, event: CloseConnection) -> HttpFault:
        """Answer the server's close frame, and return a fault with its meaning."""
        self._closed.set()
        code, reason = int(event.code), clean_line(event.reason or "", 120)
        self._remote.tap.event("disconnect", code=code, reason=reason)
        if code != 1006:
            with contextlib.suppress(Exception):
                async with asyncio.timeout(LEAVE_SECONDS):
                    await self._write(event.response())
        meaning = f" ({_MEANINGS[code]})" if code in _MEANINGS else ""
        said = f": {quoted_name(reason, 120)}" if reason else ""
        text = message(
            "the server closed the WebSocket with code {code}{meaning}{said}.",
            code=code,
            meaning=meaning,
            said=said,
        )
        fault = HttpFault(text, next_step=_AGAIN)
        return fault if code in _PASSING else self._final(fault)
