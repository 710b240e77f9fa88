"""A server in plain JSON lines whose calls stay open, so that it can be removed during them.

`wait` never answers, `ask` asks for a form, `sample` for a reply of the model, `work` becomes a task that is
polled once a minute, `inquire` a task that asks for a form. `stale` answers, and from then on a changed list
is never listed again. ERA is legacy or modern.
"""

import json
import os
import sys
from typing import Any

MODERN = os.environ["ERA"] == "modern"
TASKS = "io.modelcontextprotocol/tasks"
INFO = {"name": "leaving", "version": "1"}
NAMES = ("wait", "ask", "sample", "work", "inquire", "stale")
FORM = {
    "method": "elicitation/create",
    "params": {
        "message": "Your name?",
        "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}},
    },
}
SAMPLE = {
    "method": "sampling/createMessage",
    "params": {"maxTokens": 50, "messages": [{"role": "user", "content": {"type": "text", "text": "Hi"}}]},
}
TASK = {"taskId": "t-1", "status": "working", "ttlMs": 600_000, "pollIntervalMs": 60_000}
listed = False


def say(message: dict[str, Any]) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def asks(request: dict[str, Any], ident: Any) -> None:
    if MODERN:
        wanted = {"resultType": "input_required", "inputRequests": {"1": request}, "requestState": "s"}
        say({"id": ident, "result": wanted})
    else:
        say({"id": "q-1", **request})


def call(name: str, ident: Any) -> None:
    match name:
        case "ask":
            asks(FORM, ident)
        case "sample":
            asks(SAMPLE, ident)
        case "work":
            say({"id": ident, "result": {"resultType": "task", **TASK}})
        case "inquire":
            asked = {"status": "input_required", "inputRequests": {"1": FORM}, "pollIntervalMs": 250}
            say({"id": ident, "result": {"resultType": "task", **TASK, **asked}})
        case "stale":
            say({"id": ident, "result": {"resultType": "complete", "content": []}})
            say({"method": "notifications/tools/list_changed"})


for line in sys.stdin:
    message = json.loads(line)
    ident, params = message.get("id"), message.get("params") or {}
    capabilities: dict[str, Any] = {"tools": {"listChanged": True}, "extensions": {TASKS: {}}}
    match message.get("method"):
        case "initialize" if not MODERN:
            say(
                {
                    "id": ident,
                    "result": {
                        "protocolVersion": "2025-11-25",
                        "capabilities": capabilities,
                        "serverInfo": INFO,
                    },
                }
            )
        case "server/discover" if MODERN:
            result = {
                "resultType": "complete",
                "supportedVersions": ["2026-07-28"],
                "capabilities": capabilities,
                "ttlMs": 0,
                "cacheScope": "private",
                "_meta": {"io.modelcontextprotocol/serverInfo": INFO},
            }
            say({"id": ident, "result": result})
        case "tools/list" if not listed:
            listed = True
            tools = [{"name": name, "inputSchema": {"type": "object"}} for name in NAMES]
            cached = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"} if MODERN else {}
            say({"id": ident, "result": {"tools": tools, **cached}})
        case "tools/call":
            call(params["name"], ident)
        case "tasks/get":
            asked = {"status": "input_required", "inputRequests": {"1": FORM}}
            say({"id": ident, "result": {"resultType": "complete", **TASK, **asked}})
        case "tools/list" | "notifications/cancelled" | "subscriptions/listen":
            pass
        case _ if ident is not None and "method" in message:
            say({"id": ident, "error": {"code": -32601, "message": "no"}})
