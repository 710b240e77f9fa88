"""A server for `mcptui test --init`: each tool behaves in one way that a first test file must cope with."""

import itertools
import json
import os
import sys
import time

PLACE = {
    "type": "object",
    "properties": {"place": {"type": "string", "examples": ["Rome"]}},
    "required": ["place"],
}
SECRET = {
    "type": "object",
    "properties": {"token": {"type": "string", "examples": ["x"]}},
    "required": ["token"],
}
UNKNOWN = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
NO_ARGUMENTS = {"type": "object"}
TOOLS = {
    "weather": PLACE,
    "search": UNKNOWN,
    "login": SECRET,
    **dict.fromkeys(("now", "counter", "process", "refuse", "turn", "writes", "unmarked"), NO_ARGUMENTS),
}
CHANGING = ("writes", "unmarked")
calls = itertools.count(1)


def tools():
    for name, schema in TOOLS.items():
        yield {"name": name, "inputSchema": schema, "annotations": {"readOnlyHint": name not in CHANGING}}


def text(said, **more):
    return {"content": [{"type": "text", "text": said}], **more}


def called(name, arguments):
    number = next(calls)
    match name:
        case "weather":
            return text(f"{arguments['place']}: sunny, {15 + number} °C")
        case "now":
            return text(time.strftime("It is %H:%M, %A"))
        case "counter":
            return text(str(number))
        case "process":
            return text(f"process {os.getpid()} of {os.getcwd()}")
        case "refuse":
            return text("no such place", isError=True)
        case "turn":  # one of two, in turns: three calls can look alike
            return text("heads" if (number // 4) % 2 else "tails and more")
    return text("done")


def answer(method, params):
    match method:
        case "initialize":
            offers = {"tools": {}, "resources": {}, "prompts": {}}
            return {"protocolVersion": "2025-06-18", "capabilities": offers, "serverInfo": {"name": "first"}}
        case "tools/list":
            return {"tools": list(tools())}
        case "tools/call":
            return called(params["name"], params["arguments"])
        case "resources/list":
            return {"resources": [{"uri": "note:a", "name": "a"}]}
        case "resources/templates/list":
            return {"resourceTemplates": [{"uriTemplate": "note:{id}", "name": "n"}]}
        case "resources/read":
            return {"contents": [{"uri": params["uri"], "text": "Buy milk"}]}
        case "prompts/list":
            return {
                "prompts": [
                    {"name": "greet"},
                    {"name": "ask", "arguments": [{"name": "who", "required": True}]},
                ]
            }
        case "prompts/get":
            return {"messages": [{"role": "user", "content": {"type": "text", "text": "Hello"}}]}
    return {}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        result = answer(message["method"], message.get("params", {}))
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
