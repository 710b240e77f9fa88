"""What a host sends to its HTTP server through a tap, over real connections to the server."""

import asyncio

from tests.http_server import http_server, reply
from tui.host.passthrough.passthrough_http import HttpPassthrough


async def forward(passthrough, *headers):
    """Send a GET request of a host that stays connected."""
    scope = {
        "type": "http",
        "method": "GET",
        "headers": [(b"host", b"127.0.0.1:1"), *headers],
        "raw_path": b"/",
        "path": "/",
        "query_string": b"",
    }

    async def send(message):
        """Drop the response."""

    await passthrough(scope, asyncio.Event().wait, send)


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
