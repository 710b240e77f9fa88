"""A server whose results are worth keeping: they vary, fail, ask, and have a time and an id."""

import json
import random
import sys
import time
import uuid
from typing import Any

READS = {"readOnlyHint": True}
WHO = {"name": "keeping", "version": "1"}


def tool(name: str, *arguments: str, **annotations: Any) -> dict[str, Any]:
    properties = {argument: {"type": "string"} for argument in arguments}
    schema = {"type": "object", "properties": properties, "required": list(arguments)}
    return {"name": name, "inputSchema": schema, "annotations": annotations}


TOOLS = [
    tool("get_weather", "location", **READS),
    tool("create_order", "sku"),
    tool("fail", "why", **READS),
    tool("login", "password"),
    tool("greet"),
]
LISTS: dict[str, dict[str, Any]] = {
    "tools/list": {"tools": TOOLS},
    "prompts/list": {"prompts": [{"name": "ask", "arguments": [{"name": "topic", "required": True}]}]},
    "resources/list": {"resources": [{"uri": "note://today", "name": "today"}]},
    "resources/templates/list": {"resourceTemplates": []},
}


def say(**message: Any) -> None:
    """Write a message."""
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def text(said: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": said}], **more}


def called(name: str, given: dict[str, Any]) -> dict[str, Any]:
    """Return the result of a tool call."""
    if name == "get_weather":
        return text(f"Weather in {given['location']}: light rain, {random.uniform(1, 9)} °C.")
    if name == "fail":
        return text(f"No: {given['why']}", isError=True)
    if name == "greet":
        form = {"type": "object", "properties": {"name": {"type": "string"}}}
        params = {"message": "Who are you?", "requestedSchema": form}
        say(id="asked", method="elicitation/create", params=params)
        answer = json.loads(sys.stdin.readline())["result"]
        return text(f"Hello {answer.get('content', {}).get('name', 'nobody')}")
    order = {"id": str(uuid.uuid4()), "createdAt": time.time(), "sku": given.get("sku"), "state": "open"}
    return text(json.dumps(order), structuredContent=order)


def result_of(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    """Return the result of a request, None for an unknown one."""
    if method == "initialize":
        offers = {"prompts": {}, "resources": {}, "tools": {}}
        return {"protocolVersion": "2025-11-25", "capabilities": offers, "serverInfo": WHO}
    if method == "tools/call":
        return called(params["name"], params.get("arguments", {}))
    if method == "resources/read":
        return {"contents": [{"uri": params["uri"], "text": "Buy milk"}]}
    if method == "prompts/get":
        said = {"type": "text", "text": f"Tell me about {params['arguments']['topic']}."}
        return {"messages": [{"role": "user", "content": said}]}
    return LISTS.get(method)


while line := sys.stdin.readline():
    asked = json.loads(line)
    if "id" in asked and "method" in asked:
        found = result_of(asked["method"], asked.get("params", {}))
        if found is None:
            say(id=asked["id"], error={"code": -32601, "message": "Method not found"})
        else:
            say(id=asked["id"], result=found)
