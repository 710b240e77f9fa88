"""A gateway that opens its upstream with whatever comes first, like supergateway.

If the first request is not `initialize`, it opens a session of its own, which the upstream does not open
again. Its first argument says what follows a later `initialize`: an "error", or the process "dies" or
"closes" its stdout, or it "offers" fewer tools. With a second argument, it does not answer the first request.
"""

import json
import os
import sys

KIND, SILENT = sys.argv[1], len(sys.argv) > 2
TOOLS = [{"name": name, "inputSchema": {"type": "object"}} for name in ("echo", "ask")]


def send(**message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def refuse(ident):
    if KIND == "dies":
        sys.exit(1)
    if KIND == "closes":
        os.close(1)
        sys.stdin.read()
        sys.exit(0)
    send(id=ident, error={"code": -32000, "message": "Bad Request: Server already initialized"})


def main():
    opened = ""
    for line in sys.stdin:
        message = json.loads(line)
        method, ident = message["method"], message.get("id")
        if ident is None:
            continue
        opened = opened or method
        if method == "initialize":
            if opened != "initialize" and KIND != "offers":
                refuse(ident)
                continue
            info = {"name": "upstream", "version": "1"}
            capabilities = {"tools": {}}
            result = {"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": info}
            send(id=ident, result=result)
        elif method == "tools/list":
            send(id=ident, result={"tools": TOOLS if opened == "initialize" else TOOLS[:1]})
        elif not SILENT:
            send(id=ident, error={"code": -32601, "message": "Method not found"})


main()
