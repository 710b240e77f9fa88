"""A remote server over Streamable HTTP: mcptui's own transport under the SDK's client.

The SDK's transport ends all calls when one request fails, has no limit for a body, and hides statuses
(measured on mcp 2.3), so this one replaces it behind the public `Transport` protocol. Rules of the wire: MCP
specification, "Transports: Streamable HTTP", revisions 2025-03-26 to 2026-07-28.

From 2026-07-28 on, there are only requests: no session, and closing a request cancels it. Before, there may
be a session; if the server has lost it, it is reopened by repeating the handshake.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

import httpx2

from tui.core.jsonrpc.framing import Event
from tui.core.jsonrpc.messages import Failure, Id, Response, write_line
from tui.core.jsonrpc.protocol import is_modern
from tui.host.frames.id_gate import CANCELLED, NEVER_SENT, NO_HTTP_ANSWER, PROBE
from tui.host.transports import http_faults as faults
from tui.host.transports.http_client import Sending
from tui.host.transports.http_faults import HttpFault, SessionLost
from tui.host.transports.http_link import ENDLESS, HeaderValues, is_stream, raw_header, stream_of
from tui.host.transports.http_listening import keep_listening
from tui.host.transports.http_sse import HttpSse
from tui.host.transports.remote import INITIALIZED, OPENING, RemoteTransport, SendQueue
from tui.host.waits import first_of, set_within

SESSION = "mcp-session-id"
VERSION = "mcp-protocol-version"
RESUME = "last-event-id"
ACCEPT = "application/json, text/event-stream"

SSE_SECONDS = 5.0
"""How long a server may take to show that it uses HTTP+SSE."""

RETRY_SECONDS = 1.0
"""Delay in seconds before a stream is resumed, if the server does not name one."""

HANDSHAKE_SECONDS = (10.0, 20.0, 30.0)
"""How long a server may take to open another session, each time that it is asked."""

STREAM_SECONDS = 0.5
"""How long a call waits for the stream of server requests: servers drop those made before it is open."""

RESUMES = 5
"""How often a stream is resumed in a row without new events."""

LONGEST_WAIT = 20.0
"""Maximum delay in seconds after which a rejected request is sent again; if the server names a longer one, it
fails."""

AFTER_ANSWER = 1.0
"""Seconds that a server may take to end a stream after its answer, so that the connection is reused."""

LINGER_SECONDS = 10.0
"""How long an older server's answer to a cancelled request is still read."""

ACCEPT_SECONDS = 30.0
"""How long a server may take to accept a notification or a response."""

INITIALIZED_SECONDS = 10.0
"""How long requests wait for `notifications/initialized` to be accepted."""

_HARMLESS = frozenset(
    (*OPENING, "tools/list", "resources/list", "resources/templates/list", "prompts/list", "resources/read")
)
"""Requests that have no effect, so that they may be sent twice."""

_OPTIONAL = frozenset((PROBE, "subscriptions/listen", "resources/templates/list", "completion/complete"))
"""Requests that are sent without knowing whether the server supports them."""

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Post:
    """A request under way."""

    sending: Sending
    task: asyncio.Task[None]
    method: str
    modern: bool


