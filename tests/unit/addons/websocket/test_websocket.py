"""A remote server over WebSocket, of both eras."""

import asyncio
import contextlib
import json
import time
import tracemalloc
from contextlib import asynccontextmanager
from typing import NamedTuple

import pytest
from wsproto.events import BytesMessage, CloseConnection, Ping, Pong, TextMessage

from tests.conftest import refusing_port, until
from tests.http_server import LEGACY, MODERN, reply
from tests.unit.host.client import Client
from tests.unit.host.transports.test_streamable_http import ERAS, Sink, text
from tests.unit.host.transports.test_streamable_http_secure import certificate
from tests.websocket_server import WebSocketServer, websocket_server
from tui.addons.websocket import websocket
from tui.addons.websocket.websocket import WebSocket
from tui.core.servers import ServerSpec, ServerState, Transport
from tui.core.traffic import CAUSE, Cause, Direction
from tui.host.error_sentences import unanswered
from tui.host.frames import reconnection
from tui.host.frames.link import RequestError
from tui.host.host import Host
from tui.host.server.host_context import HostContext
from tui.host.transports.remote import RemoteTransport


def remote(server, sink=None, **spec):
    given = ServerSpec("far", transport=Transport.WEBSOCKET, url=server.url, **spec)
    return RemoteTransport(given, WebSocket, sink=Sink() if sink is None else sink)


async def hold(peer, message):
    """Never answer."""


def complete(message):
    return {"jsonrpc": "2.0", "id": message["id"], "result": {"resultType": "complete", "content": []}}


class Session(NamedTuple):
    server: WebSocketServer
    client: Client
    transport: RemoteTransport
    sink: Sink


@asynccontextmanager
async def session(call=None, **how):
    """Connect to a server that answers calls by `call`, if it is given."""
    sink = Sink()
    async with websocket_server(answers={"tools/call": call} if call else {}, **how) as server:
        async with Client(transport := remote(server, sink)) as client:
            yield Session(server, client, transport, sink)


def calls_to(server):
    return [one["params"]["arguments"] for one in server.asked if one.get("method") == "tools/call"]


@ERAS
async def test_a_call_is_sent_and_every_message_is_recorded(modern):
    async with session(modern=modern) as (server, client, transport, sink):
        assert client.protocol_version == (MODERN if modern else LEGACY)
        CAUSE.set(Cause(1, 2, "c"))
        assert text(await client.call_tool("echo", {"text": "héllo"})) == {"text": "héllo"}
        assert (transport.reach.kind, transport.reach.answers) == ("WebSocket", True)
        assert transport.reach.where == server.url
    sent = [one for one in sink.messages(Direction.OUT) if "id" in one]
    heard = [one for one in sink.messages(Direction.IN) if "id" in one]
    assert {one["id"] for one in sent} == {one["id"] for one in heard}
    [call] = [one for one in sink if b"tools/call" in one.raw]
    assert call.cause == Cause(1, 2, "c")
    assert server.peers[0].headers["sec-websocket-protocol"] == "mcp"
    assert [one.code for one in server.events if isinstance(one, CloseConnection)] == [1000]


async def test_configured_headers_are_sent():
    async with websocket_server() as server, Client(remote(server, headers={"Authorization": "Bearer x"})):
        assert server.peers[0].headers["authorization"] == "Bearer x"


async def test_a_message_in_several_frames_with_a_ping_between_is_one_message():
    async def pieces(peer, message):
        raw = json.dumps(complete(message), indent=1)
        peer.send(TextMessage(data=raw[:20], message_finished=False))
        peer.send(Ping(payload=b"p"))
        peer.send(TextMessage(data=raw[20:]))

    async with session(pieces) as (server, client, _, _):
        assert not (await client.call_tool("echo", {})).is_error
        await until(lambda: any(isinstance(one, Pong) for one in server.events))


async def test_the_server_is_notified_of_a_cancelled_call():
    async with session(hold) as (server, client, _, _):
        call = asyncio.create_task(client.call_tool("echo", {}))
        await until(lambda: any(one.get("method") == "tools/call" for one in server.asked))
        call.cancel()
        await until(lambda: server.asked[-1].get("method") == "notifications/cancelled")


async def test_noise_is_counted_and_harmless():
    async def noisy(peer, message):
        peer.send(BytesMessage(data=b"\x00\x01"))
        peer.send(TextMessage(data="hello"))
        peer.send(TextMessage(data=""))
        peer.say({"jsonrpc": "2.0", "id": 7, "result": {}})
        peer.say(complete(message))

    async with session(noisy) as (_, client, transport, _):
        await client.call_tool("echo", {})
        assert transport.messages.noise == 2


