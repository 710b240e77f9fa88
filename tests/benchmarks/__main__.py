"""Run the benchmarks, and compare their figures with their budgets.

`python -m tests.benchmarks [NAME …] [--write]` runs all benchmarks, or those that are named, one after the
other, each in its own process. All together take about half an hour. The machine should be idle otherwise.
`--write` replaces their tables in docs/performance.md. Exits with 1 if a figure misses its budget by more
than the measured noise.
"""

import argparse
import multiprocessing
import os
import platform
import sys
from concurrent.futures import ProcessPoolExecutor
from datetime import date

from tests.benchmarks.figures import measured, table
from tests.benchmarks.program import ROOT

BENCHMARKS = (
    *("start", "idle", "tool_call", "tap", "quit", "app_memory", "traffic_flood", "opening", "streaming"),
    *("keys_under_flood", "keys_in_questions", "keys_with_long_line", "suite_run"),
)
PAGE = ROOT / "docs" / "performance.md"
MARK = "<!-- what follows is written by python -m tests.benchmarks --write -->"


def written(page: str, name: str, lines: list[str]) -> str:
    """Return the page with the section of a benchmark replaced or inserted."""
    head, _, rest = page.partition(MARK)
    sections = dict(part.split("\n", 1) for part in rest.split("\n## ")[1:])
    machine = f"{date.today()}, {os.cpu_count()} cores, Python {platform.python_version()}."
    sections[name] = "\n".join(["", machine, "", *lines, ""])
    ordered = [f"\n\n## {one}\n{sections[one].rstrip()}" for one in BENCHMARKS if one in sections]
    return f"{head}{MARK}{''.join(ordered)}\n"


def main() -> int:
    """Run the benchmarks; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--write", action="store_true", help="write the tables to docs/performance.md")
    given = parser.parse_args()
    missed = False
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), max_tasks_per_child=1) as processes:
        for name in given.names or BENCHMARKS:
            figures = processes.submit(measured, name).result()
            missed = missed or any(one.missed for one in figures)
            lines = table(figures)
            print(f"\n{name}", *lines, sep="\n", flush=True)
            if given.write:
                PAGE.write_text(written(PAGE.read_text("utf-8"), name, lines), "utf-8")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
