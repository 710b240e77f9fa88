"""A server that sends messages as fast as they are read, once FILE exists: million_server.py N [FILE]."""

import os
import runpy
import sys
import threading
import time
from pathlib import Path

ANSWERS = Path(__file__).resolve().parents[1] / "corpus" / "faults" / "crlf.py"
FRAME = (
    '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","logger":"flood",'
    '"data":{"number":%d,"text":"something happened in some module of it, and this is what it was"}}}\n'
)
AT_ONCE = 200


def flood(frames: int, file: str) -> None:
    """Send the messages, then stay quiet."""
    while file and not os.path.exists(file):
        time.sleep(0.02)
    for first in range(0, frames, AT_ONCE):
        lines = "".join(FRAME % number for number in range(first, min(first + AT_ONCE, frames))).encode()
        while lines:
            lines = lines[os.write(1, lines) :]


if __name__ == "__main__":
    arguments = (int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "")
    threading.Thread(target=flood, args=arguments, daemon=True).start()
    sys.argv = sys.argv[:1]
    runpy.run_path(str(ANSWERS), run_name="__main__")
