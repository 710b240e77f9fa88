"""A server whose tools return what a file says: their texts, or objects, by tool."""

import json
import sys
from pathlib import Path


def result(answer):
    if isinstance(answer, str):
        return {"content": [{"type": "text", "text": answer}]}
    return {"content": [{"type": "text", "text": json.dumps(answer)}], "structuredContent": answer}


def reply(method, params):
    answers = json.loads(Path(sys.argv[1]).read_text())
    match method:
        case "initialize":
            info = {"name": "kept", "version": "1"}
            version = params["protocolVersion"]
            return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
        case "tools/list":
            return {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in answers]}
        case "tools/call":
            return result(answers[params["name"]])
        case "ping":
            return {}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        found = reply(message["method"], message.get("params", {}))
        end = (
            {"error": {"code": -32601, "message": "Method not found"}} if found is None else {"result": found}
        )
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **end}), flush=True)
