"""The process that searches bodies for regular expressions: bodies in, places out, one answer a request.

Run as a script by `tui.storage.regex_process`, with nothing but the standard library. A request is a line
of JSON, `{"terms": [[pattern, fold], ...], "sizes": [...], "seconds": s}` with patterns as Latin-1, and
then the bodies. The answer is a line of JSON: for each term the places, from 0, of the bodies that have it.
Whoever asks waits for the answer before asking again.

A match cannot be broken off from inside of Python. So a timer that needs no Python ends this process when a
request takes longer than its seconds, and the kernel ends it when its input ends during a match.
"""

import faulthandler
import json
import os
import re
import signal
import sys

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

READY = b"ready\n"
NICENESS = 5
"""Whoever draws and takes keys comes first, also where there is one processor."""


def main() -> None:
    """Answer until the input ends."""
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    if fcntl is not None:
        signal.signal(signal.SIGIO, signal.SIG_DFL)  # which is the end
        fcntl.fcntl(0, fcntl.F_SETOWN, os.getpid())
    answers.write(READY)
    answers.flush()
    terms, patterns = None, []
    while line := requests.readline():
        asked = json.loads(line)
        bodies = [requests.read(size) for size in asked["sizes"]]
        faulthandler.dump_traceback_later(asked["seconds"], exit=True)
        _end_with_input(True)
        if terms != asked["terms"]:
            terms = asked["terms"]
            patterns = [re.compile(text.encode("latin-1"), re.I if fold else 0) for text, fold in terms]
        found = [
            [place for place, body in enumerate(bodies) if search(body)]
            for search in [pattern.search for pattern in patterns]
        ]
        _end_with_input(False)
        faulthandler.cancel_dump_traceback_later()
        answers.write(json.dumps(found).encode() + b"\n")
        answers.flush()


def _end_with_input(wanted: bool) -> None:
    """Have the kernel signal any change of the input, which during a match can only be its end."""
    if fcntl is not None:
        flags = fcntl.fcntl(0, fcntl.F_GETFL)
        fcntl.fcntl(0, fcntl.F_SETFL, flags | os.O_ASYNC if wanted else flags & ~os.O_ASYNC)


if __name__ == "__main__":
    main()
