"""Responses whose messages pass stages: event streams cut and written, and one that begins with progress."""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterator
from typing import Any

import httpx2

from tui.core.background import cancel_all
from tui.core.jsonrpc.framing import Event, EventCutter
from tui.core.jsonrpc.messages import write_line
from tui.core.jsonrpc.protocol import INTERNAL_ERROR
from tui.core.jsonrpc.reader import json_mapping
from tui.core.web import media_type
from tui.host.passthrough.http_exchange import KEPT

EVENT_STREAM = "text/event-stream"
LENGTH = frozenset((b"content-length", b"transfer-encoding"))


class WholeEvents:
    """Cuts an event stream between its events; `rest` is what has no end yet."""

    def __init__(self) -> None:
        self._cutter = EventCutter(KEPT)
        self.rest = bytearray()

    def feed(self, block: bytes) -> Iterator[tuple[bytes, Event | None]]:
        """Yield the bytes of each event with the event, or what has none, such as a comment."""
        for line in block.splitlines(keepends=True):
            self.rest += line
            found = list(self._cutter.feed(line))
            if found or not line.strip(b"\r\n"):
                yield bytes(self.rest), found[0] if found else None
                self.rest.clear()


def as_event(raw: bytes, before: bytes = b"event: message\n") -> bytes:
    """Return a message as an event, with the other fields of the one `before` it."""
    fields = [line for line in before.splitlines() if line and not line.startswith(b"data")]
    return b"\n".join([*fields, *(b"data: " + line for line in raw.split(b"\n")), b"", b""])


def replaced(
    response: httpx2.Response, stream: httpx2.AsyncByteStream, length: int = -1, kind: str = ""
) -> httpx2.Response:
    """Return a response with another body, of `length` bytes if that is not -1."""
    headers = [(name, value) for name, value in response.headers.raw if name.lower() not in LENGTH]
    if length >= 0:
        headers.append((b"content-length", b"%d" % length))
    if kind:
        headers = [(name, value) for name, value in headers if name.lower() != b"content-type"]
        headers.append((b"content-type", kind.encode()))
    return httpx2.Response(
        response.status_code, headers=headers, stream=stream, extensions=response.extensions
    )


async def begun(
    answering: Coroutine[Any, Any, httpx2.Response], notices: asyncio.Queue[bytes | None], ident: Any
) -> httpx2.Response:
    """Return the response to a request, or one that begins with `notices` if one of these comes first."""
    work = asyncio.create_task(answering)
    work.add_done_callback(lambda work: notices.put_nowait(None))
    try:
        first = await notices.get()
    except asyncio.CancelledError:
        await _end(work)
        raise
    if first is None:
        return work.result()
    headers = {"content-type": EVENT_STREAM, "cache-control": "no-cache"}
    return httpx2.Response(200, headers=headers, stream=_Begun(first, notices, work, ident))


async def _end(work: asyncio.Task[httpx2.Response]) -> None:
    """End a request whose client has left."""
    await cancel_all([work])
    if not work.cancelled() and work.exception() is None:
        await work.result().aclose()


class _Begun(httpx2.AsyncByteStream):
    """An event stream that begins with progress, and ends with the response of the server."""

    def __init__(
        self,
        first: bytes,
        notices: asyncio.Queue[bytes | None],
        work: asyncio.Task[httpx2.Response],
        ident: Any,
    ) -> None:
        self._first, self._notices, self._work, self._ident = first, notices, work, ident

    async def __aiter__(self) -> AsyncIterator[bytes]:
        notice: bytes | None = self._first
        while notice is not None:
            yield as_event(notice)
            notice = await self._notices.get()
        response = self._work.result()
        if media_type(response.headers.get("content-type", "")) != EVENT_STREAM:
            if message := self._message(response.status_code, await response.aread()):
                yield as_event(message)
            return
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        async for block in response.stream:
            yield block

    def _message(self, status: int, body: bytes) -> bytes:
        """Return the message in a response, whose status cannot be sent any more; b"" if it has none."""
        said, ident = json_mapping(body), self._ident
        if status < 400 or said.get("id") == ident:
            return body.strip()
        error = said.get("error")
        if not isinstance(error, dict):
            error = {"code": INTERNAL_ERROR, "message": f"The server answered with HTTP {status}"}
        return write_line({"jsonrpc": "2.0", "id": ident, "error": error})

    async def aclose(self) -> None:
        await _end(self._work)
