"""What commands without a screen cost to start, beside an empty Python of the same run.

Run it: python tests/benchmarks/commands.py [RUNS] [--tree FOLDER]
All are started in turn: `--version` and `--help`, `run` without configuration with its samples and without
any, each sample server until its stdin is closed, and an empty Python. `--tree` measures another checkout in
the same turns. Figures are CPU time of a process and all it waited for, since on a machine with other work
wall time says little; `run` has its wall time too.

Prints medians, their noise (half the distance between the quartiles) and their ratio to the empty Python,
and exits with 1 where a budget is missed by more than the noise. All find their modules compiled, as after
an installation.
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

from tests.terminal.pty_app import home_in  # noqa: E402

QUESTION = "What's the weather in Hangzhou?"
SAMPLES = ("weather", "notes", "slow")
FLOOR = "empty Python"
RATIOS = {"--version": 2.5, "--help": 2.5}
"""How many times the CPU time of an empty Python a command may take."""
CPU_MS = {f"{name}.py": 60.0 for name in SAMPLES}
WALL_MS = {"run": 2000.0}

Cases = Mapping[str, tuple[list[str], bytes]]


def cases(tree: Path) -> Cases:
    """Return each command line, and a word of its output: one that fails at once would be fast."""
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


def noise(values: list[float]) -> float:
    """Return half the distance between the quartiles."""
    if len(values) < 3:
        return 0.0
    low, _, high = statistics.quantiles(values, n=4)
    return (high - low) / 2


def measured(tree: Path, home: str, found: dict[str, tuple[list[float], list[float]]], *, keep: bool) -> None:
    """Run every command once and add what each took to `found`, if it is to be kept."""
    compiled = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": f"{home}/compiled"}
    env = home_in(home) | compiled | {"PYTHONPATH": str(tree)}
    for name, (argv, word) in cases(tree).items():
        cpu, wall = taken(argv, word, env, home)
        if keep:
            cpus, walls = found.setdefault(name, ([], []))
            cpus.append(cpu)
            walls.append(wall)


def missed(found: Mapping[str, tuple[list[float], list[float]]]) -> list[str]:
    """Print the table of one tree and return the budgets that are missed by more than the noise."""
    over: list[str] = []
    floor = statistics.median(found[FLOOR][0])
    print(f"{'':16} {'CPU ms':>8} {'noise':>6} {'x Python':>9} {'wall ms':>8} {'noise':>6}   budget")
    for name, (cpus, walls) in found.items():
        cpu, wall = statistics.median(cpus), statistics.median(walls)
        budget = ""
        if name in RATIOS:
            budget = f"{RATIOS[name]} x Python"
            # The floor is measured in the same turns: its noise counts as well.
            if cpu - noise(cpus) > RATIOS[name] * (floor + noise(found[FLOOR][0])):
                over.append(name)
        elif name in CPU_MS:
            budget = f"{CPU_MS[name]:.0f} ms CPU"
            if cpu - noise(cpus) > CPU_MS[name]:
                over.append(name)
        elif name in WALL_MS:
            budget = f"{WALL_MS[name]:.0f} ms wall"
            if wall - noise(walls) > WALL_MS[name]:
                over.append(name)
        print(
            f"{name:16} {cpu:8.0f} {noise(cpus):6.1f} {cpu / floor:9.2f}"
            f" {wall:8.0f} {noise(walls):6.0f}   {budget}"
        )
    return over


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
                measured(tree, home.name, times, keep=run > 0)  # the first run only compiles
    finally:
        for home in homes:
            home.cleanup()
    over: list[str] = []
    for tree, times in zip(trees, found, strict=True):
        print(f"{tree}, {arguments.runs} runs, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
        late = missed(times)
        over += late if tree == ROOT else []
    for name in over:
        print(f"MISSED: {name}")
    return 1 if over else 0


if __name__ == "__main__":
    raise SystemExit(main())
