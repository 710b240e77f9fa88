"""One session of a host over HTTP, which a new server learns when it gets the first request of it."""

import asyncio
import itertools
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

import httpx2

from tui.addons.watch.agreed import INITIALIZE, INITIALIZED, Agreed
from tui.addons.watch.kept_session import OWN
from tui.commands.tap.http_passthrough import SESSION
from tui.core.jsonrpc.framing import EventCutter
from tui.core.jsonrpc.messages import Failure, Response, read_line, write_line
from tui.core.web import media_type
from tui.host.passthrough.http_exchange import KEPT, Header

ASK_SECONDS = 10.0
_OF_A_BODY = (b"host", b"content-length", b"transfer-encoding")
_OURS = (b"accept", b"content-type", b"last-event-id", b"mcp-method", b"mcp-name")


class Servers:
    """The servers one after the other, to the last of which `sends` sends requests.

    Attributes:
        generation: counts them.
        port: of the last, 0 for that of each request.
    """

    def __init__(self, sends: httpx2.AsyncBaseTransport) -> None:
        self.sends = sends
        self.generation = self.port = 0


class HttpSession:
    """What a host and its server have agreed on.

    Attributes:
        known: the id that the host knows, "" without a session.
        agreed: what they have agreed on.
    """

    def __init__(self, servers: Servers) -> None:
        self.agreed = Agreed()
        self._servers = servers
        self.known = self._at_server = ""
        self._restored = self._compared = servers.generation
        self._changed: list[str] = []
        self._lock = asyncio.Lock()
        self._numbers = itertools.count(1)

    def begin(self, known: str) -> None:
        """Take the id that the server has answered the handshake with."""
        self.known = self._at_server = known

    def addressed(self, request: httpx2.Request, body: bytes) -> httpx2.Request:
        """Return a request as the server gets it."""
        headers = headers_for(request)
        if self.known:
            headers = [
                (name, self._at_server.encode() if name.lower() == SESSION.encode() else value)
                for name, value in headers
            ]
        url = request.url.copy_with(port=self._servers.port) if self._servers.port else request.url
        content = body if body or request.method == "POST" else None
        return httpx2.Request(
            request.method, url, headers=headers, content=content, extensions=request.extensions
        )

    async def restored(self, request: httpx2.Request) -> None:
        """Let a new server know the session; `request` has the headers of the host."""
        async with self._lock:
            if self._restored == (generation := self._servers.generation):
                return
            before, self._at_server = self._at_server, ""
            try:
                await self._introduce(request)
            finally:  # if that fails, the server says that it does not know the id, and the host begins anew
                self._at_server = self._at_server or before
            self._restored = generation

    async def _introduce(self, request: httpx2.Request) -> None:
        agreed = self.agreed
        if not self.known or agreed.introduction is None:
            return
        if await self.ask(request, INITIALIZE, agreed.introduction) is None:
            return
        if agreed.is_initialized:
            await self._say(request, {"jsonrpc": "2.0", "method": INITIALIZED})
        await agreed.repeat(partial(self.ask, request))

    async def changes(self, request: httpx2.Request) -> list[str]:
        """Return the methods of the lists that are not as the host last got them."""
        async with self._lock:
            if self._compared != (generation := self._servers.generation):
                self._changed = await self.agreed.changed(partial(self.ask, request))
                self._compared = generation
            return self._changed

    async def ask(
        self, request: httpx2.Request, method: str, params: Mapping[str, Any]
    ) -> Mapping[str, Any] | None:
        """Send a request of our own; return its result, None for an error or no answer."""
        known = f"{OWN}{next(self._numbers)}"
        message = {"jsonrpc": "2.0", "id": known, "method": method, "params": params}
        for data in await self._say(request, message):
            for found in read_line(data, batches=True):
                if isinstance(found, Response | Failure) and found.id == known:
                    return found.result if isinstance(found, Response) else None
        return None

    async def _say(self, request: httpx2.Request, message: Mapping[str, Any]) -> list[bytes]:
        """Send a message of our own; return what comes back."""
        headers = [*headers_for(request, without=(*_OURS, SESSION.encode()))]
        headers += [
            (b"accept", b"application/json, text/event-stream"),
            (b"content-type", b"application/json"),
        ]
        if self._at_server:
            headers.append((SESSION.encode(), self._at_server.encode()))
        if self.agreed.introduction is None:
            headers.append((b"mcp-method", str(message["method"]).encode()))
        ours = httpx2.Request("POST", request.url, headers=headers)
        with suppress(httpx2.HTTPError, TimeoutError):
            async with asyncio.timeout(ASK_SECONDS):
                addressed = self.addressed(ours, write_line(message))
                response = await self._servers.sends.handle_async_request(addressed)
                body = await response.aread()
                self._at_server = self._at_server or response.headers.get(SESSION, "")
                if media_type(response.headers.get("content-type", "")) != "text/event-stream":
                    return [body]
                return [event.data for event in EventCutter(KEPT).feed(body) if event.data]
        return []


def headers_for(request: httpx2.Request, without: Iterable[bytes] = ()) -> list[Header]:
    """Return the headers of a request that another one gets too."""
    left_out = {*_OF_A_BODY, *without}
    return [(name, value) for name, value in request.headers.raw if name.lower() not in left_out]
