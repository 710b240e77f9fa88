"""Numbers formatted for people."""

import math
import time
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tests.foreign import FOREIGN, NUMBERS
from tests.unit.catalogue import LOCALE
from tui.core.language.translate import localized, use
from tui.core.units import (
    LARGEST,
    age,
    amount,
    bounded,
    clock,
    clock_time,
    count,
    counted,
    duration,
    local_rfc3339,
    local_time,
    money,
    place_in,
    plural,
    progress,
    rfc3339,
    share,
    size,
    span,
    whole,
)
from tui.locale.build_hook import build
from tui.locale.catalogs import use_language


@each_case(
    ("seconds", "text"),
    [(0, "<1 m"), (59.9, "<1 m"), (60, "1 m"), (3599, "59 m"), (3600, "1 h 00 m"), (273_600, "3 d 04 h")],
)
def test_an_age_is_shown_in_minutes_or_larger_units(seconds: float, text: str) -> None:
    assert age(seconds) == text


@each_case(
    ("ms", "text"),
    [
        (-1, "0 ms"),
        (0.4, "0 ms"),
        (4, "4 ms"),
        (99, "99 ms"),
        (99.7, "0.1 s"),
        (640, "0.6 s"),
        (9_940, "9.9 s"),
        (12_300, "12 s"),
        (64_000, "1 m 04 s"),
    ],
)
def test_a_duration_has_about_two_digits_and_a_unit(ms: float, text: str) -> None:
    assert duration(ms) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(7.9, "7 s"), (64, "1 m 04 s"), (7_500, "2 h 05 m"), (273_600, "3 d 04 h")]
)
def test_a_clock_shows_whole_units(seconds: float, text: str) -> None:
    assert clock(seconds) == text


@each_case(
    ("number", "text"),
    [(214, "214"), (1_204, "1.2 k"), (9_960, "10 k"), (48_100, "48 k"), (3_400_000, "3.4 M")],
)
def test_a_count_is_abbreviated(number: int, text: str) -> None:
    assert count(number) == text


def test_sizes_are_in_decimal_units_and_counts_have_a_singular_and_a_plural() -> None:
    assert [size(132), size(48_100), size(3_400_000)] == ["132 B", "48 kB", "3.4 MB"]
    assert [plural(0, "key"), plural(1, "key"), plural(2, "entry")] == ["0 keys", "1 key", "2 entries"]
    assert [counted(0, "x"), counted(1, "x"), counted(1_200, "entry")] == ["0 xs", "1 x", "1.2 k entries"]


@each_case(
    ("done", "total", "message", "text"),
    [
        (12, 30, "halfway", "12 of 30 halfway"),
        (12, None, "", "12"),
        (1, 20, "1 of 20 seconds", "1 of 20 seconds"),
        (1, 20, "11 of 20 seconds", "1 of 20 11 of 20 seconds"),
        (1, None, "1 file read", "1 file read"),
        (0.5, 1, "step 0.5/1", "step 0.5/1"),
        (None, None, "begun", "begun"),
    ],
)
def test_progress_does_not_repeat_a_number(done: float | None, total: float | None, message: str, text: str):
    assert progress(done, total, message) == text


@each_case(
    ("value", "currency", "words"),
    [
        (1.2, "USD", "$1.20"),
        (0.12, "USD", "$0.12"),
        (0.05, "USD", "$0.05"),
        (0.0123, "USD", "$0.012"),
        (0.00034, "USD", "$0.00034"),
        (0.0, "EUR", "€0.00"),
        (12.5, "CNY", "12.50 CNY"),
    ],
)
def test_prices_have_two_significant_digits(value: float, currency: str, words: str):
    assert money(value, currency) == words


@each_case(
    ("ns", "text"),
    [
        (0, "0 µs"),
        (40_000, "40 µs"),
        (300_000, "0.3 ms"),
        (412e6, "412 ms"),
        (3.14e9, "3.1 s"),
        (64e9, "1 m 04 s"),
        (1021e9, "17 m"),
    ],
)
def test_a_measured_time_is_short_and_never_rounded_to_zero(ns: float, text: str) -> None:
    assert span(int(ns)) == text


