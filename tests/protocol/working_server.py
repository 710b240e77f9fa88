"""A server without the SDK whose calls report progress: `ends` answers after 1.6 s, `never` never does.

The argument is the era. `asks` reports nothing, but asks for the roots (an older server) every 0.2 s.
`pauses` reports once and then stays silent. `samples` (an older server) asks for a reply of the model first.
"""

import json
import sys
import threading
import time
from typing import Any

MODERN = sys.argv[1] == "modern"
LOCK = threading.Lock()
STEP = 0.2


def send(**message: Any) -> None:
    with LOCK:
        print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def result(asked: Any, **fields: Any) -> None:
    complete = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"} if MODERN else {}
    send(id=asked, result={**complete, **fields})


def work(asked: Any, name: str, token: Any) -> None:
    for step in range(8 if name in ("ends", "asks") else 1 if name == "pauses" else 10_000):
        if name == "asks":
            send(id=f"roots-{step}", method="roots/list")
        else:
            params = {"progressToken": token, "progress": step, "message": "busy"}
            send(method="notifications/progress", params=params)
        time.sleep(STEP)
    if name != "pauses":
        result(asked, content=[{"type": "text", "text": "done"}])


def answer(asked: Any, method: str, params: dict[str, Any]) -> None:
    offers: dict[str, Any] = {"tools": {}, "resources": {}}
    info = {"name": "working", "version": "1"}
    match method:
        case "initialize" if not MODERN:
            result(asked, protocolVersion="2025-11-25", capabilities=offers, serverInfo=info)
        case "server/discover" if MODERN:
            result(asked, supportedVersions=["2026-07-28"], capabilities=offers)
        case "tools/list":
            names = ("ends", "never", "asks", "pauses", "samples")
            result(asked, tools=[{"name": name, "inputSchema": {"type": "object"}} for name in names])
        case "tools/call" if params["name"] == "samples":
            text = {"role": "user", "content": {"type": "text", "text": "Hello"}}
            asks = {"messages": [text], "maxTokens": 5}
            send(id=f"sample-{asked}", method="sampling/createMessage", params=asks)
        case "tools/call" | "resources/read":
            token = (params.get("_meta") or {}).get("progressToken")
            given = (asked, params.get("name", "ends"), token)
            threading.Thread(target=work, args=given, daemon=True).start()
        case _:
            send(id=asked, error={"code": -32601, "message": "Method not found"})


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message and "method" in message:
        answer(message["id"], message["method"], message.get("params") or {})
    elif str(message.get("id")).startswith("sample-"):
        result(int(message["id"].removeprefix("sample-")), content=[{"type": "text", "text": "done"}])