async def test_a_binary_response_fails_its_call_at_once():
    async def binary(peer, message):
        peer.send(BytesMessage(data=json.dumps(complete(message)).encode()))

    async with session(binary) as (_, client, _, _):
        with pytest.raises(RequestError, match="the server's response is invalid: a binary message"):
            await client.call_tool("echo", {})


async def test_a_message_that_is_too_large_fails_only_its_call():
    async def large(peer, message):
        head = f'{{"jsonrpc":"2.0","id":{message["id"]},"result":{{"content":[{{"type":"text","text":"'
        peer.send(TextMessage(data=head, message_finished=False))
        for _ in range(25):
            peer.send(TextMessage(data="x" * (1 << 20), message_finished=False))
        peer.send(TextMessage(data='"}]}}'))

    async with session(large) as (_, client, _, sink):
        with pytest.raises(RequestError, match="result too large: a message of 26 MB"):
            await client.call_tool("echo", {})
        assert (await client.list_tools()).tools
        [entry] = [one for one in sink if one.size > 17 << 20]
        assert len(entry.raw) < 1 << 20


@pytest.mark.parametrize(
    ("code", "reason", "said"),
    [
        (1000, "", "the server closed the WebSocket with code 1000 (normal closure)."),
        (1008, "oops", "with code 1008 (policy violation): “oops”."),
        (4321, "bye", "with code 4321: “bye”."),
    ],
)
async def test_a_close_frame_ends_the_connection_and_its_code_is_recorded(code, reason, said):
    async def close(peer, message):
        peer.send(CloseConnection(code=code, reason=reason))

    async with session(close) as (_, client, transport, sink):
        with pytest.raises(RequestError) as found:
            await client.call_tool("echo", {})
        assert said in str(found.value)
        await until(transport.exited.is_set)
    assert said in transport.fatal
    assert sink.events("disconnect")[0]["code"] == code


@ERAS
@pytest.mark.parametrize("code", [0, 1011])
async def test_a_lost_connection_fails_pending_calls_and_is_reopened(modern, code, monkeypatch):
    monkeypatch.setattr(reconnection, "FIRST_SECONDS", 0.01)

    async def lose(peer, message):
        server.answers.clear()
        if code:
            peer.send(CloseConnection(code=code))
        else:
            peer.writer.transport.abort()

    async with session(lose, modern=modern) as (server, client, transport, sink):
        with pytest.raises(RequestError):
            await client.call_tool("echo", {})
        assert text(await client.call_tool("echo", {"text": "again"})) == {"text": "again"}
        assert not transport.fatal
    assert calls_to(server) == [{}, {"text": "again"}]
    assert len(server.peers) == 2
    opened = [one.get("method") for one in server.asked if one.get("method") == "initialize"]
    assert len(opened) == (0 if modern else 2)
    assert len(sink.events("session opened again")) == (0 if modern else 1)


async def test_the_connection_ends_if_the_server_does_not_come_back(monkeypatch):
    monkeypatch.setattr(reconnection, "FIRST_SECONDS", 0.001)
    async with session() as (server, client, transport, _):
        await client.list_tools()
        await server.stop()
        await until(transport.exited.is_set)
        assert "cannot connect to" in transport.fatal
        with pytest.raises(RequestError):
            await client.call_tool("echo", {})


async def test_a_server_that_came_back_behind_a_gateway_is_asked_again_although_it_was_refused(monkeypatch):
    monkeypatch.setattr(reconnection, "FIRST_SECONDS", 0.1)
    async with session() as (server, client, transport, sink):
        await client.list_tools()
        server.refusal = reply(b"no such app", "404 Not Found", "text/plain")
        server.peers[0].writer.transport.abort()
        await until(lambda: transport.reach.status == 404)
        server.refusal = b""
        await until(lambda: sink.events("stream opened again"))
        assert text(await client.call_tool("echo", {"text": "y"})) == {"text": "y"}
        assert not transport.fatal


async def test_the_connection_ends_if_the_server_answers_no_ping(monkeypatch):
    monkeypatch.setattr(websocket, "PING_SECONDS", 0.2)
    monkeypatch.setattr(reconnection, "REOPENS", 0)
    async with session(mute=True) as (_, _, transport, _):
        await until(transport.exited.is_set)
        assert transport.fatal == "no response to a ping within 0.2 s."


