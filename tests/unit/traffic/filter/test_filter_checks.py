"""The checks of columns: masks, and the moment that a clock time refers to."""

import time
from array import array
from collections.abc import Iterator
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tests.unit.traffic.small_traffic import Traffic
from tui.core.traffic import Direction, Entry, Kind
from tui.traffic.filter.fields import Ago, ClockTime, clock
from tui.traffic.filter.filter import Filter, in_limits, placed, since_ns, stretch, until_ns
from tui.traffic.filter.query import parse
from tui.traffic.record.column_parts import both, either, inverted, table
from tui.traffic.record.entry_columns import EntryColumns, column_row

SECOND = 1_000_000_000
HOUR = 3600 * SECOND


@pytest.fixture(autouse=True)
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Set the local time to that of Berlin: UTC+1, in summer UTC+2."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
        time.tzset()
        yield
    time.tzset()


def ns(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp()) * SECOND


def value(text: str) -> ClockTime:
    return ClockTime(*clock(text))


@each_case(
    ("text", "now", "moment"),
    [
        ("14:05", "2026-11-20T15:00+01:00", "2026-11-20T14:05+01:00"),
        ("14:05", "2026-11-20T14:05+01:00", "2026-11-20T14:05+01:00"),
        ("14:05", "2026-11-20T14:04+01:00", "2026-11-19T14:05+01:00"),
        ("23:00", "2026-11-20T00:30+01:00", "2026-11-19T23:00+01:00"),
        ("2026-11-18", "2026-11-20T00:30+01:00", "2026-11-18T00:00+01:00"),
        ("2026-11-21T08:00", "2026-11-20T00:30+01:00", "2026-11-21T08:00+01:00"),
        # 2:00 to 3:00 occurred twice on 25 October.
        ("02:30", "2026-10-25T02:45+02:00", "2026-10-25T02:30+02:00"),
        ("02:30", "2026-10-25T02:15+01:00", "2026-10-25T02:30+02:00"),
        ("02:30", "2026-10-25T02:45+01:00", "2026-10-25T02:30+01:00"),
        ("02:30", "2026-10-25T12:00+01:00", "2026-10-25T02:30+01:00"),
        ("02:30", "2026-10-26T01:00+01:00", "2026-10-25T02:30+01:00"),
        ("2026-10-25T02:30", "2026-11-20T12:00+01:00", "2026-10-25T02:30+02:00"),
        # 2:00 to 3:00 did not occur on 29 March.
        ("02:30", "2026-03-29T12:00+02:00", "2026-03-29T03:30+02:00"),
        ("02:30", "2026-03-29T03:30+02:00", "2026-03-29T03:30+02:00"),
        ("02:30", "2026-03-29T01:59+01:00", "2026-03-28T02:30+01:00"),
        ("2026-03-29T02:00", "2026-11-20T12:00+01:00", "2026-03-29T03:00+02:00"),
    ],
)
def test_since_is_the_most_recent_moment_with_that_clock_time(text: str, now: str, moment: str):
    assert since_ns(value(text), ns(now)) == ns(moment)


@each_case(
    ("text", "since", "moment"),
    [
        ("01:00", "2026-11-19T23:00+01:00", "2026-11-20T01:00+01:00"),
        ("23:30", "2026-11-19T23:00+01:00", "2026-11-19T23:30+01:00"),
        ("23:00", "2026-11-19T23:00+01:00", "2026-11-20T23:00+01:00"),
        ("02:30", "2026-10-25T01:00+02:00", "2026-10-25T02:30+02:00"),
        ("02:30", "2026-10-25T02:45+02:00", "2026-10-25T02:30+01:00"),
        ("02:30", "2026-10-25T02:45+01:00", "2026-10-26T02:30+01:00"),
        ("02:30", "2026-03-29T01:00+01:00", "2026-03-29T03:30+02:00"),
        ("2026-11-18T02:00", "2026-11-19T23:00+01:00", "2026-11-18T02:00+01:00"),
        ("2026-10-25T02:30", "2026-10-25T01:00+02:00", "2026-10-25T02:30+01:00"),
    ],
)
def test_until_is_the_first_moment_with_that_clock_time_after_since(text: str, since: str, moment: str):
    assert until_ns(value(text), ns("2026-11-20T00:30+01:00"), ns(since)) == ns(moment)


@pytest.mark.parametrize(
    ("text", "now", "moment"),
    [
        ("18:00", "2026-11-20T09:00+01:00", "2026-11-20T18:00+01:00"),
        ("08:00", "2026-11-20T09:00+01:00", "2026-11-20T08:00+01:00"),
        ("02:30", "2026-10-25T01:00+02:00", "2026-10-25T02:30+01:00"),
        ("02:30", "2026-03-29T12:00+02:00", "2026-03-29T03:30+02:00"),
    ],
)
def test_until_without_since_is_a_time_today(text: str, now: str, moment: str):
    assert until_ns(value(text), ns(now), None) == ns(moment)


