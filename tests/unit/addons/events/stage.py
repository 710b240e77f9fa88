"""The server of events_server.py, over stdio or HTTP, and a host that runs it."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.configurations import server
from tests.hosts import running
from tests.terminal.forking_python import Python
from tui.core.jsonrpc.extensions import EVENTS
from tui.core.servers import ServerSpec, Transport
from tui.host.host import Host

ROOT = Path(__file__).parents[4]
SCRIPT = Path(__file__).with_name("events_server.py")
ENV = {"PYTHONPATH": str(ROOT)}


@asynccontextmanager
async def served(*switches: str, over: str = "stdio") -> AsyncIterator[ServerSpec]:
    """Yield the spec of the server, which runs already if it is remote: `over` stdio, sdk (stdio) or http."""
    if over != "http":
        program, words = (Python.command, (*switches, "sdk")) if over == "sdk" else (sys.executable, switches)
        yield ServerSpec("srv", program, (str(SCRIPT), *words), env=ENV)
        return
    process = await asyncio.create_subprocess_exec(
        *(Python.command, str(SCRIPT), "http", *switches),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=ENV,
    )
    assert process.stdout is not None
    try:
        port = int(await process.stdout.readline())
        yield ServerSpec("srv", transport=Transport.HTTP, url=f"http://127.0.0.1:{port}/mcp")
    finally:
        process.kill()
        await process.wait()


@asynccontextmanager
async def hosting(*switches: str, over: str = "stdio") -> AsyncIterator[Host]:
    """Start the server in a host."""
    async with served(*switches, over=over) as spec, running(spec) as host:
        assert host.workbench.extension("srv", EVENTS) == {}
        yield host


class HostedServer:
    """A `tui.addons.events.delivery.Server` over a host."""

    def __init__(self, host: Host) -> None:
        self._host = host

    async def request(self, method: str, params: Any, seconds: float) -> Any:
        return await self._host.workbench.request("srv", method, params, call="", seconds=seconds, as_is=True)

    async def stream(self, method: str, params: Any, heard: Any) -> Any:
        return await self._host.workbench.stream("srv", method, params, heard)


def hub(*switches: str, **values: Any) -> str:
    """Return the table of the server in a configuration file."""
    return server("hub", SCRIPT, *switches, env=ENV, **values)
