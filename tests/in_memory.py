"""An SDK server in the same process, used through the host's own transport: `Host(..., open_with=...)`.

Messages are bytes in two queues. None ends each.
"""

import asyncio
from collections.abc import Mapping
from typing import Any

import anyio
from mcp.server.mcpserver import MCPServer
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from tui.core.servers import ServerSpec
from tui.host.transports.http_faults import HttpFault
from tui.host.transports.remote import RemoteTransport


class InMemory:
    """The link to one server as a `Wire`."""

    kind = "in-memory"
    probe_seconds = 2.0

    def __init__(self, remote: RemoteTransport, server: MCPServer) -> None:
        self._remote = remote
        self._server = server
        self._to_server: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._to_host: asyncio.Queue[bytes | None] = asyncio.Queue()

    def open(self) -> None:
        self._remote.start(self._run(), "server")
        self._remote.start(self._read(), "link")

    def send(self, message: dict[str, Any], body: bytes, headers: Mapping[str, str]) -> None:
        self._remote.tap.sent(body)
        self._to_server.put_nowait(body)

    async def close(self) -> None:
        self._to_server.put_nowait(None)
        self._to_host.put_nowait(None)

    async def _read(self) -> None:
        while (raw := await self._to_host.get()) is not None:
            self._remote.tap.received(raw, 0)
            await self._remote.link.message(raw)
        self._remote.end(HttpFault("it closed the link.", next_step="Start it again."))

    async def _run(self) -> None:
        to_server, inbound = anyio.create_memory_object_stream[Any](0)
        outbound, from_server = anyio.create_memory_object_stream[Any](0)
        lowlevel = self._server._lowlevel_server

        async def deliver() -> None:
            async with to_server:
                while (raw := await self._to_server.get()) is not None:
                    await to_server.send(SessionMessage(jsonrpc_message_adapter.validate_json(raw)))

        async def collect() -> None:
            async with from_server:
                async for item in from_server:
                    said = item.message.model_dump_json(by_alias=True, exclude_unset=True)
                    self._to_host.put_nowait(said.encode())

        async with inbound, outbound, anyio.create_task_group() as both:
            both.start_soon(deliver)
            both.start_soon(collect)
            await lowlevel.run(inbound, outbound, lowlevel.create_initialization_options())
            both.cancel_scope.cancel()
        self._to_host.put_nowait(None)


def in_memory(server: MCPServer) -> Any:
    """Return a function that opens a transport to `server`, regardless of the configuration."""

    def open_transport(spec: ServerSpec, *, sink: Any, on_change: Any, **_: Any) -> RemoteTransport:
        return RemoteTransport(spec, lambda remote: InMemory(remote, server), sink=sink, on_change=on_change)

    return open_transport
