"""WebSocket over TLS, and through the proxy from the environment."""

import asyncio
import contextlib
from contextlib import asynccontextmanager

import pytest

from tests.conftest import until
from tests.unit.host.transports.test_streamable_http_secure import certificate
from tests.websocket_server import WebSocketServer, websocket_server
from tui.core.ports import MonotonicClock
from tui.core.servers import ServerSpec, ServerState, Transport
from tui.host.host import Host

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
        sink=lambda captured: None,
        clock=MonotonicClock(),
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


async def test_a_certificate_from_the_environment_is_trusted(trusted):
    async with websocket_server(tls=trusted) as server, connected(server.url) as host:
        assert server.url.startswith("wss://")
        assert host.status("far").reach.where == server.url
        assert await echoed(host) == '{"text": "x"}'


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
