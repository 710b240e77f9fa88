"""The one-shot listener to which the browser returns the answer of an authorization server.

It listens on 127.0.0.1 only while the user signs in, and is closed by the first answer with the right
`state`. Any program on this machine and any web page can send requests to it, so all other requests are
rejected and have no effect.
"""

import asyncio
import hmac
from contextlib import suppress
from dataclasses import dataclass
from typing import Self
from urllib.parse import parse_qsl, urlsplit

from tui.core.errors import ServerError
from tui.core.text import clean_line

HOST = "127.0.0.1"
PATH = "/callback"
HEAD_BYTES = 16 * 1024
HEAD_SECONDS = 5.0
AT_ONCE = 8
"""Connections that are read at the same time; further ones are closed."""

_HEADERS = (
    "Content-Type: text/html; charset=utf-8\r\n"
    "Cache-Control: no-store\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "Connection: close\r\n"
)
_REASONS = {200: "OK", 400: "Bad Request", 404: "Not Found", 405: "Method Not Allowed"}


@dataclass(frozen=True, slots=True)
class Callback:
    """The answer of an authorization server: a code, or an error. `issuer` is its `iss` (RFC 9207)."""

    state: str
    code: str = ""
    issuer: str | None = None
    error: str = ""
    description: str = ""

    def __repr__(self) -> str:
        return f"Callback(error={self.error!r})"


def read_callback(address: str) -> Callback:
    """Read the address that the browser was sent to, whole or from its `?` on.

    Raises ServerError if it is not the answer of an authorization server.
    """
    text = address.strip()
    query = urlsplit(text).query if "?" in text else text
    pairs = parse_qsl(query, keep_blank_values=True, max_num_fields=32) if query.count("&") < 32 else []
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ServerError("the response contains a parameter twice (RFC 6749, 3.1).")
    if "state" not in found or not ("code" in found or "error" in found):
        raise ServerError(
            "this is not the URL that the browser ended on.",
            next_step="Paste the complete URL, with code= and state=.",
        )
    return Callback(
        found["state"],
        "" if "error" in found else found["code"],
        found.get("iss"),
        clean_line(found.get("error", ""), 80),
        clean_line(found.get("error_description", ""), 300),
    )


class CallbackListener:
    """Waits for one answer with the expected state. An async context manager: leaving it closes the port."""

    def __init__(self) -> None:
        self.port = 0
        self._server: asyncio.Server | None = None
        self._state = ""
        self._answer: asyncio.Future[Callback] | None = None
        self._open = 0
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def address(self) -> str:
        """The redirect address."""
        return f"http://{HOST}:{self.port}{PATH}"

    async def open(self, port: int = 0) -> Self:
        """Listen on `port`, 0 for any. Raises OSError if it is taken."""
        self._answer = asyncio.get_running_loop().create_future()
        self._server = await asyncio.start_server(self._connected, HOST, port, limit=HEAD_BYTES)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def wait(self, state: str) -> Callback:
        """Return the first answer with this `state`."""
        assert self._answer is not None, "not opened"
        self._state = state
        return await asyncio.shield(self._answer)

    async def close(self) -> None:
        """Close the port, after sending a page that is in progress."""
        if self._server is not None:
            self._server.close()
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=1.0)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        if self._server is not None:
            await self._server.wait_closed()
            self._server = None
        if self._answer is not None and not self._answer.done():
            self._answer.cancel()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        if len(self._tasks) >= AT_ONCE:
            writer.transport.abort()
            return
        self._tasks.add(task)
        try:
            # Cancelled by `close` only; CPython 3.11 would log it as an error.
            with suppress(
                OSError, ValueError, asyncio.IncompleteReadError, TimeoutError, asyncio.CancelledError
            ):
                async with asyncio.timeout(HEAD_SECONDS):
                    head = await reader.readuntil(b"\r\n\r\n")
                    status, page = self._take(head.decode("latin-1"))
                    writer.write(_response(status, page))
                    await writer.drain()
        finally:
            self._tasks.discard(task)
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    def _take(self, head: str) -> tuple[int, str]:
        """Return the status and the text of the page for a request."""
        request, *lines = head.split("\r\n")
        method, _, rest = request.partition(" ")
        target = rest.partition(" ")[0]
        headers = [line.partition(":") for line in lines if line]
        hosts = [value.strip() for name, _, value in headers if name.lower() == "host"]
        if hosts not in ([f"{HOST}:{self.port}"], [f"localhost:{self.port}"]):
            return 400, "Unexpected host."  # DNS rebinding
        if target.partition("?")[0] != PATH:
            return 404, "Not found."
        if method != "GET":
            return 405, "Only GET is supported."
        try:
            found = read_callback(target)
        except (ServerError, ValueError):
            return 400, "This is not a response of an authorization server."
        answer = self._answer
        if not self._state or not hmac.compare_digest(found.state.encode(), self._state.encode()):
            return 400, "This response does not belong to the sign-in that mcptui started."
        if answer is None or answer.done():
            return 400, "This sign-in is already complete."
        answer.set_result(found)
        if self._server is not None:
            self._server.close()
        if found.error:
            return 200, "Sign-in rejected. Return to mcptui."
        return 200, "Signed in. You can close this page and return to the terminal."


def _response(status: int, text: str) -> bytes:
    page = (
        "<!doctype html><html lang=en><meta charset=utf-8><title>mcptui</title>"
        f"<body><h1>mcptui</h1><p>{text}</p></body></html>"
    ).encode()
    head = f"HTTP/1.1 {status} {_REASONS[status]}\r\n{_HEADERS}Content-Length: {len(page)}\r\n\r\n"
    return head.encode() + page
