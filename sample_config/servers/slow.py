"""Sample MCP server: what goes wrong in real life, on demand.

One tool that takes its time and reports progress, one that fails, one that takes the whole process
down. For seeing how waiting, errors and a crash look in mcptui.
"""

import asyncio
import os
import sys
import time
from typing import Annotated

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import Field

READ_ONLY = ToolAnnotations(read_only_hint=True, open_world_hint=False)

server = MCPServer(
    "slow", version="1.0", instructions="Waits, fails and crashes on demand.", log_level="WARNING"
)


@server.tool(title="Count slowly", annotations=READ_ONLY, structured_output=False)
async def count_slowly(
    context: Context,
    seconds: Annotated[float, Field(description="How long to count.", gt=0, le=3600)] = 10,
) -> str:
    """Count the seconds one by one and report progress meanwhile."""
    started = time.monotonic()
    while (elapsed := time.monotonic() - started) < seconds:
        counted = int(elapsed)
        await context.report_progress(counted, seconds, f"{counted} of {seconds:g} seconds")
        await asyncio.sleep(min(counted + 1, seconds) - elapsed)
    await context.report_progress(seconds, seconds, "done")
    return f"Counted to {seconds:g}."


@server.tool(title="Fail", annotations=READ_ONLY, structured_output=False)
async def always_fails() -> str:
    """Fail with an error that the model can read."""
    raise ToolError("This tool always fails. That is all it does.")


@server.tool(
    title="Crash the server",
    annotations=ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False),
    structured_output=False,
)
async def crash() -> str:
    """End the process of this server at once, with exit code 1 and a last line on stderr."""
    sys.stderr.write("RuntimeError: asked to crash\n")
    sys.stderr.flush()
    # Not sys.exit(): an exception would be caught and answered, and this must look like the real thing.
    os._exit(1)


if __name__ == "__main__":
    server.run()
