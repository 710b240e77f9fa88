"""Figures of a benchmark against their budgets: printed as a table, told to `every.py`, judged.

A benchmark ends with `sys.exit(judged([Figure(...), ...]))`. A figure that misses its budget by more than the
noise that the benchmark measured makes it exit with 1.
"""

import json
import os
import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

TOLD = "MCPTUI_BENCHMARK_FIGURES"
"""The environment variable with the file to which figures are appended, one JSON object a line."""


@dataclass(frozen=True, slots=True)
class Figure:
    """What was measured, in `unit`; `noise` is in the same unit, and 0 for what does not vary.

    `budget` is the most that is allowed, or the least if `least`; without one the figure is only shown.
    `beside` says what the floor or a peer took in the same run, with its unit.
    """

    what: str
    value: float
    unit: str
    budget: float | None = None
    noise: float = 0.0
    beside: str = ""
    least: bool = False

    @property
    def missed(self) -> bool:
        """Whether the budget is missed by more than the noise."""
        if self.budget is None:
            return False
        short = self.budget - self.value if self.least else self.value - self.budget
        return short > self.noise

    @property
    def limit(self) -> str:
        """The budget in words, "" without one."""
        if self.budget is None:
            return ""
        return f"{'≥' if self.least else '≤'} {amount(self.budget)} {self.unit}"


def amount(value: float) -> str:
    """Return a number with three figures that count."""
    if value and abs(value) < 1000:
        return f"{value:.3g}"
    return f"{value:,.0f}".replace(",", " ")


def noise(values: Sequence[float]) -> float:
    """Return half the distance between the quartiles."""
    if len(values) < 3:
        return 0.0
    low, _, high = statistics.quantiles(values, n=4)
    return (high - low) / 2


def noise_of(statistic: Callable[[Sequence[float]], float], values: Sequence[float]) -> float:
    """Return the `noise` of what a statistic such as `late` is in each fifth of a run."""
    fifth = len(values) // 5
    if fifth < 2:
        return 0.0
    return noise([statistic(values[start : start + fifth]) for start in range(0, fifth * 5, fifth)])


def late(values: Sequence[float]) -> float:
    """Return what 95 % of the values do not exceed."""
    return statistics.quantiles(values, n=20)[-1] if len(values) > 1 else values[0]


def judged(figures: Sequence[Figure]) -> int:
    """Print the figures, tell them to `every.py` if it asked for them, and return the exit code."""
    if path := os.environ.get(TOLD):
        with Path(path).open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(asdict(one), ensure_ascii=False) + "\n" for one in figures)
    for line in table(figures):
        print(line)
    return int(any(one.missed for one in figures))


def table(figures: Sequence[Figure]) -> list[str]:
    """Return the figures as lines of a Markdown table."""
    rows = [("what", "measured", "noise", "budget", "beside it", "")]
    for one in figures:
        spread = f"± {amount(one.noise)}" if one.noise else ""
        verdict = "" if one.budget is None else "missed" if one.missed else "held"
        rows.append((one.what, f"{amount(one.value)} {one.unit}", spread, one.limit, one.beside, verdict))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["| " + " | ".join(map(str.ljust, row, widths)) + " |" for row in rows]
    return [lines[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *lines[1:]]
