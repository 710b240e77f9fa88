"""The statistics count calls, not messages, and follow a growing recording."""

from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.traffic.small_traffic import MS, Traffic, begun_at_end, fill
from tui.core.traffic import Direction, Kind, Outcome
from tui.traffic import stats as module
from tui.traffic.stats import EXACT, SPARKS, Figures, LatencyHistogram, Stats


def counted(traffic: Traffic) -> Stats:
    stats = Stats(traffic.columns)
    while not stats.advance():
        pass
    return stats


def only(stats: Stats) -> Figures:
    (figures,) = stats.tools()
    return figures


def test_a_tool_has_calls_errors_times_and_bytes():
    traffic = Traffic()
    traffic.call(took_ms=10, size=100, body=b"12345")
    traffic.call(took_ms=30, outcome=Outcome.TOOL_ERROR)
    traffic.call(took_ms=20, outcome=Outcome.ERROR)
    figures = only(counted(traffic))
    assert (figures.server, figures.method, figures.tool) == ("weather", "tools/call", "get")
    assert (figures.calls, figures.errors, figures.waiting, figures.octets) == (3, 2, 0, 105)
    assert (figures.p50_ns, figures.p95_ns, figures.longest_ns) == (20 * MS, 30 * MS, 30 * MS)
    assert figures.is_exact


def test_tools_are_ordered_by_calls_and_servers_by_name():
    traffic = Traffic()
    traffic.call("rare")
    traffic.call("often", source="notes")
    traffic.call("often", source="notes")
    stats = counted(traffic)
    assert [(line.server, line.tool) for line in stats.tools()] == [("notes", "often"), ("weather", "rare")]
    assert [line.tool for line in stats.tools("weather")] == ["rare"]
    assert [(line.server, line.calls) for line in stats.servers()] == [("notes", 2), ("weather", 1)]


def test_a_server_counts_all_bytes_of_its_entries():
    traffic = Traffic()
    traffic.call(body=b"12345")
    traffic.add(Kind.STDERR, body=b"123", direction=Direction.NONE)
    (line,) = counted(traffic).servers()
    assert (line.octets, line.calls) == (8, 1)


def test_startup_requests_are_last_and_do_not_count_as_calls():
    traffic = Traffic()
    traffic.call("", method="tools/list", took_ms=900)
    traffic.call("", method="tools/list", took_ms=900)
    traffic.call("get", took_ms=1)
    stats = counted(traffic)
    assert [line.method for line in stats.tools()] == ["tools/call", "tools/list"]
    assert [(line.calls, line.longest_ns) for line in (*stats.servers(), stats.total())] == [(1, MS)] * 2


@pytest.mark.parametrize("is_over", [False, True])
def test_a_subscription_that_stays_open_is_neither_pending_nor_lost(is_over: bool):
    traffic = Traffic()
    traffic.ask("", method="subscriptions/listen")
    if is_over:
        traffic.end()
    traffic.ask("", method="server/discover")
    stats = counted(traffic)
    for line in (*stats.tools(), *stats.servers(), stats.total()):
        assert (line.waiting, line.lost, line.errors) == (0, 0, 0)


@pytest.mark.parametrize(
    "outcome", [Outcome.ERROR, Outcome.PROBE, None], ids=["error", "probe", "unanswered"]
)
def test_a_probe_refused_by_an_older_server_is_neither_an_error_nor_slow(outcome: Outcome | None):
    traffic = Traffic()
    if outcome is not None:
        traffic.call("", method="server/discover", took_ms=2_000, outcome=outcome)
    else:
        traffic.ask("", method="server/discover")
        traffic.end()
    (figures,) = (line for line in counted(traffic).tools() if line.calls)
    assert (figures.calls, figures.errors, figures.waiting, figures.lost) == (1, 0, 0, 0)
    assert (figures.timed, figures.longest_ns) == (0, 0)


def test_the_rounds_of_a_call_count_as_one_call_with_one_duration():
    traffic = Traffic()
    first = traffic.ask()
    traffic.answer(first, Outcome.INPUT_REQUIRED, after_ms=100)
    again = traffic.ask(root=first, after_ms=5000)
    traffic.answer(again, after_ms=100, root=first)
    figures = only(counted(traffic))
    assert (figures.calls, figures.longest_ns) == (1, 5200 * MS)


