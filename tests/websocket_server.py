"""An MCP server over WebSocket on loopback, in either era, that can be made to misbehave."""

import asyncio
import base64
import contextlib
import hashlib
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from wsproto import ConnectionType
from wsproto.connection import Connection
from wsproto.events import CloseConnection, Event, Ping, Pong, TextMessage

from tests.conftest import until
from tests.http_server import Asked, HttpServer

MAGIC = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


@dataclass
class Peer:
    """A connection, with the headers of the client's request and a way to write to it."""

    headers: dict[str, str]
    writer: asyncio.StreamWriter
    frames: Connection = field(default_factory=lambda: Connection(ConnectionType.SERVER))

    def send(self, event: Event) -> None:
        self.writer.write(self.frames.send(event))

    def say(self, message: dict[str, Any]) -> None:
        self.send(TextMessage(data=json.dumps(message)))


Answerer = Callable[[Peer, dict[str, Any]], Awaitable[None]]


@dataclass
class WebSocketServer:
    """The server. `answers` overrides its behavior by method; `refusal` is a response instead of the 101.

    `protocol` is the subprotocol in its response. With `mute` it answers neither ping nor close. It does not
    answer the next `deaf` connections at all.
    """

    modern: bool = True
    answers: dict[str, Answerer] = field(default_factory=dict)
    refusal: bytes = b""
    protocol: str = "mcp"
    mute: bool = False
    deaf: int = 0
    port: int = 0
    tls: ssl.SSLContext | None = None
    peers: list[Peer] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    _open: int = 0
    _listening: asyncio.Server | None = None

    @property
    def url(self) -> str:
        return f"{'ws' if self.tls is None else 'wss'}://127.0.0.1:{self.port}/ws"

    async def start(self) -> None:
        self._listening = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self.tls)
        self.port = self._listening.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        if self._listening is None:
            return  # stopped by the test
        self._listening.close()
        for peer in self.peers:
            peer.writer.transport.abort()
        await self._listening.wait_closed()
        self._listening = None
        await until(lambda: not self._open)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open += 1
        try:
            await self._talk(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()
            self._open -= 1

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.deaf:
            self.deaf -= 1
            await reader.read()
            return
        lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")[1:]
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        if self.refusal:
            writer.write(self.refusal)
            await writer.drain()
            return
        key = hashlib.sha1((headers["sec-websocket-key"] + MAGIC).encode()).digest()
        said = [
            "HTTP/1.1 101 Switching Protocols",
            "upgrade: websocket",
            "connection: Upgrade",
            f"sec-websocket-accept: {base64.b64encode(key).decode()}",
            f"sec-websocket-protocol: {self.protocol}",
        ]
        writer.write("\r\n".join((*said, "", "")).encode())
        peer = Peer(headers, writer)
        self.peers.append(peer)
        text = ""
        while data := await reader.read(65536):
            peer.frames.receive_data(data)
            for event in peer.frames.events():
                self.events.append(event)
                if isinstance(event, TextMessage):
                    text += event.data
                    if event.message_finished:
                        await self._answer(peer, json.loads(text))
                        text = ""
                elif isinstance(event, CloseConnection | Ping) and not self.mute:
                    if not (isinstance(event, CloseConnection) and peer.frames.state.name == "CLOSED"):
                        peer.send(event.response())
                    if isinstance(event, CloseConnection):
                        return
                else:
                    assert isinstance(event, Pong | CloseConnection | Ping)
            await writer.drain()

    async def _answer(self, peer: Peer, message: dict[str, Any]) -> None:
        self.asked.append(message)
        method = message.get("method", "")
        if (answer := self.answers.get(method)) is not None:
            await answer(peer, message)
        elif "id" in message and method:
            result = HttpServer(modern=self.modern).result(Asked("POST", "", {}, message))
            body = {"error": {"code": -32601, "message": "no"}} if result is None else {"result": result}
            peer.say({"jsonrpc": "2.0", "id": message["id"], **body})


@asynccontextmanager
async def websocket_server(**how: Any) -> AsyncIterator[WebSocketServer]:
    """Run a server for the duration of a test."""
    server = WebSocketServer(**how)
    await server.start()
    try:
        yield server
    finally:
        await server.stop()
