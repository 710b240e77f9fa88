"""Headers from what a server or the configuration says: sent in their own bytes, or refused with a reason."""

import json

import pytest

from tests.conftest import until
from tests.http_server import STREAM, http_server, reply
from tests.unit.addons.websocket import test_websocket
from tests.unit.host.client import Client
from tests.unit.host.transports import test_http_sse
from tests.unit.host.transports.test_streamable_http import ERAS, Sink, remote, text
from tests.websocket_server import websocket_server
from tui.host.frames import reconnection
from tui.host.frames.link import RequestError

FOREIGN = pytest.mark.parametrize(
    "raw",
    ["caf\u00e9".encode(), "\u7b2c1".encode(), b'se\xe9\xff "x"', ("\u202e" + "z" * 900).encode(), b"plain"],
    ids=["utf-8", "cjk", "latin-1", "long", "ascii"],
)


@pytest.fixture(autouse=True)
def hurry(monkeypatch):
    monkeypatch.setattr(reconnection, "FIRST_SECONDS", 0.01)


def sent(asked, name):
    """Return the bytes of a header that the server received."""
    return asked.headers[name].encode("latin-1")


@FOREIGN
async def test_a_response_is_resumed_with_the_event_id_in_its_own_bytes(raw):
    called = {}

    async def begin(asked, writer):
        called.update(asked.message)
        writer.write(STREAM + b"\r\nid: " + raw + b"\ndata:\n\n")
        await writer.drain()
        writer.close()

    async def resume(asked, writer):
        if "last-event-id" in asked.headers:
            answer = json.dumps({"jsonrpc": "2.0", "id": called["id"], "result": {"content": []}})
            writer.write(STREAM + f"\r\ndata: {answer}\n\n".encode())
            await writer.drain()
            writer.close()
        else:
            writer.write(server.usual(asked))

    async with http_server(modern=False, answers={"tools/call": begin, "GET": resume}) as server:
        async with Client(remote(server)) as client:
            assert (await client.call_tool("echo", {})).content == []
    resumed = [sent(one, "last-event-id") for one in server.asked if "last-event-id" in one.headers]
    assert resumed == [raw]


@FOREIGN
async def test_the_stream_of_an_older_server_is_reopened_with_the_event_id_in_its_own_bytes(raw):
    async def stream(asked, writer):
        writer.write(STREAM + b"\r\nid: " + raw + b"\ndata:\n\n")
        await writer.drain()
        writer.close()

    async with http_server(modern=False, answers={"GET": stream}) as server, Client(remote(server)):
        await until(lambda: server.methods().count("GET") > 3)
    opened = [one for one in server.asked if one.verb == "GET"]
    assert {sent(one, "last-event-id") for one in opened[1:]} == {raw}


@FOREIGN
async def test_a_session_id_is_sent_back_in_its_own_bytes(raw):
    async def initialize(asked, writer):
        result = {"jsonrpc": "2.0", "id": asked.message["id"], "result": server.result(asked)}
        answer = reply(result)
        writer.write(answer.replace(b"\r\n", b"\r\nMcp-Session-Id: " + raw + b"\r\n", 1))

    async with http_server(modern=False, answers={"initialize": initialize}) as server:
        server.sessions.add(raw.decode("latin-1"))
        async with Client(remote(server)) as client:
            assert text(await client.call_tool("echo", {"text": "x"})) == {"text": "x"}
            server.once["tools/call"] = lost
            assert text(await client.call_tool("echo", {"text": "y"})) == {"text": "y"}
            assert server.methods().count("initialize") == 2
    within = [one for one in server.asked if one.method not in ("server/discover", "initialize")]
    assert {sent(one, "mcp-session-id") for one in within} == {raw}
    assert within[-1].verb == "DELETE"


async def lost(asked, writer):
    writer.write(reply(b"no such session", "404 Not Found", "text/plain"))


