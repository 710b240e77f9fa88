"""A session over Streamable HTTP: its id, the server's own stream, and another one in place of a lost one.

MCP specification 2025-11-25, "Transports: Streamable HTTP". Since 2026-07-28 there are no sessions.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import httpx2

from tui.core.background import set_within
from tui.core.http_waits import is_down
from tui.host.frames import reconnection
from tui.host.transports import http_faults as faults
from tui.host.transports.http_faults import HttpFault, SessionLost
from tui.host.transports.http_link import HeaderValues, is_stream, stream_of
from tui.host.transports.remote import INITIALIZED, RemoteTransport

SESSION = "mcp-session-id"
VERSION = "mcp-protocol-version"
RESUME = "last-event-id"
ACCEPT = "application/json, text/event-stream"

STREAM_SECONDS = 0.5
"""How long a call waits for the stream of server requests: servers drop those made before it is open."""

INITIALIZED_SECONDS = 10.0
"""How long requests wait for `notifications/initialized` to be accepted."""


class HttpSession:
    """The session with one server. `send` sends a message of a repeated handshake.

    `id` is that of the server, b"" if it names none.
    """

    def __init__(self, remote: RemoteTransport, send: Callable[[dict[str, Any]], Awaitable[None]]) -> None:
        self.id = b""
        self._remote = remote
        self._link = remote.link
        self._send = send
        self._reopening = asyncio.Lock()
        self._initialized = asyncio.Event()
        self._stream_answered = asyncio.Event()
        self._listening: asyncio.Task[None] | None = None

    def headers(self, more: HeaderValues, *, opens: bool = False) -> dict[str, str | bytes]:
        """Return the headers of a request; one that `opens` a session is in none."""
        headers: dict[str, str | bytes] = {"accept": ACCEPT, "content-type": "application/json"}
        if self.id and not opens:
            headers[SESSION] = self.id
        if self._remote.gate.version and not opens:
            headers[VERSION] = self._remote.gate.version
        return {**headers, **more}

    def heard_of(self, message: Mapping[str, Any]) -> None:
        """Begin to listen, and let requests pass, once the server has `notifications/initialized`."""
        if message.get("method") != INITIALIZED["method"] or self._initialized.is_set():
            return
        self._initialized.set()
        if self._listening is not None and self._listening is not asyncio.current_task():
            self._listening.cancel()
        if not self._remote.stopping:
            self._listening = self._remote.start(self._listen(), "stream")

    async def ready(self, method: str) -> None:
        """Wait until the server is ready for a request, but not for long."""
        if self._remote.handshake:
            await set_within(self._initialized, INITIALIZED_SECONDS)
        if method == "tools/call" and self._listening is not None:
            await set_within(self._stream_answered, STREAM_SECONDS)

    async def check(self, response: httpx2.Response, session: bytes) -> None:
        """Raise SessionLost if the server has lost the session, so that the request had no effect.

        The status is 404, or 400 from servers that follow the examples of the TypeScript SDK.
        """
        if session and response.status_code in (400, 404):
            body = await self._link.head(response)
            if response.status_code == 404 or faults.says_no_session(body):
                raise SessionLost(await self._link.refusal(response), session)

    async def reopen(self, lost: SessionLost) -> None:
        """Open a new session in place of a lost one. Raises HttpFault if there is none.

        A handshake that is not answered is repeated, because a server that has just started may lose it.
        Requests wait until it is complete, as for the first one.
        """
        async with self._reopening:
            if self.id != lost.session:
                return  # another request has reopened it
            self._initialized.clear()
            again = reconnection.Reconnection(gives_up=True)
            try:
                while True:
                    try:
                        return await self._remote.shake_hands(self._send)
                    except HttpFault as fault:
                        if fault.status:
                            raise lost from fault
                        if not fault.lost or not await again.wait():
                            raise
            finally:
                if not self._initialized.is_set():
                    self.id = lost.session
                    self._initialized.set()

    async def close(self) -> None:
        """End the session, if there is one."""
        if self.id:
            with contextlib.suppress(HttpFault):
                async with self._link.exchange("DELETE", self.headers({}), optional=True):
                    pass

    async def _listen(self) -> None:
        """Listen until the server says that it has no such stream, or another listener has started.

        A server or a proxy may close it at any time, and most close idle ones, so it is reopened until the
        connection ends. A stream without event ids cannot be resumed: messages may be lost meanwhile.
        """
        last_id, has_stream, has_gap = b"", False, False
        again = reconnection.Reconnection()

        async def once() -> bool:
            nonlocal last_id, has_stream, has_gap
            resumed: HeaderValues = {RESUME: last_id} if last_id else {}
            session, headers = self.id, self.headers({"accept": "text/event-stream", **resumed})
            try:
                async with (
                    self._remote.limit(reconnection.HANDSHAKE_SECONDS) as opening,
                    self._link.exchange("GET", headers, optional=True) as response,
                ):
                    self._stream_answered.set()
                    await self.check(response, session)
                    status = response.status_code
                    passes = status in (408, 425) or is_down(status)  # it may answer otherwise soon
                    if is_stream(response) and response.is_success:
                        opening.end()
                        if has_gap and not last_id:
                            self._remote.missed()
                        has_stream = True
                        again.opened()
                        if await self._link.listen(response):
                            again.delivered()
                        stream = stream_of(response)
                        last_id = last_id if stream.last_id is None else stream.last_id
                        again.asked_for(stream.retry_ms)
                        if stream.retry_ms is not None:
                            again.delivered()  # some close a stream often, and name a delay for it
                    elif status == 405 or not (has_stream or passes):
                        return False
                    elif not passes:
                        last_id = b""  # it may be the reason
            except SessionLost as lost:
                if not has_stream:  # 404 for every stream: each new session would be "lost" at once
                    return False
                with contextlib.suppress(HttpFault):
                    await self.reopen(lost)
                    return False
            except (HttpFault, TimeoutError):
                pass
            finally:
                self._stream_answered.set()
            has_gap = True
            return True

        await again.keep_open(once)
