"""A server on the current SDK over Streamable HTTP: at the port $PORT."""

import os

from mcp.server.mcpserver import Context, MCPServer

server = MCPServer("remote", log_level="ERROR")


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
async def count(ctx: Context) -> str:
    """Report progress twice."""
    await ctx.report_progress(1, 2, "half")
    await ctx.report_progress(2, 2, "whole")
    return "counted"


@server.tool()
def fail() -> str:
    """Fail."""
    raise ValueError("out of clouds")


@server.resource("note://{name}")
def note(name: str) -> str:
    """A note."""
    return f"about {name}"


@server.resource("note://fixed", mime_type="text/plain")
def fixed() -> str:
    """A fixed note."""
    return "it is always there"


@server.prompt()
def summary(topic: str) -> str:
    """Ask for a summary."""
    return f"Summarize {topic}."


if __name__ == "__main__":
    server.run("streamable-http", port=int(os.environ["PORT"]))
