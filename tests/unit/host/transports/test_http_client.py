"""The path of HTTP requests: redirects, and the tap."""

import httpx2
import pytest

from tests.http_server import http_server, reply, says
from tui.core.web import MAX_COOKIES
from tui.host.sign_in import authorization_server
from tui.host.transports.http_client import TappedTransport, open_client, send_within_origin


class Requests:
    def __init__(self, server):
        self.captured = []
        self.client = open_client(TappedTransport("far", self.captured.append, lambda response: None), {})
        self.server = server

    async def __aenter__(self):
        request = self.client.build_request("POST", self.server.url, content=b'{"method":"m"}')
        self.response = await send_within_origin(self.client, request)
        await self.response.aread()
        return self

    async def __aexit__(self, *_):
        await self.response.aclose()
        await self.client.aclose()


async def test_a_redirect_within_the_origin_is_followed_with_its_body():
    async with http_server(
        once={"m": says(reply(b"", "307 Temporary Redirect", "", location="/mcp/"))}
    ) as server:
        async with Requests(server) as done:
            assert done.response.status_code == 202
    assert [(one.path, one.message) for one in server.asked] == [
        ("/mcp", {"method": "m"}),
        ("/mcp/", {"method": "m"}),
    ]


@pytest.mark.parametrize(
    ("status", "location"),
    [("302 Found", "/mcp/"), ("307 Temporary Redirect", "http://other.example/mcp")],
)
async def test_any_other_redirect_is_not_followed(status, location):
    async with http_server(once={"m": says(reply(b"", status, "", location=location))}) as server:
        async with Requests(server) as done:
            assert done.response.status_code == int(status[:3])
    assert len(server.asked) == 1


def endless(head: bytes, block: bytes = b"x" * 65536):
    """Return an answerer whose body does not end, and the list of the sizes of what it sent."""
    sent: list[int] = []

    async def answer(asked, writer):
        writer.write(head)
        while not writer.is_closing():
            writer.write(block)
            await writer.drain()
            sent.append(len(block))

    return answer, sent


MOVED = b"HTTP/1.1 307 Temporary Redirect\r\nlocation: /mcp/\r\nconnection: close\r\n\r\n"


async def test_the_endless_body_of_a_redirect_is_not_read():
    answer, sent = endless(MOVED)
    async with http_server(once={"m": answer}) as server, Requests(server) as done:
        assert done.response.status_code == 202
    assert sum(sent) < 32 * 2**20  # what fits into the buffers of the socket


async def test_the_slow_body_of_a_redirect_is_given_up(monkeypatch):
    monkeypatch.setattr(authorization_server, "DISCARDED_SECONDS", 0.05)
    slow = MOVED.replace(b"connection: close", b"content-length: 1000")
    async with http_server(once={"m": says(slow)}) as server, Requests(server) as done:
        assert done.response.status_code == 202


async def test_a_redirect_with_a_short_body_keeps_its_connection():
    ports = set()

    async def answer(asked, writer):
        ports.add(writer.get_extra_info("peername"))
        moved = asked.path == "/mcp"
        writer.write(reply(b"see /mcp/", "307 Moved", "text/plain", location="/mcp/") if moved else reply())

    async with http_server(answers={"m": answer}) as server, Requests(server) as done:
        assert done.response.status_code == 200
    assert len(ports) == 1


async def test_a_header_that_cannot_be_sent_is_named_in_the_traffic_without_its_value():
    captured = []
    tapped = TappedTransport("s", captured.append, lambda response: None)
    async with http_server() as server, open_client(tapped, {"x-team": "a\nsecret"}) as client:
        with pytest.raises(httpx2.LocalProtocolError, match=r"^invalid header x-team$"):
            await client.post(server.url)
    assert next(one.detail["why"] for one in captured if "why" in one.detail) == "invalid header x-team"


async def test_only_the_newest_cookies_are_kept_and_none_over_four_kilobytes():
    set_cookies = "".join(f"set-cookie: c{number}=v{number}\r\n" for number in range(MAX_COOKIES + 5))
    large = f"set-cookie: large={'x' * 5000}\r\n"
    answer = reply(b"{}").replace(b"\r\n", f"\r\n{set_cookies}{large}".encode(), 1)
    async with http_server(answers={"m": says(answer)}) as server, Requests(server) as done:
        again = await send_within_origin(
            done.client, done.client.build_request("POST", server.url, content=b"{}")
        )
        await again.aclose()
        sent = server.asked[-1].headers["cookie"].split("; ")
    assert len(sent) == MAX_COOKIES - 1  # the large one took the place of another
    assert f"c{MAX_COOKIES + 4}=v{MAX_COOKIES + 4}" in sent and "c0=v0" not in sent


async def test_the_cookies_of_many_responses_are_bounded_too():
    async def answer(asked, writer):
        number = len(server.asked)
        writer.write(reply(b"{}", set_cookie=f"c{number}=v{number}"))
        await writer.drain()

    async with http_server(answers={"m": answer}) as server, Requests(server) as done:
        for _ in range(MAX_COOKIES + 10):
            request = done.client.build_request("POST", server.url, content=b'{"method":"m"}')
            response = await send_within_origin(done.client, request)
            await response.aread()
            await response.aclose()
        assert len(server.asked[-1].headers["cookie"].split("; ")) == MAX_COOKIES
