"""What a host sends to its HTTP server through a tap, over real connections to the server."""

import asyncio

from tests.http_server import http_server, reply
from tui.commands.tap.http_passthrough import MAX_PEERS, HttpPassthrough, Peers


async def forward(passthrough, *headers):
    """Send a GET request of a host that stays connected; return what it gets."""
    got = []
    scope = {
        "type": "http",
        "method": "GET",
        "headers": [(b"host", b"127.0.0.1:1"), *headers],
        "raw_path": b"/",
        "path": "/",
        "query_string": b"",
    }

    async def send(message):
        got.append(message)

    await passthrough(scope, asyncio.Event().wait, send)
    return got


async def test_only_the_headers_of_the_host_are_sent_and_no_cookie_that_another_host_got():
    async def answer(asked, writer):
        writer.write(reply({}, set_cookie="session=of-the-first-host; Path=/"))

    async with http_server(answers={"GET": answer}) as server:
        passthrough = HttpPassthrough(server.url, "srv", lambda one: None)
        await forward(passthrough)
        await forward(passthrough, (b"cookie", b"own=1"), (b"x-other", b"2"))
        await forward(passthrough)
        await passthrough.close()
    sent = [{name: value for name, value in one.headers.items() if name != "host"} for one in server.asked]
    plain = {"accept-encoding": "identity"}
    assert sent == [plain, plain | {"cookie": "own=1", "x-other": "2"}, plain]


async def test_requests_take_the_proxy_of_the_environment(monkeypatch):
    async with http_server() as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        passthrough = HttpPassthrough("http://server.invalid/mcp", "srv", lambda one: None)
        await forward(passthrough)
        await passthrough.close()
    assert [one.headers["host"] for one in proxy.asked] == ["server.invalid"]


async def test_an_address_for_messages_that_is_no_url_is_passed_on_unchanged():
    stream = b"event: endpoint\ndata: http://[x?session_id=a\n\n"

    async def answer(asked, writer):
        writer.write(reply(stream, kind="text/event-stream"))

    async with http_server(answers={"GET": answer}) as server:
        passthrough = HttpPassthrough(server.url, "srv", lambda one: None)
        got = await forward(passthrough)
        await passthrough.close()
    assert b"".join(one.get("body", b"") for one in got) == stream
    assert not got[-1].get("more_body")


def came(port: int, query: str = "", session: str = "") -> dict[str, object]:
    headers = [(b"mcp-session-id", session.encode())] if session else []
    return {"headers": headers, "client": ("127.0.0.1", port), "query_string": query.encode()}


def test_a_client_is_known_by_its_session_over_all_of_its_connections():
    peers = Peers()
    first = peers.of(came(1))
    peers.know("mcp-session-id", "s", first)
    assert peers.of(came(2, session="s")) == first
    assert peers.of(came(3)) != first and peers.of(came(1)) == first


def test_a_client_of_http_sse_is_known_by_the_address_for_its_messages():
    peers = Peers()
    stream = peers.of(came(1))
    peers.know("", "session_id=a", stream)
    assert peers.of(came(2, query="session_id=a")) == stream
    assert peers.of(came(3, query="session_id=b")) != stream


def test_the_number_of_known_clients_is_bounded():
    peers = Peers()
    for port in range(MAX_PEERS + 10):
        peers.of(came(port))
    peers.know("mcp-session-id", "x" * 5000, 1)
    assert len(peers._known) == MAX_PEERS
