"""Sample MCP server: what goes wrong in real life, on demand.

One tool that takes its time and reports progress, one that fails, one that takes the whole process
down. For seeing how waiting, errors and a crash look in mcptui.
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
    "description": "How long to count.",
    "exclusiveMinimum": 0,
    "maximum": 3600,
    "default": 10,
}

server = Server("slow", version="1.0", instructions="Waits, fails and crashes on demand.")


@server.tool("Count slowly", {"seconds": SECONDS}, READ_ONLY, slow=True)
def count_slowly(call: Call, seconds: float) -> str:
    """Count the seconds one by one and report progress meanwhile."""
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
    """Fail with an error that the model can read."""
    raise ToolError("This tool always fails. That is all it does.")


@server.tool(
    "Crash the server", {}, {"readOnlyHint": False, "destructiveHint": False, "openWorldHint": False}
)
def crash() -> str:
    """End the process of this server at once, with exit code 1 and a last line on stderr."""
    sys.stderr.write("RuntimeError: asked to crash\n")
    sys.stderr.flush()
    # Not sys.exit(): an exception would be caught and answered, and this must look like the real thing.
    os._exit(1)


if __name__ == "__main__":
    server.run()
