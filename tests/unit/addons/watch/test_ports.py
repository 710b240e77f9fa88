"""Whether somebody answers on a port."""

import asyncio

from tui.addons.watch.ports import answers, free_port, place_of, restarted_itself


async def listening(port: int) -> asyncio.Server:
    return await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", port)


async def test_a_server_that_restarts_itself_is_waited_for():
    port = free_port()
    assert not await answers("127.0.0.1", port)
    waiting = asyncio.create_task(restarted_itself(f"http://127.0.0.1:{port}/mcp"))
    await asyncio.sleep(0)
    async with await listening(port):
        assert await answers("127.0.0.1", port)
        async with asyncio.timeout(10):
            await waiting


def test_a_url_without_a_port_has_that_of_its_scheme():
    assert (place_of("https://a.example/mcp"), place_of("http://a.example")) == (
        ("a.example", 443),
        ("a.example", 80),
    )
