"""A server that writes down what it gets, and answers each request with an empty result."""

import json
from pathlib import Path
from typing import Any

ECHO = """
import json, sys
for line in sys.stdin:
    open(sys.argv[1], "a").write(line)
    message = json.loads(line)
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {}}), flush=True)
"""


def call(number: int, **arguments: Any) -> dict[str, Any]:
    params = {"name": "delete_x", "arguments": {"n": number, **arguments}}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def received(log: Path) -> list[Any]:
    """Return the arguments that the server got, in order."""
    lines = log.read_text().splitlines() if log.exists() else []
    return [json.loads(line)["params"]["arguments"] for line in lines]
