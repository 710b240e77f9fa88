"""A server that puts the secret from its environment into everything it sends."""

import base64
import json
import os
import sys
from urllib.parse import quote

SECRET = os.environ["LEAKY_TOKEN"]
URI = f"leak://{SECRET}/notes"
SCHEMA = {"type": "object", "properties": {"text": {"type": "string", "description": SECRET}}}


def answer(asked: dict) -> dict | None:
    params = asked.get("params") or {}
    match asked["method"]:
        case "initialize":
            return {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}, "resources": {}, "prompts": {}, "completions": {}},
                "serverInfo": {"name": f"leaky {SECRET}", "version": SECRET},
                "instructions": f"Use {SECRET}.",
            }
        case "tools/list":
            return {"tools": [{"name": "leak", "description": f"Leaks {SECRET}.", "inputSchema": SCHEMA}]}
        case "tools/call":
            text = params["arguments"].get("text", "")
            print(f"called with {SECRET}", file=sys.stderr, flush=True)
            said = {"level": "info", "data": f"log {SECRET}"}
            notify("notifications/message", said)
            if token := (params.get("_meta") or {}).get("progressToken"):
                notify("notifications/progress", {"progressToken": token, "progress": 1, "message": SECRET})
            if text == "fail":
                return None
            encoded = [base64.b64encode(one.encode()).decode() for one in (SECRET, f"ada:{SECRET}")]
            return {
                "content": [{"type": "text", "text": f"it is {SECRET}; told {text == SECRET}"}],
                "structuredContent": {"arguments": sys.argv[1:], "encoded": [*encoded, quote(SECRET)]},
            }
        case "resources/list":
            return {"resources": [{"uri": URI, "name": SECRET, "description": SECRET}]}
        case "resources/templates/list":
            return {"resourceTemplates": []}
        case "resources/read":
            assert params["uri"] == URI
            return {"contents": [{"uri": URI, "mimeType": "text/plain", "text": SECRET}]}
        case "prompts/list":
            arguments = [{"name": "a", "description": SECRET}]
            return {"prompts": [{"name": "p", "description": SECRET, "arguments": arguments}]}
        case "prompts/get":
            return {"messages": [{"role": "user", "content": {"type": "text", "text": SECRET}}]}
        case "completion/complete":
            return {"completion": {"values": [SECRET]}}
    return None


def notify(method: str, params: dict) -> None:
    print(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}), flush=True)


for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    result = answer(asked)
    reply = {"error": {"code": -32000, "message": f"no: {SECRET}"}} if result is None else {"result": result}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **reply}), flush=True)
