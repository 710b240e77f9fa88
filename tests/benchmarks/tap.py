"""What `mcptui tap` costs: added latency by direction, start, throughput. Run: python tests/benchmarks/tap.py

An echo server answers each line at once; a round trip through it is measured without and with the tap, so
half of the difference is what one direction costs. Beside it stand a bare Python's start and, as the least
that any copying process can cost, a pass-through in C (`socat`), if there is one.
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence

ECHO = "import os\nwhile data := os.read(0, 65536): os.write(1, data)"
LINE = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"%s"}}}\n'
ROUNDS = 3000
PAUSE = 0.0005
BULK = 300 * 1024 * 1024


def tapped(command: Sequence[str]) -> list[str]:
    return [sys.executable, "-m", "tui", "tap", "--", *command]


def round_trips(command: Sequence[str], text: int, pause: float) -> list[float]:
    line = LINE % (b"x" * text)
    times: list[float] = []
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        for number in range(ROUNDS + 200):
            began = time.perf_counter_ns()
            process.stdin.write(line)
            missing = len(line)
            while missing:
                missing -= len(os.read(process.stdout.fileno(), 1 << 20))
            if number >= 200:
                times.append((time.perf_counter_ns() - began) / 1e6)
            time.sleep(pause)
        process.stdin.close()
    return times


def first_byte(command: Sequence[str]) -> float:
    times = []
    for _ in range(15):
        began = time.perf_counter_ns()
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert process.stdin is not None and process.stdout is not None
            process.stdout.read(1)
            times.append((time.perf_counter_ns() - began) / 1e6)
            process.stdin.close()
    return statistics.median(times)


def throughput(command: Sequence[str]) -> float:
    began = time.perf_counter()
    with open(os.devnull, "wb") as nowhere:
        subprocess.run(command, stdin=subprocess.DEVNULL, stdout=nowhere, check=True)
    return BULK / (time.perf_counter() - began) / 1e6


def report(name: str, plain: list[float], through: list[float]) -> None:
    def at(times: list[float], part: float) -> float:
        return sorted(times)[int(len(times) * part)]

    median, p95, p99 = ((at(through, part) - at(plain, part)) / 2 for part in (0.5, 0.95, 0.99))
    print(f"{name:<28} added a direction: median {median:.3f} ms, p95 {p95:.3f} ms, p99 {p99:.3f} ms")


def main() -> None:
    echo = [sys.executable, "-c", ECHO]
    with tempfile.TemporaryDirectory() as home:
        os.environ["XDG_STATE_HOME"] = home
        for name, text, pause in (
            ("100 B, 2 kHz", 10, PAUSE),
            ("100 B, at once", 10, 0),
            ("32 kB", 32_000, PAUSE),
        ):
            plain = round_trips(echo, text, pause)
            report(f"mcptui tap, {name}", plain, round_trips(tapped(echo), text, pause))
            if socat := shutil.which("socat"):
                report(
                    f"socat, {name}", plain, round_trips([socat, "-", f"EXEC:{' '.join(echo)}"], text, pause)
                )
        say = ["sh", "-c", "echo x"]
        bare = first_byte([sys.executable, "-c", "import os; os.write(1, b'x')"])
        plain_start, start = first_byte(say), first_byte(tapped(say))
        print(f"first byte of `sh -c 'echo x'`: {plain_start:.0f} ms, tapped {start:.0f} ms")
        print(f"first byte of a bare Python: {bare:.0f} ms")
        many = ["sh", "-c", f"yes {'x' * 1000} | head -c {BULK}"]
        one = ["head", "-c", str(BULK), "/dev/zero"]
        for name, command in (("lines of 1 kB", many), (f"one line of {BULK >> 20} MB", one)):
            print(f"{name}: {throughput(command):.0f} MB/s, tapped {throughput(tapped(command)):.0f} MB/s")


if __name__ == "__main__":
    main()
