"""How long until the first frame, in a real terminal, beside a bare Textual "hello" of the same run.

Run it: python tests/benchmarks/first_paint.py [RUNS]
All are started in turn, each in a pty of its own; the time is from the start of the process until its
word has arrived at the terminal: a frame with the composer in it, not the empty screen before it. Prints
the medians and their ratios: the app to bare Textual (budget 1.6), `--version` to an empty Python.

All find their modules compiled, as after an installation. Where the environment forbids Python to write
what it compiled, a checkout would be compiled again at each start and Textual, installed, would not.
"""

import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

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
    "empty Python": ([sys.executable, "-c", "print('done')"], "done"),
    "--version": ([sys.executable, "-m", "tui", "--version"], "mcptui "),
}
BUDGET = 1.6


def compiled_in(folder: str) -> dict[str, str]:
    """Return an environment in which what was compiled at the first start is found at the others."""
    return {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": f"{folder}/compiled"}


def seconds_to(argv: list[str], word: str, home: str) -> float:
    """Start a program and return how long it took until its word stood on the terminal."""
    began = time.perf_counter()
    with TerminalApp(argv, env=home_in(home) | compiled_in(home), draws=False) as app:
        app.until(lambda: word.encode() in app.raw)
        return time.perf_counter() - began


def main() -> None:
    """Measure and print."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 11
    times: dict[str, list[float]] = {name: [] for name in CASES}
    with tempfile.TemporaryDirectory() as home:
        for run in range(runs + 1):
            for name, (argv, word) in CASES.items():
                took = seconds_to(argv, word, home)
                if run:  # the first run only compiles, and fills the caches of the disk
                    times[name].append(took * 1000)
    for name, taken in times.items():
        print(f"{name:14} median {statistics.median(taken):5.0f} ms   best {min(taken):5.0f} ms")
    bare, ours, nothing, version = (statistics.median(taken) for taken in times.values())
    print(f"mcptui to bare Textual      {ours / bare:.2f}   (budget {BUDGET}, {os.cpu_count()} cores)")
    print(f"--version to empty Python   {version / nothing:.2f}")


if __name__ == "__main__":
    main()
