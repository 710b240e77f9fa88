"""A server that floods the whole program, while the traffic screen follows it.

Run it: python tests/benchmarks/traffic_flood.py [FRAMES] [RUNS]
The real program runs in a pty with its recorder, its linter and the SDK. Measured are:
- the messages stored per second, counted in the file rather than on the screen (median of the runs);
- the delay until a key is painted meanwhile (95th percentile of all runs);
- the peak memory of the program;
- whether the recording contains every message once, in order and byte for byte.
For comparison, a Python loop reads the same server and keeps the lines in a list.
"""

import json
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import psutil  # noqa: E402

from tests.benchmarks.figures import Figure, judged, late, noise  # noqa: E402
from tests.benchmarks.million_server import FRAME  # noqa: E402
from tests.terminal.pty_app import TerminalApp, home_in  # noqa: E402
from tui.storage.recordings.findings import judged_of  # noqa: E402

SERVER = ROOT / "tests" / "benchmarks" / "million_server.py"
TRAFFIC, QUIT = "\x1bOS", "\x11"
HEADINGS = (b"elapsed", None, b"time")
"""What each press of `t` paints. The second press removes a heading and is not measured."""

UNDER_WAY = 2_000
"""Frames stored before measuring starts, so that the recorder has reached a steady rate."""

TOO_LONG = 300


@dataclass
class Run:
    """The measurements of one run. `lost` counts the messages that are missing or changed in the recording.

    `behind` is how many of the stored entries the linter had not checked when all were stored.
    """

    frames_a_second: float = 0.0
    cpu_us: float = 0.0
    keys_ms: list[float] = field(default_factory=list)
    memory_mb: float = 0.0
    lost: int = 0
    behind: int = 0


def plain(frames: int) -> float:
    """Return the messages per second of a loop that only reads the lines and keeps them."""
    command = [sys.executable, str(SERVER), str(frames)]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert server.stdout is not None
    began, kept = time.perf_counter(), []
    while len(kept) < frames:
        kept.append(server.stdout.readline())
    seconds = time.perf_counter() - began
    server.kill()
    server.communicate()
    return frames / seconds


class Recording:
    """The recording that the program is writing, read from another process."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def stored(self) -> int:
        """Return how many entries are stored so far."""
        return int(self._ask("SELECT max(seq) FROM entries") or 0)

    def judged(self) -> int:
        """Return the last entry that the linter has checked, according to the file."""
        try:
            with closing(self._open()) as connection:
                return judged_of(dict(connection.execute("SELECT name, value FROM meta")))
        except (IndexError, sqlite3.Error):
            return 0

    def lost(self, frames: int) -> int:
        """Return how many messages of the flood are missing, out of order or changed."""
        with closing(self._open()) as connection:
            rows = connection.execute("SELECT body FROM bodies ORDER BY seq")
            found = [body for (body,) in rows if b'"logger":"flood"' in body]
        sent = ((FRAME % number).rstrip("\n").encode() for number in range(frames))
        same = sum(1 for body, frame in zip(found, sent, strict=False) if body == frame)
        return max(frames, len(found)) - same

    def _open(self) -> sqlite3.Connection:
        path = sorted(self._folder.glob("**/*.mcptrace"))[-1]
        return sqlite3.connect(f"file:{path}?mode=ro", uri=True)

    def _ask(self, question: str) -> object:
        try:
            with closing(self._open()) as connection:
                return connection.execute(question).fetchone()[0]
        except (IndexError, sqlite3.Error):  # the file is just being created
            return 0


def wait(app: TerminalApp, seconds: float, condition: Callable[[], bool] = lambda: False) -> bool:
    """Read output until a condition holds, for at most `seconds`; return whether it holds."""
    ends = time.perf_counter() + seconds
    while not (holds := condition()) and time.perf_counter() < ends:
        app.pump(0.01)
        if len(app.raw) > 1 << 22:
            del app.raw[: 1 << 21]
    return holds


def key(app: TerminalApp, number: int) -> float | None:
    """Press `t`; return the milliseconds until the headings are repainted."""
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


def flooded(frames: int, folder: Path) -> Run:
    """Run the program under a flood and return the measurements."""
    go, config, found, recording = folder / "go", folder / "config.toml", Run(), Recording(folder)
    arguments = json.dumps([str(SERVER), str(frames), str(go)])
    config.write_text(f"[servers.flood]\ncommand = {json.dumps(sys.executable)}\nargs = {arguments}\n")
    command = [sys.executable, "-m", "tui", "--demo", "--trust-config", "--config", str(config)]
    with TerminalApp(command, env=home_in(folder), draws=False, fresh=True) as app:
        wait(app, 30, lambda: recording.stored() >= 5)
        wait(app, 3)
        app.send(TRAFFIC)
        wait(app, 1)
        before = recording.stored()
        go.touch()
        wait(app, 30, lambda: recording.stored() > before + UNDER_WAY)
        program = psutil.Process(app.process.pid)
        first, began, cpu = recording.stored(), time.perf_counter(), sum(program.cpu_times()[:2])
        number = 0
        while (stored := recording.stored()) < before + frames and time.perf_counter() - began < TOO_LONG:
            if (took := key(app, number)) is not None:
                found.keys_ms.append(took)
            number += 1
            wait(app, 0.05 + number % 7 / 100)
            found.memory_mb = max(found.memory_mb, program.memory_info().rss / (1 << 20))
        found.behind = stored - recording.linting.judged()
        found.frames_a_second = (stored - first) / (time.perf_counter() - began)
        found.cpu_us = (sum(program.cpu_times()[:2]) - cpu) / max(1, stored - first) * 1e6
        found.lost = recording.lost(frames)
        app.send(QUIT)
        app.ended(20)
    return found


def main() -> int:
    """Measure."""
    frames = int(sys.argv[1]) if len(sys.argv) > 1 else 400_000
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    read, runs = plain(frames), list[Run]()
    for _ in range(count):
        with tempfile.TemporaryDirectory() as name:
            runs.append(flooded(frames, Path(name)))
    rates, costs = [run.frames_a_second for run in runs], [run.cpu_us for run in runs]
    lags = [float(run.behind) for run in runs]
    keys = [took for run in runs for took in run.keys_ms]
    slow = [late(run.keys_ms) for run in runs if run.keys_ms]
    return judged(
        [
            Figure("stored, the screen following", statistics.median(rates) / 1000, "k/s", 20,
                   noise(rates) / 1000, f"a read loop: {read / 1000:,.0f} k/s", least=True),
            Figure("processor time of the program", statistics.median(costs), "µs a message", None,
                   noise(costs)),
            Figure(f"key to paint meanwhile, p95 of {len(keys)}", late(keys), "ms", 30, noise(slow)),
            Figure(f"memory (RSS) up to {frames // 1000:,} k rows", max(run.memory_mb for run in runs), "MB",
                   140),
            Figure("the linter is behind when all is stored", statistics.median(lags), "messages", None,
                   noise(lags)),
            Figure("messages lost or changed", sum(run.lost for run in runs), "messages", 0,
                   beside=f"of {count * frames:,} sent"),
        ]
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
