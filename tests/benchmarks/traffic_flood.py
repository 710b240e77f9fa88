"""A million frames of a flooding server through the whole program, and the recording opened again.

Run it: python tests/benchmarks/traffic_flood.py [FRAMES]
The real program in a pty, its traffic screen following: frames stored a second (budget: 20,000), how long a
key takes to be painted meanwhile (95 % within 30 ms), memory of the program; then `mcptui traffic` over the
same recording: time to the first line and to the last entry, memory with all of it open (180 MB), a filter
on columns (300 ms). The plain baseline in the same run: a Python loop that reads the same lines from the same
server through a pipe and keeps them in a list.
"""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import psutil  # noqa: E402

from tests.terminal.pty_app import TerminalApp, home_in  # noqa: E402
from tui.core.errors import McptuiError  # noqa: E402
from tui.storage.recordings.reader import RecordingReader  # noqa: E402
from tui.ui.traffic.bars import exact  # noqa: E402

SERVER = ROOT / "tests" / "benchmarks" / "million_server.py"
TRAFFIC, QUIT, ENTER = "\x1bOS", "\x11", "\r"
HEADINGS = (b"since start", None, b"time")
"""What each press of `t` paints; the second takes a heading away and is not measured."""


def plain(columns: int) -> float:
    """Return the seconds that a loop takes which only reads the lines and keeps them."""
    server = subprocess.Popen(
        [sys.executable, str(SERVER), str(columns)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={"FLOOD_AFTER": "0"},
    )
    assert server.stdout is not None
    began, kept = time.perf_counter(), []
    while len(kept) < columns:
        kept.append(server.stdout.readline())
    seconds = time.perf_counter() - began
    server.kill()
    server.communicate()
    return seconds


def stored(folder: Path) -> int:
    """Return how many entries the recording has by now."""
    found = sorted(folder.glob("**/*.mcptrace"))
    if not found:
        return 0
    try:
        reader = RecordingReader(found[-1])
    except McptuiError:  # it is just being made
        return 0
    try:
        return reader.span()[1]
    finally:
        reader.close()


def key(app: TerminalApp, number: int) -> float | None:
    """Press `t`; return the milliseconds until the line of headings was painted anew."""
    heading, seen, began = HEADINGS[number % 3], len(app.raw), time.perf_counter()
    app.send("t")
    if heading is None:
        wait(app, 0.2)
        return None
    while heading not in app.raw[seen:]:
        app.pump(0.002)
        if time.perf_counter() - began > 20:
            raise SystemExit(f"{heading!r} was not painted within 20 s")
    return (time.perf_counter() - began) * 1000


def wait(app: TerminalApp, seconds: float, condition: Callable[[], bool] = lambda: False) -> float:
    """Read what is painted until a condition holds, at most `seconds`; return how long it took."""
    began = time.perf_counter()
    while time.perf_counter() - began < seconds and not condition():
        app.pump(0.01)
        if len(app.raw) > 1 << 22:
            del app.raw[: 1 << 21]
    return time.perf_counter() - began


def memory(app: TerminalApp) -> int:
    """Return the resident megabytes of the program alone."""
    return psutil.Process(app.process.pid).memory_info().rss // (1 << 20)


def shown(name: str, value: float, unit: str, budget: str) -> None:
    """Print a line."""
    print(f"{name:<44}{value:>12,.1f} {unit:<10} {budget}")


def record(columns: int, folder: Path) -> None:
    """Let the server flood and watch."""
    config = folder / "config.toml"
    arguments = json.dumps([str(SERVER), str(columns)])
    config.write_text(f"[servers.flood]\ncommand = {json.dumps(sys.executable)}\nargs = {arguments}\n")
    command = [sys.executable, "-m", "tui", "--demo", "--config", str(config)]
    with TerminalApp(command, env=home_in(folder), draws=False) as app:
        wait(app, 30, lambda: stored(folder) >= 5)
        wait(app, 1)
        app.send(TRAFFIC)
        wait(app, 30, lambda: stored(folder) > 500)
        began, first = time.perf_counter(), stored(folder)
        times: list[float] = []
        number, sample = 0, (began, first)
        rates: list[float] = []
        while stored(folder) < columns and time.perf_counter() - began < 300:
            if (took := key(app, number)) is not None:
                times.append(took)
            number += 1
            wait(app, 0.05 + number % 7 / 100)
            if (now := time.perf_counter()) - sample[0] > 2:
                count = stored(folder)
                rates.append((count - sample[1]) / (now - sample[0]))
                sample = (now, count)
        seconds = time.perf_counter() - began
        shown("stored while it is followed", (stored(folder) - first) / seconds, "frames/s", "20,000")
        if rates:
            shown("slowest two seconds", min(rates), "frames/s", "")
        times.sort()
        if times:
            shown(f"key `t` while it floods, p50 of {len(times)}", statistics.median(times), "ms", "")
            shown("key `t` while it floods, p95", times[len(times) * 95 // 100], "ms", "30")
        shown("memory in the end", memory(app), "MB", "")
        app.send(QUIT)
        app.ended(20)


def reopen(folder: Path) -> None:
    """Open the recording with `mcptui traffic`."""
    command = [sys.executable, "-m", "tui", "traffic"]
    with TerminalApp(command, env=home_in(folder), draws=False) as app:
        shown("reopened, first line painted", 1000 * wait(app, 60, lambda: b"TRAFFIC" in app.raw), "ms", "")
        entries = f"{exact(stored(folder))} entries".encode()
        shown("reopened, last entry there", wait(app, 120, lambda: entries in app.raw), "s", "")
        wait(app, 3)
        shown("memory with all of it open", memory(app), "MB", "180")
        times = sorted(took for number in range(60) if (took := key(app, number)) is not None)
        shown("key `t` over all of it, p50", statistics.median(times), "ms", "")
        shown("key `t` over all of it, p95", times[len(times) * 95 // 100], "ms", "30")
        app.send("/")
        app.send("size:>190 method:notifications/*")
        wait(app, 1)
        seen, began = len(app.raw), time.perf_counter()
        app.send(ENTER)
        wait(app, 20, lambda: b" of " in app.raw[seen:])
        shown("filter on columns, list painted", 1000 * (time.perf_counter() - began), "ms", "300")
        app.send(QUIT)
        app.ended(20)


def main() -> int:
    """Measure."""
    columns = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    seconds = plain(columns)
    shown("plain loop over the same pipe", columns / seconds, "frames/s", "baseline")
    with tempfile.TemporaryDirectory() as name:
        record(columns, Path(name))
        reopen(Path(name))
    return 0


if __name__ == "__main__":
    sys.exit(main())