async def test_an_idle_server_is_pinged_and_remains_connected(monkeypatch):
    monkeypatch.setattr(websocket, "PING_SECONDS", 0.6)
    async with session() as (server, _, transport, _):
        await until(lambda: sum(isinstance(one, Ping) for one in server.events) > 2)
        assert not transport.exited.is_set()


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"refusal": reply(b"no", "404 Not Found", "text/plain")}, "HTTP 404 (Not Found)"),
        ({"refusal": reply(b"ok", "200 OK", "text/plain")}, "the server does not support WebSocket"),
        ({"protocol": "graphql-ws"}, "the server speaks “graphql-ws” over WebSocket, not “mcp”"),
    ],
)
async def test_an_endpoint_that_is_not_an_mcp_websocket_is_rejected_with_the_reason(how, said):
    async with websocket_server(**how) as server:
        transport = remote(server)
        async with transport:
            await until(transport.exited.is_set)
        assert said in transport.fatal and transport.next_step


async def test_an_address_where_nothing_listens_is_reported():
    async with websocket_server() as server:
        pass
    with refusing_port() as server.port:
        transport = remote(server)
        async with transport:
            await until(transport.exited.is_set)
    assert (
        f"cannot connect to ws://127.0.0.1:{server.port}" in transport.fatal
        and "Connection refused" in transport.fatal
    )


async def test_a_stop_is_bounded_even_if_the_server_never_closes():
    async with websocket_server(mute=True) as server:
        async with Client(remote(server)):
            began = time.monotonic()
        assert time.monotonic() - began < 15


async def test_a_storm_of_notifications_does_not_delay_the_response():
    async def storm(peer, message):
        notice = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": 1}}
        for _ in range(5_000):
            peer.say(notice)
        peer.say(complete(message))

    async with session(storm) as (_, client, _, _), asyncio.timeout(50):
        await client.call_tool("echo", {})


@ERAS
async def test_a_server_that_does_not_accept_a_new_connection_in_time_is_asked_again(modern, monkeypatch):
    monkeypatch.setattr(reconnection, "FIRST_SECONDS", 0.01)
    monkeypatch.setattr(reconnection, "HANDSHAKE_SECONDS", 0.5)
    async with session(modern=modern) as (server, client, _, sink):
        await client.list_tools()
        server.deaf = 1
        server.peers[0].writer.transport.abort()
        await until(lambda: not server.deaf)
        await until(lambda: len(server.peers) == 2)
        again = "stream opened again" if modern else "session opened again"
        await until(lambda: sink.events(again))
        assert text(await client.call_tool("echo", {"text": "y"})) == {"text": "y"}


async def test_a_call_is_not_sent_while_the_connection_is_reopened_for_long(monkeypatch):
    monkeypatch.setattr(reconnection, "FIRST_SECONDS", 0.01)
    monkeypatch.setattr("tui.host.transports.remote.READY_SECONDS", 0.2)
    async with session(modern=False) as (server, client, transport, _):
        await client.list_tools()
        server.answers["initialize"] = hold
        server.peers[0].writer.transport.abort()
        await until(lambda: len(server.peers) == 2)
        with pytest.raises(RequestError, match=r"is being reopened\. It was not sent\."):
            await client.call_tool("echo", {})
        assert unanswered(transport) == "It was not sent: the connection is being reopened."
        assert not transport.fatal and not calls_to(server)


async def test_a_new_session_that_the_server_rejects_is_not_used(monkeypatch):
    monkeypatch.setattr(reconnection, "FIRST_SECONDS", 0.001)

    async def reject(peer, message):
        peer.say({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32603, "message": "busy"}})

    async with session(modern=False) as (server, client, transport, sink):
        await client.list_tools()
        server.answers["initialize"] = reject
        server.peers[0].writer.transport.abort()
        await until(transport.exited.is_set)
        assert transport.fatal == "the server refused a new session: “busy”."
        assert not sink.events("session opened again")


async def test_a_flood_of_pings_whose_answers_nobody_reads_takes_no_memory():
    async with session() as (server, client, _, sink):
        await client.list_tools()
        peer = server.peers[0]
        peer.writer.transport.pause_reading()
        tracemalloc.start()
        try:
            for _ in range(10):
                peer.writer.write(b"\x89\x00" * 1000)
                await peer.writer.drain()
            peer.say({"jsonrpc": "2.0", "method": "notifications/after_the_flood"})
            await until(lambda: any(b"after_the_flood" in one.raw for one in sink))
            assert tracemalloc.get_traced_memory()[0] < 1_000_000, tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
            peer.writer.transport.resume_reading()


