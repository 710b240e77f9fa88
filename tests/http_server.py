"""An MCP server over HTTP on loopback, in either era, that can be made to misbehave.

It writes raw bytes, since a web framework would not let it violate the protocol.
"""

import asyncio
import contextlib
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.conftest import until

MODERN, LEGACY = "2026-07-28", "2025-11-25"
ECHO = {
    "name": "echo",
    "description": "Returns its arguments.",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}},
}


@dataclass
class Asked:
    """A received HTTP request."""

    verb: str
    path: str
    headers: dict[str, str]
    message: dict[str, Any]

    @property
    def method(self) -> str:
        return self.message.get("method", self.verb)


def joined_headers(lines: list[str]) -> dict[str, str]:
    """Return headers by lower-case name; the values of one that was sent twice are joined by a comma."""
    found: dict[str, str] = {}
    for name, _, value in (line.partition(":") for line in lines if line):
        key = name.lower()
        found[key] = f"{found[key]}, {value.strip()}" if key in found else value.strip()
    return found


Answerer = Callable[[Asked, asyncio.StreamWriter], Awaitable[None]]


def reply(
    body: bytes | dict[str, Any] = b"", status: str = "200 OK", kind: str = "application/json", **headers: str
) -> bytes:
    """Return a complete response."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [f"HTTP/1.1 {status}", f"content-length: {len(raw)}"]
    if kind:
        lines.append(f"content-type: {kind}")
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join((*lines, "", "")).encode() + raw


STREAM = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n"


def event(message: dict[str, Any], **fields: str) -> bytes:
    """Return one server-sent event."""
    lines = [f"{name}: {value}" for name, value in fields.items()]
    return "\n".join((*lines, f"data: {json.dumps(message)}", "", "")).encode()


def says(raw: bytes, *, close: bool = False) -> Answerer:
    """Return an answerer that writes fixed bytes and optionally closes the connection."""

    async def answer(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(raw)
        await writer.drain()
        if close:
            writer.close()

    return answer


@dataclass
class HttpServer:
    """The server. `answers` overrides its behavior by JSON-RPC method or HTTP verb, `once` a single time.

    `modern` selects the era. A legacy server has sessions, and accepts those in `sessions`. It waits for
    `reads_large` before it reads a body of more than a megabyte, and `begun` counts those.
    """

    modern: bool = True
    answers: dict[str, Answerer] = field(default_factory=dict)
    once: dict[str, Answerer] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    sessions: set[str] = field(default_factory=set)
    tools: list[dict[str, Any]] = field(default_factory=lambda: [ECHO])
    path: str = "/mcp"
    port: int = 0
    tls: ssl.SSLContext | None = None
    reads_large: asyncio.Event | None = None
    begun: int = 0
    _writers: set[asyncio.StreamWriter] = field(default_factory=set)
    _listening: asyncio.Server | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}{self.path}"

    def methods(self) -> list[str]:
        return [one.method for one in self.asked]

    async def start(self) -> None:
        self._listening = await asyncio.start_server(self._serve, "127.0.0.1", self.port, ssl=self.tls)
        self.port = self._listening.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Abort all connections, like a server that crashes."""
        assert self._listening is not None
        self._listening.close()
        for writer in list(self._writers):
            writer.transport.abort()
        await self._listening.wait_closed()
        await until(lambda: not self._writers)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            while not writer.is_closing():
                asked = await self._read(reader)
                self.asked.append(asked)
                await self._answer(asked, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()
            self._writers.discard(writer)

    async def _read(self, reader: asyncio.StreamReader) -> Asked:
        lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        verb, path, _ = lines[0].split(" ", 2)
        headers = joined_headers(lines[1:])
        size = int(headers.get("content-length", "0"))
        if size > 1_000_000 and self.reads_large is not None:
            self.begun += 1
            await self.reads_large.wait()
        body = await reader.readexactly(size)
        return Asked(verb, path, headers, json.loads(body) if body else {})

    async def _answer(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        answer = self.once.pop(asked.method, None) or self.answers.get(asked.method)
        if answer is not None:
            await answer(asked, writer)
        else:
            writer.write(self.usual(asked))
        if not writer.is_closing():
            await writer.drain()

    def usual(self, asked: Asked) -> bytes:
        """Return the default response."""
        if not self.modern and asked.method not in ("initialize", "server/discover"):
            if asked.headers.get("mcp-session-id") not in self.sessions:
                return reply(b"no such session", "404 Not Found", "text/plain")
        if asked.verb != "POST":
            return reply(b"", "405 Method Not Allowed" if asked.verb == "GET" else "204 No Content", "")
        if "id" not in asked.message or "method" not in asked.message:
            return reply(b"", "202 Accepted", "")
        headers = {}
        if asked.method == "initialize" and not self.modern:
            session = f"session-{len(self.sessions) + 1}-{self.port}"
            self.sessions.add(session)
            headers = {"mcp_session_id": session}
        answered = self.result(asked)
        ident = asked.message["id"]
        if answered is None:
            error = {"code": -32601, "message": f"no {asked.method} here"}
            return reply({"jsonrpc": "2.0", "id": ident, "error": error}, "404 Not Found")
        return reply({"jsonrpc": "2.0", "id": ident, "result": answered}, **headers)

    def result(self, asked: Asked) -> dict[str, Any] | None:
        """Return the result of a request, or None for an unknown method."""
        params = asked.message.get("params", {})
        known: dict[str, dict[str, Any]] = {
            "tools/list": {"tools": self.tools, "ttlMs": 0, "cacheScope": "private"},
            "tools/call": {"content": [{"type": "text", "text": json.dumps(params.get("arguments"))}]},
        }
        info = {"name": "remote", "version": "1"}
        if self.modern:
            known["server/discover"] = {
                "supportedVersions": [MODERN],
                "capabilities": {"tools": {}},
                "ttlMs": 0,
                "cacheScope": "private",
            }
        else:
            known["initialize"] = {
                "protocolVersion": LEGACY,
                "capabilities": {"tools": {}},
                "serverInfo": info,
            }
        found = known.get(asked.method)
        if found is None or not self.modern:
            return found
        return {"resultType": "complete", **found}


@asynccontextmanager
async def http_server(**how: Any) -> AsyncIterator[HttpServer]:
    """Run a server for the duration of a test."""
    server = HttpServer(**how)
    await server.start()
    try:
        yield server
    finally:
        await server.stop()
