"""Hosts over the servers of a test, and calls of their tools."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tui.core.servers import ServerSpec, Transport
from tui.core.time_limits import CallTimeout
from tui.core.tools import Tool, ToolResult
from tui.core.traffic import Captured
from tui.host.host import Host
from tui.host.server.host_context import HostContext


def ignore(captured: Captured) -> None:
    """Keep nothing of the traffic."""


class Raw(list[bytes]):
    """A sink that keeps the bytes of the traffic."""

    def __call__(self, captured: Captured) -> None:
        self.append(captured.raw)


def host_of(*specs: ServerSpec, **more: Any) -> Host:
    """Return a host that ignores the traffic. Its servers do not run yet."""
    return Host(specs, HostContext(**{"sink": ignore} | more))


@asynccontextmanager
async def running(*specs: ServerSpec, **more: Any) -> AsyncIterator[Host]:
    """Start servers in a host, which is shut down in the end."""
    host = host_of(*specs, **more)
    try:
        await host.start_all()
        yield host
    finally:
        await host.shutdown()


def far(server: Any, transport: Transport = Transport.HTTP, *, name: str = "far", **more: Any) -> ServerSpec:
    """Return the spec of a remote server that the test runs."""
    return ServerSpec(name, transport=transport, url=server.url, **more)


def tool_of(host: Host, name: str = "") -> Tool:
    """Return an offered tool; without a name, the first one."""
    return next(tool for tool in host.toolbox.tools() if name in ("", tool.name))


async def called(
    host: Host, tool: str | Tool = "", seconds: float | CallTimeout = 20.0, **arguments: object
) -> ToolResult:
    """Call a tool, or the offered one of this name; without a name, the first one."""
    wanted = tool if isinstance(tool, Tool) else tool_of(host, tool)
    return await host.toolbox.call(wanted, arguments, seconds=seconds, progress=lambda *_: None)


def text_of(result: ToolResult) -> str:
    """Return all text of a result."""
    return "\n".join(getattr(item, "text", "") for item in result.content)
