"""Cost of the idle app: CPU, wake-ups, bytes to the terminal.

Run it: python tests/benchmarks/idle.py [SECONDS]
The app runs in a pty with the sample servers and the demo model, at the same time as a bare Textual app.
Wake-ups are voluntary context switches of all threads. Exits with 1 if a budget is missed.
"""

import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.benchmarks.figures import Figure, judged  # noqa: E402
from tests.terminal.pty_app import TerminalApp, home_in  # noqa: E402

SETTLE_SECONDS = 75.0
"""By then displayed ages change only once a minute, and the work of the start is done."""

BARE = """
from textual.app import App
from textual.widgets import Static
class Bare(App):
    def compose(self):
        yield Static("ready")
Bare().run()
"""
MOST_CPU, MOST_WAITS = 0.002, 4.0
"""The budget: share of one CPU, wake-ups per second."""


def spent(pid: int) -> tuple[float, int]:
    """Return the CPU seconds of a process and the number of voluntary context switches of its threads.

    Reads nanoseconds from `schedstat`: the 10 ms ticks of `/proc/PID/stat` are too coarse, since the budget
    for 30 s is only six of them.
    """
    run_ns = waits = 0
    for stat in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        run_ns += int(stat.read_text().split()[0])
    for status in Path(f"/proc/{pid}/task").glob("*/status"):
        (line,) = (line for line in status.read_text().splitlines() if line.startswith("voluntary"))
        waits += int(line.split()[1])
    return run_ns / 1e9, waits


def main(seconds: float) -> int:
    """Measure both apps; return the exit code."""
    with tempfile.TemporaryDirectory() as home, ExitStack() as stack:
        apps: dict[str, TerminalApp] = {}
        for name, argv, word in (
            ("bare Textual", [sys.executable, "-c", BARE], "ready"),
            ("mcptui", [sys.executable, "-m", "tui", "--demo"], "2 of 3"),
        ):
            apps[name] = stack.enter_context(TerminalApp(argv, env=home_in(home)))
            apps[name].shows(word, seconds=60)

        def watch(seconds: float) -> None:
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                for app in apps.values():
                    app.pump(0.5)

        def used(app: TerminalApp) -> tuple[float, int, int]:
            return *spent(app.process.pid), len(app.raw)

        watch(SETTLE_SECONDS)
        before = {name: used(app) for name, app in apps.items()}
        watch(seconds)
        rates = {
            name: [(now - then) / seconds for now, then in zip(used(app), before[name], strict=True)]
            for name, app in apps.items()
        }
    (cpu, waits, written), floor = rates["mcptui"], rates["bare Textual"]
    return judged(
        [
            Figure("CPU", cpu * 100, "%", MOST_CPU * 100, 0.02, f"bare Textual {floor[0]:.2%}"),
            Figure("wake-ups", waits, "/s", MOST_WAITS, 0.0, f"bare Textual {floor[1]:.1f} /s"),
            Figure("to the terminal", written, "B/s", 0, 0.0, f"bare Textual {floor[2]:.0f} B/s"),
        ]
    )


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]) if len(sys.argv) > 1 else 30.0))
