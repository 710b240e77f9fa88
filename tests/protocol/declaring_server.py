"""A server on the SDK whose tools depend on what the client says of itself, in the argument's era.

`who` returns the client's name, version and capabilities, and tools appear for declared extensions.
"""

import json
from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

TASKS = "io.modelcontextprotocol/tasks"
NONE: dict[str, Any] = {"type": "object", "properties": {}}


def said(ctx: Any) -> dict[str, Any]:
    client = ctx.session.client_params
    if client is None:
        return {"info": None, "capabilities": {}}
    shown = client.model_dump(by_alias=True, mode="json", exclude_none=True)
    return {"info": shown["clientInfo"], "capabilities": shown["capabilities"]}


def extensions(ctx: Any) -> dict[str, Any]:
    return said(ctx)["capabilities"].get("extensions", {})


async def listed(ctx: Any, params: Any) -> types.ListToolsResult:
    names = ["who", *(f"with-{name.rpartition('/')[2]}" for name in extensions(ctx))]
    tools = [types.Tool(name=name, input_schema=NONE) for name in names]
    return types.ListToolsResult(tools=tools)


async def called(ctx: Any, params: Any) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=json.dumps(said(ctx)))])


server: Server = Server("declaring", on_list_tools=listed, on_call_tool=called)
server.extensions = {TASKS: {}, "com.example/own": {"level": 2}}


async def main() -> None:
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
