"""Latency that `mcptui tap` adds in each direction.

A server echoes each line once it has read all of it. Round trips are measured alternately with and without
the tap, so half of the difference is the cost of one direction.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time

from tests.benchmarks.figures import Figure, noise
from tests.benchmarks.program import installed

ECHO = r"""
import os
while True:
    parts = []
    while not parts or parts[-1][-1:] != b"\n":
        if not (data := os.read(0, 1 << 20)):
            raise SystemExit
        parts.append(data)
    line = memoryview(b"".join(parts))
    while line:
        line = line[os.write(1, line):]
"""
LINE = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"%s"}}}\n'
PAUSE = 0.0005
SETTLE = 0.3
"""Seconds before each turn, in which a tap records its turn. Otherwise it would slow down the next server."""

SIZES = {
    "100 B": (10, 3000, 300),
    "1 MB": (1_000_000, 60, 6),
    "1 MB, 60 in a row": (1_000_000, 120, 60),
}
"""Characters of the text in a line, how many round trips, and how many of them in a turn."""


def round_trips(server: subprocess.Popen[bytes], line: bytes, count: int) -> list[float]:
    """Return the duration of each round trip in milliseconds."""
    assert server.stdin is not None and server.stdout is not None
    into, out = server.stdin.fileno(), server.stdout.fileno()
    times = []
    for _ in range(count):
        began = time.perf_counter_ns()
        rest = memoryview(line)
        while rest:
            rest = rest[os.write(into, rest) :]
        missing = len(line)
        while missing:
            missing -= len(os.read(out, 1 << 20))
        times.append((time.perf_counter_ns() - began) / 1e6)
        time.sleep(PAUSE)
    return times


def compared(size: str, home: str) -> Figure:
    """Measure round trips of lines of one size."""
    text, count, each = SIZES[size]
    line, echo = LINE % (b"x" * text), [sys.executable, "-c", ECHO]
    tapped = [sys.executable, "-P", "-m", "tui", "tap", "--", *echo]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "bufsize": 0}
    servers = [
        subprocess.Popen(command, env=os.environ | installed(home), **pipes) for command in (echo, tapped)
    ]
    own, through = list[float](), list[float]()
    for turn in range(count // each + 1):
        for server, times in zip(servers, (own, through), strict=True):
            time.sleep(SETTLE)
            took = round_trips(server, line, each)
            if turn:  # the first round is a warm-up
                times.extend(took)
    for server in servers:
        server.communicate()
    pipe = statistics.median(own) / 2
    added = statistics.median(through) / 2 - pipe
    budget = 0.05 if size == "100 B" else 2 * pipe
    return Figure(f"tap adds at {size}", added, "ms", budget, noise(own) / 2, f"pipe {pipe:.3g} ms")


def measure() -> list[Figure]:
    with tempfile.TemporaryDirectory() as home:
        return [compared(size, home) for size in SIZES]
