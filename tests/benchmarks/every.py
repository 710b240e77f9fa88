"""Run every benchmark that has a budget, and write the figures to docs/performance.md.

Run it: python tests/benchmarks/every.py [NAME …]
The benchmarks run one after the other, each in its own process, and take about half an hour together. The
machine should be idle otherwise. With names, only those benchmarks run, and only their tables are replaced.
Exits with 1 if a benchmark missed a budget or failed.
"""

import json
import os
import platform
import subprocess
import sys
import tempfile
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.benchmarks.figures import FIGURES_FILE, Figure, table  # noqa: E402

BENCHMARKS = (
    *("first_paint", "start", "commands", "idle", "tool_call", "tap", "quit", "app_memory"),
    "traffic_flood",
    "opening",
    "streaming",
    "traffic_screen",
    "keys_under_flood",
    "keys_in_questions",
    "keys_with_long_line",
    "http_call",
)
PAGE = ROOT / "docs" / "performance.md"
MARK = "<!-- what follows is written by tests/benchmarks/every.py -->"


def measured(name: str) -> tuple[list[Figure], int]:
    """Run a benchmark; return its figures and its exit code."""
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder) / "figures"
        told.touch()
        script = ROOT / "tests" / "benchmarks" / f"{name}.py"
        done = subprocess.run(
            [sys.executable, str(script)], env=os.environ | {FIGURES_FILE: str(told)}, check=False
        )
        return [Figure(**json.loads(line)) for line in told.read_text(encoding="utf-8").splitlines()], (
            done.returncode
        )


def written(page: str, name: str, figures: list[Figure]) -> str:
    """Return the page with the section of a benchmark replaced or inserted."""
    head, _, rest = page.partition(MARK)
    sections = dict(part.split("\n", 1) for part in rest.split("\n## ")[1:])
    machine = f"{date.today()}, {os.cpu_count()} cores, Python {platform.python_version()}."
    sections[name] = "\n".join(["", machine, "", *table(figures), ""])
    ordered = [f"\n\n## {one}\n{sections[one].rstrip()}" for one in BENCHMARKS if one in sections]
    return f"{head}{MARK}{''.join(ordered)}\n"


def main(names: list[str]) -> int:
    """Run the benchmarks and update the page; return the exit code."""
    worst = 0
    for name in names or BENCHMARKS:
        print(f"\n{name}", flush=True)
        figures, code = measured(name)
        worst = max(worst, int(code != 0))
        if figures:
            PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), name, figures), encoding="utf-8")
    return worst


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
