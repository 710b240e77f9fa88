"""Faults of lists, streams and connections over HTTP: a bad part affects only itself."""

import asyncio
import contextlib
import json
import re
import time
from contextlib import asynccontextmanager

import psutil
import pytest

from tests.conftest import until
from tests.hosts import called, far, running, text_of
from tests.http_server import ECHO, STREAM, Asked, HttpServer, event, http_server, reply
from tests.protocol.test_http_faults import CHECK, ERAS, FAULTS, LARGE_MIB, MIB, SLOW, connected
from tests.protocol.test_list_changes import HurriedClock
from tests.unit.host.transports.test_http_sse import SseServer
from tests.websocket_server import WebSocketServer
from tui.addons.websocket import websocket
from tui.core.servers import ServerState, Transport
from tui.core.tools import CallFailure
from tui.host.frames import reconnection
from tui.host.transports import http_sse

DEPTH = 2_000
MOST_MIB = 64
"""The memory that an endless line may use: a few times the maximum message size."""


def deep(asked: Asked) -> bytes:
    """Return a list of two tools, one with a schema nested too deeply for a recursive reader."""
    schema = '{"type": "object", "properties": {"x": ' * DEPTH + "{}" + "}}" * DEPTH
    tools = [ECHO, ECHO | {"name": "deep", "inputSchema": "@"}]
    result = {"tools": tools, "ttlMs": 0, "cacheScope": "private", "resultType": "complete"}
    body = json.dumps({"jsonrpc": "2.0", "id": asked.message["id"], "result": result})
    return reply(body.replace('"@"', schema).encode())


