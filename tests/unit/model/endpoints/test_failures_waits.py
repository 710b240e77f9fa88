"""The delay that an endpoint requests."""

import time
from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.core.web import LONGEST_RETRY
from tui.model.endpoints.endpoint_errors import status_error
from tui.model.endpoints.failures import asked_wait
from tui.model.endpoints.profile import ModelProfile


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


@given(st.text())
def test_any_message_has_a_delay_or_none(words: str) -> None:
    found = asked_wait(words)
    assert found is None or found >= 0


def test_the_delay_of_a_message_is_bounded() -> None:
    assert asked_wait("try again in 999999h") == LONGEST_RETRY


@pytest.mark.parametrize("off", [-86_400, -3_600, 3_600, 86_400])
def test_a_retry_date_does_not_depend_on_the_local_clock(monkeypatch: pytest.MonkeyPatch, off: int) -> None:
    at, date = (formatdate(1_800_000_000 + seconds, usegmt=True) for seconds in (5, 0))
    monkeypatch.setattr(time, "time", lambda: 1_800_000_000.0 + off)
    profile = ModelProfile("m", "m", "http://127.0.0.1:1/v1")
    assert status_error(profile, 429, {}, {"retry-after": at, "date": date}).retry_after == 5
