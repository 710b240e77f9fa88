"""What the settled app costs while nobody touches it: CPU, wake-ups, bytes to the terminal.

Run it: python tests/benchmarks/idle.py [SECONDS]
The app runs in a pty with the sample servers and the demo model, beside a bare Textual app in the same time.
Wake-ups are voluntary context switches of all its threads. Exits with 1 where a budget is missed.
"""

import os
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.terminal.pty_app import TerminalApp, home_in  # noqa: E402

SETTLE_SECONDS = 75.0
"""By then ages change by the minute only, and what a start leaves to do is done."""

BARE = """
from textual.app import App
from textual.widgets import Static
class Bare(App):
    def compose(self):
        yield Static("ready")
Bare().run()
"""
TICKS = os.sysconf("SC_CLK_TCK")
MOST_CPU, MOST_WAITS = 0.002, 4.0
"""The budget: a share of one processor, wake-ups a second."""


def spent(pid: int) -> tuple[float, int]:
    """Return the CPU seconds of a process and how often its threads have waited."""
    stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    waits = 0
    for status in Path(f"/proc/{pid}/task").glob("*/status"):
        (line,) = (line for line in status.read_text().splitlines() if line.startswith("voluntary"))
        waits += int(line.split()[1])
    return (int(stat[11]) + int(stat[12])) / TICKS, waits


def main(seconds: float) -> int:
    """Measure both, print the table, return 1 if a budget is missed."""
    with tempfile.TemporaryDirectory() as home, ExitStack() as stack:
        apps: dict[str, TerminalApp] = {}
        for name, argv, word in (
            ("bare Textual", [sys.executable, "-c", BARE], "ready"),
            ("mcptui", [sys.executable, "-m", "tui", "--demo"], "2 of 3 running"),
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
        print(f"{'':14}{'CPU':>9}{'wake-ups':>12}{'to the terminal':>19}")
        for name, app in apps.items():
            cpu, waits, written = (
                (now - then) / seconds for now, then in zip(used(app), before[name], strict=True)
            )
            print(f"{name:14}{cpu:>9.2%}{waits:>10.1f}/s{written:>15.0f} B/s")
    missed = [
        what
        for what, found, most in (("CPU", cpu, MOST_CPU), ("wake-ups", waits, MOST_WAITS))
        if found > most
    ]
    print(f"missed: {', '.join(missed)}" if missed else "within the budget")
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]) if len(sys.argv) > 1 else 30.0))
