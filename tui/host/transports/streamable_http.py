"""A remote server over Streamable HTTP.

Rules of the wire: MCP specification, "Transports: Streamable HTTP", revisions 2025-03-26 to 2026-07-28.

From 2026-07-28 on, there are only requests: no session, and closing a request cancels it. Before, there may
be a session; if the server has lost it, it is reopened by repeating the handshake.
"""

import asyncio
import contextlib
import logging
from collections.abc import Mapping
from contextlib import aclosing
from typing import Any

import httpx2

from tui.core.background import first_of, set_within
from tui.core.http_waits import is_down
from tui.core.jsonrpc.messages import Id, write_line
from tui.core.jsonrpc.protocol import is_modern
from tui.host.frames import reconnection
from tui.host.frames.id_gate import CANCELLED, PROBE
from tui.host.frames.reconnection import Reconnection
from tui.host.transports import http_faults as faults
from tui.host.transports.http_client import Sending
from tui.host.transports.http_faults import HttpFault, SessionLost
from tui.host.transports.http_link import ENDLESS, HeaderValues, is_stream, raw_header, stream_of
from tui.host.transports.http_sse import HttpSse
from tui.host.transports.remote import INITIALIZED, OPENING, RemoteTransport, SendQueue

SESSION = "mcp-session-id"
VERSION = "mcp-protocol-version"
RESUME = "last-event-id"
ACCEPT = "application/json, text/event-stream"

SSE_SECONDS = 5.0
"""How long a server may take to show that it uses HTTP+SSE."""

STREAM_SECONDS = 0.5
"""How long a call waits for the stream of server requests: servers drop those made before it is open."""

RESUMES = 5
"""How often a stream is resumed in a row without new events."""

LONGEST_WAIT = 20.0
"""Maximum delay after which a rejected request is sent again. If the server names a longer one, it fails."""

