"""Remote servers that ask without reading the answers."""

import asyncio
import contextlib
from dataclasses import replace

import pytest

from tests.conftest import until
from tests.http_server import STREAM, event, http_server
from tests.unit.host.client import Client
from tests.unit.host.transports.test_http_sse import SseServer
from tests.websocket_server import websocket_server
from tui.addons.websocket.websocket import WebSocket
from tui.core.servers import ServerSpec, Transport
from tui.core.units import size
from tui.host.transports import request_wire
from tui.host.transports.http_sse import HttpSse
from tui.host.transports.remote import RemoteTransport
from tui.host.transports.streamable_http import StreamableHttp


async def endless_requests(write):
    """Ask as fast as the connection takes it."""
    number = 0
    with contextlib.suppress(ConnectionError):
        while True:
            number += 1
            await write({"jsonrpc": "2.0", "id": f"{number}{'x' * 50_000}", "method": "ping"})
            await asyncio.sleep(0)


@pytest.fixture
def little_room(monkeypatch):
    monkeypatch.setattr(request_wire, "WAITING_LIMIT", 1_000_000)


FULL = f"the server does not read its input: {size(1_000_000)} are waiting."


async def test_a_server_on_a_websocket_that_reads_no_answers_is_cut_off(little_room):
    spec = ServerSpec("far", transport=Transport.WEBSOCKET, url="")
    async with websocket_server(modern=False) as server:
        spec = replace(spec, url=server.url)
        async with Client(transport := RemoteTransport(spec, WebSocket, sink=lambda one: None)) as client:
            await client.list_tools()
            peer = server.peers[0]
            peer.writer.transport.pause_reading()

            async def write(message):
                peer.say(message)
                await peer.writer.drain()

            flood = asyncio.create_task(endless_requests(write))
            await until(transport.exited.is_set)
            assert transport.fatal == FULL
        await flood


@pytest.mark.parametrize("wire", [HttpSse, StreamableHttp])
async def test_a_server_over_http_that_accepts_no_answers_is_cut_off(wire, little_room):
    over = asyncio.Event()

    async def hold(asked, writer):
        await over.wait()

    async with http_server(modern=False) as server:
        stream = SseServer(server) if wire is HttpSse else None
        streams = []

        async def listen(asked, writer):
            writer.write(STREAM + b"\r\n")
            streams.append(writer)

        if stream is None:
            server.answers["GET"] = listen
        else:
            streams = stream.streams
        transport = Transport.SSE if wire is HttpSse else Transport.HTTP
        spec = ServerSpec("far", transport=transport, url=server.url)
        async with Client(far := RemoteTransport(spec, wire, sink=lambda one: None)) as client:
            await client.list_tools()
            await until(lambda: streams)
            server.answers["POST"] = hold  # the method of an answer

            async def write(message):
                streams[-1].write(event(message))
                await streams[-1].drain()

            flood = asyncio.create_task(endless_requests(write))
            await until(far.exited.is_set)
            over.set()
            assert far.fatal == FULL
        await flood
