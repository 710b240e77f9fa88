"""A server whose call asks for replies of the model, and cancels each once the file STREAMED has grown."""

import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

STREAMED, TIMES = Path(os.environ["STREAMED"]), 8
HELLO = {"role": "user", "content": {"type": "text", "text": "Hello"}}
rejected: list[str] = []


def say(message: dict[str, Any]) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def work(ident: Any) -> None:
    for number in range(TIMES):
        asked = f"q{number}"
        before = STREAMED.stat().st_size
        params = {"maxTokens": 1000, "messages": [HELLO]}
        say({"id": asked, "method": "sampling/createMessage", "params": params})
        while STREAMED.stat().st_size == before and asked not in rejected:
            time.sleep(0.01)
        if asked not in rejected:
            say({"method": "notifications/cancelled", "params": {"requestId": asked}})
    say({"id": ident, "result": {"content": [{"type": "text", "text": f"{len(rejected)} rejected"}]}})


for line in sys.stdin:
    message = json.loads(line)
    ident = message.get("id")
    match message.get("method"):
        case "initialize":
            info = {"name": "cancelling", "version": "1"}
            result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}
            say({"id": ident, "result": result})
        case "tools/list":
            say({"id": ident, "result": {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}})
        case "tools/call":
            threading.Thread(target=work, args=(ident,)).start()
        case None if "error" in message:
            rejected.append(ident)
        case _ if ident is not None and "method" in message:
            say({"id": ident, "error": {"code": -32601, "message": "no"}})
