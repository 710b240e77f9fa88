"""A remote server over HTTP+SSE."""

import asyncio
import json

import pytest

from tests.conftest import until
from tests.http_server import STREAM, HttpServer, http_server, reply, says
from tests.unit.host.client import Client
from tests.unit.host.transports.test_streamable_http import Sink, text
from tui.core.servers import ServerSpec, Transport
from tui.core.traffic import Entry, Kind, Outcome
from tui.host.frames import reconnection
from tui.host.frames.link import RequestError
from tui.host.transports import http_sse
from tui.host.transports.http_sse import HttpSse
from tui.host.transports.remote import RemoteTransport
from tui.host.transports.streamable_http import StreamableHttp
from tui.traffic.lint.lint import Linter
from tui.traffic.record.entry_reader import EntryReader


class SseServer:
    """Makes a server answer on its newest event stream."""

    def __init__(self, server: HttpServer, endpoint: str = "/messages/?session_id=ab") -> None:
        self.server = server
        self.endpoint = endpoint
        self.streams = []
        self.silent = set()
        server.answers["GET"] = self.open
        for method in ("initialize", "tools/list", "tools/call", "server/discover", "resources/list"):
            server.answers[method] = self.answer
        server.answers["notifications/initialized"] = self.accept

    async def open(self, asked, writer):
        self.streams.append(writer)
        writer.write(STREAM + b"\r\nevent: endpoint\ndata: " + self.endpoint.encode() + b"\n\n")

    async def accept(self, asked, writer):
        writer.write(reply(b"Accepted", "202 Accepted", "text/plain"))

    async def answer(self, asked, writer):
        await self.accept(asked, writer)
        if asked.method in self.silent:
            return
        answered = {"jsonrpc": "2.0", "id": asked.message["id"]}
        result = self.server.result(asked)
        answered |= {"error": {"code": -32601, "message": "no"}} if result is None else {"result": result}
        pretty = json.dumps(answered, indent=1).splitlines()
        self.streams[-1].write("".join(f"data: {line}\n" for line in pretty).encode() + b"\n")
        await self.streams[-1].drain()

    def drop(self):
        self.streams[-1].close()


def remote(server, wire=HttpSse, sink=None, **spec):
    given = ServerSpec("far", transport=Transport.SSE, url=server.url, **spec)
    return RemoteTransport(given, wire, sink=Sink() if sink is None else sink)


async def test_a_response_to_the_post_itself_is_accepted():
    async with http_server(modern=False) as server:
        SseServer(server)

        async def at_once(asked, writer):
            answer = {"jsonrpc": "2.0", "id": asked.message["id"], "result": {"content": []}}
            writer.write(reply(answer))

        server.answers["tools/call"] = at_once
        async with Client(remote(server)) as client:
            assert (await client.call_tool("echo", {})).content == []


@pytest.mark.parametrize(
    "endpoint", ["https://evil.example/m", "//evil.example/m", "http://127.0.0.1:1/m", "http://u@127.0.0.1/"]
)
async def test_a_message_endpoint_on_another_origin_is_rejected(endpoint):
    async with http_server(modern=False) as server:
        SseServer(server, endpoint)
        transport = remote(server)
        with pytest.raises(RequestError):
            async with Client(transport):
                pass
    assert "has another origin" in transport.fatal
    assert server.methods() == ["GET"]


async def test_without_a_configured_transport_the_older_one_is_found():
    async with http_server(modern=False) as server:
        stream = SseServer(server)
        refuse = reply(b"Cannot POST /mcp", "404 Not Found", "text/plain")

        async def by_path(asked, writer):
            if asked.path == "/mcp":
                writer.write(refuse)
            else:
                await stream.answer(asked, writer)

        server.answers["initialize"] = server.answers["server/discover"] = by_path
        transport = remote(server, StreamableHttp, sink=(sink := Sink()), sse_fallback=True)
        async with Client(transport) as client:
            assert text(await client.call_tool("echo", {"text": "x"})) == {"text": "x"}
            assert transport.reach.kind == "HTTP+SSE"
        assert server.methods()[:3] == ["server/discover", "initialize", "GET"]
    reader, linter, entries = EntryReader(lambda raw: (raw, ()), 0), Linter(), list[Entry]()
    for one in sink:
        reader.read(one, entries)
    assert "reused-id" not in [found.code for one in entries for found in linter.feed(one)]
    asked = [one.seq for one in entries if one.kind is Kind.REQUEST]
    assert set(asked) <= {one.pair for one in entries if one.outcome is not Outcome.NONE}


