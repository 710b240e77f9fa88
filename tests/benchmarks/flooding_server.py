"""A server that answers like any other and writes to stderr without a pause: python flooding_server.py."""

import os
import runpy
import threading
from pathlib import Path

ANSWERS = Path(__file__).resolve().parents[1] / "corpus" / "faults" / "crlf.py"
LINE = b"WARN %06d something happened \x1b[31min\x1b[0m some module of it\n"
LINES = b"".join(LINE % number for number in range(1000))


def flood() -> None:
    """Write until nobody reads any more."""
    try:
        while True:
            os.write(2, LINES)
    except OSError:
        return


if __name__ == "__main__":
    threading.Thread(target=flood, daemon=True).start()
    runpy.run_path(str(ANSWERS), run_name="__main__")
