"""A server with a prompt and a resource that appends the method of each request to a file.

`COUNT_FILE` names the file, `ERA` is "legacy" or "modern".
"""

import json
import os
import sys
from typing import Any

FILE, MODERN = os.environ["COUNT_FILE"], os.environ.get("ERA") == "modern"
OFFERS = {"prompts": {"listChanged": True}, "resources": {"listChanged": True}, "tools": {}}
WHO = {"name": "counting", "version": "1"}
LISTS: dict[str, dict[str, Any]] = {
    "tools/list": {"tools": [{"name": "nothing_to_do", "inputSchema": {"type": "object"}}]},
    "prompts/list": {"prompts": [{"name": "greeting"}]},
    "resources/list": {"resources": [{"uri": "mem://one", "name": "one"}]},
    "resources/templates/list": {"resourceTemplates": []},
}
FRESH = {"ttlMs": 0, "cacheScope": "private", "resultType": "complete"}


def say(message: dict[str, Any]) -> None:
    """Write a message."""
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


for line in sys.stdin:
    asked = json.loads(line)
    method, identity = asked.get("method", ""), asked.get("id")
    with open(FILE, "a", encoding="utf-8") as file:
        file.write(f"{method}\n")
    if identity is None:
        continue
    if method == "server/discover" and MODERN:
        found = {"supportedVersions": ["2026-07-28"], "capabilities": OFFERS, "serverInfo": WHO, **FRESH}
        say({"id": identity, "result": found})
    elif method == "initialize" and not MODERN:
        found = {"protocolVersion": "2025-11-25", "capabilities": OFFERS, "serverInfo": WHO}
        say({"id": identity, "result": found})
    elif method in LISTS:
        say({"id": identity, "result": {**LISTS[method], **(FRESH if MODERN else {})}})
    elif method == "subscriptions/listen" and MODERN:
        meta = {"io.modelcontextprotocol/subscriptionId": identity}
        accepted = {"notifications": asked["params"]["notifications"], "_meta": meta}
        say({"method": "notifications/subscriptions/acknowledged", "params": accepted})
    else:
        say({"id": identity, "error": {"code": -32601, "message": "Method not found"}})
