"""Many durations in little memory: exact while they are few, then counted on a logarithmic scale. Pure."""

from array import array
from collections.abc import Iterable

EXACT = 512
"""Durations that are kept as they are; with more, percentiles are within 1/32 (some 3 %)."""

_STEPS = 16
"""Steps of the scale from one power of two to the next."""

_BUCKETS = 60 * _STEPS + _STEPS


def _tally(buckets: "array[int]", durations: Iterable[int]) -> None:
    """Count durations: up to 31 ns each its own bucket, then 16 to a power of two."""
    for ns in durations:
        shift = ns.bit_length() - 5
        if ns < 0:
            buckets[0] += 1
        elif shift > 0:
            buckets[shift * _STEPS + (ns >> shift)] += 1
        else:
            buckets[ns] += 1


def _middle(bucket: int) -> int:
    """Return the duration in the middle of a bucket."""
    if bucket < 2 * _STEPS:
        return bucket
    shift = bucket // _STEPS - 1
    return (bucket - shift * _STEPS << shift) + (1 << shift - 1)


class Latencies:
    """Durations in nanoseconds.

    Attributes:
        count: how many.
        longest: the longest, exact.
    """

    __slots__ = ("_buckets", "_exact", "count", "longest")

    def __init__(self) -> None:
        self.count = 0
        self.longest = 0
        self._exact = array("q")
        self._buckets: array[int] | None = None

    @property
    def is_exact(self) -> bool:
        """Whether percentiles are exact; otherwise within 1/32."""
        return self._buckets is None

    def add(self, durations: list[int]) -> None:
        """Add durations; negative ones and such beyond 292 years count as the nearest that is kept."""
        if not durations:
            return
        self.count += len(durations)
        self.longest = max(self.longest, max(durations))
        buckets = self._buckets
        if buckets is None:
            self._exact.extend(durations)
            if len(self._exact) <= EXACT:
                return
            buckets = self._buckets = array("I", bytes(4 * _BUCKETS))
            durations, self._exact = self._exact.tolist(), array("q")
        _tally(buckets, durations)

    def percentile(self, percent: int) -> int:
        """Return the nanoseconds that `percent` of the durations do not exceed; 0 without durations."""
        if not self.count:
            return 0
        rank = max(1, -(-self.count * percent // 100))
        if self._buckets is None:
            return sorted(self._exact)[rank - 1]
        passed = 0
        for bucket, number in enumerate(self._buckets):
            passed += number
            if passed >= rank:
                return min(_middle(bucket), self.longest)
        return self.longest

    @classmethod
    def together(cls, several: Iterable["Latencies"]) -> "Latencies":
        """Return the durations of several as those of one."""
        whole = cls()
        for one in several:
            if one._buckets is None:
                whole.add(one._exact.tolist())
            else:
                whole._add_buckets(one)
        return whole

    def _add_buckets(self, other: "Latencies") -> None:
        if other._buckets is None:
            return
        if self._buckets is None:
            self._buckets = array("I", bytes(4 * _BUCKETS))
            _tally(self._buckets, self._exact)
            self._exact = array("q")
        for bucket, number in enumerate(other._buckets):
            if number:
                self._buckets[bucket] += number
        self.count += other.count
        self.longest = max(self.longest, other.longest)
