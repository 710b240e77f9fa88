"""What a benchmark measures: figures with their budgets and their noise."""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured value in `unit`, with its `noise` in the same unit (0 if it does not vary).

    `budget` is the maximum, or the minimum if `least` is set. A figure without one is only shown. `beside` is
    the baseline or comparison measured in the same run, as text with its unit.
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
        """The budget as text, or "" without one."""
        if self.budget is None:
            return ""
        return f"{'≥' if self.least else '≤'} {amount(self.budget)} {self.unit}"


def amount(value: float) -> str:
    """Return a number with three significant digits."""
    if value and abs(value) < 1000:
        return f"{value:.3g}"
    return f"{value:,.0f}".replace(",", " ")


def middle(
    what: str, values: Sequence[float], unit: str, budget: float | None = None, beside: str = ""
) -> Figure:
    """Return a figure with the median of some values and its noise."""
    return Figure(what, statistics.median(values), unit, budget, noise(values), beside)


def latest(what: str, delays: Sequence[float], budget: float, beside: str = "") -> Figure:
    """Return a figure with the 95th percentile of the delays of a key, in milliseconds."""
    return Figure(f"{what}, p95", late(delays), "ms", budget, noise_of(late, delays), beside)


def noise(values: Sequence[float]) -> float:
    """Return half the interquartile range."""
    if len(values) < 3:
        return 0.0
    low, _, high = statistics.quantiles(values, n=4)
    return (high - low) / 2


def noise_of(statistic: Callable[[Sequence[float]], float], values: Sequence[float]) -> float:
    """Return the noise of a statistic, such as `late`, over the fifths of a run."""
    fifth = len(values) // 5
    if fifth < 2:
        return 0.0
    return noise([statistic(values[start : start + fifth]) for start in range(0, fifth * 5, fifth)])


def late(values: Sequence[float]) -> float:
    """Return the 95th percentile."""
    return statistics.quantiles(values, n=20)[-1] if len(values) > 1 else values[0]


def table(figures: Sequence[Figure]) -> list[str]:
    """Return the figures as the lines of a Markdown table."""
    rows = [("what", "measured", "noise", "budget", "beside it", "")]
    for one in figures:
        spread = f"± {amount(one.noise)}" if one.noise else ""
        verdict = "" if one.budget is None else "missed" if one.missed else "held"
        rows.append((one.what, f"{amount(one.value)} {one.unit}", spread, one.limit, one.beside, verdict))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["| " + " | ".join(map(str.ljust, row, widths)) + " |" for row in rows]
    return [lines[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *lines[1:]]


def measured(name: str) -> list[Figure]:
    """Run a benchmark. Stands here because a new process cannot find what stands in `__main__`."""
    figures: list[Figure] = import_module(f"tests.benchmarks.{name}").measure()
    return figures