class StreamableHttp:
    """Streamable HTTP as a `Wire`: every message is an HTTP request, and its answer is the response."""

    kind = "HTTP"
    probe_seconds = 5.0

    def __init__(self, remote: RemoteTransport) -> None:
        self._remote = remote
        self._link = remote.link
        self._gate = remote.gate
        self._version = ""
        self._session = b""
        self._handshake: dict[str, Any] = {}
        self._probe_status = 0
        self._reopening = asyncio.Lock()
        self._posts: dict[Id, _Post] = {}
        self._in_order: SendQueue[tuple[str | None, bytes, Mapping[str, str]]] = SendQueue(remote.end)
        self._initialized = asyncio.Event()
        self._stream_answered = asyncio.Event()
        self._listening: asyncio.Task[None] | None = None

    def open(self) -> None:
        self._remote.start(self._send_in_order(), "notifications")

    def negotiated(self, version: str) -> None:
        self._version = version

    async def close(self) -> None:
        """End the session, if there is one."""
        if self._session:
            with contextlib.suppress(HttpFault):
                async with self._link.exchange("DELETE", self._headers(), optional=True):
                    pass

    # ---- out ---------------------------------------------------------------------------------------------

    def send(self, message: dict[str, Any], headers: Mapping[str, str]) -> None:
        """Send requests at once, everything else in order."""
        method = message.get("method")
        if VERSION in headers:
            self._version = headers[VERSION]
        elif method == "initialize":
            self._version = ""  # not the version of the probe
        if method is not None and "id" in message:
            if method == "initialize":
                self._handshake = message
            modern = is_modern(self._version)
            body = write_line(message)  # not in the task: what is not JSON fails its caller
            sending = self._remote.sending(message["id"])
            sending.task = self._remote.start(self._ask(message, headers, body, sending), str(method))
            self._posts[message["id"]] = _Post(sending, sending.task, method, modern)
        elif not (method == CANCELLED and self._cancel(message)):
            body = write_line(message)
            self._in_order.put((method, body, headers), len(body))

    def _cancel(self, message: Mapping[str, Any]) -> bool:
        """Cancel a request by closing it, as in the newer protocol; return whether that is enough."""
        wire_id = message["params"]["requestId"]
        post = self._posts.get(wire_id)
        if post is None:
            return is_modern(self._version)
        if post.modern:
            post.task.cancel()
            self._remote.tap.gave_up(wire_id, "cancelled: the request was closed")
            return True
        if post.sending.take_back():
            self._remote.tap.gave_up(wire_id, NEVER_SENT)
            return True
        self._remote.later(LINGER_SECONDS, post.task.cancel)
        return False

    def _headers(self, more: HeaderValues | None = None) -> dict[str, str | bytes]:
        headers: dict[str, str | bytes] = {"accept": ACCEPT, "content-type": "application/json"}
        if self._session:
            headers[SESSION] = self._session
        if self._version:
            headers[VERSION] = self._version
        return {**headers, **(more or {})}

    async def _send_in_order(self) -> None:
        """Send notifications and responses, one after the other."""
        while True:
            method, body, headers = await self._in_order.get()
            try:
                async with self._remote.limit(ACCEPT_SECONDS):
                    async with self._link.exchange("POST", self._headers(headers), body) as reply:
                        if method == INITIALIZED["method"]:
                            self._hear()
                            self._initialized.set()
                        if is_stream(reply) and reply.status_code == 200:
                            await self._take_events(reply, None)
            except Exception as error:  # the rest must still be sent
                kind = type(error).__name__
                _log.warning(
                    "%s did not accept %s (%s)", self._remote.spec.name, method or "a response", kind
                )
            if method == INITIALIZED["method"] and not self._initialized.is_set():
                self._hear()
                self._initialized.set()

    # ---- requests ----------------------------------------------------------------------------------------

    async def _ask(
        self, message: dict[str, Any], headers: Mapping[str, str], body: bytes, sending: Sending
    ) -> None:
        wire_id: Id = message["id"]
        try:
            fault = await self._remote.failure_of(self._exchange(message, headers, body, sending))
        finally:
            self._posts.pop(wire_id, None)
        if self._gate.is_pending(wire_id):
            await self._give_up(message, headers, fault or faults.ended(self._link.reach.status))
        else:
            self._gate.lose(wire_id)

    async def _give_up(self, message: dict[str, Any], headers: Mapping[str, str], fault: HttpFault) -> None:
        opening = message["method"] in OPENING and not self._gate.version
        if opening and fault.is_final:
            self._remote.end(fault)
            return
        if opening and message["method"] == PROBE:
            self._probe_status = fault.status
            fault = HttpFault(fault.message, next_step="", status=fault.status)
        elif opening:
            if self._gate.knows_versions:  # the probe was answered late, so this request is wrong
                self._gate.incoming(Failure(message["id"], NO_HTTP_ANSWER, fault.message))
                self._remote.tap.gave_up(message["id"], fault.message)
                return
            if 400 <= fault.status < 500 and await self._speaks_sse():
                await self._use_sse(message, headers, fault)
                return
            alike = 400 <= fault.status < 500 and fault.status == self._probe_status
            self._remote.end(fault, final=alike)
            return
        self._remote.fail(message["id"], fault)

    async def _speaks_sse(self) -> bool:
        """Whether a server at the address uses the transport of 2024-11-05."""
        with contextlib.suppress(HttpFault, TimeoutError):
            async with self._remote.limit(SSE_SECONDS):
                accept = {"accept": "text/event-stream"}
                async with self._link.exchange("GET", accept, optional=True) as response:
                    if response.is_success and is_stream(response):
                        async with aclosing(self._link.events(response)) as events:
                            async for event in events:
                                return event.kind == "endpoint"
        return False

    async def _use_sse(self, message: dict[str, Any], headers: Mapping[str, str], fault: HttpFault) -> None:
        if self._remote.spec.sse_fallback:
            self._sends_again(message["id"], f"HTTP {fault.status}, sent again over HTTP+SSE")
            self._remote.switch(HttpSse).send(message, headers)
            return
        text = "this is the URL of an HTTP+SSE server, the older transport."
        self._remote.end(HttpFault(text, next_step='Set transport = "sse" for it.', status=fault.status))

    async def _exchange(
        self, message: dict[str, Any], headers: Mapping[str, str], body: bytes, sending: Sending
    ) -> None:
        """Send a request and take the response. Raises HttpFault if there is no answer."""
        wire_id: Id = message["id"]
        method = message["method"]
        older = not is_modern(self._version) and method not in OPENING
        if older and self._handshake and not self._initialized.is_set():
            await first_of(self._initialized.wait(), seconds=INITIALIZED_SECONDS)
        if older and method == "tools/call" and self._listening is not None:
            await set_within(self._stream_answered, STREAM_SECONDS)
        reopened = waited = False
        while self._gate.is_pending(wire_id):  # it may have been cancelled while it waited
            session = b"" if method == "initialize" else self._session
            try:
                sent = self._headers(headers)
                if not session:
                    sent.pop(SESSION, None)
                resume_at = await self._post(body, sent, wire_id, method, sending)
                if resume_at is not None:
                    await self._resume(wire_id, session if older else self._session, *resume_at)
                return
            except SessionLost as lost:
                if reopened:
                    raise
                reopened = True
                await self._reopen(lost)
                self._sends_again(wire_id, f"HTTP {lost.status}, sent again in another session")
            except HttpFault as fault:
                harmless = fault.refused or method in _HARMLESS
                if harmless and fault.wait is not None and fault.wait <= LONGEST_WAIT and not waited:
                    waited = True
                    await asyncio.sleep(fault.wait)
                    self._sends_again(wire_id, f"HTTP {fault.status}, sent again")
                else:
                    raise

    def _sends_again(self, wire_id: Id, why: str) -> None:
        """Record that a rejected request is sent again, unless it was cancelled meanwhile."""
        if self._gate.is_pending(wire_id):
            self._remote.tap.refused(wire_id, why)

    async def _post(
        self, body: bytes, headers: HeaderValues, wire_id: Id, method: str, sending: Sending
    ) -> tuple[bytes, float] | None:
        """Send a request once and take its answer; return where to resume if its stream ended early."""
        optional, session = method in _OPTIONAL, self._session if SESSION in headers else b""
        async with self._link.exchange("POST", headers, body, sending=sending, optional=optional) as response:
            status = response.status_code
            if method == "initialize" and response.is_success:
                self._session = raw_header(response, SESSION)
            if method == "initialize" and status >= 400:
                # A newer server that is slow refuses this: its answer to the probe decides.
                if probes := [post.task for post in self._posts.values() if post.method == PROBE]:
                    await asyncio.wait(probes)
            if is_stream(response):
                return await self._take_events(response, wire_id, session)
            if session:
                await self._check_session(response, session)
            if faults.content_type(response) not in ("application/json", "") or status in (202, 204):
                raise self._refused(response, await self._link.head(response))
            raw = await self._link.body(response)
            noise = self._link.noise
            messages = (
                await self._link.message(raw, wire_id, status=status) if raw and not raw.isspace() else []
            )
            if not self._gate.is_pending(wire_id):
                return None
            if status >= 300 or not messages:
                raise self._refused(response, raw[:4096])
            if self._link.noise > noise:
                raise faults.other_answer(status, why=self._link.why_noise)
            raise faults.other_answer(status, stray=self._gate.stray)

    async def _take_events(
        self, response: httpx2.Response, wire_id: Id | None, session: bytes = b""
    ) -> tuple[bytes, float] | None:
        """Take the events of a response; return where to resume, and after how many seconds.

        None means that nothing more is expected. Raises HttpFault if it ends before the answer, and cannot be
        resumed, or SessionLost if the first event says that the server does not have the `session`.
        """
        fault: HttpFault | None = None
        said = b""
        try:
            async with aclosing(self._link.events(response)) as events:
                async for event in events:
                    if event.kind == "error":
                        said = event.data
                        if session and faults.says_no_session(said):  # answered 200 before it looked
                            raise SessionLost(faults.ended(response.status_code, said=said), session)
                    session = b"" if event.size else session  # it works on the request
                    await self._link.event(event, wire_id)
                    if wire_id is not None and not self._gate.is_wanted(wire_id):
                        await self._read_to_end(events)
                        return None
        except SessionLost:
            raise
        except HttpFault as found:
            fault = found
        stream = stream_of(response)
        is_endless = stream.partial > ENDLESS  # a repeated response would not end either
        if stream.last_id and not is_endless and not is_modern(self._version):
            return stream.last_id, RETRY_SECONDS if stream.retry_ms is None else stream.retry_ms / 1000
        if wire_id is None:
            return None
        raise fault or faults.ended(response.status_code, said=said, stray=self._gate.stray)

    async def _read_to_end(self, events: AsyncGenerator[Event]) -> None:
        """Read a stream to its end, so that its connection can be used again."""
        with contextlib.suppress(TimeoutError, HttpFault):
            async with asyncio.timeout(AFTER_ANSWER):
                async for late in events:
                    await self._link.event(late)

    def _refused(self, response: httpx2.Response, body: bytes) -> HttpFault:
        return faults.refused(response, body, running=bool(self._gate.version))

    async def _resume(self, wire_id: Id, session: bytes, last_id: bytes, seconds: float) -> None:
        """Resume a response whose stream ended before its answer (before 2026-07-28).

        The request was accepted in `session`. If this fails, it may have taken effect, so it is not sent
        again. Its stream does not exist in another session.
        """
        why = ""
        failures = 0
        while self._gate.is_pending(wire_id) and failures < RESUMES:
            await asyncio.sleep(seconds)
            if self._session != session:
                why = "the server no longer has the session"
                break
            try:
                async with self._link.exchange("GET", self._headers({RESUME: last_id})) as response:
                    if not is_stream(response) or response.status_code >= 300:
                        raise faults.refused(response, await self._link.head(response))
                    onward = await self._take_events(response, wire_id)
            except HttpFault as found:
                why, failures = found.message.rstrip("."), failures + 1
                if found.wait is not None:
                    seconds = max(seconds, min(found.wait, LONGEST_WAIT))
                continue
            if onward is None:
                return
            failures = failures + 1 if onward[0] == last_id else 0
            last_id, seconds = onward
        if self._gate.is_pending(wire_id):
            raise faults.ended(200, why)

    # ---- sessions before 2026-07-28 ----------------------------------------------------------------------

    async def _check_session(self, response: httpx2.Response, session: bytes) -> None:
        """Raise SessionLost if the server has lost the session, so that the request had no effect.

        The status is 404, or 400 from servers that follow the examples of the TypeScript SDK.
        """
        if response.status_code in (400, 404):
            body = await self._link.head(response)
            if response.status_code == 404 or faults.says_no_session(body):
                raise SessionLost(self._refused(response, body), session)

    async def _reopen(self, lost: SessionLost) -> None:
        """Open a new session in place of a lost one. Raises HttpFault if there is none.

        A handshake that is not answered is repeated, because a server that has just started may lose one.
        """
        async with self._reopening:
            for seconds in HANDSHAKE_SECONDS:
                if self._session != lost.session:
                    return  # another request has reopened it
                with contextlib.suppress(TimeoutError):
                    async with self._remote.limit(seconds):
                        opened = await self._open_session(lost)
                    return await self._enter_session(opened)
        text = "the server lost the session and did not answer a new handshake."
        raise HttpFault(text, next_step=faults.LATER, refused=True)

    async def _open_session(self, lost: SessionLost) -> bytes:
        version, opening = self._version, {**self._handshake, "id": self._gate.new_id()}
        headers = {"accept": ACCEPT, "content-type": "application/json"}
        async with self._link.exchange("POST", headers, write_line(opening)) as response:
            result = await self._answer(response, opening["id"])
            if result is None or result.get("protocolVersion") != version:
                if result is not None:  # only a new connection can agree on another version
                    text = "the server lost the session and now speaks another protocol version."
                    self._remote.end(HttpFault(text, next_step="Restart it.", status=response.status_code))
                raise lost
            return raw_header(response, SESSION)

    async def _enter_session(self, opened: bytes) -> None:
        headers = self._headers({SESSION: opened} if opened else {})
        with contextlib.suppress(TimeoutError):  # as after the first handshake
            async with (
                self._remote.limit(INITIALIZED_SECONDS),
                self._link.exchange("POST", headers, write_line(INITIALIZED)),
            ):
                pass
        self._session = opened
        self._remote.reopened()
        self._hear()

    async def _answer(self, response: httpx2.Response, wire_id: Id) -> dict[str, Any] | None:
        """Return the result of a request that bypasses the session."""

        def result(messages: Any) -> dict[str, Any] | None:
            found = [
                message.result
                for message in messages
                if isinstance(message, Response) and message.id == wire_id
            ]
            return found[0] if found else None

        if response.status_code >= 300:
            return None
        if not is_stream(response):
            return result(await self._link.message(await self._link.body(response)))
        async with aclosing(self._link.events(response)) as events:
            async for event in events:
                if event.data and (found := result(await self._link.message(event.data))) is not None:
                    return found
        return None

    def _hear(self) -> None:
        """Keep the stream open on which an older server sends its own messages."""
        if self._listening is not None and self._listening is not asyncio.current_task():
            self._listening.cancel()
        if not is_modern(self._version) and not self._remote.stopping:
            listening = keep_listening(self._remote, self._open_stream, self._reopen, RETRY_SECONDS)
            self._listening = self._remote.start(listening, "stream")

    @contextlib.asynccontextmanager
    async def _open_stream(self, last_id: bytes) -> AsyncIterator[httpx2.Response]:
        resumed: HeaderValues = {RESUME: last_id} if last_id else {}
        session, headers = self._session, self._headers({"accept": "text/event-stream", **resumed})
        try:
            async with self._link.exchange("GET", headers, optional=True) as response:
                self._stream_answered.set()
                if session:
                    await self._check_session(response, session)
                yield response
        finally:
            self._stream_answered.set()
