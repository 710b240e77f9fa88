"""A working MCP server that writes to stderr continuously: python flooding_server.py."""

import os
import runpy
import threading
from pathlib import Path

ANSWERS = Path(__file__).resolve().parents[1] / "corpus" / "faults" / "crlf.py"
LINE = b"WARN %06d something happened \x1b[31min\x1b[0m some module of it\n"
LINES = b"".join(LINE % number for number in range(1000))


def flood() -> None:
    """Write to stderr until the reader is gone."""
    try:
        while True:
            os.write(2, LINES)
    except OSError:
        return


if __name__ == "__main__":
    threading.Thread(target=flood, daemon=True).start()
    runpy.run_path(str(ANSWERS), run_name="__main__")
