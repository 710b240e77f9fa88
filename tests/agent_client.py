"""A coding agent in a test: `mcptui agent` as a process, asked over the client of the SDK."""

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import Implementation

from tui.core.context.context_meter import estimate


@dataclass
class Agent:
    """Calls tools of `mcptui agent`. `said` are all answers, of which `tokens` is the size."""

    session: ClientSession
    said: list[str] = field(default_factory=list)

    async def call(self, tool: str, /, **arguments: Any) -> str:
        """Return the text of a result that is not an error."""
        text, is_error = await self.result(tool, **arguments)
        assert not is_error, text
        return text

    async def refused(self, tool: str, /, **arguments: Any) -> str:
        """Return the text of a result that is an error."""
        text, is_error = await self.result(tool, **arguments)
        assert is_error, text
        return text

    async def result(self, tool: str, /, **arguments: Any) -> tuple[str, bool]:
        result = await self.session.call_tool(tool, arguments)
        self.said.append("\n".join(part.text for part in result.content if part.type == "text"))
        return self.said[-1], bool(result.is_error)

    @property
    def tokens(self) -> int:
        return sum(map(estimate, self.said))


@asynccontextmanager
async def agent(folder: Path, *words: str, name: str = "claude-code") -> AsyncIterator[Agent]:
    """Start `mcptui agent` in a folder."""
    started = StdioServerParameters(
        command=sys.executable, args=["-m", "tui", "agent", *words], env=dict(os.environ), cwd=folder
    )
    failure: Exception | None = None
    async with (
        stdio_client(started) as (inbound, outbound),
        ClientSession(inbound, outbound, client_info=Implementation(name=name, version="1")) as session,
    ):
        await session.initialize()
        try:
            yield Agent(session)
        except Exception as error:  # as it is, not in two groups of the client's tasks
            failure = error
    if failure is not None:
        raise failure
