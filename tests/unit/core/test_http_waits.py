"""How long the headers of a response ask to wait."""

import time
from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tui.core.http_waits import LONGEST_RETRY, retry_after

DATE = "Wed, 21 Oct 2026 07:28:00 GMT"


@each_case(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:30 GMT", "date": DATE}, 30),
        ({"retry-after": DATE, "date": "Wed, 21 Oct 2026 07:29:00 GMT"}, 0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({}, None),
    ],
)
def test_the_delay_is_read_from_headers_in_seconds_or_as_a_date(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert retry_after(headers) == seconds


NOW = {"date": DATE}


@each_case(
    ("headers", "seconds"),
    [
        ({"x-ratelimit-reset-requests": "1m2.5s"}, 62.5),
        ({"x-ratelimit-reset-tokens": "120ms"}, 0.12),
        ({"x-ratelimit-reset": "30"}, 30),
        ({"x-ratelimit-reset": "1792567690"} | NOW, 10),
        ({"x-ratelimit-reset": "1792567690000"} | NOW, 10),
        ({"anthropic-ratelimit-tokens-reset": "2026-10-21T07:28:10Z"} | NOW, 10),
        ({"ratelimitbysize-reset": "22"}, 22),
        ({"ratelimit": '"default";r=0;t=30'}, 30),
        ({"ratelimit": "limit=100, remaining=0, reset=31"}, 31),
        ({"retry-after": "5", "x-ratelimit-reset": "30"}, 5),
        ({"x-ratelimit-reset": "0"}, None),
        ({"x-ratelimit-limit": "30"}, None),
    ],
)
def test_after_a_limit_the_time_of_its_reset_counts_in_every_form(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert retry_after(headers, limited=True) == pytest.approx(seconds)
    assert retry_after(headers) == (5 if "retry-after" in headers else None)


@each_case(
    ("tokens", "requests", "seconds"), [(0, 99, 10), (99, 0, 60), (0, 0, 60), (500, 99, 10), (500, None, 10)]
)
def test_only_the_reset_of_a_limit_that_was_reached_counts(
    tokens: int, requests: int | None, seconds: float
) -> None:
    headers = {"x-ratelimit-reset-tokens": "10s", "x-ratelimit-remaining-tokens": str(tokens)}
    headers |= {"x-ratelimit-reset-requests": "1m0s"}
    headers |= {"x-ratelimit-remaining-requests": str(requests)} if requests is not None else {}
    assert retry_after(headers, limited=True) == seconds
    unreached = {"x-ratelimit-reset": "54000", "x-ratelimit-remaining": "900"}
    assert retry_after(unreached, limited=True) is None


@pytest.mark.parametrize("date", [{}, {"date": "nonsense"}])
def test_without_a_response_date_a_retry_date_is_relative_to_now(date: dict[str, str]) -> None:
    wait = retry_after({"retry-after": formatdate(time.time() + 60, usegmt=True), **date})
    assert wait is not None and 55 < wait <= 60


@pytest.mark.parametrize("off", [-400 * 86_400, -3_600, 3_600, 400 * 86_400])
def test_a_date_is_relative_to_that_of_the_response_whatever_the_local_clock_says(
    monkeypatch: pytest.MonkeyPatch, off: int
) -> None:
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + off)
    headers = {"retry-after": formatdate(now + 5, usegmt=True), "date": formatdate(now, usegmt=True)}
    assert retry_after(headers) == 5


@pytest.mark.parametrize(
    "date", ["Wed Oct 21 07:28:30 2026", "Wednesday, 21-Oct-26 07:28:30 GMT", "21 Oct 2026 07:28:30 -0000"]
)
def test_dates_without_a_zone_are_in_gmt(monkeypatch: pytest.MonkeyPatch, date: str) -> None:
    monkeypatch.setenv("TZ", "Asia/Kathmandu")
    time.tzset()
    try:
        assert retry_after({"retry-after": date, "date": DATE}) == 30
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize(
    "headers",
    [
        {"retry-after": "999999999"},
        {"retry-after-ms": "999999999999"} | {"retry-after": "999999999"},
        {"retry-after": "Fri, 31 Dec 9999 23:59:59 GMT", "date": DATE},
        {"retry-after": DATE, "date": "Thu, 01 Jan 1970 00:00:00 GMT"},
    ],
)
def test_a_delay_is_bounded(headers: dict[str, str]) -> None:
    assert retry_after(headers) == LONGEST_RETRY


@each_case(
    "value",
    [
        "-1",
        "1e5",
        "0x5",
        "NaN",
        "inf",
        "٣",
        "1" * 21,
        "1.",
        ".5",
        "Wed, 99 Oct 2026 07:28:30 GMT",
        "," * 64_000,
    ],
)
def test_a_malformed_delay_is_none(value: str) -> None:
    assert retry_after({"retry-after": value}) is None


@given(st.text(), st.text())
def test_any_headers_have_a_delay_within_bounds_or_none(header: str, date: str) -> None:
    found = retry_after({"retry-after": header, "date": date, "x-ratelimit-reset": header}, limited=True)
    assert found is None or 0 <= found <= LONGEST_RETRY
