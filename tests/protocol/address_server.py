"""A server of 2025-11-25 that requires a URL to be opened before each call, and reports its completion."""

import json
import sys


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


calls = 0
for line in sys.stdin:
    message = json.loads(line)
    match message.get("method"):
        case "initialize":
            offers = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}}
            send({"id": message["id"], "result": {**offers, "serverInfo": {"name": "a", "version": "1"}}})
        case "tools/list":
            tools = [{"name": "pay", "inputSchema": {"type": "object"}}]
            send({"id": message["id"], "result": {"tools": tools}})
        case "tools/call":
            calls += 1
            if calls == 1:
                asked = {
                    "mode": "url",
                    "elicitationId": "e1",
                    "message": "Confirm",
                    "url": "https://a.example/",
                }
                error = {"code": -32042, "message": "confirm first", "data": {"elicitations": [asked]}}
                send({"id": message["id"], "error": error})
                send({"method": "notifications/elicitation/complete", "params": {"elicitationId": "other"}})
                send({"method": "notifications/elicitation/complete", "params": {"elicitationId": "e1"}})
            else:
                content = [{"type": "text", "text": f"paid on call {calls}"}]
                send({"id": message["id"], "result": {"content": content}})
        case _ if "id" in message:
            send({"id": message["id"], "error": {"code": -32601, "message": "unknown"}})
