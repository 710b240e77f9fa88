"""Sample MCP server: waits, fails and crashes on demand.

One tool is slow and reports progress, one fails, one crashes the process. See how mcptui shows waiting,
errors and a crash.
"""

import os
import sys
import time

try:
    from plain_server import READ_ONLY, Call, Server, ToolError
except ModuleNotFoundError:
    sys.exit("slow.py needs plain_server.py in the same directory.")

SECONDS = {
    "type": "number",
    "title": "Seconds",
    "description": "How many seconds to count.",
    "exclusiveMinimum": 0,
    "maximum": 3600,
    "default": 10,
}

server = Server("slow", version="1.0", instructions="Waits, fails and crashes on demand.")


@server.tool("Count slowly", {"seconds": SECONDS}, READ_ONLY, slow=True)
def count_slowly(call: Call, seconds: float) -> str:
    """Count seconds and report progress."""
    started = time.monotonic()
    while (elapsed := time.monotonic() - started) < seconds:
        counted = int(elapsed)
        call.progress(counted, seconds, f"{counted} of {seconds:g} seconds")
        if call.cancelled.wait(min(counted + 1, seconds) - elapsed):
            break
    call.progress(seconds, seconds, "done")
    return f"Counted to {seconds:g}."


@server.tool("Fail", {}, READ_ONLY)
def always_fails() -> str:
    """Always fail with an error."""
    raise ToolError("This tool always fails.")


@server.tool("Crash server", {}, {"readOnlyHint": False, "destructiveHint": False, "openWorldHint": False})
def crash() -> str:
    """Crash this server with exit code 1 and a line on stderr."""
    sys.stderr.write("RuntimeError: asked to crash\n")
    sys.stderr.flush()
    # Not sys.exit(): its exception would be caught and answered. This must look like a real crash.
    os._exit(1)


if __name__ == "__main__":
    server.run()
