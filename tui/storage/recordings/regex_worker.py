"""The process that searches bodies for regular expressions: bodies in, places out, one answer a request.

Run as a script by `regex_process`, with nothing but the standard library. A request is a line
of JSON, `{"terms": [[pattern, fold], ...], "sizes": [...], "seconds": s}`, and then the bodies in UTF-8,
lone surrogates included. The answer is a line of JSON: for each term the places, from 0, of the bodies that
have it. Whoever asks waits for the answer before asking again.

A match cannot be broken off from inside of Python. So a timer that needs no Python ends this process when a
request takes longer than its seconds, and the kernel ends it when nobody is left to read the answer.
"""

import faulthandler
import json
import os
import re
import signal
import sys

if sys.platform != "win32":
    import fcntl

READY = b"ready\n"
NICENESS = 5
"""Whoever draws and takes keys comes first, also where there is one processor."""


def main() -> None:
    """Answer until the input ends."""
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    if sys.platform != "win32":
        os.nice(NICENESS)
        signal.signal(signal.SIGIO, signal.SIG_DFL)  # which is the end of the process
    answers.write(READY)
    answers.flush()
    terms, patterns = None, []
    while line := requests.readline():
        asked = json.loads(line)
        bodies = [requests.read(size).decode("utf-8", "surrogatepass") for size in asked["sizes"]]
        faulthandler.dump_traceback_later(asked["seconds"], exit=True)
        _end_without_reader(True)
        if terms != asked["terms"]:
            terms = asked["terms"]
            patterns = [re.compile(text, re.I if fold else 0) for text, fold in terms]
        found = [
            [place for place, body in enumerate(bodies) if search(body)]
            for search in [pattern.search for pattern in patterns]
        ]
        _end_without_reader(False)
        faulthandler.cancel_dump_traceback_later()
        answers.write(json.dumps(found).encode() + b"\n")
        answers.flush()


def _end_without_reader(wanted: bool) -> None:
    """Have the kernel signal any change of the output, which during a match can only be its end.

    Not of the input: that signal may come late, for what was written to it before.
    """
    if sys.platform != "win32":
        try:
            fcntl.fcntl(1, fcntl.F_SETOWN, os.getpid())
            flags = fcntl.fcntl(1, fcntl.F_GETFL)
            fcntl.fcntl(1, fcntl.F_SETFL, flags | os.O_ASYNC if wanted else flags & ~os.O_ASYNC)
        except OSError:  # not everywhere do pipes have this: the timer remains
            return


if __name__ == "__main__":
    main()
