"""A short-lived HTTP server on 127.0.0.1 for the user's own browser: one GET at a time, no files, no state.

Any program on this machine and any web page can send requests to it, so requests for another host are
rejected, and whoever answers has to check the rest.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from tui.core.background import Tasks

HOST = "127.0.0.1"
HEAD_BYTES = 16 * 1024
HEAD_SECONDS = 5.0
AT_ONCE = 8
"""Connections that are read at the same time; further ones are closed."""

NOTHING = "default-src 'none'; frame-ancestors 'none'"
"""The policy of a page that loads nothing and runs nothing."""

_HEADERS = (
    "Content-Type: text/html; charset=utf-8\r\n"
    "Cache-Control: no-store\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "X-DNS-Prefetch-Control: off\r\n"
    "Connection: close\r\n"
)
_REASONS = {200: "OK", 400: "Bad Request", 404: "Not Found", 405: "Method Not Allowed"}


class Reply(NamedTuple):
    """What the browser gets: a page, and its Content-Security-Policy."""

    status: int
    page: bytes
    policy: str = NOTHING


def text_reply(status: int, text: str) -> Reply:
    """Return a page with one sentence of ours."""
    page = (
        "<!doctype html><html lang=en><meta charset=utf-8><title>mcptui</title>"
        f"<body><h1>mcptui</h1><p>{text}</p></body></html>"
    )
    return Reply(status, page.encode())


class Loopback:
    """Answers GET requests by `answer`, which gets the target of the request line ("/callback?code=…")."""

    def __init__(self, answer: Callable[[str], Reply]) -> None:
        self.port = 0
        self._answer = answer
        self._server: asyncio.Server | None = None
        self._tasks = Tasks()

    async def open(self, port: int = 0) -> None:
        """Listen on `port`, 0 for any. Raises OSError if it is taken."""
        self._server = await asyncio.start_server(self._connected, HOST, port, limit=HEAD_BYTES)
        self.port = self._server.sockets[0].getsockname()[1]

    def refuse(self) -> None:
        """Accept no more connections."""
        if self._server is not None:
            self._server.close()

    async def close(self) -> None:
        """Close the port, after sending a page that is in progress."""
        self.refuse()
        await self._tasks.settled(1.0)
        await self._tasks.cancel()
        if self._server is not None:
            await self._server.wait_closed()
            self._server = None

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._tasks.running) < AT_ONCE:
            self._tasks.start(self._answered(reader, writer), "answer of a browser")
        else:
            writer.transport.abort()

    async def _answered(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            # LimitOverrunError: the head is larger than `HEAD_BYTES`.
            with suppress(
                OSError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError
            ):
                async with asyncio.timeout(HEAD_SECONDS):
                    head = await reader.readuntil(b"\r\n\r\n")
                    writer.write(_response(self._reply(head.decode("latin-1"))))
                    await writer.drain()
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    def _reply(self, head: str) -> Reply:
        request, *lines = head.split("\r\n")
        method, _, rest = request.partition(" ")
        headers = [line.partition(":") for line in lines if line]
        hosts = [value.strip() for name, _, value in headers if name.lower() == "host"]
        if hosts not in ([f"{HOST}:{self.port}"], [f"localhost:{self.port}"]):
            return text_reply(400, "Unexpected host.")  # DNS rebinding
        target = rest.partition(" ")[0]
        return self._answer(target) if method == "GET" else text_reply(405, "Only GET is supported.")


def _response(reply: Reply) -> bytes:
    head = f"HTTP/1.1 {reply.status} {_REASONS[reply.status]}\r\n{_HEADERS}"
    head += f"Content-Security-Policy: {reply.policy}\r\nContent-Length: {len(reply.page)}\r\n\r\n"
    return head.encode() + reply.page
