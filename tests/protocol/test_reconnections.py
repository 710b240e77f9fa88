"""After a gap in a connection, everything is listed again, over every transport that may have one."""

import pytest

from tests.conftest import until
from tests.http_server import STREAM, HttpServer
from tests.protocol.test_list_changes import HurriedClock
from tests.unit.host.transports.test_http_sse import SseServer
from tests.websocket_server import WebSocketServer
from tui.core.servers import ServerSpec, Transport
from tui.host.host import Host
from tui.host.transports import http_sse, streamable_http, websocket

NEW = {"name": "new", "inputSchema": {"type": "object"}}


@pytest.fixture(autouse=True)
def hurry(monkeypatch):
    for wire in (http_sse, streamable_http, websocket):
        monkeypatch.setattr(wire, "RETRY_SECONDS", 0.01)


async def finds_the_new_tool(server, transport, drop):
    await server.start()
    host = Host(
        [ServerSpec("srv", transport=transport, url=server.url)], sink=lambda one: None, clock=HurriedClock()
    )
    try:
        await host.start_all()
        assert [one.name for one in host.toolbox.tools()] == ["echo"]
        await drop()
        await until(lambda: [one.name for one in host.toolbox.tools()] == ["echo", "new"])
    finally:
        await host.shutdown()
        await server.stop()


async def test_after_a_gap_in_the_stream_of_an_older_server_everything_is_listed_again():
    streams = []

    async def stream(asked, writer):
        streams.append(writer)
        writer.write(STREAM + b"\r\n: hello\n\n")

    server = HttpServer(modern=False, answers={"GET": stream})

    async def drop():
        await until(lambda: streams)
        server.tools = [*server.tools, NEW]
        streams[0].close()

    await finds_the_new_tool(server, Transport.HTTP, drop)


async def test_after_a_gap_in_an_http_sse_stream_everything_is_listed_again():
    server = HttpServer(modern=False)
    stream = SseServer(server)

    async def drop():
        server.tools = [*server.tools, NEW]
        stream.drop()

    await finds_the_new_tool(server, Transport.SSE, drop)


@pytest.mark.parametrize("modern", [True, False], ids=["modern", "legacy"])
async def test_after_a_gap_in_a_websocket_everything_is_listed_again(modern):
    server = WebSocketServer(modern=modern)
    tools = list(HttpServer().tools)

    async def listed(peer, message):
        more = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"} if modern else {}
        peer.say({"jsonrpc": "2.0", "id": message["id"], "result": {"tools": tools, **more}})

    server.answers["tools/list"] = listed

    async def drop():
        tools.append(NEW)
        server.peers[-1].writer.transport.abort()

    await finds_the_new_tool(server, Transport.WEBSOCKET, drop)
