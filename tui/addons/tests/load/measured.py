"""What a load was, in numbers, and that of the run before, in a file of the state folder."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tui.core.units import bounded
from tui.settings.locations import state_dir
from tui.settings.state.state_file import KeyedList

MOST_RUNS = 200


@dataclass(frozen=True, slots=True)
class Measured:
    """The numbers of a run; times in milliseconds, of calls that were answered.

    Attributes:
        at: seconds since the epoch.
        rate: answered calls per second.
        errors: calls without a result, or with one that is an error.
    """

    at: float
    seconds: float
    calls: int
    rate: float
    p50: float
    p95: float
    p99: float
    slowest: float
    errors: int


@dataclass(slots=True)
class Samples:
    """The calls of a run, as they end."""

    times: list[float] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)
    """By sentence."""

    def measured(self, at: float, seconds: float) -> Measured:
        times, failed = sorted(self.times), self.errors.total()
        p50, p95, p99 = (percentile(times, share) for share in (0.5, 0.95, 0.99))
        rate = len(times) / seconds if seconds else 0.0
        slowest = times[-1] if times else 0.0
        return Measured(at, seconds, len(times), rate, p50, p95, p99, slowest, failed)


def percentile(times: Sequence[float], share: float) -> float:
    """Return the time that a share of sorted times does not exceed (nearest rank); 0 without any."""
    return times[max(0, math.ceil(share * len(times)) - 1)] if times else 0.0


class LastLoads:
    """The last run for each key: a server, calls, and how many at once."""

    def __init__(self, path: Path | None = None) -> None:
        self._list = KeyedList[str, Measured](
            path or state_dir() / "loads.json", "the last loads", "loads", _read, _write, MOST_RUNS
        )

    def replace(self, key: str, measured: Measured) -> Measured | None:
        """Store a run; return the one before it, or None. Blocks. A failure is only logged."""
        before = self._list.read().get(key)
        self._list.file.try_to_change(self._list.change({key: measured}))
        return before


def _read(entry: Any) -> tuple[str, Measured] | None:
    if not isinstance(entry, Mapping) or not isinstance(key := entry.get("key"), str):
        return None
    numbers = {name: bounded(entry.get(name)) for name in Measured.__slots__}
    found = {name: number for name, number in numbers.items() if number is not None}
    return (key, Measured(**found)) if len(found) == len(numbers) else None  # type: ignore[arg-type]


def _write(key: str, measured: Measured) -> dict[str, Any]:
    return {"key": key, **asdict(measured)}