@ERAS
async def test_a_too_deeply_nested_schema_omits_only_its_tool(modern):
    async def answer(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(deep(asked))

    async with (
        http_server(modern=modern, answers={"tools/list": answer}) as server,
        connected(server) as (host, _),
    ):
        assert host.status("far").state is ServerState.RUNNING
        assert [tool.name for tool in host.toolbox.tools()] == ["echo"]
        assert "nests deeper than" in str(host.status("far"))
        assert text_of(await called(host, n=1)) == '{"n": 1}'


@ERAS
async def test_a_hanging_list_leaves_a_connected_server_without_tools(modern):
    over = asyncio.Event()

    async def hang(asked: Asked, writer: asyncio.StreamWriter) -> None:
        await over.wait()

    async with http_server(modern=modern, answers={"tools/list": hang}) as server:
        began = time.monotonic()
        async with connected(server, start_seconds=2.0) as (host, _):
            assert time.monotonic() - began < 10
            status = host.status("far")
            assert status.state is ServerState.RUNNING
            assert not host.toolbox.tools()
            assert "no response within" in str(status)
            over.set()


@ERAS
async def test_an_event_with_an_endless_line_fails_its_call_and_uses_little_memory(modern):
    poured = 0

    async def pour(asked: Asked, writer: asyncio.StreamWriter) -> None:
        nonlocal poured
        writer.write(STREAM + b"\r\ndata: ")
        with contextlib.suppress(ConnectionError):
            while True:
                writer.write(b"x" * MIB)
                await writer.drain()
                poured += 1

    async with http_server(modern=modern) as server, connected(server) as (host, _):
        server.once["tools/call"] = pour
        before = psutil.Process().memory_info().rss
        said = text_of(await called(host, seconds=20.0))
        assert "too large" in said, said
        assert psutil.Process().memory_info().rss - before < MOST_MIB * MIB
        assert poured < 200
        assert text_of(await called(host, n=2)) == '{"n": 2}'
        assert (host.status("far").state, host.status("far").restarts) == (ServerState.RUNNING, 0)


@ERAS
async def test_a_result_of_many_small_parts_is_accepted(modern):
    async def many(asked: Asked, writer: asyncio.StreamWriter) -> None:
        content = [{"type": "text", "text": str(number)} for number in range(30_000)]
        result = {"content": content, "resultType": "complete"}
        writer.write(reply({"jsonrpc": "2.0", "id": asked.message["id"], "result": result}))

    async with http_server(modern=modern) as server, connected(server) as (host, _):
        server.once["tools/call"] = many
        result = await called(host)
        assert result.content[0].text == "0"
        assert text_of(await called(host, n=2)) == '{"n": 2}'


ON_THE_REQUEST = [
    "cut-at-once",
    "cut-in-the-head",
    "cut-in-the-body",
    "redirect",
    "400",
    "401",
    "403",
    "404",
    "429",
    "429-for-long",
    "503",
    "500",
    "large-body",
]


class Held(SseServer):
    """Answers calls of `slow` once `release` is set, and those of `echo` with `fault`, if set."""

    def __init__(self, server):
        super().__init__(server)
        self.release = asyncio.Event()
        self.fault = None

    async def answer(self, asked, writer):
        if asked.method != "tools/call" or self.fault is None:
            await super().answer(asked, writer)
        elif asked.message["params"]["name"] == "slow":
            await self.accept(asked, writer)
            await writer.drain()
            await self.release.wait()
            await self.say(result_of(asked))
        else:
            await self.fault(asked, writer)

    async def say(self, message):
        self.streams[-1].write(event(message))
        await self.streams[-1].drain()


def result_of(asked):
    said = [{"type": "text", "text": json.dumps(asked.message["params"].get("arguments"))}]
    return {"jsonrpc": "2.0", "id": asked.message["id"], "result": {"content": said}}


@asynccontextmanager
async def stage():
    async with http_server(modern=False, tools=[ECHO, SLOW]) as server:
        stream = Held(server)
        async with connected(server, transport=Transport.SSE) as (host, sink):
            yield server, stream, host, sink


async def goes_on(stream, host, other):
    """Check that the other call and the next one are answered, and that the server was not restarted."""
    stream.release.set()
    assert text_of(await other) == '{"n": 1}'
    stream.fault = None
    assert text_of(await called(host, n=2)) == '{"n": 2}'
    status = host.status("far")
    assert (status.state, status.restarts, len(stream.streams)) == (ServerState.RUNNING, 0, 1)


@pytest.mark.parametrize("name", ON_THE_REQUEST)
async def test_a_fault_of_the_request_fails_one_call_with_one_sentence(name):
    fault, sentence = FAULTS[name]
    async with stage() as (server, stream, host, sink):
        stream.fault = fault
        other = asyncio.create_task(called(host, "slow", n=1))
        await until(lambda: "tools/call" in server.methods())
        said = text_of(await called(host))
        assert re.search(sentence, said), said
        assert len(sink.given_up()) == 1
        assert server.methods().count("tools/call") == 2
        await goes_on(stream, host, other)


async def garbage(stream, asked):
    stream.streams[-1].write(b"data: \xff\xfe{]\n\n")
    await stream.say(result_of(asked))


async def other_id(stream, asked):
    await stream.say({"jsonrpc": "2.0", "id": 4711, "result": {"content": []}})
    await stream.say(result_of(asked))


async def twice(stream, asked):
    await stream.say(result_of(asked))
    await stream.say(result_of(asked))


async def echoed(stream, asked):
    await stream.say(asked.message)


@pytest.mark.parametrize("fault", [garbage, other_id, twice, echoed])
async def test_invalid_events_on_the_stream_are_ignored_and_an_echo_fails_its_call(fault):
    async with stage() as (server, stream, host, _):

        async def broken(asked, writer):
            await stream.accept(asked, writer)
            await fault(stream, asked)

        stream.fault = broken
        other = asyncio.create_task(called(host, "slow", n=1))
        await until(lambda: "tools/call" in server.methods())
        said = text_of(await called(host, n=3, seconds=20))
        assert re.search(FAULTS["echo"][1], said) if fault is echoed else said == '{"n": 3}', said
        await goes_on(stream, host, other)


async def test_an_event_over_the_limit_fails_its_call():
    async with stage() as (server, stream, host, _):

        async def large(asked, writer):
            await stream.accept(asked, writer)
            await writer.drain()
            head = json.dumps(result_of(asked))[:-2] + ',"_meta":{"x":"'
            with contextlib.suppress(ConnectionError):
                stream.streams[-1].write(b"data: " + head.encode())
                for _ in range(LARGE_MIB):
                    stream.streams[-1].write(b"x" * MIB)
                    await stream.streams[-1].drain()
                stream.streams[-1].write(b'"}}}\n\n')
                await stream.streams[-1].drain()

        stream.fault = large
        other = asyncio.create_task(called(host, "slow", n=1))
        await until(lambda: "tools/call" in server.methods())
        said = text_of(await called(host))
        assert re.search(r"^Result too large: HTTP 20\d .* with 27 MB \(limit: 25 MB\)\. Request", said), said
        await goes_on(stream, host, other)


async def test_a_stream_that_ends_fails_pending_calls_and_is_reopened():
    async with stage() as (_, stream, host, _):

        async def ended(asked, writer):
            await stream.accept(asked, writer)
            await writer.drain()
            stream.drop()

        stream.fault = ended
        said = text_of(await called(host))
        assert re.search(rf"^HTTP 200: the event stream ended without a response\. {CHECK}$", said), said
        stream.fault = None
        await until(lambda: len(stream.streams) == 2)
        assert text_of(await called(host, n=2)) == '{"n": 2}'
        status = host.status("far")
        assert (status.state, status.restarts) == (ServerState.RUNNING, 0)


NEW = {"name": "new", "inputSchema": {"type": "object"}}


@pytest.fixture(autouse=True)
def hurry(monkeypatch):
    monkeypatch.setattr(reconnection, "FIRST_SECONDS", 0.01)


async def finds_the_new_tool(server, transport, drop):
    await server.start()
    try:
        async with running(far(server, transport), clock=HurriedClock()) as host:
            assert [one.name for one in host.toolbox.tools()] == ["echo"]
            await drop()
            await until(lambda: [one.name for one in host.toolbox.tools()] == ["echo", "new"])
    finally:
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
    events = []

    def asked():
        return [one.get("method") if isinstance(one, dict) else one.method for one in server.asked[before:]]

    around = {"sink": lambda one: events.append(one.detail.get("event")), "clock": HurriedClock()}
    try:
        async with running(far(server, kind), **around) as host:
            before = len(server.asked)
            if stream is None:
                server.peers[-1].writer.transport.abort()
            else:
                stream.drop()
            transport = host._servers["far"].connection.transport
            await until(lambda: not (transport.ready.is_set() or getattr(transport._wire, "_stream", None)))
            yield host, asked, events
    finally:
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
    monkeypatch.setattr(reconnection, "FIRST_SECONDS", 0.5)
    async with reconnecting(wire, modern) as (host, asked, events):
        if by_hand:
            answer = await host.workbench.request("far", "tasks/get", {"taskId": "t"}, call="c", seconds=0.05)
            assert "did not respond within" in answer.problem
        else:
            result = await called(host, seconds=0.05)
            assert result.failure is CallFailure.TIMEOUT
        assert "gave up" in events
        assert not (await called(host)).is_error
        methods = [one for one in asked() if one in ("tools/call", "tasks/get", "notifications/cancelled")]
    assert methods == ["tools/call"]
