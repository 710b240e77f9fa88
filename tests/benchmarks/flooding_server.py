"""A working MCP server that floods: python flooding_server.py [N [FILE]].

Without arguments it writes to stderr continuously. With N it sends N messages as fast as they are read, once
FILE exists.
"""

import os
import runpy
import sys
import threading
import time
from pathlib import Path

ANSWERS = Path(__file__).resolve().parents[1] / "corpus" / "faults" / "crlf.py"
LINE = b"WARN %06d something happened \x1b[31min\x1b[0m some module of it\n"
LINES = b"".join(LINE % number for number in range(1000))
FRAME = (
    '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","logger":"flood",'
    '"data":{"number":%d,"text":"something happened in some module of it, and this is what it was"}}}\n'
)


def flood(*arguments: str) -> None:
    """Write until the reader is gone, or all messages are sent."""
    while arguments[1:] and not os.path.exists(arguments[1]):
        time.sleep(0.02)
    try:
        while not arguments:
            os.write(2, LINES)
        for first in range(0, int(arguments[0]), 200):
            lines = "".join(FRAME % number for number in range(first, first + 200)).encode()
            while lines:
                lines = lines[os.write(1, lines) :]
    except OSError:
        return


if __name__ == "__main__":
    threading.Thread(target=flood, args=sys.argv[1:], daemon=True).start()
    sys.argv = sys.argv[:1]
    runpy.run_path(str(ANSWERS), run_name="__main__")
