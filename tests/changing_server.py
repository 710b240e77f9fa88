"""A server in a file of its own that a test changes. It needs no library, so it starts in 30 ms."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

_SOURCE = """\
import json, sys
TOOLS = {tools}
RESULT = {result}
{extra}
for line in sys.stdin:
    message = json.loads(line)
    said = {{}}
    match message.get("method"):
        case "initialize":
            said = {{"protocolVersion": "2025-11-25", "capabilities": {{"tools": {{}}}},
                    "serverInfo": {{"name": "changing", "version": "1"}}}}
        case "tools/list":
            said = {{"tools": TOOLS}}
        case "tools/call":
            said = {{"content": [{{"type": "text", "text": RESULT}}]}}
    if "id" in message:
        print(json.dumps({{"jsonrpc": "2.0", "id": message["id"], "result": said}}), flush=True)
"""


def tool(name: str, *arguments: str) -> Mapping[str, Any]:
    """Return a tool with required texts as arguments."""
    properties = {one: {"type": "string"} for one in arguments}
    schema = {"type": "object", "properties": properties, "required": list(arguments)}
    return {"name": name, "description": "A tool.", "inputSchema": schema}


def write_server(
    path: Path,
    tools: Iterable[Mapping[str, Any]] = (tool("get_weather", "city"),),
    *,
    result: str = "sunny",
    extra: str = "",
) -> None:
    """Write the server; `extra` is a line of code that runs at its start, the 4th of the file."""
    path.write_text(_SOURCE.format(tools=json.dumps(list(tools)), result=json.dumps(result), extra=extra))
