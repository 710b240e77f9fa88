"""A server without the SDK that offers everything: tools with every type of argument, resources, prompts.

With an argument it writes its calls to that file, one line of JSON each.
"""

import base64
import json
import os
import sys
import time

TOOL = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "count": {"type": "integer", "minimum": 0},
        "ratio": {"type": "number"},
        "loud": {"type": "boolean"},
        "mode": {"enum": ["fast", "very slow"]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "place": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
    "required": ["text"],
}
NONE: dict[str, object] = {"type": "object", "properties": {}}
TOOLS = {
    "show": TOOL,
    "fail": NONE,
    "refuse": NONE,
    "image": NONE,
    "mixed": NONE,
    "escapes": NONE,
    "hang": NONE,
    "environment": NONE,
    "any": {"type": "object", "properties": {}, "additionalProperties": True},
}
PNG = b"\x89PNG\r\n\x1a\n\0\xff"
IMAGE = {"type": "image", "mimeType": "image/png", "data": base64.b64encode(PNG).decode()}
RESOURCES = {
    "memo://text": {"mimeType": "text/plain", "text": "one\r\ntwo\x1b[31m"},
    "memo://bytes": {"mimeType": "image/png", "blob": IMAGE["data"]},
}
PROMPT = {
    "name": "review",
    "description": "Asks for a review.",
    "arguments": [{"name": "topic", "required": True}, {"name": "style"}],
}


def text(said: str) -> dict[str, object]:
    return {"type": "text", "text": said}


def call(name: str, arguments: dict[str, object], token: object) -> dict[str, object]:
    print(f"calling {name}", file=sys.stderr, flush=True)
    if len(sys.argv) > 1:
        with open(sys.argv[1], "a") as file:
            file.write(json.dumps({"tool": name, "arguments": arguments}) + "\n")
    match name:
        case "fail":
            return {"content": [text("no luck")], "isError": True}
        case "image":
            return {"content": [IMAGE]}
        case "environment":
            return {"content": [text(os.environ.get("API_KEY", ""))]}
        case "mixed":
            return {"content": [text("look:"), IMAGE, IMAGE]}
        case "escapes":
            return {"content": [text("\x1b]0;owned\x07 \u202e")]}
        case "hang":
            params = {"progressToken": token, "progress": 1, "total": 2, "message": "half"}
            send(method="notifications/progress", params=params)
            time.sleep(60)
    return {"content": [text(json.dumps(arguments, sort_keys=True))], "structuredContent": arguments}


def result_of(method: str, params: dict[str, object]) -> dict[str, object] | None:
    match method:
        case "initialize":
            offers: dict[str, object] = {"tools": {}, "resources": {}, "prompts": {}, "logging": {}}
            info = {"name": "offering", "version": "1"}
            return {"protocolVersion": "2025-11-25", "capabilities": offers, "serverInfo": info}
        case "tools/list":
            return {"tools": [{"name": name, "inputSchema": schema} for name, schema in TOOLS.items()]}
        case "resources/list":
            return {"resources": [{"uri": uri, "name": uri[7:]} for uri in RESOURCES]}
        case "resources/templates/list":
            return {"resourceTemplates": [{"uriTemplate": "memo://{name}", "name": "any memo"}]}
        case "prompts/list":
            return {"prompts": [PROMPT]}
        case "tools/call" if params["name"] != "refuse":
            token = (params.get("_meta") or {}).get("progressToken")
            return call(params["name"], params.get("arguments") or {}, token)
        case "resources/read" if params["uri"] in RESOURCES:
            return {"contents": [{"uri": params["uri"], **RESOURCES[params["uri"]]}]}
        case "prompts/get":
            said = " ".join(f"{key}={value}" for key, value in sorted(params["arguments"].items()))
            return {"messages": [{"role": "user", "content": text(f"Review {said}")}]}
    return None


def send(**message: object) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def serve() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        if "id" in request:
            found = result_of(request["method"], request.get("params") or {})
            error = {"error": {"code": -32602, "message": "not with me"}}
            if request["method"] == "initialize":
                send(method="notifications/message", params={"level": "warning", "data": "half awake"})
            send(id=request["id"], **({"result": found} if found is not None else error))


if __name__ == "__main__":
    serve()
