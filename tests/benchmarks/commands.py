"""Startup cost of commands without a screen, compared with an empty Python process.

Run it: python tests/benchmarks/commands.py [RUNS] [--tree FOLDER]
The commands run alternately: `--version`, `--help`, `run` without a configuration (with and without the
sample servers), each sample server until its stdin is closed, and an empty Python. `--tree` also measures
another checkout in the same rounds. The figures are CPU time of the process and its children, because wall
time means little on a busy machine. `run` is measured in wall time too.

Prints medians, their noise (half the interquartile range) and the ratio to the empty Python. Exits with 1 if
a budget is missed by more than the noise. All modules are precompiled, as after an installation.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.benchmarks.figures import Figure, judged, noise, table  # noqa: E402
from tests.terminal.pty_app import home_in  # noqa: E402

QUESTION = "What's the weather in Hangzhou?"
SAMPLES = ("weather", "notes", "slow")
FLOOR = "empty Python"
RATIOS = {"--version": 2.5, "--help": 2.5}
"""The CPU time that a command may take, as a multiple of an empty Python."""
CPU_MS = {f"{name}.py": 60.0 for name in SAMPLES}
WALL_MS = {"run": 2000.0}

Cases = Mapping[str, tuple[list[str], bytes]]


def cases(tree: Path) -> Cases:
    """Return each command line and a word that its output must contain, so that a failing one is noticed."""
    mcptui = [sys.executable, "-m", "tui"]
    servers = {
        f"{name}.py": ([sys.executable, str(tree / "sample_config" / "servers" / f"{name}.py")], b"")
        for name in SAMPLES
    }
    return {
        FLOOR: ([sys.executable, "-c", "pass"], b""),
        "--version": ([*mcptui, "--version"], b"mcptui "),
        "--help": ([*mcptui, "--help"], b"usage: mcptui"),
        **servers,
        "run": ([*mcptui, "run", QUESTION], b"light rain"),
        "run --no-start": ([*mcptui, "--no-start", "run", "hello"], b"rule-based"),
    }


def taken(argv: list[str], word: bytes, env: Mapping[str, str], folder: str) -> tuple[float, float]:
    """Run a command and return its CPU time and its wall time in milliseconds."""
    with tempfile.TemporaryFile() as out:
        began = time.perf_counter()
        process = subprocess.Popen(
            argv,
            env=os.environ | env,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
        )
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        said = out.read()
    assert process.returncode == 0 and word in said, f"{argv}: {process.returncode}\n{said.decode()}"
    return (usage.ru_utime + usage.ru_stime) * 1000, wall * 1000


def measured(tree: Path, home: str, found: dict[str, tuple[list[float], list[float]]], *, keep: bool) -> None:
    """Run every command once and, with `keep`, add its times to `found`."""
    compiled = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": f"{home}/compiled"}
    env = home_in(home) | compiled | {"PYTHONPATH": str(tree)}
    for name, (argv, word) in cases(tree).items():
        cpu, wall = taken(argv, word, env, home)
        if keep:
            cpus, walls = found.setdefault(name, ([], []))
            cpus.append(cpu)
            walls.append(wall)


def figures_of(found: Mapping[str, tuple[list[float], list[float]]]) -> list[Figure]:
    """Return the figures of one tree; ratios use the CPU time of the empty Python of the same rounds."""
    base = found[FLOOR][0]
    floor = statistics.median(base)
    figures = []
    for name, (cpus, walls) in found.items():
        cpu, wall = statistics.median(cpus), statistics.median(walls)
        beside = f"python {floor:.0f} ms, {wall:.0f} ms of wall time"
        if name in RATIOS:
            spread = (noise(cpus) + cpu / floor * noise(base)) / floor
            figures.append(Figure(f"{name}, CPU", cpu / floor, "x", RATIOS[name], spread, beside))
        elif name in WALL_MS:
            figures.append(Figure(name, wall, "ms", WALL_MS[name], noise(walls), f"{cpu:.0f} ms CPU"))
        else:
            figures.append(Figure(f"{name}, CPU", cpu, "ms", CPU_MS.get(name), noise(cpus), beside))
    return figures


def main() -> int:
    """Measure and print; return the exit code."""
    parser = argparse.ArgumentParser()
    parser.add_argument("runs", nargs="?", type=int, default=11)
    parser.add_argument("--tree", type=Path, help="another checkout, measured in the same turns")
    arguments = parser.parse_args()
    trees = [ROOT] + ([arguments.tree.resolve()] if arguments.tree else [])
    found: list[dict[str, tuple[list[float], list[float]]]] = [{} for _ in trees]
    homes = [tempfile.TemporaryDirectory() for _ in trees]
    try:
        for run in range(arguments.runs + 1):
            for tree, home, times in zip(trees, homes, found, strict=True):
                measured(tree, home.name, times, keep=run > 0)  # the first run only compiles modules
    finally:
        for home in homes:
            home.cleanup()
    for tree, times in zip(trees[1:], found[1:], strict=True):
        print(f"{tree}", *table(figures_of(times)), sep="\n")
    return judged(figures_of(found[0]))


if __name__ == "__main__":
    raise SystemExit(main())
