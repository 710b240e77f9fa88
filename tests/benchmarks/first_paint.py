"""Time to the first frame in a real terminal, compared with a bare Textual "hello" app.

Run it: python tests/benchmarks/first_paint.py [RUNS]
The two apps start alternately, each in its own pty. The time is measured from the start of the process until
a given word arrives at the terminal. For mcptui, that is the first frame with the input, not the empty screen
before it. The figures are the median time, and the median of the ratios to the bare Textual app started just
before.

All modules are precompiled, as after an installation. If the environment forbade Python to write compiled
modules, a checkout would be compiled at every start, but an installed Textual would not.
"""

import statistics
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.benchmarks.figures import Figure, judged, noise  # noqa: E402
from tests.terminal.pty_app import TerminalApp, home_in  # noqa: E402

HELLO = """
from textual.app import App
from textual.widgets import Static

class Hello(App):
    def compose(self):
        yield Static("Hello there")

Hello().run()
"""
CASES = {
    "bare Textual": ([sys.executable, "-c", HELLO], "Hello there"),
    "mcptui": ([sys.executable, "-m", "tui"], "sk anything"),
}
BUDGET = 1.25


def compiled_in(folder: str) -> dict[str, str]:
    """Return an environment in which compiled modules are written to `folder` and reused."""
    return {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": f"{folder}/compiled"}


def seconds_to(argv: list[str], word: str, home: str) -> float:
    """Start a program and return the seconds until its word arrives at the terminal."""
    began = time.perf_counter()
    with TerminalApp(argv, env=home_in(home) | compiled_in(home), draws=False) as app:
        app.until(lambda: word.encode() in app.raw)
        return time.perf_counter() - began


def main() -> int:
    """Measure; return the exit code."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 21
    times: dict[str, list[float]] = {name: [] for name in CASES}
    with tempfile.TemporaryDirectory() as home:
        for run in range(runs + 1):
            for name, (argv, word) in CASES.items():
                took = seconds_to(argv, word, home)
                if run:  # the first run compiles modules and warms the disk cache
                    times[name].append(took * 1000)
    bare, ours = times.values()
    ratios = [mine / floor for floor, mine in zip(bare, ours, strict=True)]
    beside = f"bare Textual {statistics.median(bare):.0f} ms"
    return judged(
        [
            Figure("first paint", statistics.median(ours), "ms", None, noise(ours), beside),
            Figure("to bare Textual", statistics.median(ratios), "x", BUDGET, noise(ratios), beside),
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
