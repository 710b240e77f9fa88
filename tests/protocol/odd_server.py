"""A server without the SDK with one fault, named by its argument: see `FAULTS` in test_odd_answers.py."""

import json
import sys
from typing import Any

FAULT = sys.argv[1]
KINDS = {
    "tools/list": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
}


def send(**message: Any) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def answer(asked: Any, method: str, params: dict[str, Any]) -> None:
    if method == "initialize":
        offers: dict[str, Any] = {"tools": {}, "resources": {}, "prompts": {}}
        info = {"name": "odd", "version": "1"}
        send(id=asked, result={"protocolVersion": "2025-11-25", "capabilities": offers, "serverInfo": info})
    elif method in KINDS:
        known = 31337 if FAULT == "list-id" else asked
        item = {"name": "one", "uri": "a://one", "uriTemplate": "a://{x}", "inputSchema": {"type": "object"}}
        if "cursor" in params:
            send(id=known, error={"code": -32603, "message": "page 2 broke"})
        else:
            more = {"nextCursor": "2"} if FAULT == "page-2" else {}
            send(id=known, result={KINDS[method]: [item], **more})
    elif method == "tools/call" and FAULT == "call-id":
        send(id="call-7", result={"content": []})
    elif method == "tools/call" and FAULT == "null-id":
        send(id=None, error={"code": -32700, "message": "Parse error: no such brace."})
    elif method == "tools/call":
        send(
            id=asked, result={"isError": True} if FAULT == "no-content" else {"isError": True, "content": []}
        )
    else:
        send(id=asked, error={"code": -32601, "message": "Method not found"})


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message and "method" in message:
        answer(message["id"], message["method"], message.get("params") or {})
