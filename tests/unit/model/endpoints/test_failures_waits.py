"""The delay that an endpoint requests."""

import time
from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.model.endpoints.failures import asked_wait, retry_after

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


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        ("Rate limit reached. Please try again in 7.66s.", 7.66),
        ("Please try again in 1m6.5s. Visit", 66.5),
        ("Please try again in 20ms", 0.02),
        ("{'details': [{'@type': 'RetryInfo', 'retryDelay': '37s'}]}", 37),
        ("Please retry after 12 seconds.", 12),
        ("Please retry in 2 minutes", 120),
        ("Try again later.", None),
        ("wait for 5 apples", None),
    ],
)
def test_the_delay_is_also_read_from_the_message(words: str, seconds: float | None) -> None:
    found = asked_wait(words)
    assert found == (None if seconds is None else pytest.approx(seconds))


@given(st.text(), st.text())
def test_any_value_is_a_delay_or_none(header: str, words: str) -> None:
    for found in (retry_after({"retry-after": header, "date": words}), asked_wait(words)):
        assert found is None or found >= 0
