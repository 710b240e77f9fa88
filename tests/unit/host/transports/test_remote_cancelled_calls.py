"""A call that is cancelled, or timed out, before it is sent is never sent, nor is its cancellation."""

import asyncio
import contextlib
import signal

import httpx2
import pytest

from tests.conftest import until
from tests.http_server import http_server, reply, says
from tests.unit.addons.websocket import test_websocket
from tests.unit.host.client import Client
from tests.unit.host.transports import test_http_sse, test_stdio, test_streamable_http
from tests.unit.host.transports.test_streamable_http import ERAS, Sink, text
from tests.websocket_server import websocket_server
from tui.core.servers import Transport
from tui.core.traffic import Direction, Kind
from tui.host.frames import reconnection

CALLS = {"tools/call", "notifications/cancelled"}


async def cancelled(call: "asyncio.Task[object]") -> None:
    call.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await call


def given_up(sink) -> list[str]:
    return [one["why"] for one in sink.events("gave up")]


def sending() -> list["asyncio.Task[object]"]:
    return [one for one in asyncio.all_tasks() if one.get_name() == "tools/call of far"]


# ---- Streamable HTTP ---------------------------------------------------------------------------------------


@ERAS
async def test_a_call_cancelled_while_its_address_is_looked_up_is_not_sent(modern, monkeypatch):
    loop = asyncio.get_running_loop()
    asked, found = asyncio.Event(), asyncio.Event()
    look_up = loop.getaddrinfo

    async def slow(*args, **more):
        asked.set()
        await found.wait()
        return await look_up(*args, **more)

    sink = Sink()
    async with http_server(modern=modern, tools=[]) as server:
        transport = test_streamable_http.remote(server, sink)
        transport.link.url = transport.link.url.copy_with(host="localhost")
        async with Client(transport) as client:
            await client.list_tools()
            await transport.link._client._transport._inner._routed.aclose()  # like a connection that was idle
            monkeypatch.setattr(loop, "getaddrinfo", slow)
            call = asyncio.create_task(client.call_tool("echo", {}))
            await asked.wait()
            await cancelled(call)
            found.set()
            await until(lambda: given_up(sink))
            await client.list_tools()
    assert not CALLS & set(server.methods())


async def test_a_call_cancelled_while_its_session_is_reopened_is_not_sent_again():
    opening, opened = asyncio.Event(), asyncio.Event()

    async def slowly(asked, writer):
        opening.set()
        await opened.wait()
        writer.write(server.usual(asked))

    async with http_server(modern=False) as server:
        async with Client(test_streamable_http.remote(server)) as client:
            await client.list_tools()
            server.sessions.clear()
            server.once["initialize"] = slowly
            call = asyncio.create_task(client.call_tool("echo", {}))
            await opening.wait()
            await cancelled(call)
            opened.set()
            await client.list_tools()
    assert server.methods().count("tools/call") == 1


async def test_a_call_cancelled_while_it_waits_after_a_429_is_not_recorded_as_sent_again():
    sink = Sink()
    async with http_server(modern=False) as server:
        server.once["tools/call"] = says(reply(b"", "429 Too Many Requests", "", retry_after="0.2"))
        async with Client(test_streamable_http.remote(server, sink)) as client:
            await client.list_tools()
            call = asyncio.create_task(client.call_tool("echo", {}))
            await until(lambda: "tools/call" in server.methods())
            await cancelled(call)
            await until(lambda: not sending())
    assert server.methods().count("tools/call") == 1
    assert not any("sent again" in why for why in given_up(sink))


class Patient(httpx2.Auth):
    """Sends a request that was rejected once more, after `signed_in`."""

    def __init__(self) -> None:
        self.asked, self.signed_in = asyncio.Event(), asyncio.Event()

    async def async_auth_flow(self, request):
        response = yield request
        if response.status_code == 401:
            self.asked.set()
            await self.signed_in.wait()
            yield request


@pytest.mark.parametrize("wire", [Transport.HTTP, Transport.SSE])
async def test_a_call_cancelled_while_the_user_signs_in_is_not_sent_again(wire):
    auth = Patient()
    async with http_server(modern=False) as server:
        if wire is Transport.SSE:
            test_http_sse.SseServer(server)
        server.once["tools/call"] = says(reply(b"", "401 Unauthorized", ""))
        transport = (test_http_sse if wire is Transport.SSE else test_streamable_http).remote(server)
        transport.link._auth = auth
        async with Client(transport) as client:
            await client.list_tools()
            call = asyncio.create_task(client.call_tool("echo", {}))
            await auth.asked.wait()
            await cancelled(call)
            auth.signed_in.set()
            await until(lambda: not sending())
            await client.list_tools()
    assert server.methods().count("tools/call") == 1


