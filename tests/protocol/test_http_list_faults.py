"""Invalid or hanging lists and endless lines over HTTP: a bad part affects only itself."""

import asyncio
import contextlib
import json
import time

import psutil

from tests.http_server import ECHO, STREAM, Asked, http_server, reply
from tests.protocol.test_http_faults import ERAS, MIB, call, connected, text
from tui.core.servers import ServerState

DEPTH = 2_000
MOST_MIB = 64
"""The memory that an endless line may use: a few times the maximum message size."""


def deep(asked: Asked) -> bytes:
    """Return a list of two tools, one with a schema nested too deeply for a recursive reader."""
    schema = '{"type": "object", "properties": {"x": ' * DEPTH + "{}" + "}}" * DEPTH
    tools = [ECHO, ECHO | {"name": "deep", "inputSchema": "@"}]
    result = {"tools": tools, "ttlMs": 0, "cacheScope": "private", "resultType": "complete"}
    body = json.dumps({"jsonrpc": "2.0", "id": asked.message["id"], "result": result})
    return reply(body.replace('"@"', schema).encode())


@ERAS
async def test_a_too_deeply_nested_schema_omits_only_its_tool(modern):
    async def answer(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(deep(asked))

    async with (
        http_server(modern=modern, answers={"tools/list": answer}) as server,
        connected(server) as (host, _),
    ):
        assert host.status("far").state is ServerState.RUNNING
        assert [tool.name for tool in host.toolbox.tools()] == ["echo"]
        assert "nests deeper than" in str(host.status("far"))
        assert text(await call(host, n=1)) == '{"n": 1}'


@ERAS
async def test_a_hanging_list_leaves_a_connected_server_without_tools(modern):
    over = asyncio.Event()

    async def hang(asked: Asked, writer: asyncio.StreamWriter) -> None:
        await over.wait()

    async with http_server(modern=modern, answers={"tools/list": hang}) as server:
        began = time.monotonic()
        async with connected(server, start_seconds=2.0) as (host, _):
            assert time.monotonic() - began < 10
            status = host.status("far")
            assert status.state is ServerState.RUNNING
            assert not host.toolbox.tools()
            assert "no response within" in str(status)
            over.set()


@ERAS
async def test_an_event_with_an_endless_line_fails_its_call_and_uses_little_memory(modern):
    poured = 0

    async def pour(asked: Asked, writer: asyncio.StreamWriter) -> None:
        nonlocal poured
        writer.write(STREAM + b"\r\ndata: ")
        with contextlib.suppress(ConnectionError):
            while True:
                writer.write(b"x" * MIB)
                await writer.drain()
                poured += 1

    async with http_server(modern=modern) as server, connected(server) as (host, _):
        server.once["tools/call"] = pour
        before = psutil.Process().memory_info().rss
        said = text(await call(host, seconds=20.0))
        assert "too large" in said, said
        assert psutil.Process().memory_info().rss - before < MOST_MIB * MIB
        assert poured < 200
        assert text(await call(host, n=2)) == '{"n": 2}'
        assert (host.status("far").state, host.status("far").restarts) == (ServerState.RUNNING, 0)


@ERAS
async def test_a_result_of_many_small_parts_is_accepted(modern):
    async def many(asked: Asked, writer: asyncio.StreamWriter) -> None:
        content = [{"type": "text", "text": str(number)} for number in range(100_000)]
        result = {"content": content, "resultType": "complete"}
        writer.write(reply({"jsonrpc": "2.0", "id": asked.message["id"], "result": result}))

    async with http_server(modern=modern) as server, connected(server) as (host, _):
        server.once["tools/call"] = many
        result = await call(host)
        assert text(result) == "0"
        assert text(await call(host, n=2)) == '{"n": 2}'