@pytest.mark.parametrize("keeps_up", [True, False])
@pytest.mark.parametrize(
    "answers",
    [[(Kind.NOT_JSON, Outcome.ERROR), (Kind.RESPONSE, Outcome.OK)]]
    + [
        [(Kind.RESPONSE, found), (Kind.EVENT, Outcome.ERROR)]
        for found in (Outcome.OK, Outcome.INPUT_REQUIRED)
    ],
)
def test_an_answer_that_could_not_be_read_is_an_error(answers: list[tuple[Kind, Outcome]], keeps_up: bool):
    traffic = Traffic()
    stats, request = Stats(traffic.columns), traffic.ask()
    for kind, outcome in answers:
        method = "gave up" if kind is Kind.EVENT else "tools/call"
        traffic.add(kind, pair=request, method=method, tool="get", outcome=outcome, after_ms=5)
        if keeps_up:
            stats.advance()
    stats.advance()
    figures = only(stats)
    took = 10 if answers[0][1] is Outcome.INPUT_REQUIRED else 5
    assert (figures.calls, figures.errors, figures.waiting, figures.longest_ns) == (1, 1, 0, took * MS)


@pytest.mark.parametrize("keeps_up", [True, False])
def test_waiting_cancelled_and_lost_calls_are_distinguished(keeps_up: bool):
    traffic = Traffic()
    stats = Stats(traffic.columns)
    cancelled = traffic.ask()
    traffic.ask()
    if keeps_up:
        stats.advance()
        assert only(stats).waiting == 2
    traffic.add(
        Kind.NOTIFICATION, method="notifications/cancelled", pair=cancelled, outcome=Outcome.CANCELLED
    )
    traffic.end()
    traffic.ask()
    stats.advance()
    (figures,) = (line for line in stats.tools() if line.tool == "get")
    assert (figures.calls, figures.cancelled, figures.lost, figures.waiting) == (3, 1, 1, 1)


def test_calls_over_time_are_counted_in_growing_intervals():
    traffic = Traffic()
    for _ in range(SPARKS):
        traffic.call(after_ms=999)
    stats = counted(traffic)
    assert stats.spark_width_ns == 1000 * MS
    traffic.call(after_ms=10_000)
    stats.advance()
    assert stats.spark_width_ns == 2000 * MS
    sparks = only(stats).sparks
    assert (len(sparks), sum(sparks)) == (SPARKS, SPARKS + 1)
    assert sparks[:30] == (2,) * 30
    assert sparks[34:36] == (1, 0)


def test_counting_in_slices_gives_the_same_result(monkeypatch):
    traffic = Traffic()
    for number in range(20):
        traffic.call(f"tool{number % 3}", took_ms=number)
    whole = counted(traffic)
    monkeypatch.setattr(module, "CHUNK", 3)
    stats = Stats(traffic.columns)
    assert not stats.advance(0)
    while not stats.advance(0):
        pass
    assert stats.tools() == whole.tools()


def test_names_over_the_limit_are_counted_in_one_line(monkeypatch):
    monkeypatch.setattr(module, "MAX_LINES", 5)
    traffic = Traffic()
    for number in range(50):
        traffic.call(f"tool{number}")
    lines = counted(traffic).tools()
    assert len(lines) == 6
    assert (lines[0].tool, lines[0].calls) == ("(other)", 45)
    assert counted(traffic).servers()[0].calls == 50


def test_entries_after_unloaded_ones_are_counted_later():
    traffic = Traffic()
    for _ in range(5):
        traffic.call(took_ms=10)
    columns = begun_at_end(traffic, 3)
    stats = Stats(columns)
    assert stats.advance()
    assert stats.tools() == []
    fill(columns, traffic, 4)
    assert stats.advance()
    assert only(stats).calls == 2
    fill(columns, traffic, 99)
    assert stats.advance()
    assert stats.tools() == counted(traffic).tools()


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


@given(st.lists(DURATIONS, min_size=1, max_size=50), st.integers(1, 100))
def test_few_durations_are_exact(durations: list[int], percent: int):
    few = of(durations)
    assert few.is_exact
    assert few.percentile(percent) == ranked(durations, percent)
    assert few.longest == max(durations)


@given(st.lists(DURATIONS, min_size=5, max_size=50), st.integers(1, 100))
def test_many_durations_are_accurate_to_a_thirty_second(durations: list[int], percent: int):
    durations = [ns + step for ns in durations for step in range(EXACT + 1)]
    many = of(durations)
    assert not many.is_exact
    assert is_near(many.percentile(percent), ranked(durations, percent))


@given(st.lists(st.lists(DURATIONS, max_size=700), max_size=4))
def test_several_histograms_can_be_combined(several: list[list[int]]):
    durations = list(chain.from_iterable(several))
    together, whole = LatencyHistogram.together(map(of, several)), of(durations)
    assert (together.count, together.longest) == (whole.count, whole.longest)
    assert together.is_exact is all(one.is_exact for one in map(of, several))
    for percent in (50, 95, 100):
        expected = ranked(durations, percent) if whole.count else 0
        assert is_near(together.percentile(percent), expected)


def test_a_negative_duration_counts_as_zero():
    assert of([-5] * (EXACT + 1)).percentile(50) == 0