async def test_a_call_cancelled_before_its_redirect_is_followed_is_not_sent_again():
    redirected, reads = asyncio.Event(), asyncio.Event()

    async def redirect(asked, writer):
        writer.write(b"HTTP/1.1 307 Temporary Redirect\r\nlocation: /other\r\ncontent-length: 2\r\n\r\n-")
        await writer.drain()
        redirected.set()
        await reads.wait()
        writer.write(b"-")

    async with http_server(modern=False, once={"tools/call": redirect}) as server:
        async with Client(test_streamable_http.remote(server)) as client:
            call = asyncio.create_task(client.call_tool("echo", {}))
            await redirected.wait()
            await cancelled(call)
            reads.set()
            await client.list_tools()
    assert [one.path for one in server.asked if one.method == "tools/call"] == ["/mcp"]


async def test_a_call_cancelled_while_its_server_reads_only_half_of_it_breaks_off_and_is_not_told():
    sink = Sink()
    async with http_server(modern=False, reads_large=asyncio.Event()) as server:
        async with Client(test_streamable_http.remote(server, sink)) as client:
            await client.list_tools()
            call = asyncio.create_task(client.call_tool("echo", {"text": "x" * 20_000_000}))
            await until(lambda: server.begun)
            await cancelled(call)
            await until(lambda: given_up(sink) == ["cancelled before it was sent"])
            server.reads_large.set()
            await client.list_tools()
    assert not CALLS & set(server.methods())


# ---- HTTP+SSE ----------------------------------------------------------------------------------------------


async def test_over_sse_a_call_cancelled_while_the_stream_is_reopened_is_not_sent(monkeypatch):
    monkeypatch.setattr(reconnection, "FIRST_SECONDS", 0.2)
    sink = Sink()
    async with http_server(modern=False) as server:
        stream = test_http_sse.SseServer(server)
        async with Client(transport := test_http_sse.remote(server, sink=sink)) as client:
            await client.list_tools()
            stream.drop()
            await until(lambda: not transport.ready.is_set())
            call = asyncio.create_task(client.call_tool("echo", {}))
            await until(sending)
            await cancelled(call)
            assert given_up(sink) == ["cancelled before it was sent"]
            await until(lambda: sink.events("session opened again"))
            assert text(await client.call_tool("echo", {"text": "y"})) == {"text": "y"}
    calls = [one.message["params"] for one in server.asked if one.method == "tools/call"]
    assert [one["arguments"] for one in calls] == [{"text": "y"}]
    assert "notifications/cancelled" not in server.methods()


async def test_over_sse_the_server_is_told_of_a_cancelled_call_that_it_has():
    async with http_server(modern=False) as server:
        stream = test_http_sse.SseServer(server)
        async with Client(test_http_sse.remote(server)) as client:
            stream.silent.add("tools/call")
            call = asyncio.create_task(client.call_tool("echo", {}))
            await until(lambda: "tools/call" in server.methods())
            await cancelled(call)
            await until(lambda: "notifications/cancelled" in server.methods())


# ---- WebSocket ---------------------------------------------------------------------------------------------


@ERAS
async def test_over_websocket_a_call_cancelled_while_the_connection_is_reopened_is_not_sent(
    modern, monkeypatch
):
    monkeypatch.setattr(reconnection, "FIRST_SECONDS", 0.1)
    sink = Sink()
    async with websocket_server(modern=modern) as server:
        async with Client(transport := test_websocket.remote(server, sink)) as client:
            await client.list_tools()
            server.peers[-1].writer.transport.abort()
            await until(lambda: transport._wire._stream is None)
            call = asyncio.create_task(client.call_tool("echo", {}))
            await until(lambda: transport._wire._unsent)
            await cancelled(call)
            assert given_up(sink) == ["cancelled before it was sent"]
            assert text(await client.call_tool("echo", {"text": "y"})) == {"text": "y"}
    calls = [one for one in server.asked if one.get("method") in CALLS]
    assert [one["params"].get("arguments") for one in calls] == [{"text": "y"}]


# ---- stdio -------------------------------------------------------------------------------------------------

SLEEPS = (
    "import json, signal, sys\n"
    "signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})\n"
    "print('ready', flush=True)\n"
    "signal.sigwait({signal.SIGUSR1})\n"
    "for line in sys.stdin:\n"
    "    one = json.loads(line)\n"
    "    print(one['method'], (one['params'].get('name')), file=sys.stderr, flush=True)\n"
)


def end_of(number: int) -> dict[str, object]:
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}}


async def test_over_stdio_a_call_cancelled_while_the_pipe_is_full_is_not_sent():
    sink = test_stdio.Sink()
    transport = test_stdio.script(SLEEPS, sink=sink)
    async with transport as link:
        await until(lambda: transport.messages.noise)
        link.send(test_stdio.request(1, name="large", arguments="x" * 200_000), {})
        link.send(test_stdio.request(2, name="cancelled"), {})
        link.send(test_stdio.request(3, name="wanted"), {})
        for number in (1, 2):
            link.send(end_of(number), {})
        assert [one["why"] for one in sink.events() if one["event"] == "gave up"] == [
            "cancelled before it was sent"
        ]
        transport._process.signal_group(signal.SIGUSR1)
        await until(lambda: len(sink.of(Direction.NONE, Kind.STDERR)) == 3)
    assert sink.of(Direction.NONE, Kind.STDERR) == [
        b"tools/call large",
        b"tools/call wanted",
        b"notifications/cancelled None",
    ]
