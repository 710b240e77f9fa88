"""A server for `mcptui test --fuzz` and `--load`: each tool has one defect, except `sum` and `writes`."""

import json
import os
import sys
import time


def schema(**properties):
    return {"type": "object", "properties": properties, "required": [*properties][:1]}


TEXT, COUNT = {"type": "string"}, {"type": "integer"}
TOOLS = {
    "search": schema(query=TEXT, limit=COUNT),
    "root": schema(number={"type": "number"}),
    "weather": schema(city=TEXT),
    "greet": schema(name=TEXT, formal={"type": "boolean"}),
    "page": schema(size={"type": "integer", "minimum": 1, "maximum": 100}),
    "wait": schema(text=TEXT),
    "sum": schema(a={"type": "integer", "examples": [1]}),
    "writes": schema(),
}
DONE = {"content": [{"type": "text", "text": "done"}]}
INVALID = {"content": [{"type": "text", "text": "invalid arguments"}], "isError": True}


def has(kind, value):
    return isinstance(value, kind) and not isinstance(value, bool)


VALID = {
    "search": lambda given: has(str, given.get("query")) and has(int, given.get("limit", 1)),
    "root": lambda given: has(int | float, given.get("number")),
    "weather": lambda given: has(str, given.get("city", "")),
    "greet": lambda given: has(str, given.get("name")) and isinstance(given.get("formal", True), bool),
    "page": lambda given: has(int, given.get("size")) and 1 <= given["size"] <= 101,
    "wait": lambda given: has(str, given.get("text")),
    "sum": lambda given: has(int, given.get("a")),
}


def called(name, given):
    if not VALID[name](given):
        return INVALID
    match name:
        case "search" if not given["query"]:
            os._exit(3)
        case "root" if given["number"] < 0:
            return None
        case "greet" if not given["name"].isascii():
            print("an unusual name", flush=True)
        case "wait" if len(given["text"]) > 1_000:
            time.sleep(60)
    return DONE


def answer(message):
    match message:
        case {"method": "initialize", "params": params}:
            about = {"serverInfo": {"name": "fuzzed", "version": "1"}, "capabilities": {"tools": {}}}
            return {"result": {"protocolVersion": params["protocolVersion"], **about}}
        case {"method": "tools/list"}:
            marks = {name: {"readOnlyHint": name != "writes"} for name in TOOLS}
            tools = [{"name": one, "inputSchema": TOOLS[one], "annotations": marks[one]} for one in TOOLS]
            return {"result": {"tools": tools}}
        case {"method": "tools/call", "params": params}:
            result = called(params["name"], params.get("arguments", {}))
            return {"error": {"code": -32603, "message": "domain"}} if result is None else {"result": result}
    return {"error": {"code": -32601, "message": "not found"}}


for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **answer(request)}), flush=True)
