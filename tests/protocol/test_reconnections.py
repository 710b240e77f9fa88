"""Connections with gaps: everything is listed again, and what was given up meanwhile is not sent."""

from contextlib import asynccontextmanager

import pytest

from tests.conftest import until
from tests.http_server import STREAM, HttpServer
from tests.protocol.test_list_changes import HurriedClock
from tests.unit.host.transports.test_http_sse import SseServer
from tests.websocket_server import WebSocketServer
from tui.addons.websocket import websocket
from tui.core.servers import ServerSpec, Transport
from tui.core.tools import CallFailure
from tui.host.host import Host
from tui.host.transports import http_sse, streamable_http

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


@asynccontextmanager
async def reconnecting(wire, modern):
    """A host whose server has just dropped the connection, and the methods that the server gets since."""
    server = WebSocketServer(modern=modern) if wire is websocket else HttpServer(modern=modern)
    stream = None if wire is websocket else SseServer(server)
    await server.start()
    kind = Transport.WEBSOCKET if wire is websocket else Transport.SSE
    spec = ServerSpec("srv", transport=kind, url=server.url)
    events = []
    host = Host([spec], sink=lambda one: events.append(one.detail.get("event")), clock=HurriedClock())
    try:
        await host.start_all()
        before = len(server.asked)
        if stream is None:
            server.peers[-1].writer.transport.abort()
        else:
            stream.drop()
        connected = host._servers["srv"].connection.transport._wire
        await until(lambda: not connected._ready.is_set() and not getattr(connected, "_stream", None))

        def asked():
            later = server.asked[before:]
            return [one.get("method") if isinstance(one, dict) else one.method for one in later]

        yield host, asked, events
    finally:
        await host.shutdown()
        await server.stop()


WIRES = pytest.mark.parametrize(
    ("wire", "modern"),
    [(http_sse, False), (websocket, False), (websocket, True)],
    ids=["http-sse", "websocket-legacy", "websocket-modern"],
)


@WIRES
@pytest.mark.parametrize("by_hand", [False, True], ids=["call", "task-request"])
async def test_a_request_that_timed_out_while_the_server_was_away_is_not_sent(
    wire, modern, by_hand, monkeypatch
):
    monkeypatch.setattr(wire, "RETRY_SECONDS", 0.5)
    async with reconnecting(wire, modern) as (host, asked, events):
        if by_hand:
            answer = await host.workbench.request("srv", "tasks/get", {"taskId": "t"}, call="c", seconds=0.05)
            assert "did not respond within" in answer.problem
        else:
            result = await called(host, 0.05)
            assert result.failure is CallFailure.TIMEOUT
        assert "gave up" in events
        assert not (await called(host, 20.0)).is_error
        methods = [one for one in asked() if one in ("tools/call", "tasks/get", "notifications/cancelled")]
    assert methods == ["tools/call"]


async def called(host, seconds):
    tool = next(iter(host.toolbox.tools()))
    return await host.toolbox.call(tool, {}, seconds=seconds, progress=lambda *_: None)
