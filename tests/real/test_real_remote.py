"""The official server-everything over HTTP and HTTP+SSE, and an SDK server over HTTP."""

import asyncio
import os
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tests.conftest import until
from tests.real.installed import EVERYTHING, needs
from tui.core.ports import MonotonicClock
from tui.core.servers import ServerSpec, ServerState
from tui.core.servers import Transport as How
from tui.core.tools import ToolResult
from tui.host.host import Host

everything = pytest.mark.parametrize(
    ("mode", "path", "kind"), [("streamableHttp", "/mcp", "HTTP"), ("sse", "/sse", "HTTP+SSE")]
)
OWN = """
import sys
from mcp.server.mcpserver import MCPServer
app = MCPServer("own", log_level="ERROR")
@app.tool()
def add(a: int, b: int) -> int:
    return a + b
app.run(transport="streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
"""


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@asynccontextmanager
async def serving(*command: str, port: int) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run a server during the block; wait until it listens."""
    process = await asyncio.create_subprocess_exec(
        *command,
        env={**os.environ, "PORT": str(port)},
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )

    def listening() -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    try:
        await until(listening, 30)
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


@asynccontextmanager
async def connected(*specs: ServerSpec) -> AsyncIterator[Host]:
    host = Host(specs, sink=lambda captured: None, clock=MonotonicClock())
    await host.start_all()
    try:
        yield host
    finally:
        await host.shutdown()


def at(url: str) -> ServerSpec:
    return ServerSpec("far", transport=How.HTTP, url=url, sse_fallback=True)


async def call(host: Host, name: str, progress=lambda *_: None, server="far", **arguments) -> ToolResult:
    tool = next(one for one in host.toolbox.tools() if (one.server, one.name) == (server, name))
    return await host.toolbox.call(tool, arguments, seconds=20, progress=progress)


class TestEverything:
    pytestmark = needs(EVERYTHING)

    @everything
    async def test_every_transport_offers_the_same(self, mode, path, kind):
        port = free_port()
        near = ServerSpec("near", str(EVERYTHING), ("stdio",))
        async with serving(str(EVERYTHING), mode, port=port):
            async with connected(at(f"http://127.0.0.1:{port}{path}"), near) as host:
                assert host.status("far").reach.kind == kind
                await until(lambda: len({s.tools for s in host.statuses()}) == 1, 5, "as many tools")
                tools = {"far": {}, "near": {}}
                for tool in host.toolbox.tools():
                    tools[tool.server][tool.name] = tool.schema
                missing = {"simulate-research-query"}  # the server offers it over some transports only
                assert tools["far"].keys() - missing == tools["near"].keys() - missing
                assert all(tools["near"].get(name, schema) == schema for name, schema in tools["far"].items())
                counts = [(one.resources, one.prompts) for one in host.statuses()]
                assert counts[0] == counts[1]
                for name, given in (("echo", {"message": "hi"}), ("get-sum", {"a": 2, "b": 3})):
                    far = await call(host, name, **given)
                    assert far == await call(host, name, server="near", **given)

    @everything
    async def test_progress_arrives_while_the_call_runs(self, mode, path, kind):
        port, seen = free_port(), []
        async with serving(str(EVERYTHING), mode, port=port):
            async with connected(at(f"http://127.0.0.1:{port}{path}")) as host:
                result = await call(
                    host,
                    "trigger-long-running-operation",
                    lambda done, total, message: seen.append((done, total)),
                    duration=1,
                    steps=4,
                )
        assert not result.is_error
        assert seen and seen[-1][1] == 4

    @everything
    async def test_calls_work_again_after_the_server_restarts(self, mode, path, kind):
        port = free_port()
        async with serving(str(EVERYTHING), mode, port=port) as process:
            async with connected(at(f"http://127.0.0.1:{port}{path}")) as host:
                assert not (await call(host, "echo", message="a")).is_error
                process.kill()
                await process.wait()
                assert (await call(host, "echo", message="b")).is_error
                async with serving(str(EVERYTHING), mode, port=port):
                    await until(lambda: host.status("far").reach.answers or mode != "sse", 20)
                    assert not (await call(host, "echo", message="c")).is_error
                    assert host.status("far").restarts == 0


async def test_calls_to_an_sdk_server_work_again_after_it_restarts():
    port = free_port()
    async with serving(sys.executable, "-c", OWN, str(port), port=port) as process:
        async with connected(at(f"http://127.0.0.1:{port}/mcp")) as host:
            assert host.status("far").protocol == "2026-07-28"
            assert (await call(host, "add", a=1, b=2)).structured == {"result": 3}
            process.kill()
            await process.wait()
            assert (await call(host, "add", a=1, b=2)).is_error
            async with serving(sys.executable, "-c", OWN, str(port), port=port):
                assert (await call(host, "add", a=2, b=2)).structured == {"result": 4}
            assert host.status("far").state is ServerState.RUNNING
