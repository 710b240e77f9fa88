"""The streams that the SDK's client reads and writes."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Self

import anyio
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
"""Messages passed on before other tasks run; the session must see an end that follows an error at once."""


class _Closing:
    """A stream that is closed at the end of its `async with`."""

    _closed = False

    async def aclose(self) -> None:
        self._closed = True

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class ReadStream(_Closing):
    """Messages from the server, in the SDK's types.

    `take` sees each one first, and returns what the session gets of it, or None. `ended` is called at the
    end, however it comes.
    """

    def __init__(self, inbox: Inbox) -> None:
        self.inbox = inbox
        self.take: Callable[[Message], Message | None] = lambda message: message
        self.ended: Callable[[], None] = lambda: None
        self._in_a_row = 0

    async def receive(self) -> SessionMessage:
        """Raises anyio.EndOfStream if the connection is over, ClosedResourceError if this end is."""
        try:
            while not self._closed:
                self._in_a_row = (self._in_a_row + 1) % IN_A_ROW
                if not self._in_a_row:
                    await asyncio.sleep(0)
                if (message := self.take(await self.inbox.get())) is not None:
                    return SessionMessage(_message(message))
            raise anyio.ClosedResourceError
        except Exception as error:
            self.ended()
            if isinstance(error, EndOfInbox):
                raise anyio.EndOfStream from None
            raise

    async def aclose(self) -> None:
        """Close the stream; messages that still arrive are dropped."""
        await super().aclose()
        self.inbox.close()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None


class WriteStream(_Closing):
    """Takes messages from the SDK; `send` never waits, and returns False if the connection is closed.

    `send` gets the message and the HTTP headers that the session adds. `put` sends a message that bypasses
    the session, and returns the same. `check` sees each message of the session first, and may raise.
    """

    def __init__(self, send: Callable[[dict[str, Any], Mapping[str, str]], bool]) -> None:
        self._send = send
        self.check: Callable[[dict[str, Any]], None] = lambda message: None

    def put(self, message: dict[str, Any], headers: Mapping[str, str]) -> bool:
        return not self._closed and self._send(message, headers)

    async def send(self, item: SessionMessage, /) -> None:
        """Raises BrokenResourceError if the connection is closed, ClosedResourceError if this end is."""
        if self._closed:
            raise anyio.ClosedResourceError
        headers = item.metadata.headers if isinstance(item.metadata, ClientMessageMetadata) else None
        message = item.message.model_dump(by_alias=True, mode="json", exclude_unset=True)
        self.check(message)
        if not self._send(message, headers or {}):
            raise anyio.BrokenResourceError


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
