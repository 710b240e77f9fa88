"""A server that lags. It does not read its input until the file GATE exists, and ends only by a signal.

python laggard.py [GATE]
"""

import json
import os
import sys
import time
from typing import Any


def answer(request: dict[str, Any]) -> dict[str, Any]:
    match request["method"]:
        case "initialize":
            info = {"name": "laggard", "version": "1"}
            about = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
            return {"result": about}
        case "tools/list":
            tools = [{"name": name, "inputSchema": {"type": "object"}} for name in ("one", "two")]
            return {"result": {"tools": tools}}
        case _:
            return {"error": {"code": -32601, "message": "Method not found"}}


while len(sys.argv) > 1 and not os.path.exists(sys.argv[1]):
    time.sleep(0.01)
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer(message)}), flush=True)
while True:
    time.sleep(60)
