"""A server that returns what it is sent, for copied requests: over stdio, or at the port $PORT."""

import json
import os
from typing import Any

from mcp.server.mcpserver import Context, MCPServer

server = MCPServer("copied", log_level="ERROR")


@server.tool()
def repeat(text: str, ctx: Context, more: Any = None) -> str:
    """Return the arguments as JSON, with the values that a copy has to pass on, and the folder."""
    request = ctx.request_context.request
    header = request.headers.get("x-secret") if request is not None else None
    return json.dumps([text, more, os.environ.get("COPIED_KEY"), header, os.getcwd()])


@server.resource("copied://{text}")
def note(text: str) -> str:
    """Return the text of the URI."""
    return f"about {text}"


@server.prompt()
def said(text: str) -> str:
    """Return the text."""
    return f"said {text}"


if __name__ == "__main__":
    if "PORT" in os.environ:
        kind = "sse" if os.environ.get("KIND") == "sse" else "streamable-http"
        server.run(kind, port=int(os.environ["PORT"]))
    else:
        server.run()