async def test_the_bytes_of_an_unfinished_message_are_counted_until_it_ends():
    async def half(peer, message):
        peer.send(TextMessage(data="x" * 1000, message_finished=False))

    async with session(half) as (server, client, transport, _):
        calling = asyncio.create_task(client.call_tool("echo", {}))
        await until(lambda: transport.incomplete == 1000)
        server.peers[-1].send(TextMessage(data="", message_finished=True))
        await until(lambda: transport.incomplete == 0)
        calling.cancel()


async def test_a_message_that_never_ends_ends_the_connection(monkeypatch):
    monkeypatch.setattr(websocket, "ENDLESS", 100_000)

    async def endless(peer, message):
        peer.send(TextMessage(data="x" * 100_001, message_finished=False))

    async with session(endless) as (_, client, _, _):
        with pytest.raises(RequestError, match="without ending a message"):
            await client.call_tool("echo", {})


__all__ = ["certificate"]


@pytest.fixture
def trusted(certificate, monkeypatch):
    """Return the TLS context of a server whose certificate is trusted through the environment."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))
    return certificate[1]


@asynccontextmanager
async def connected(url: str):
    host = Host(
        [ServerSpec("far", transport=Transport.WEBSOCKET, url=url)],
        HostContext(lambda captured: None),
    )
    await host.start("far")
    try:
        yield host
    finally:
        await host.shutdown()


async def echoed(host: Host) -> str:
    (tool,) = host.toolbox.tools()
    result = await host.toolbox.call(tool, {"text": "x"}, seconds=10, progress=lambda *_: None)
    return result.content[0].text


class Tunnel:
    """A proxy that opens tunnels (CONNECT) to `server`, whatever host it is asked for, or refuses to."""

    def __init__(self, server: WebSocketServer, refusal: bytes = b"") -> None:
        self.asked: list[str] = []
        self.port = 0
        self._server = server
        self._refusal = refusal
        self._open = 0

    @asynccontextmanager
    async def running(self):
        listening = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = listening.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            listening.close()
            await listening.wait_closed()
            await until(lambda: not self._open)

    async def _serve(self, reader, writer):
        self._open += 1
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            self.asked.append(head.split("\r\n", 1)[0])
            if self._refusal:
                writer.write(self._refusal)
                return
            inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", self._server.port)
            writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
            await asyncio.gather(_pump(reader, inner_writer), _pump(inner_reader, writer))
        finally:
            writer.close()
            self._open -= 1


async def _pump(reader, writer):
    with contextlib.suppress(ConnectionError):
        while block := await reader.read(65536):
            writer.write(block)
            await writer.drain()
    writer.close()


@pytest.fixture
def through(monkeypatch):
    """Set a proxy for secure connections to every host in the environment."""

    def use(port: int) -> None:
        for name in ("no_proxy", "NO_PROXY", "all_proxy", "ALL_PROXY", "HTTPS_PROXY"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{port}")

    return use


async def test_an_untrusted_certificate_is_rejected_with_the_reason(certificate, monkeypatch):
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    async with websocket_server(tls=certificate[1]) as server, connected(server.url) as host:
        status = host.status("far")
        assert status.detail.startswith("TLS connection to wss://127.0.0.1:")
        assert " failed: " in status.detail and "signed certificate" in status.detail
        assert server.asked == []


async def test_a_secure_connection_uses_a_tunnel_through_the_proxy(trusted, through):
    async with websocket_server(tls=trusted) as server, Tunnel(server).running() as proxy:
        through(proxy.port)
        async with connected(server.url) as host:
            assert host.status("far").reach.where == server.url
            assert await echoed(host) == '{"text": "x"}'
        assert proxy.asked == [f"CONNECT 127.0.0.1:{server.port} HTTP/1.1"]


async def test_a_proxy_that_refuses_the_tunnel_is_reported(trusted, through):
    refusal = b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n"
    async with websocket_server(tls=trusted) as server, Tunnel(server, refusal).running() as proxy:
        through(proxy.port)
        async with connected(server.url) as host:
            status = host.status("far")
        assert status.state is ServerState.STOPPED
        said = f"the proxy http://127.0.0.1:{proxy.port} (https_proxy) rejected wss://127.0.0.1"
        assert said in status.detail and "403" in status.detail
        assert "https_proxy" in status.next_step
