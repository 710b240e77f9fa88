"""A server that floods the whole program while the traffic screen follows it, and the screen at rest.

The real program runs in a pty with its recorder, its linter and the SDK. Measured are:
- the messages stored per second, counted in the file rather than on the screen (median of the runs);
- the delay until `t` is painted meanwhile, the most expensive key: it redraws every line;
- the delay until `t` and `k`, which moves the cursor, are painted once all has arrived;
- the peak memory of the program;
- whether the recording contains every message once, in order and byte for byte.
"""

import sqlite3
import statistics
import tempfile
import time
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.benchmarks.figures import Figure, late, latest, middle, noise
from tests.benchmarks.flooding_server import FRAME
from tests.benchmarks.program import (
    BARE,
    FLOODING,
    TRAFFIC,
    bare,
    cpu_seconds,
    echo,
    megabytes,
    pressed,
    program,
    rest,
    with_servers,
)
from tests.terminal.pty_app import FRAME_ENDS, TerminalApp

FRAMES, RUNS, PRESSES, TOO_LONG = 400_000, 3, 45, 300
HEADINGS = (b"elapsed", None, b"time")
"""What each press of `t` paints. The second press removes a heading and is not measured."""

UNDER_WAY = 2_000
"""Frames stored before measuring starts, so that the recorder has reached a steady rate."""


@dataclass
class Run:
    """The measurements of one run. `lost` counts messages that are missing or changed in the recording."""

    frames_a_second: float = 0.0
    cpu_us: float = 0.0
    flooded_ms: list[float] = field(default_factory=list)
    formats_ms: list[float] = field(default_factory=list)
    moves_ms: list[float] = field(default_factory=list)
    memory_mb: float = 0.0
    lost: int = 0


def opened(home: Path) -> sqlite3.Connection:
    """Open the recording that the program is writing."""
    path = sorted(home.glob("**/*.mcptrace"))[-1]
    return sqlite3.connect(f"file:{path}?mode=ro", uri=True)


def stored(home: Path) -> int:
    """Return how many entries are stored so far."""
    with suppress(IndexError, sqlite3.Error), closing(opened(home)) as connection:
        return int(connection.execute("SELECT max(seq) FROM entries").fetchone()[0] or 0)
    return 0  # the file is just being created


def lost(home: Path, frames: int) -> int:
    """Return how many messages of the flood are missing, out of order or changed."""
    with closing(opened(home)) as connection:
        rows = connection.execute("SELECT body FROM bodies ORDER BY seq")
        found = [body for (body,) in rows if b'"logger":"flood"' in body]
    sent = ((FRAME % number).rstrip("\n").encode() for number in range(frames))
    same = sum(1 for body, frame in zip(found, sent, strict=False) if body == frame)
    return max(frames, len(found)) - same


def formats(app: TerminalApp) -> list[float]:
    """Press `t` until the first format is shown again; return the delays."""
    took = []
    for heading in HEADINGS:
        rest(app, 0.1)
        if heading is None:
            app.send("t")
            rest(app, 0.2)
        else:
            took.append(pressed(app, "t", heading))
    del app.raw[: -(1 << 16)]
    return took


def flooded(frames: int, home: Path) -> Run:
    """Run the program under a flood and return the measurements."""
    home.mkdir()
    go, found = home / "go", Run()
    config = with_servers(str(home), FLOODING, arguments=(str(frames), str(go)))
    compiled = str(home.parent / "compiled")
    with program(str(home), "--demo", "--config", config, compiled=compiled) as app:
        app.until(lambda: stored(home) >= 5)
        rest(app, 3)
        app.send(TRAFFIC)
        rest(app, 1)
        before = stored(home)
        go.touch()
        app.until(lambda: stored(home) > before + UNDER_WAY)
        first, began, cpu = stored(home), time.perf_counter(), cpu_seconds(app)
        while (now := stored(home)) < before + frames and time.perf_counter() - began < TOO_LONG:
            found.flooded_ms += formats(app)
            found.memory_mb = max(found.memory_mb, megabytes(app))
        found.frames_a_second = (now - first) / (time.perf_counter() - began)
        found.cpu_us = (cpu_seconds(app) - cpu) / max(1, now - first) * 1e6
        found.lost = lost(home, frames)
        rest(app, 5)
        while len(found.formats_ms) < PRESSES:
            found.formats_ms += formats(app)
        for _ in range(PRESSES):  # the next frame is the key's effect: nothing else changes
            rest(app, 0.1)
            found.moves_ms.append(pressed(app, "k", FRAME_ENDS))
    return found


def floor() -> str:
    """Return how long a key takes in a bare Textual app."""
    with tempfile.TemporaryDirectory() as home, bare(home, BARE) as app:
        app.until(lambda: b"eady" in app.raw)
        took = []
        for number in range(PRESSES):
            rest(app, 0.1)
            took.append(echo(app, number))
    return f"bare Textual {late(took):.1f} ms, median {statistics.median(took):.1f}"


def measure(frames: int = FRAMES, count: int = RUNS) -> list[Figure]:
    with tempfile.TemporaryDirectory() as name:
        runs = [flooded(frames, Path(name) / f"run{number}") for number in range(count)]
    memory = max(run.memory_mb for run in runs[1:] or runs)  # in the first run, the program is compiled
    rates, beside = [run.frames_a_second / 1000 for run in runs], floor()
    return [
        Figure("stored, the screen following", statistics.median(rates), "k/s", 20, noise(rates), least=True),
        middle("processor time of the program", [run.cpu_us for run in runs], "µs a message"),
        latest("`t` while flooded", [took for run in runs for took in run.flooded_ms], 30, beside),
        latest("`t` at rest", [took for run in runs for took in run.formats_ms], 12, beside),
        latest("`k` at rest", [took for run in runs for took in run.moves_ms], 12, beside),
        Figure(f"memory (RSS) up to {frames // 1000:,} k rows", memory, "MB", 140),
        Figure(
            "messages lost or changed",
            *(sum(run.lost for run in runs), "messages", 0),
            beside=f"of {count * frames:,} sent",
        ),
    ]
