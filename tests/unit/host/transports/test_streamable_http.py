"""A remote server over Streamable HTTP, of both eras."""

import asyncio
import gzip
import json
import time

import pytest

from tests.conftest import until
from tests.http_server import LEGACY, MODERN, STREAM, Asked, HttpServer, event, http_server, reply, says
from tests.unit.host.client import Client
from tui.core.servers import ServerSpec, Transport
from tui.core.traffic import CAUSE, Cause, Direction, Kind
from tui.host.frames import reconnection
from tui.host.frames.link import RequestError
from tui.host.transports.remote import RemoteTransport
from tui.host.transports.streamable_http import StreamableHttp

ERAS = pytest.mark.parametrize("modern", [True, False], ids=["modern", "legacy"])


class Sink(list):
    def __call__(self, captured):
        self.append(captured)

    def messages(self, direction):
        return [json.loads(one.raw) for one in self if one.direction is direction and one.kind is None]

    def events(self, word):
        return [one.detail for one in self if one.kind is Kind.EVENT and one.detail["event"] == word]


def remote(server: HttpServer, sink=None, **spec) -> RemoteTransport:
    return RemoteTransport(
        ServerSpec("far", transport=Transport.HTTP, url=server.url, **spec),
        StreamableHttp,
        sink=Sink() if sink is None else sink,
    )


def text(result):
    return json.loads(result.content[0].text)


@ERAS
@pytest.mark.parametrize("name", ["User-Agent", "user-agent", "Authorization", "ACCEPT-ENCODING"])
async def test_a_configured_header_is_sent_once_in_any_spelling(modern, name):
    async with http_server(modern=modern) as server:
        async with Client(remote(server, headers={name: "own"})) as client:
            await client.call_tool("echo", {})
    assert {one.headers[name.lower()] for one in server.asked} == {"own"}


@ERAS
async def test_a_call_is_sent_and_fully_recorded(modern):
    sink = Sink()
    async with http_server(modern=modern) as server, Client(transport := remote(server, sink)) as client:
        assert client.protocol_version == (MODERN if modern else LEGACY)
        CAUSE.set(Cause(1, 2, "c"))
        assert text(await client.call_tool("echo", {"text": "héllo"})) == {"text": "héllo"}
        assert (transport.reach.answers, transport.reach.status) == (True, 200)
    sent = sink.messages(Direction.OUT)
    assert sent[0]["method"] == "server/discover"
    calls = [one for one in sink if b"tools/call" in one.raw]
    assert calls[0].cause == Cause(1, 2, "c")
    answered = {message["id"] for message in sink.messages(Direction.IN)}
    assert {message["id"] for message in sent if "id" in message} == answered
    assert {one.detail["status"] for one in sink if one.direction is Direction.IN} >= {200}


async def test_the_headers_of_the_modern_protocol_are_sent():
    async with http_server() as server, Client(remote(server, headers={"X-Team": "blue"})) as client:
        await client.call_tool("echo", {})
    headers = next(one.headers for one in server.asked if one.method == "tools/call")
    assert headers["mcp-method"] == "tools/call"
    assert {one.headers["mcp-protocol-version"] for one in server.asked} == {MODERN}  # the probe too
    assert (headers["mcp-name"], headers["mcp-protocol-version"]) == ("echo", MODERN)
    assert headers["x-team"] == "blue"


async def test_an_older_server_gets_its_session_id_in_each_request_and_a_delete_at_the_end():
    async with http_server(modern=False) as server:
        async with Client(remote(server)) as client:
            await client.call_tool("echo", {})
        (session,) = server.sessions
        first, opening, *rest = server.asked
        assert (first.method, opening.method) == ("server/discover", "initialize")
        assert "mcp-session-id" not in opening.headers and "mcp-protocol-version" not in opening.headers
        assert {one.headers["mcp-session-id"] for one in rest} == {session}
        assert {one.headers["mcp-protocol-version"] for one in rest} == {LEGACY}
        assert rest[0].method == "notifications/initialized"
        assert server.asked[-1].verb == "DELETE"


async def test_cancelling_a_call_closes_its_request_on_a_modern_server():
    gone = asyncio.Event()

    async def hold(asked, writer):
        writer.write(STREAM + b"\r\n: wait\n\n")
        await writer.drain()
        await writer.wait_closed()
        gone.set()

    sink = Sink()
    async with http_server(answers={"tools/call": hold}) as server, Client(remote(server, sink)) as client:
        call = asyncio.create_task(client.call_tool("echo", {}))
        await until(lambda: "tools/call" in server.methods())
        call.cancel()
        await until(lambda: sink.events("gave up"))
        assert "notifications/cancelled" not in server.methods()
        await client.list_tools()


async def test_cancelling_a_call_sends_a_notification_to_an_older_server():
    async def hold(asked, writer):
        writer.write(STREAM + b"\r\n: wait\n\n")

    async with http_server(modern=False, answers={"tools/call": hold}) as server:
        async with Client(remote(server)) as client:
            call = asyncio.create_task(client.call_tool("echo", {}))
            await until(lambda: "tools/call" in server.methods())
            call.cancel()
            await until(lambda: "notifications/cancelled" in server.methods())
            wanted = next(one.message["id"] for one in server.asked if one.method == "tools/call")
            assert server.asked[-1].message["params"]["requestId"] == wanted


@ERAS
async def test_an_error_response_with_a_failing_status_names_the_status(modern):
    async def busy(asked: Asked, writer: asyncio.StreamWriter) -> None:
        error = {"code": 1, "message": "x"}
        answer = {"jsonrpc": "2.0", "id": asked.message["id"], "error": error}
        writer.write(reply(answer, "503 Service Unavailable"))

    async with http_server(modern=modern, once={"tools/call": busy}) as server:
        async with Client(remote(server)) as client:
            with pytest.raises(RequestError, match=r"^HTTP 503 \(Service Unavailable\): x$") as found:
                await client.call_tool("echo", {})
            assert found.value.code == 1


