"""How long a response asks to wait before the next request."""

import time
from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.core.web import LONGEST_RETRY, retry_after

DATE = "Wed, 21 Oct 2026 07:28:00 GMT"


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
    "value",
    [
        "-1",
        "1e5",
        "0x5",
        "NaN",
        "inf",
        "٣",
        "1" * 10,
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
    found = retry_after({"retry-after": header, "date": date})
    assert found is None or 0 <= found <= LONGEST_RETRY
