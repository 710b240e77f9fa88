"""Cost of `mcptui tap`: added latency per direction, a long line, start, throughput.

Run it: python tests/benchmarks/tap.py [--tree FOLDER]
A server echoes each line once it has read all of it. Round trips are measured alternately with and without
the tap, so half of the difference is the cost of one direction. For comparison, the figures show the time of
the pipe itself (half a round trip without the tap), the latency added by a Python program that only copies,
and for the start that of a bare Python.
`--tree` also measures the tap of another checkout.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.benchmarks.figures import Figure, judged, late, noise  # noqa: E402

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
COPY = r"""
import os, subprocess, sys, threading
def copy(source, sink):
    while data := os.read(source, 1 << 20):
        while data:
            data = data[os.write(sink, data):]
    os.close(sink)
server = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
threading.Thread(target=copy, args=(0, server.stdin.fileno())).start()
copy(server.stdout.fileno(), 1)
"""
LINE = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"%s"}}}\n'
PAUSE = 0.0005
SETTLE = 0.3
"""Seconds before each turn, in which a tap records its turn. Otherwise it would slow down the next server."""

BULK = 300 * 1024 * 1024
MIB = 1024 * 1024
SIZES = {
    "100 B": (10, 3000, 300),
    "32 kB": (32_000, 1000, 100),
    "1 MB": (1_000_000, 60, 6),
    "1 MB, 60 in a row": (1_000_000, 120, 60),
    "64 MiB": (64 * MIB, 3, 1),
}
"""Characters of the text in a line, how many round trips, and how many of them in a turn."""


class Server:
    """A running server that echoes lines, with or without a tap."""

    def __init__(self, command: Sequence[str], tree: Path = ROOT) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, env=environment(tree)
        )

    def round_trips(self, line: bytes, count: int) -> list[float]:
        """Return the duration of each round trip in milliseconds."""
        assert self._process.stdin is not None and self._process.stdout is not None
        into, out = self._process.stdin.fileno(), self._process.stdout.fileno()
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

    def close(self) -> None:
        """End the server; a tap ends once everything is recorded."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.read()
        self._process.wait()


def environment(tree: Path) -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(tree)}


def tapped(command: Sequence[str]) -> list[str]:
    return [sys.executable, "-P", "-m", "tui", "tap", "--", *command]


def compared(size: str, trees: Sequence[Path]) -> list[Figure]:
    """Measure round trips of lines of one size; print the figures of all trees, return those of the first."""
    text, count, each = SIZES[size]
    line = LINE % (b"x" * text)
    echo = [sys.executable, "-c", ECHO]
    plain, taps = Server(echo), [Server(tapped(echo), tree) for tree in trees]
    copying = Server([sys.executable, "-c", COPY, *echo])
    everyone: list[list[float]] = [[] for _ in range(len(taps) + 2)]
    for turn in range(count // each + 1):
        for server, times in zip((plain, copying, *taps), everyone, strict=True):
            time.sleep(SETTLE)
            took = server.round_trips(line, each)
            if turn:  # the first round is a warm-up
                times.extend(took)
    for server in (plain, copying, *taps):
        server.close()
    own, copied, *through = everyone
    pipe = statistics.median(own) / 2
    copy = statistics.median(copied) / 2 - pipe
    for tree, times in zip(trees, through, strict=True):
        added, slow = (statistics.median(times) / 2 - pipe), (late(times) - late(own)) / 2
        print(f"{size}, {tree}: added {added:.3f} ms a direction, p95 {slow:.3f} ms; pipe {pipe:.3f} ms")
    added = statistics.median(through[0]) / 2 - pipe
    budget = 0.05 if size == "100 B" else 2 * pipe if size.startswith("1 MB") else None
    beside = f"pipe {pipe:.3g} ms, a copying Python adds {copy:.3g} ms"
    return [Figure(f"tap adds at {size}", added, "ms", budget, noise(own) / 2, beside)]


def first_byte(command: Sequence[str]) -> float:
    times = []
    for _ in range(15):
        began = time.perf_counter_ns()
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment(ROOT)
        ) as process:
            assert process.stdin is not None and process.stdout is not None
            process.stdout.read(1)
            times.append((time.perf_counter_ns() - began) / 1e6)
            process.stdin.close()
    return statistics.median(times)


def throughput(command: Sequence[str]) -> float:
    began = time.perf_counter()
    with open(os.devnull, "wb") as nowhere:
        subprocess.run(command, stdin=subprocess.DEVNULL, stdout=nowhere, check=True, env=environment(ROOT))
    return BULK / (time.perf_counter() - began) / 1e6


def main() -> int:
    """Measure and print; return the exit code."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree", type=Path)
    parser.add_argument("--only", choices=SIZES)
    given = parser.parse_args()
    trees = [ROOT, *([given.tree] if given.tree else [])]
    with tempfile.TemporaryDirectory() as home:
        os.environ["XDG_STATE_HOME"] = home
        figures = [one for size in ([given.only] if given.only else SIZES) for one in compared(size, trees)]
        if given.only:
            return judged(figures)
        say = ["sh", "-c", "echo x"]
        bare = first_byte([sys.executable, "-c", "import os; os.write(1, b'x')"])
        start = first_byte(tapped(say)) - first_byte(say)
        figures.append(Figure("tap adds to a start", start, "ms", None, 0.0, f"bare Python {bare:.0f} ms"))
        many = ["sh", "-c", f"yes {'x' * 1000} | head -c {BULK}"]
        one = ["head", "-c", str(BULK), "/dev/zero"]
        for name, command in (("lines of 1 kB", many), (f"a line of {BULK // MIB} MiB", one)):
            through = throughput(tapped(command))
            beside = f"without {throughput(command):.0f} MB/s"
            figures.append(Figure(f"tap, {name}", through, "MB/s", None, 0.0, beside))
    return judged(figures)


if __name__ == "__main__":
    sys.exit(main())