@pytest.mark.parametrize(
    "refusal",
    [
        reply(b"Session not found", "404 Not Found", "text/plain"),
        reply(
            {"jsonrpc": "2.0", "error": {"code": -32000, "message": "No valid session ID provided"}},
            "400 Bad Request",
        ),
    ],
)
async def test_a_lost_session_is_recognized_by_status_or_message(refusal):
    async with http_server(modern=False, once={"tools/call": says(refusal)}) as server:
        async with Client(remote(server)) as client:
            assert text(await client.call_tool("echo", {"text": "z"})) == {"text": "z"}
            assert server.methods().count("tools/call") == 2


async def test_another_rejection_in_a_session_is_returned_to_the_caller():
    refusal = b'{"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":"text is too long"}}'
    async with http_server(
        modern=False, once={"tools/call": says(reply(refusal, "400 Bad Request"))}
    ) as server:
        async with Client(remote(server)) as client:
            with pytest.raises(RequestError, match="text is too long"):
                await client.call_tool("echo", {})
            assert server.methods().count("initialize") == 1


async def test_a_server_that_rejects_every_stream_as_another_session_is_not_opened_again():
    missing = reply(b"no such session", "404 Not Found", "text/plain")
    async with http_server(modern=False, answers={"GET": says(missing)}) as server:
        async with Client(remote(server)) as client:
            await until(lambda: "GET" in server.methods())
            for _ in range(3):
                await client.call_tool("echo", {})
        assert server.methods().count("initialize") == 1
        assert server.methods().count("GET") == 1


async def test_a_stream_that_ends_at_once_and_asks_for_no_delay_is_resumed_at_a_bounded_rate():
    at = []

    async def end(asked, writer):
        at.append(time.monotonic())
        writer.write(STREAM + b"\r\nid: e%d\nretry: 0\n\n" % len(at))
        writer.close()

    async with http_server(modern=False, answers={"GET": end}) as server:
        async with Client(remote(server)):
            await until(lambda: len(at) == 3)
    assert at[2] - at[0] > 0.9


async def interrupted(asked, writer):
    writer.write(STREAM + b"\r\nid: e7\nretry: 10\ndata:\n\n")
    await writer.drain()
    writer.close()


def when_resumed(server, answer):
    """Set the response to a client that resumes a stream."""

    async def get(asked, writer):
        resumes = "last-event-id" in asked.headers
        await answer(asked, writer) if resumes else writer.write(server.usual(asked))

    server.answers |= {"tools/call": interrupted, "GET": get}


@pytest.mark.usefixtures("short_delays")
@pytest.mark.parametrize("status", ["429 Too Many Requests", "503 Service Unavailable"])
async def test_an_accepted_call_is_not_sent_again_if_resuming_its_stream_fails(status, monkeypatch):
    monkeypatch.setattr(reconnection, "REOPENS", 1)
    async with http_server(modern=False) as server:
        when_resumed(server, says(reply(b"busy", status, "text/plain", retry_after="0")))
        async with Client(remote(server)) as client:
            with pytest.raises(RequestError, match=r"not resumed: HTTP \d+.*It may have taken effect"):
                await client.call_tool("echo", {})
            assert server.methods().count("tools/call") == 1


@pytest.mark.usefixtures("short_delays")
async def test_a_call_of_a_lost_session_fails_and_is_not_resumed_in_another():
    async def lose(asked, writer):
        if asked.headers["mcp-session-id"] == first:
            server.sessions.discard(first)
        writer.write(reply(b"no such session", "404 Not Found", "text/plain"))

    async with http_server(modern=False) as server:
        when_resumed(server, lose)
        server.sessions.add("of somebody else")
        async with Client(remote(server)) as client:
            (first,) = server.sessions - {"of somebody else"}
            call = asyncio.create_task(client.call_tool("echo", {}))
            await until(lambda: first not in server.sessions)
            server.sessions.add("of a third")
            assert (await client.list_tools()).tools
            with pytest.raises(
                RequestError, match=r"not resumed: .*no longer has the session.*It may have taken effect"
            ):
                await call
            assert server.methods().count("tools/call") == 1


@pytest.mark.parametrize("stream", [False, True])
async def test_a_compressed_response_is_read_although_it_was_not_requested(stream):
    async def squeeze(asked, writer):
        answer = {"jsonrpc": "2.0", "id": asked.message["id"], "result": server.result(asked)}
        body = gzip.compress(event(answer) if stream else json.dumps(answer).encode())
        kind = "text/event-stream" if stream else "application/json"
        writer.write(reply(body, kind=kind, content_encoding="gzip"))

    async with http_server(answers={"tools/call": squeeze}) as server, Client(remote(server)) as client:
        assert text(await client.call_tool("echo", {"text": "x"})) == {"text": "x"}
        call = next(one for one in server.asked if one.method == "tools/call")
        assert call.headers["accept-encoding"] == "identity"


async def test_requests_use_the_proxy_from_the_environment(monkeypatch):
    async with http_server() as proxy:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy.port}")
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        spec = ServerSpec("far", transport=Transport.HTTP, url="http://mcp.example.test/mcp")
        async with Client(RemoteTransport(spec, StreamableHttp, sink=Sink())) as client:
            assert text(await client.call_tool("echo", {"text": "x"})) == {"text": "x"}
        assert {one.path for one in proxy.asked} == {"http://mcp.example.test/mcp"}