AFTER_ANSWER = 1.0
"""Seconds that a server may take to end a stream after its answer, so that the connection is reused."""

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
        self._probe_status = 0
        self._reopening = asyncio.Lock()
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
                async with self._link.exchange("DELETE", self._headers({}), optional=True):
                    pass

    def send(self, message: dict[str, Any], body: bytes, headers: Mapping[str, str]) -> None:
        """Send requests at once, everything else in order."""
        method = message.get("method")
        if VERSION in headers:
            self._version = headers[VERSION]
        elif method == "initialize":
            self._version = ""  # not the version of the probe
        if method is not None and "id" in message:
            closes = is_modern(self._version)
            self._remote.request(message, body, headers, self._exchange, self._done, closes=closes)
        elif not (self._remote.take_back(message) or (method == CANCELLED and is_modern(self._version))):
            self._in_order.put((method, body, headers), len(body))

    def _headers(self, more: HeaderValues, *, opens: bool = False) -> dict[str, str | bytes]:
        """Return the headers of a request; one that `opens` a session is part of none."""
        headers: dict[str, str | bytes] = {"accept": ACCEPT, "content-type": "application/json"}
        if self._session and not opens:
            headers[SESSION] = self._session
        if self._version and not opens:
            headers[VERSION] = self._version
        return {**headers, **more}

    async def _send_in_order(self) -> None:
        """Send notifications and responses, one after the other."""
        while True:
            await self._deliver(*await self._in_order.get(), ACCEPT_SECONDS)

    async def _deliver(
        self, method: str | None, body: bytes, headers: Mapping[str, str], seconds: float
    ) -> None:
        try:
            async with self._remote.limit(seconds):
                async with self._link.exchange("POST", self._headers(headers), body) as reply:
                    self._heard_of(method)
                    if is_stream(reply) and reply.status_code == 200:
                        await self._take_events(reply, None)
        except Exception as error:  # the rest must still be sent
            name, kind = self._remote.spec.name, type(error).__name__
            _log.warning("%s did not accept %s (%s)", name, method or "a response", kind)
        self._heard_of(method)  # accepted or not, requests follow

    def _heard_of(self, method: str | None) -> None:
        """Begin to listen, and let requests pass, once the server has `notifications/initialized`."""
        if method == INITIALIZED["method"] and not self._initialized.is_set():
            self._hear()
            self._initialized.set()

    # ---- requests ----------------------------------------------------------------------------------------

    async def _done(self, post: Sending, fault: HttpFault | None) -> None:
        if self._gate.is_pending(post.id):
            await self._give_up(post, fault or faults.ended(self._link.reach.status))
        else:
            self._gate.lose(post.id)

    async def _give_up(self, post: Sending, fault: HttpFault) -> None:
        if post.method not in OPENING or self._gate.version:
            self._remote.fail(post.id, fault)
        elif fault.is_final:
            self._remote.end(fault)
        elif post.method == PROBE:
            self._probe_status = fault.status
            self._remote.fail(post.id, HttpFault(fault.message, next_step="", status=fault.status))
        elif self._gate.knows_versions:  # the probe was answered late, so this request is wrong
            self._remote.fail(post.id, fault)
        elif 400 <= fault.status < 500 and await self._speaks_sse():
            self._use_sse(post, fault)
        else:
            alike = 400 <= fault.status < 500 and fault.status == self._probe_status
            self._remote.end(fault, final=alike)

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

    def _use_sse(self, post: Sending, fault: HttpFault) -> None:
        if self._remote.spec.sse_fallback:
            self._sends_again(post.id, f"HTTP {fault.status}, sent again over HTTP+SSE")
            self._remote.switch(HttpSse).send(post.message, post.body, post.headers)
            return
        text = "this is the URL of an HTTP+SSE server, the older transport."
        self._remote.end(HttpFault(text, next_step='Set transport = "sse" for it.', status=fault.status))

    async def _exchange(self, post: Sending) -> None:
        """Send a request and take the response. Raises HttpFault if there is no answer."""
        older = not is_modern(self._version) and post.method not in OPENING
        if older and self._remote.handshake and not self._initialized.is_set():
            await first_of(self._initialized.wait(), seconds=INITIALIZED_SECONDS)
        if older and post.method == "tools/call" and self._listening is not None:
            await set_within(self._stream_answered, STREAM_SECONDS)
        reopened = waited = False
        while self._gate.is_pending(post.id):  # it may have been cancelled while it waited
            session = b"" if post.method == "initialize" else self._session
            try:
                resume_at = await self._post(post, session)
                if resume_at is not None:
                    await self._resume(post.id, session if older else self._session, *resume_at)
                return
            except SessionLost as lost:
                if reopened:
                    raise
                reopened = True
                await self._reopen(lost)
                self._sends_again(post.id, f"HTTP {lost.status}, sent again in another session")
            except HttpFault as fault:
                harmless = fault.refused or post.method in _HARMLESS
                if harmless and fault.wait is not None and fault.wait <= LONGEST_WAIT and not waited:
                    waited = True
                    await asyncio.sleep(fault.wait)
                    self._sends_again(post.id, f"HTTP {fault.status}, sent again")
                else:
                    raise

    def _sends_again(self, wire_id: Id, why: str) -> None:
        """Record that a rejected request is sent again, unless it was cancelled meanwhile."""
        if self._gate.is_pending(wire_id):
            self._remote.tap.refused(wire_id, why)

    async def _post(self, post: Sending, session: bytes) -> tuple[bytes, float] | None:
        """Send a request once and take its answer; return where to resume if its stream ended early."""
        opens, optional = post.method == "initialize", post.method in _OPTIONAL
        headers = self._headers(post.headers, opens=opens)
        posting = self._link.exchange("POST", headers, post.body, sending=post, optional=optional)
        async with posting as response:
            status = response.status_code
            if opens and response.is_success:
                self._session = raw_header(response, SESSION)
            if opens and status >= 400:
                # A newer server that is slow refuses this: its answer to the probe decides.
                under_way = self._remote.sending.values()
                if probes := [one.task for one in under_way if one.method == PROBE and one.task]:
                    await asyncio.wait(probes)
            if is_stream(response):
                return await self._take_events(response, post.id, session)
            if session:
                await self._check_session(response, session)
            if faults.content_type(response) not in ("application/json", "") or status in (202, 204):
                raise self._refused(response, await self._link.head(response))
            raw = await self._link.body(response)
            rejected = self._link.messages.rejected
            messages = []
            if raw and not raw.isspace():
                messages = await self._link.message(raw, post.id, status=status)
            if not self._gate.is_pending(post.id):
                return None
            if status >= 300 or not messages:
                raise self._refused(response, raw[:4096])
            if self._link.messages.rejected > rejected:
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
                        # To its end, so that its connection can be used again.
                        with contextlib.suppress(TimeoutError, HttpFault):
                            async with asyncio.timeout(AFTER_ANSWER):
                                async for late in events:
                                    await self._link.event(late)
                        return None
        except SessionLost:
            raise
        except HttpFault as found:
            fault = found
        stream = stream_of(response)
        is_endless = stream.partial > ENDLESS  # a repeated response would not end either
        if stream.last_id and not is_endless and not is_modern(self._version):
            return (
                stream.last_id,
                reconnection.FIRST_SECONDS if stream.retry_ms is None else stream.retry_ms / 1000,
            )
        if wire_id is None:
            return None
        raise fault or faults.ended(response.status_code, said=said, stray=self._gate.stray)

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

        A handshake that is not answered is repeated once, because a server that has just started may lose it.
        Requests wait until it is complete, as for the first one.
        """
        async with self._reopening:
            if self._session != lost.session:
                return  # another request has reopened it
            self._initialized.clear()
            try:
                for is_last in (False, True):
                    try:
                        return await self._remote.shake_hands(self._send_again)
                    except HttpFault as fault:
                        if fault.status:
                            raise lost from fault
                        if is_last or not fault.lost:
                            raise
            finally:
                if not self._initialized.is_set():
                    self._session = lost.session
                    self._initialized.set()

    async def _send_again(self, message: dict[str, Any]) -> None:
        """Send a message of a repeated handshake."""
        body = write_line(message)
        if "id" not in message:
            await self._deliver(message["method"], body, {}, INITIALIZED_SECONDS)
        elif await self._post(Sending(message, body, {}, lambda: True), b"") is not None:
            raise faults.ended(200)

    def _hear(self) -> None:
        """Keep the stream open on which an older server sends its own messages."""
        if self._listening is not None and self._listening is not asyncio.current_task():
            self._listening.cancel()
        if not is_modern(self._version) and not self._remote.stopping:
            self._listening = self._remote.start(self._keep_listening(), "stream")

    async def _keep_listening(self) -> None:
        """Listen until the server says that it has no such stream, or another listener has started.

        A server or a proxy may close it at any time, and most close idle ones, so it is reopened until the
        connection ends. A stream without event ids cannot be resumed: messages may be lost meanwhile.
        """
        last_id, has_stream, has_gap = b"", False, False
        again = Reconnection()
        while True:
            again.asked_for(None)
            resumed: HeaderValues = {RESUME: last_id} if last_id else {}
            session, headers = self._session, self._headers({"accept": "text/event-stream", **resumed})
            try:
                async with self._link.exchange("GET", headers, optional=True) as response:
                    self._stream_answered.set()
                    if session:
                        await self._check_session(response, session)
                    status = response.status_code
                    passes = status in (408, 425) or is_down(status)  # it may answer otherwise soon
                    if is_stream(response) and response.is_success:
                        if has_gap and not last_id:
                            self._remote.missed()
                        has_stream = True
                        again.opened()
                        if await self._link.listen(response):
                            again.delivered()
                        stream = stream_of(response)
                        last_id = last_id if stream.last_id is None else stream.last_id
                        if stream.retry_ms is not None:
                            again.asked_for(stream.retry_ms)
                            again.delivered()  # some close a stream often, and name a delay for it
                    elif status == 405 or not (has_stream or passes):
                        return
                    elif not passes:
                        last_id = b""  # it may be the reason
            except SessionLost as lost:
                if not has_stream:  # 404 for every stream: each new session would be "lost" at once
                    return
                with contextlib.suppress(HttpFault):
                    await self._reopen(lost)
                    return
            except HttpFault:
                pass
            finally:
                self._stream_answered.set()
            has_gap = True
            await again.wait()