@each_case(
    ("value", "number"),
    [
        (3600, 3600),
        (2.5, 2.5),
        (0, 0),
        (10**400, LARGEST),
        (math.inf, LARGEST),
        (-1, None),
        (-math.inf, None),
        (math.nan, None),
        ("3600", None),
        (True, None),
        (None, None),
        ({}, None),
        ([1], None),
    ],
)
def test_a_foreign_number_is_bounded(value: Any, number: float | None) -> None:
    assert bounded(value) == number


@each_case(
    ("text", "number"),
    [
        ("3600", 3600),
        (" 7 ", 7),
        ("1.5", 1.5),
        ("1e999", LARGEST),
        ("9" * 5000, LARGEST),
        ("-1", None),
        ("nan", None),
        ("soon", None),
        ("", None),
    ],
)
def test_a_foreign_number_may_be_text(text: str, number: float | None) -> None:
    assert bounded(text, or_text=True) == number
    assert [bounded(value, 10, least=-10) for value in (-11, -10, 10, 11)] == [None, -10, 10, 10]


@given(st.sampled_from(NUMBERS) | st.integers() | st.floats())
@pytest.mark.parametrize("written", [age, amount, clock, count, duration, money, size])
def test_every_number_can_be_written(written: Callable[[float], str], value: float) -> None:
    assert len(written(value)) < 330
    assert progress(value, value, "") and share(value, value) is not math.nan


@given(FOREIGN)
def test_a_foreign_number_can_be_used_where_python_would_raise(value: Any) -> None:
    number = whole(value, or_text=True) or 0
    assert 0 <= number <= LARGEST
    assert float(number) >= 0 and len(str(number)) < 17 and number.to_bytes(8, "big")


@given(st.floats() | st.integers(-(10**400), 10**400))
def test_any_moment_has_a_local_time(seconds: float) -> None:
    assert 1969 <= local_time(seconds).tm_year <= 9999
    assert time.strftime("%Y-%m-%d %H:%M", local_time(seconds))


@each_case(
    ("step", "place"),
    [("0", 0), ("2", 2), ("3", None), ("-1", None), ("\u00b2", None), ("", None), ("9" * 5000, None)],
)
def test_a_step_of_a_json_pointer_names_a_place(step: str, place: int | None) -> None:
    assert place_in(step, 3) == place


NOON = time.mktime((2026, 11, 21, 12, 0, 0, 0, 0, -1))


@each_case(
    ("then", "text"),
    [(NOON, "12:00"), (NOON - 46_800, "2026-11-20 23:00"), (0.0, ""), (math.nan, ""), (-5.0, "")],
)
def test_a_time_has_its_day_unless_that_is_today(then: float, text: str) -> None:
    assert clock_time(then, NOON) == text


def test_a_time_in_an_export_is_rounded_to_the_microsecond_in_utc() -> None:
    assert rfc3339(1_795_305_600_123_456_789) == "2026-11-22T00:00:00.123457+00:00"
    assert [rfc3339(0), rfc3339(2**80), local_rfc3339(0), local_rfc3339(math.nan)] == [""] * 4


def test_a_time_in_a_list_for_programs_is_local_with_its_offset() -> None:
    written = local_rfc3339(1_795_305_600.9)
    assert len(written) == 25 and datetime.fromisoformat(written).timestamp() == 1_795_305_600


def test_times_are_shown_in_the_language_of_the_user():
    build(LOCALE)
    assert use_language("zh_CN") == ""
    try:
        shown = [localized(span(seconds * 1_000_000_000)) for seconds in (0, 3, 64, 1_020)]
        assert shown == ["0 µs", "3.0 秒", "1分04秒", "17 分钟"]
    finally:
        use(None)
