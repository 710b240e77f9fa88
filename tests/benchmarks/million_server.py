"""A server that soon after its handshake writes frames as fast as they are read: million_server.py N."""

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


def flood(columns: int) -> None:
    """Write the frames and stay quiet then."""
    time.sleep(float(os.environ.get("FLOOD_AFTER", "4")))
    for first in range(0, columns, AT_ONCE):
        lines = "".join(FRAME % number for number in range(first, min(first + AT_ONCE, columns))).encode()
        while lines:
            lines = lines[os.write(1, lines) :]


if __name__ == "__main__":
    threading.Thread(target=flood, args=(int(sys.argv[1]),), daemon=True).start()
    sys.argv = sys.argv[:1]
    runpy.run_path(str(ANSWERS), run_name="__main__")
