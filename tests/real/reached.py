"""One server in the real host, for tests that use what it offers."""

import json
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.conftest import until
from tests.hosts import running
from tui.core.questions import Questioner
from tui.core.servers import ServerSpec, ServerState
from tui.core.tools import TextContent, Tool, ToolResult
from tui.core.traffic import Captured, Direction
from tui.host.host import Host
from tui.host.server.host_context import Answerers

NAME = "server"
SECONDS = 20.0
STALL_SECONDS = 10.0


@dataclass
class Reached:
    """A running server and its traffic."""

    host: Host
    captured: list[Captured] = field(default_factory=list)

    def tools(self) -> dict[str, Tool]:
        return {tool.name: tool for tool in self.host.workbench.tools(NAME)}

    async def call(self, tool: str, /, **arguments: Any) -> ToolResult:
        """Call a tool once it is listed: some servers add tools only after the handshake."""
        await until(lambda: tool in self.tools(), what=f"{tool} is listed")
        return await self.host.workbench.call_tool(
            self.tools()[tool], arguments, call="hand-1", seconds=SECONDS, progress=lambda *_: None
        )

    async def text(self, tool: str, /, **arguments: Any) -> str:
        """Call a tool and return the text of its result."""
        return text_of(await self.call(tool, **arguments))

    async def result(self, method: str, **params: Any) -> Any:
        """Return the result of a request as the server sent it."""
        answer = await self.host.workbench.request(NAME, method, params, call="hand-2", seconds=SECONDS)
        assert not answer.problem and answer.error is None, answer
        return answer.result

    async def resource(self, uri: str) -> ToolResult:
        return await self.host.workbench.read_resource(NAME, uri, call="hand-3", seconds=SECONDS)

    def messages(self, direction: Direction) -> list[Mapping[str, Any]]:
        """Return the messages in one direction."""
        found = []
        for one in self.captured:
            if one.direction is direction and one.raw.startswith(b"{"):
                found.append(json.loads(one.raw))
        return found


def text_of(result: ToolResult) -> str:
    return "\n".join(part.text for part in result.content if isinstance(part, TextContent))


@asynccontextmanager
async def reached(spec: ServerSpec, questioner: Questioner | None = None) -> AsyncIterator[Reached]:
    """Start the host with one server named NAME, and fail unless it runs.

    After its first response nothing may stall for `STALL_SECONDS`.
    """
    captured: list[Captured] = []
    answerers = Answerers(questioner=questioner)
    async with running(spec, sink=captured.append, answerers=answerers) as host:
        running_ns = time.monotonic_ns()
        status = host.status(NAME)
        assert status.state is ServerState.RUNNING, (status.detail, status.next_step, host.stderr(NAME))
        first_ns = min(one.mono_ns for one in captured if one.direction is Direction.IN and one.raw)
        assert running_ns - first_ns < STALL_SECONDS * 1e9
        yield Reached(host, captured)
