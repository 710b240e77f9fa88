"""A server on the current SDK that adds a tool on request and announces it on the change stream."""

from mcp.server.mcpserver import Context, MCPServer

server = MCPServer("changing")


def added() -> str:
    """Was not there at the start."""
    return "new"


@server.tool()
async def grow(ctx: Context) -> str:
    """Add a tool."""
    server.add_tool(added)
    await ctx.notify_tools_changed()
    return "grown"


@server.tool()
async def count(ctx: Context) -> str:
    """Report progress twice."""
    await ctx.report_progress(1, 2, "half")
    await ctx.report_progress(2, 2, "whole")
    return "counted"


if __name__ == "__main__":
    server.run()