def test_a_duration_counts_back_from_now():
    assert since_ns(Ago(HOUR), 5 * HOUR) == until_ns(Ago(HOUR), 5 * HOUR, 3 * HOUR) == 4 * HOUR


@each_case(
    ("text", "passing"),
    [
        ("since:23:00", "b c d"),
        ("since:23:00 until:01:00", "b c d"),
        ("until:01:00 since:23:00", "b c d"),
        ("since:23:00 until:23:30", "b"),
        ("since:23:00 (until:23:30 or kind:event)", "b"),
        ("since:23:00 not until:23:30", "c d"),
        ("not (since:23:00 until:23:30)", "a c d"),
        ("since:22:00 since:23:20 until:23:10", "c d"),
        ("since:23:00 or until:23:30", "a b c d"),
        ("since:2026-11-19T21:00 until:22:30", "a"),
        ("since:4h until:23:30", "a b"),
        ("since:23:00,22:00 until:22:30", "a"),
        ("until:00:10", "a b c"),
        ("until:18:00", "a b c d"),
        ("until:2026-11-19T23:30", "a b"),
    ],
)
def test_clock_times_in_a_filter_written_after_midnight_can_be_of_yesterday(text: str, passing: str):
    times = {
        "a": "2026-11-19T22:15+01:00",
        "b": "2026-11-19T23:15+01:00",
        "c": "2026-11-20T00:05+01:00",
        "d": "2026-11-20T00:25+01:00",
    }
    columns = EntryColumns()
    for seq, moment in enumerate(times.values(), 1):
        columns.extend([column_row(Entry(seq, ns(moment), ns(moment), "s", Direction.NONE, Kind.STDERR))])
    query = parse(text)
    assert query.is_sound
    mask = Filter(query, columns, now_ns=ns("2026-11-20T00:30+01:00")).mask(0, 4)
    assert " ".join(name for name, passes in zip(times, mask, strict=True) if passes) == passing


@given(
    second=st.integers(0, 86_399),
    now=st.integers(ns("2026-01-01T00:00+00:00") // SECOND, ns("2027-01-01T00:00+00:00") // SECOND),
)
def test_the_resolved_moment_has_the_clock_time_of_the_filter(second: int, now: int):
    meant = ClockTime("", second * SECOND)
    since = since_ns(meant, now * SECOND)
    until = until_ns(meant, now * SECOND, now * SECOND)
    assert since <= now * SECOND < until
    for moment in (since, until):
        shown = datetime.fromtimestamp(moment // SECOND)
        of_day = (shown.hour * 60 + shown.minute) * 60 + shown.second
        assert of_day == second or (2 * 3600 <= second < 3 * 3600 and of_day == second + 3600)


@pytest.mark.parametrize("text", ["since:0001-01-01 until:18:00", "since:99999999d until:18:00"])
def test_a_moment_before_the_epoch_is_not_an_error(text: str):
    traffic = Traffic()
    traffic.add(Kind.STDERR)
    assert Filter(parse(text), traffic.columns).mask(0, 1) in (b"\0", b"\1")


# ---- masks give the same result as checking each number

NUMBERS = st.sampled_from([0, 1, 127, 128, 255, 256, 257, 65_535, 65_536, 2**32 - 1]) | st.integers(
    0, 2**32 - 1
)
LIMITS = NUMBERS | st.sampled_from([-1, 2**32, 2**70])


@given(st.lists(NUMBERS, max_size=20), st.lists(st.tuples(LIMITS, st.none() | LIMITS), max_size=3))
def test_a_mask_marks_numbers_in_one_of_several_ranges(
    numbers: list[int], limits: list[tuple[int, int | None]]
):
    expected = [
        any(low <= number and (high is None or number <= high) for low, high in limits) for number in numbers
    ]
    assert in_limits(array("q", numbers), limits) == bytes(expected)


@given(st.binary(max_size=20))
def test_masks_are_combined_and_inverted(raw: bytes):
    one, other = raw.translate(table({1, 2, 3})), raw.translate(table(range(3, 200)))
    assert both(one, other) == bytes(number == 3 for number in raw)
    assert either(one, other) == bytes(1 <= number < 200 for number in raw)
    assert inverted(one) == bytes(number not in (1, 2, 3) for number in raw)


@given(st.integers(0, 9), st.integers(-3, 12), st.integers(-3, 12))
def test_a_range_is_clipped_to_the_count(count: int, start: int, stop: int):
    assert stretch(count, start, stop) == bytes(start <= place < stop for place in range(count))


def test_positions_out_of_range_are_ignored():
    assert placed(3, [-1, 1, 3]) == b"\0\1\0"