async def test_the_url_of_an_older_transport_is_recognized_if_http_is_configured():
    async with http_server(modern=False) as server:
        SseServer(server)

        async def refuse(asked, writer):
            writer.write(reply(b"", "405 Method Not Allowed", ""))

        server.answers["initialize"] = server.answers["server/discover"] = refuse
        transport = remote(server, StreamableHttp)
        with pytest.raises(RequestError):
            async with Client(transport):
                pass
    assert transport.fatal == "this is the URL of an HTTP+SSE server, the older transport."
    assert transport.next_step == 'Set transport = "sse" for it.'


async def failed_start(server):
    transport = remote(server)
    with pytest.raises(RequestError):
        async with Client(transport):
            pass
    return transport


async def test_the_url_of_a_newer_transport_is_recognized_if_sse_is_configured():
    async with http_server() as server:
        transport = await failed_start(server)
    assert transport.fatal == "HTTP 405 (Method Not Allowed)."
    assert 'set transport = "http"' in transport.next_step


async def test_a_stream_that_never_sends_an_endpoint_ends_the_start(monkeypatch):
    monkeypatch.setattr("tui.host.transports.http_sse.ENDPOINT_SECONDS", 0.5)

    async def silent(asked, writer):
        writer.write(STREAM + b"\r\n: hello\n\n")

    async with http_server(answers={"GET": silent}) as server:
        transport = await failed_start(server)
    assert transport.fatal == "the server sent no message endpoint within 0.5 s."


@pytest.mark.parametrize(
    ("refusal", "why"),
    [
        (
            (b"no session of that id", "400 Bad Request", "text/plain"),
            r"HTTP 400 \(Bad Request\): “no session of that id”",
        ),
        (
            (b"<!doctype html><title>Sign in to Corp</title>Cookies", "200 OK", "text/html; charset=utf-8"),
            r"HTTP 200 \(OK\): “Sign in to Corp”.* is text/html",
        ),
    ],
)
async def test_a_rejected_message_fails_its_request_with_the_status_and_the_words_of_the_server(refusal, why):
    async with http_server(modern=False) as server:
        SseServer(server)
        async with Client(remote(server)) as client:
            server.once["tools/call"] = says(reply(*refusal))
            with pytest.raises(RequestError, match=why):
                await client.call_tool("echo", {})
            assert text(await client.call_tool("echo", {"text": "x"})) == {"text": "x"}


async def test_an_accepted_message_is_answered_on_the_stream_although_its_reply_claims_html():
    async with http_server(modern=False) as server:

        class Framework(SseServer):
            async def accept(self, asked, writer):
                writer.write(reply(b"Accepted", "200 OK", "text/html; charset=utf-8"))

        Framework(server)
        async with Client(remote(server)) as client:
            assert text(await client.call_tool("echo", {"text": "x"})) == {"text": "x"}


async def no_headers(writer):
    """Send nothing."""


async def no_endpoint(writer):
    writer.write(STREAM + b"\r\n: later\n\n")


async def half_an_error(writer):
    writer.write(b"HTTP/1.1 503 Busy\r\ncontent-type: text/plain\r\ncontent-length: 100\r\n\r\nno")


@pytest.mark.usefixtures("short_delays")
@pytest.mark.parametrize("begin", [no_headers, no_endpoint, half_an_error])
async def test_a_stream_that_does_not_open_again_in_time_is_given_up_for_another(begin, monkeypatch):
    monkeypatch.setattr(http_sse, "ENDPOINT_SECONDS", 0.5)
    hung, over = asyncio.Event(), asyncio.Event()

    async def hang(asked, writer):
        await begin(writer)
        await writer.drain()
        hung.set()
        await over.wait()

    sink = Sink()
    async with http_server(modern=False) as server:
        stream = SseServer(server)
        async with Client(transport := remote(server, sink=sink)) as client:
            await client.list_tools()
            server.once["GET"] = hang
            stream.streams[-1].write(b"retry: 10\ndata:\n\n")
            stream.drop()
            await hung.wait()
            await until(lambda: sink.events("session opened again"))
            assert text(await client.call_tool("echo", {"text": "y"})) == {"text": "y"}
            assert not transport.fatal
        over.set()


