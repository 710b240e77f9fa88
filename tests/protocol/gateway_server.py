"""A gateway that opens its upstream with whatever comes first, like supergateway.

If the first request is not `initialize`, it opens a session of its own, which the upstream does not open
again. Its first argument says what follows a later `initialize`: an "error", or the process "dies" or
"closes" its stdout, or it "offers" fewer tools. With a second argument, it does not answer the first request.
"""

import os
import sys

from answering_loop import LATER, refusal, serve  # beside this script

KIND, SILENT = sys.argv[1], len(sys.argv) > 2
TOOLS = [{"name": name, "inputSchema": {"type": "object"}} for name in ("echo", "ask")]
methods = []


def answer(method, params, ident):
    methods.append(method)
    match method:
        case "initialize" if methods[0] != "initialize" and KIND != "offers":
            if KIND == "dies":
                sys.exit(1)
            if KIND == "closes":
                os.close(1)
                sys.stdin.read()
                sys.exit(0)
            return refusal("Bad Request: Server already initialized", -32000)
        case "tools/list" if methods[0] != "initialize":
            return {"tools": TOOLS[:1]}
        case "initialize" | "tools/list":
            return None
    return LATER if SILENT else None


serve(answer, TOOLS)
