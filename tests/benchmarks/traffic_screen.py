"""Delay of keys on the traffic screen while a server floods, and with a million entries when idle.

Run it: python tests/benchmarks/traffic_screen.py [ENTRIES]
The program runs in a pty of 120 x 40, with recorder and linter on, and follows a server that writes as fast
as it is read. The key is `t`, the most expensive one: it redraws every line. The delay is measured from
writing the key to the terminal until the new heading is painted. Once all entries have arrived, `k` is
measured too, which moves the cursor by one line. The keys alternate with those of a bare Textual app with one
input. Exits with 1 if a budget is missed.
"""

import json
import re
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.benchmarks.figures import Figure, judged, late, noise_of  # noqa: E402
from tests.benchmarks.streaming import BARE, echo, rest  # noqa: E402
from tests.terminal.pty_app import FRAME_ENDS, TerminalApp, home_in  # noqa: E402

SERVER = ROOT / "tests" / "benchmarks" / "million_server.py"
QUIET_MS, FLOODED_MS = 12.0, 30.0
HEADINGS = (b"elapsed", None, b"time")
"""What each press of `t` paints. The second press removes a heading and is not measured."""
PRESSES, LONGEST = 90, 300.0
TRAFFIC, UP = "\x1bOS", "k"
COUNT = re.compile(rb"(\d[\d ]*) entries")


def entries(app: TerminalApp) -> int:
    """Return the number of entries shown on the screen."""
    found = COUNT.findall(app.raw[-(1 << 16) :])
    return int(found[-1].replace(b" ", b"")) if found else 0


def timed(app: TerminalApp, key: str, painted: Callable[[int], bool]) -> float:
    """Press a key; return the milliseconds until `painted` holds for the output after an offset."""
    seen, began = len(app.raw), time.perf_counter()
    app.send(key)
    while not painted(seen):
        app.pump(1)
        if time.perf_counter() - began > 20:
            raise SystemExit(f"{key!r} was not painted within 20 s")
    return (time.perf_counter() - began) * 1000


class Times:
    """Measures the delay of keys, alternating with the bare app."""

    def __init__(self, app: TerminalApp, bare: TerminalApp) -> None:
        self.app, self.bare = app, bare
        self.floor: list[float] = []
        self._turn = 0

    def _other(self) -> None:
        self._turn += 1
        rest(self.app, 0.05 + self._turn % 7 / 50)
        self.floor.append(echo(self.bare, self._turn))
        rest(self.app, 0.05 + self._turn % 5 / 50)

    def format(self) -> list[float]:
        """Press `t` until the first format is shown again; return the delays."""
        took = []
        for heading in HEADINGS:
            self._other()
            if heading is None:
                self.app.send("t")
                rest(self.app, 0.2)
            else:
                took.append(timed(self.app, "t", lambda seen, word=heading: word in self.app.raw[seen:]))
        return took

    def up(self) -> float:
        """Press `k`; return the delay until the next frame, which is its effect: nothing else changes."""
        self._other()
        return timed(self.app, UP, lambda seen: FRAME_ENDS in self.app.raw[seen:])


def main(count: int) -> int:
    """Measure; return the exit code."""
    with tempfile.TemporaryDirectory() as home:
        config = Path(home) / "config.toml"
        arguments = json.dumps([str(SERVER), str(count)])
        config.write_text(f"[servers.flood]\ncommand = {json.dumps(sys.executable)}\nargs = {arguments}\n")
        argv = [sys.executable, "-m", "tui", "--demo", "--trust-config", "--config", str(config)]
        with (
            TerminalApp(argv, env=home_in(home), draws=False) as app,
            TerminalApp([sys.executable, "-c", BARE]) as bare,
        ):
            bare.shows("ready")
            app.until(lambda: b"1 of 1" in app.raw, 60)
            app.send(TRAFFIC)
            app.until(lambda: entries(app) > 1000, 60)
            began, times = time.perf_counter(), Times(app, bare)
            flooded: list[float] = []
            while entries(app) < count and time.perf_counter() - began < LONGEST:
                flooded += times.format()
            rest(app, 5)
            there = entries(app)
            formats: list[float] = []
            while len(formats) < PRESSES:
                formats += times.format()
            moves = [times.up() for _ in range(PRESSES)]
    beside = f"bare Textual {late(times.floor):.1f} ms, median {median(times.floor):.1f}"
    print(f"{there:,} entries; medians: flooded {median(flooded):.1f}, `t` {median(formats):.1f}", end=" ")
    print(f"`k` {median(moves):.1f} ms")
    return judged(
        [
            Figure(
                "`t` while flooded, p95", late(flooded), "ms", FLOODED_MS, noise_of(late, flooded), beside
            ),
            Figure("`t` at rest, p95", late(formats), "ms", QUIET_MS, noise_of(late, formats), beside),
            Figure("`k` at rest, p95", late(moves), "ms", QUIET_MS, noise_of(late, moves), beside),
        ]
    )


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000))