async def test_a_call_is_not_sent_while_the_stream_is_reopened_for_long(monkeypatch):
    monkeypatch.setattr("tui.host.transports.remote.READY_SECONDS", 0.2)
    async with http_server(modern=False) as server:
        stream = SseServer(server)
        async with Client(remote(server)) as client:
            await client.list_tools()
            stream.silent.add("initialize")
            stream.streams[-1].write(b"retry: 10\ndata:\n\n")
            stream.drop()
            await until(lambda: len(stream.streams) == 2)
            with pytest.raises(RequestError, match=r"is being reopened\. It was not sent\."):
                await client.call_tool("echo", {})
    assert "tools/call" not in server.methods()


@pytest.mark.usefixtures("short_delays")
async def test_a_new_session_that_the_server_rejects_is_not_used_and_another_is_opened():
    sink = Sink()
    async with http_server(modern=False) as server:
        stream = SseServer(server)
        async with Client(transport := remote(server, sink=sink)) as client:
            await client.list_tools()
            server.once["initialize"] = says(reply(b"busy", "503 Service Unavailable", "text/plain"))
            stream.streams[-1].write(b"retry: 100\ndata:\n\n")
            stream.drop()
            await until(lambda: len(sink.events("session opened again")) == 1)
            assert text(await client.call_tool("echo", {"text": "y"})) == {"text": "y"}
            assert not transport.fatal
            assert len(stream.streams) == 3


@pytest.mark.usefixtures("short_delays")
async def test_a_server_that_rejects_every_new_session_is_given_up(monkeypatch):
    monkeypatch.setattr(reconnection, "REOPENS", 1)
    async with http_server(modern=False) as server:
        stream = SseServer(server)
        async with Client(transport := remote(server)) as client:
            await client.list_tools()
            server.answers["initialize"] = says(reply(b"no", "403 Forbidden", "text/plain"))
            stream.streams[-1].write(b"retry: 10\ndata:\n\n")
            stream.drop()
            await until(transport.exited.is_set)
            assert transport.fatal.startswith("HTTP 403 (Forbidden): “no”")


@pytest.mark.usefixtures("short_delays")
async def test_a_stream_without_a_session_is_opened_again_and_the_gap_reported():
    sink = Sink()
    async with http_server() as server:
        stream = SseServer(server)
        async with Client(remote(server, sink=sink)) as client:
            stream.streams[-1].write(b"retry: 10\ndata:\n\n")
            stream.drop()
            await until(lambda: sink.events("stream opened again"))
            assert text(await client.call_tool("echo", {"text": "y"})) == {"text": "y"}
    assert "initialize" not in server.methods() and len(stream.streams) == 2


@pytest.mark.usefixtures("short_delays")
async def test_a_server_that_speaks_another_version_in_its_new_session_ends_the_connection():
    async with http_server(modern=False) as server:
        stream = SseServer(server)
        async with Client(transport := remote(server)) as client:
            await client.list_tools()
            usual = server.result
            server.result = lambda asked: usual(asked) | {"protocolVersion": "2024-11-05"}
            stream.streams[-1].write(b"retry: 10\ndata:\n\n")
            stream.drop()
            await until(transport.exited.is_set)
    assert transport.fatal == "the server lost the session and now speaks another protocol version."


async def test_a_request_that_is_answered_on_the_stream_alone_does_not_hold_its_connection(monkeypatch):
    monkeypatch.setattr("tui.host.transports.request_wire.LINGER_SECONDS", 0.05)
    async with http_server(modern=False) as server:
        stream, over = SseServer(server), asyncio.Event()

        async def hold(asked, writer):
            await stream.answer(asked, Silent())
            await over.wait()

        async with Client(transport := remote(server)) as client:
            await client.list_tools()
            server.answers["tools/call"] = hold
            assert text(await client.call_tool("echo", {"text": "y"})) == {"text": "y"}
            await until(lambda: not any("tools/call" in task.get_name() for task in asyncio.all_tasks()))
            assert not transport.fatal
        over.set()


class Silent:
    """Takes what is written to it."""

    def write(self, data):
        """Send nothing."""
