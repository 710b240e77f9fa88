"""Percentiles are exact for few durations and within 1/32 for many, in constant memory."""

from itertools import chain

from hypothesis import given
from hypothesis import strategies as st

from tui.traffic.stats import EXACT, LatencyHistogram

DURATIONS = st.integers(0, 10**13)


def of(durations: list[int]) -> LatencyHistogram:
    latencies = LatencyHistogram()
    latencies.add(durations)
    return latencies


def ranked(durations: list[int], percent: int) -> int:
    """Return the percentile by the nearest rank."""
    return sorted(durations)[max(1, -(-len(durations) * percent // 100)) - 1]


def is_near(value: int, exact: int) -> bool:
    return abs(value - exact) <= exact / 32


def test_without_durations_all_figures_are_zero():
    nothing = of([])
    assert (nothing.count, nothing.percentile(50), nothing.longest, nothing.is_exact) == (0, 0, 0, True)


@given(st.lists(DURATIONS, min_size=1, max_size=50), st.integers(1, 100))
def test_few_durations_are_exact(durations: list[int], percent: int):
    few = of(durations)
    assert few.is_exact
    assert few.percentile(percent) == ranked(durations, percent)
    assert few.longest == max(durations)


@given(st.lists(DURATIONS, min_size=5, max_size=50), st.integers(1, 100))
def test_many_durations_are_accurate_to_a_thirty_second(durations: list[int], percent: int):
    durations = durations * (EXACT // 4)
    many = of(durations)
    assert not many.is_exact
    assert is_near(many.percentile(percent), ranked(durations, percent))
    assert (many.longest, many.count) == (max(durations), len(durations))


@given(st.lists(st.lists(DURATIONS, max_size=700), max_size=4))
def test_several_histograms_can_be_combined(several: list[list[int]]):
    durations = list(chain.from_iterable(several))
    together, whole = LatencyHistogram.together(map(of, several)), of(durations)
    assert (together.count, together.longest) == (whole.count, whole.longest)
    for percent in (50, 95, 100):
        expected = ranked(durations, percent) if whole.count else 0
        assert is_near(together.percentile(percent), expected)


def test_a_negative_duration_counts_as_zero():
    assert of([-5] * (EXACT + 1)).percentile(50) == 0
