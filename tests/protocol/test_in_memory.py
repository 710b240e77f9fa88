"""Whole runs without a process, for long, and leaving nothing behind."""

import json
import subprocess
import sys

from mcp.server.mcpserver import Context, MCPServer

from tests.hosts import called, running, text_of
from tests.in_memory import in_memory
from tests.terminal.pty_app import ROOT
from tui.core.servers import ServerSpec, ServerState
from tui.core.traffic import Direction, Kind

server = MCPServer("inside")


@server.tool()
async def double(number: int, ctx: Context) -> int:
    """Double a number."""
    await ctx.report_progress(1, 1)
    return number * 2


async def test_tools_are_listed_and_called_and_every_message_is_recorded():
    taken = []
    spec = ServerSpec("inside", url="memory:")
    async with running(spec, sink=taken.append, open_with=in_memory(server)) as host:
        assert host.status("inside").state is ServerState.RUNNING
        result = await called(host, "double", number=4)
    assert (text_of(result), result.is_error) == ("8", False)
    messages = [(c.direction, json.loads(c.raw)) for c in taken if c.kind is None]
    call = next(message for _, message in messages if message.get("method") == "tools/call")
    answer = next(m for way, m in messages if way is Direction.IN and m.get("id") == call["id"])
    assert answer["result"]["structuredContent"] == {"result": 8}
    assert [c.detail["event"] for c in taken if c.kind is Kind.EVENT] == ["connect", "stop"]


def test_many_rounds_of_all_features_leak_nothing() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.soak", "--rounds", "5"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
