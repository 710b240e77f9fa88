"""A server with one planted defect, named by its argument. Without the SDK: it breaks the protocol."""

import json
import os
import sys
import time
from typing import Any

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}
TRACEBACK = "Traceback (most recent call last):\n  File \"/srv/files.py\", line 40, in read\nKeyError: 'n'\n"


def send(ident: Any, **message: Any) -> None:
    print(json.dumps({"jsonrpc": "2.0", "id": ident, **message}), flush=True)


def tools(defect: str) -> list[dict[str, Any]]:
    tool: dict[str, Any] = {"name": "read", "description": "Read a file.", "inputSchema": SCHEMA}
    if defect == "output schema":
        tool["outputSchema"] = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    if defect == "input schema":
        tool["inputSchema"] = {"type": "string"}
    return [tool]


def call(defect: str, ident: Any) -> None:
    match defect:
        case "crash":
            sys.stderr.write(TRACEBACK)
            sys.stderr.flush()
            os._exit(3)
        case "hang":
            time.sleep(600)
        case "error":
            sys.stderr.write(TRACEBACK)
            sys.stderr.flush()
            return send(ident, error={"code": -32603, "message": "Internal error"})
        case "stray output":
            print("DEBUG reading", flush=True)
        case "wrong id":
            ident = f"{ident}x"
    result: dict[str, Any] = {"content": [{"type": "text", "text": "ok"}]}
    if defect == "output schema":
        result["structuredContent"] = {"n": "three"}
    if defect == "tool error":
        result = {"content": [{"type": "text", "text": "no folder /data"}], "isError": True}
    send(ident, result=result)


def main(defect: str) -> None:
    for line in sys.stdin:
        message = json.loads(line)
        ident, method = message.get("id"), message.get("method")
        if ident is None:
            continue
        if method == "initialize":
            info = {"name": "broken", "version": "1"}
            capabilities = {"tools": {}}
            send(
                ident,
                result={"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": info},
            )
        elif method == "tools/list":
            send(ident, result={"tools": tools(defect)})
        elif method == "tools/call":
            call(defect, ident)
        else:
            send(ident, error={"code": -32601, "message": "Method not found"})


main(sys.argv[1])
