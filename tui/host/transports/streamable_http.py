"""A remote server over Streamable HTTP.

Rules of the wire: MCP specification, "Transports: Streamable HTTP", revisions 2025-03-26 to 2026-07-28.

From 2026-07-28 on, there are only requests, and closing one cancels it. Before, there may be a session.
"""

import asyncio
import contextlib
from collections.abc import Mapping
from contextlib import aclosing
from typing import Any

import httpx2

from tui.core.jsonrpc.messages import Id, write_line
from tui.core.jsonrpc.protocol import is_modern
from tui.core.language.translate import message
from tui.host.frames import reconnection
from tui.host.frames.id_gate import PROBE
from tui.host.transports import http_faults as faults
from tui.host.transports.http_client import Sending
from tui.host.transports.http_faults import HttpFault, SessionLost
from tui.host.transports.http_link import ENDLESS, is_stream, raw_header, stream_of
from tui.host.transports.http_session import INITIALIZED_SECONDS, RESUME, SESSION, HttpSession
from tui.host.transports.http_sse import HttpSse
from tui.host.transports.remote import OPENING, RemoteTransport
from tui.host.transports.request_wire import RequestWire

SSE_SECONDS = 5.0
"""How long a server may take to show that it uses HTTP+SSE."""

LONGEST_WAIT = 20.0
"""Maximum delay after which a rejected request is sent again. If the server names a longer one, it fails."""

AFTER_ANSWER = 1.0
"""Seconds that a server may take to end a stream after its answer, so that the connection is reused."""

_HARMLESS = frozenset(
    (*OPENING, "tools/list", "resources/list", "resources/templates/list", "prompts/list", "resources/read")
)
"""Requests that have no effect, so that they may be sent twice."""

_OPTIONAL = frozenset((PROBE, "subscriptions/listen", "resources/templates/list", "completion/complete"))
"""Requests that are sent without knowing whether the server supports them."""


class StreamableHttp(RequestWire):
    """Streamable HTTP as a `Wire`: every message is an HTTP request, and its answer is the response."""

    kind = "HTTP"
    probe_seconds = 5.0

    def __init__(self, remote: RemoteTransport) -> None:
        super().__init__(remote)
        self._session = HttpSession(remote, self._send_again)
        self._probe_status = 0

    @property
    def closes(self) -> bool:
        return is_modern(self._gate.version)

    async def close(self) -> None:
        await self._session.close()

    async def _deliver(self, message: Mapping[str, Any], body: bytes, headers: Mapping[str, str]) -> None:
        """Send a notification or a response."""
        try:
            async with self._link.exchange("POST", self._session.headers(headers), body) as reply:
                self._session.heard_of(message)
                if is_stream(reply) and reply.status_code == 200:
                    await self._link.listen(reply)
        finally:
            self._session.heard_of(message)  # accepted or not, requests follow

    async def _send_again(self, message: dict[str, Any]) -> None:
        """Send a message of a repeated handshake."""
        body = write_line(message)
        if "id" not in message:
            with contextlib.suppress(TimeoutError, HttpFault):  # as after the first handshake
                async with self._remote.limit(INITIALIZED_SECONDS):
                    await self._deliver(message, body, {})
        elif await self._post(Sending(message, body, {}, lambda: True), b"") is not None:
            raise faults.ended(200)

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
        text = message("this is the URL of an HTTP+SSE server, the older transport.")
        self._remote.end(
            HttpFault(text, next_step=message('Set transport = "sse" for it.'), status=fault.status)
        )

    async def _exchange(self, post: Sending) -> None:
        """Send a request and take the response. Raises HttpFault if there is no answer."""
        older = not is_modern(self._gate.version) and post.method not in OPENING
        if older:
            await self._session.ready(post.method)
        reopened = waited = False
        while self._gate.is_pending(post.id):  # it may have been cancelled while it waited
            session = b"" if post.method == "initialize" else self._session.id
            try:
                resume_at = await self._post(post, session)
                if resume_at is not None:
                    await self._resume(post, session if older else self._session.id, *resume_at)
                return
            except SessionLost as lost:
                if reopened:
                    raise
                reopened = True
                await self._session.reopen(lost)
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

    async def _post(self, post: Sending, session: bytes) -> tuple[bytes, int | None] | None:
        """Send a request once and take its answer; return where to resume if its stream ended early."""
        opens, optional = post.method == "initialize", post.method in _OPTIONAL
        headers = self._session.headers(post.headers, post.method)
        posting = self._link.exchange("POST", headers, post.body, sending=post, optional=optional)
        async with posting as response:
            status = response.status_code
            if opens and response.is_success:
                self._session.id = raw_header(response, SESSION)
            if opens and status >= 400:
                # A newer server that is slow refuses this: its answer to the probe decides.
                under_way = self._sending.values()
                if probes := [one.task for one in under_way if one.method == PROBE and one.task]:
                    await asyncio.wait(probes)
            if is_stream(response):
                return await self._take_events(response, post, session)
            await self._session.check(response, session)
            if faults.content_type(response) not in ("application/json", "") or status in (202, 204):
                raise await self._link.refusal(response)
            raw = await self._link.body(response)
            rejected = self._link.messages.rejected
            messages = []
            if raw and not raw.isspace():
                messages = await self._link.message(raw, post.id, status=status)
            if not self._gate.is_pending(post.id):
                return None
            if status >= 300 or not messages:
                raise await self._link.refusal(response)
            if self._link.messages.rejected > rejected:
                raise faults.other_answer(status, why=self._link.why_noise)
            raise faults.other_answer(status, stray=self._gate.stray)

    async def _take_events(
        self, response: httpx2.Response, post: Sending, session: bytes = b""
    ) -> tuple[bytes, int | None] | None:
        """Take the events of a response; return where to resume, and after how many ms if it says so.

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
                    await self._link.event(event, post.id)
                    if not self._gate.is_wanted(post.id):
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
        older = not is_modern(self._gate.version) and post.method != PROBE
        if older and stream.last_id and not is_endless:
            return stream.last_id, stream.retry_ms
        raise fault or faults.ended(response.status_code, said=said, stray=self._gate.stray)

    async def _resume(self, post: Sending, session: bytes, last_id: bytes, retry_ms: int | None) -> None:
        """Resume a response whose stream ended before its answer (before 2026-07-28).

        The request was accepted in `session`. If this fails, it may have taken effect, so it is not sent
        again. Its stream does not exist in another session.
        """
        why = ""
        again = reconnection.Reconnection(gives_up=True)
        again.delivered()
        again.asked_for(retry_ms)
        while self._gate.is_pending(post.id) and await again.wait():
            if self._session.id != session:
                why = message("the server no longer has the session")
                break
            try:
                async with self._link.exchange("GET", self._session.headers({RESUME: last_id})) as response:
                    if not is_stream(response) or response.status_code >= 300:
                        raise await self._link.refusal(response)
                    onward = await self._take_events(response, post)
            except HttpFault as found:
                why = found.message.rstrip(".")
                if found.wait:
                    again.asked_for(round(min(found.wait, LONGEST_WAIT) * 1000))
                continue
            if onward is None:
                return
            if onward[0] != last_id:
                again.delivered()
            last_id, retry_ms = onward
            again.asked_for(retry_ms)
        if self._gate.is_pending(post.id):
            raise faults.ended(200, why)
