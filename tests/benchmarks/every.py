"""Run every benchmark that has a budget, and write their figures to docs/performance.md.

Run it: python tests/benchmarks/every.py [NAME …]
Each runs in a process of its own, one after the other, on a machine that should do nothing else; together
they take about half an hour. With names, only these run and nothing is written. Exits with 1 where one of
them missed a budget or failed.
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

from tests.benchmarks.figures import TOLD, Figure, table  # noqa: E402

BENCHMARKS = (
    *("first_paint", "start", "commands", "idle", "tool_call", "tap", "quit", "app_memory"),
    "traffic_flood",
    "opening",
    "streaming",
    "traffic_screen",
)
PAGE = ROOT / "docs" / "performance.md"
MARK = "<!-- what follows is written by tests/benchmarks/every.py -->"


def measured(name: str) -> tuple[list[Figure], int]:
    """Run a benchmark; return its figures and its exit code."""
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder) / "figures"
        told.touch()
        script = ROOT / "tests" / "benchmarks" / f"{name}.py"
        done = subprocess.run([sys.executable, str(script)], env=os.environ | {TOLD: str(told)}, check=False)
        return [Figure(**json.loads(line)) for line in told.read_text(encoding="utf-8").splitlines()], (
            done.returncode
        )


def main(names: list[str]) -> int:
    """Run them, write the page, return the exit code."""
    worst, lines = (
        0,
        [MARK, "", f"Measured {date.today()}: {os.cpu_count()} cores, {platform.python_version()}."],
    )
    for name in names or BENCHMARKS:
        print(f"\n{name}", flush=True)
        figures, code = measured(name)
        worst = max(worst, int(code != 0))
        lines += ["", f"## {name}", "", *table(figures)]
    if not names:
        head = PAGE.read_text(encoding="utf-8").partition(MARK)[0]
        PAGE.write_text(head + "\n".join(lines) + "\n", encoding="utf-8")
    return worst


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