@ERAS
@FOREIGN
async def test_a_cookie_is_sent_back_in_its_own_bytes_also_after_a_redirect(modern, raw):
    raw = raw.replace(b" ", b"").replace(b'"', b"")

    async def redirect(asked, writer):
        if asked.path == "/mcp":
            writer.write(
                b"HTTP/1.1 307 Temporary Redirect\r\nlocation: /other\r\nset-cookie: a="
                + raw
                + b"; Path=/\r\ncontent-length: 0\r\n\r\n"
            )
        else:
            writer.write(server.usual(asked))

    async with http_server(modern=modern, answers={"tools/call": redirect}) as server:
        async with Client(remote(server)) as client:
            for _ in range(2):
                assert text(await client.call_tool("echo", {"text": "x"})) == {"text": "x"}
    calls = [one for one in server.asked if one.method == "tools/call"]
    assert [sent(one, "cookie") for one in calls[1:]] == [b"a=" + raw] * 3


@pytest.mark.parametrize(
    ("location", "path"),
    [("/caf\u00e9".encode(), "/caf%C3%A9"), (b"/caf\xe9", "/caf%E9"), (b"/a b", "/a%20b")],
)
async def test_a_redirect_keeps_the_bytes_of_its_address(location, path):
    async def redirect(asked, writer):
        if asked.path == "/mcp":
            writer.write(b"HTTP/1.1 307 X\r\nlocation: " + location + b"\r\ncontent-length: 0\r\n\r\n")
        else:
            writer.write(server.usual(asked))

    async with http_server(answers={"tools/call": redirect}) as server, Client(remote(server)) as client:
        assert text(await client.call_tool("echo", {"text": "x"})) == {"text": "x"}
    assert path in [one.path for one in server.asked]


@pytest.mark.parametrize("value", ["bl\u00e5", "\ud800", "s3cr3t\nb", "s3cr3t\x00b"])
@pytest.mark.parametrize("wire", ["http", "sse", "websocket"])
async def test_a_configured_header_that_cannot_be_sent_ends_the_start_with_its_name(wire, value):
    sink = Sink()
    kinds = {"http": (http_server, remote), "sse": (http_server, test_http_sse.remote)}
    serve, connect = kinds.get(wire, (websocket_server, test_websocket.remote))
    async with serve(modern=False) as server:
        transport = connect(server, sink=sink, headers={"X-Team": value})
        with pytest.raises(RequestError):
            async with Client(transport):
                pass
    assert transport.fatal.endswith("not sent: invalid header x-team.")
    assert not any("s3cr3t" in str(one.detail.get("why", "")) for one in sink)
    assert server.asked == []


async def test_the_header_that_cannot_be_sent_is_named_although_another_is_not_ascii():
    async def stream(asked, writer):
        writer.write(STREAM + "\r\nid: caf\u00e9\ndata:\n\n".encode())
        await writer.drain()
        transport.link._client.headers["x-team"] = "a\nb"
        writer.close()

    sink = Sink()
    async with http_server(modern=False, answers={"GET": stream}) as server:
        transport = remote(server, sink)
        async with Client(transport):
            await until(lambda: transport.reach.problem)
    assert transport.reach.problem.endswith("not sent: invalid header x-team.")


ILLEGAL = {
    "header": b"HTTP/1.1 200 OK\r\nset-cookie: sid=canary-1\0\r\ncontent-length: 0\r\n\r\n",
    "status": b"HTTX canary-1\r\n\r\n",
    "trailer": b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
    b"0\r\nset-cookie: sid=canary-1\0\r\n\r\n",
}


@ERAS
@pytest.mark.parametrize("answer", ILLEGAL.values(), ids=ILLEGAL)
async def test_a_line_that_is_not_http_is_neither_quoted_nor_recorded(modern, answer):
    async def respond(asked, writer):
        writer.write(answer)

    sink = Sink()
    async with http_server(modern=modern, answers={"tools/call": respond}) as server:
        async with Client(remote(server, sink)) as client:
            with pytest.raises(RequestError, match="not valid HTTP") as caught:
                await client.call_tool("echo", {})
    assert "canary" not in str(caught.value) and "canary" not in repr(sink)
