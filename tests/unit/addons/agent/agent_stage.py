"""An agent with recordings to read: its tools in this process, or `mcptui agent` as a process of its own."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

from mcp import types
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.terminal.forking_python import Python
from tests.unit.traffic.traffic_script import Script
from tui.addons.agent.answer import rendered
from tui.addons.agent.context import AgentContext
from tui.addons.agent.tools import all_tools, checked
from tui.settings.locations import state_dir
from tui.storage.recordings.writer import RecordingWriter

NAME = "20260101T000000Z-1"


def keep(script: Script, name: str = NAME, **meta: str) -> Path:
    """Store a script as a recording in the folder."""
    path = state_dir() / "recordings" / f"{name}.mcptrace"
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(RecordingWriter(path, meta={"program": "mcptui", "command": "", **meta})) as writer:
        writer.write(script.entries)
    return path


def files(calls: int = 1) -> Script:
    """Return a session with the server "files" in which calls of `read` work."""
    script = Script("files").legacy()
    tool = {"name": "read", "description": "Read a file.", "inputSchema": {"type": "object"}}
    script.listed(tool)
    for number in range(calls):
        call = {"name": "read", "arguments": {"path": f"/{number}.txt"}}
        known = script.out("tools/call", call)
        script.result(known, {"content": [{"type": "text", "text": f"text {number}"}]})
    return script


class Agent:
    """Calls tools in this process."""

    def __init__(self, context: AgentContext) -> None:
        self.context = context
        self.more: dict[str, Any] = {}

    async def __call__(self, name: str, **given: Any) -> str:
        """Return the text of an answer; `more` has the arguments for what follows."""
        tool = all_tools()[name]
        answer = await tool.run(self.context, checked(given, tool.schema))
        self.more = dict(answer.more)
        return rendered(answer, self.context.redactor.redact_cut, name)


@asynccontextmanager
async def agent(recording: str | None = None) -> AsyncIterator[Agent]:
    """Return an agent that has begun."""
    context = AgentContext(None, recording)
    with closing(context):
        yield Agent(context)


@asynccontextmanager
async def connected(*options: str, mode: str = "auto", name: str = "claude-code") -> AsyncIterator[Client]:
    """Return the SDK's client of `mcptui agent`, in the era of `mode` (legacy, auto)."""
    command = StdioServerParameters(
        command=Python.command,
        args=["-m", "tui", "agent", *options],
        env=dict(os.environ),
        cwd=str(Path.cwd()),
    )
    info = types.Implementation(name=name, version="1")
    async with Client(stdio_client(command), mode=mode, client_info=info) as client:
        yield client


def text_of(result: Any) -> str:
    """Return the text of a tool's result."""
    return "\n".join(block.text for block in result.content)
