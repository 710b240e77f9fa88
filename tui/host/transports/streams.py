"""The streams that the SDK's client reads and writes: over an inbox and a send function, or filtered."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Self

import anyio
import anyio.lowlevel
from mcp.shared.message import ClientMessageMetadata, SessionMessage
from mcp_types import (
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
)

from tui.core.jsonrpc.messages import Failure, Message, Notification, Request, Response
from tui.host.frames.inbox import EndOfInbox, Inbox

IN_A_ROW = 16
"""Messages passed on before other tasks run; the session starts a task for each."""


class _Closing(ABC):
    """A stream that is closed at the end of its `async with`."""

    @abstractmethod
    async def aclose(self) -> None: ...

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class _Reading(_Closing):
    """A stream whose messages `async for` gives, too."""

    @abstractmethod
    async def receive(self) -> Any: ...

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None


class ReadStream(_Reading):
    """Messages from the server, in the SDK's types. `divert` is that of the inbox."""

    def __init__(self, inbox: Inbox) -> None:
        self.divert = inbox.divert
        self._inbox = inbox
        self._in_a_row = 0
        self._closed = False

    async def receive(self) -> SessionMessage:
        """Raises anyio.EndOfStream if the connection is over, ClosedResourceError if this end is."""
        if self._closed:
            raise anyio.ClosedResourceError
        self._in_a_row += 1
        if self._in_a_row >= IN_A_ROW:
            self._in_a_row = 0
            await anyio.lowlevel.checkpoint()
        try:
            return SessionMessage(_message(await self._inbox.get()))
        except EndOfInbox:
            raise anyio.EndOfStream from None

    async def aclose(self) -> None:
        """Close the stream; messages that still arrive are dropped."""
        self._closed = True
        self._inbox.close()


class WriteStream(_Closing):
    """Takes messages from the SDK; `send` never waits, and returns False if the connection is closed.

    `send` gets the message and the HTTP headers that the session adds. `put` sends a message that bypasses
    the session, and returns the same.
    """

    def __init__(self, send: Callable[[dict[str, object], Mapping[str, str]], bool]) -> None:
        self._send = send
        self._closed = False

    def put(self, message: dict[str, object], headers: Mapping[str, str]) -> bool:
        return not self._closed and self._send(message, headers)

    async def send(self, item: SessionMessage, /) -> None:
        """Raises BrokenResourceError if the connection is closed, ClosedResourceError if this end is."""
        if self._closed:
            raise anyio.ClosedResourceError
        headers = item.metadata.headers if isinstance(item.metadata, ClientMessageMetadata) else None
        message = item.message.model_dump(by_alias=True, mode="json", exclude_unset=True)
        if not self._send(message, headers or {}):
            raise anyio.BrokenResourceError

    async def aclose(self) -> None:
        self._closed = True


class FilteredReadStream(_Reading):
    """Wraps a read stream with a filter.

    `incoming` returns what to hand on for an item, or None to skip it. `ended` is called when the stream
    ends, however it does.
    """

    def __init__(self, stream: Any, incoming: Callable[[Any], Any], ended: Callable[[], None]) -> None:
        self._stream = stream
        self._incoming = incoming
        self._ended = ended

    async def receive(self) -> Any:
        while True:
            try:
                item = self._incoming(await self._stream.receive())
            except asyncio.CancelledError:
                raise
            except BaseException:
                self._ended()
                raise
            if item is not None:
                return item

    async def aclose(self) -> None:
        await self._stream.aclose()


class FilteredWriteStream(_Closing):
    """Wraps a write stream with a filter."""

    def __init__(self, stream: Any, outgoing: Callable[[SessionMessage], SessionMessage]) -> None:
        self._stream = stream
        self._outgoing = outgoing

    async def send(self, item: SessionMessage, /) -> None:
        await self._stream.send(self._outgoing(item))

    async def aclose(self) -> None:
        await self._stream.aclose()


def _message(parsed: Message) -> JSONRPCMessage:
    match parsed:
        case Response(id=known, result=result):
            return JSONRPCResponse(jsonrpc="2.0", id=known, result=result)
        case Failure(id=known, code=code, message=message, data=data):
            return JSONRPCError(
                jsonrpc="2.0", id=known, error=ErrorData(code=code, message=message, data=data)
            )
        case Request(id=known, method=method, params=params):
            return JSONRPCRequest(jsonrpc="2.0", id=known, method=method, params=params)
        case Notification(method=method, params=params):
            return JSONRPCNotification(jsonrpc="2.0", method=method, params=params)
        case _:  # the gate lets nothing else through
            raise AssertionError(f"not a message: {parsed}")
