"""An MCP server on raw lines whose tools are read from a file at each listing: `SERVER FILE`.

FILE is the JSON of the tools. After each call the server announces that the list has changed.
"""

import json
import sys


def send(message: dict[str, object]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def main() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        method, number = message.get("method"), message.get("id")
        if number is None:
            continue
        if method == "initialize":
            info = {"name": "redefined", "version": "1"}
            capabilities = {"tools": {"listChanged": True}}
            result = {"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": info}
            send({"id": number, "result": result})
        elif method == "tools/list":
            with open(sys.argv[1], encoding="utf-8") as file:
                send({"id": number, "result": {"tools": json.load(file)}})
        elif method == "tools/call":
            send({"id": number, "result": {"content": [{"type": "text", "text": "three"}]}})
            send({"method": "notifications/tools/list_changed"})
        else:
            send({"id": number, "error": {"code": -32601, "message": "Method not found"}})


main()
