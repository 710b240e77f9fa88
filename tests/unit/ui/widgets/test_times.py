"""How long ago something was."""

import time

import pytest

from tui.ui.widgets.times import exactly, message_time, when

NOON = time.mktime((2026, 11, 21, 12, 0, 0, 0, 0, -1))


@pytest.mark.parametrize(
    ("then", "words"),
    [
        (0.0, "never"),
        (NOON + 500, "just now"),  # the clock of another machine
        (NOON - 20, "just now"),
        (NOON - 60, "1 min ago"),
        (NOON - 3599, "59 min ago"),
        (NOON - 3 * 3600, "09:00"),
        (NOON - 13 * 3600, "yesterday 23:00"),
        (NOON - 3 * 86_400, "18 Nov"),
        (NOON - 400 * 86_400, "17 Oct 2025"),
    ],
)
def test_recent_times_are_more_precise(then: float, words: str):
    assert when(then, NOON) == words


def test_day_and_time_are_written_in_full():
    assert exactly(NOON) == "21 Nov 2026 12:00"
    assert exactly(0) == "unknown"


@pytest.mark.parametrize(
    ("then", "words"),
    [(NOON, "12:00"), (NOON - 13 * 3600, "20 Nov 2026 23:00"), (0.0, ""), (1e300, ""), (-5.0, "")],
)
def test_a_message_shows_its_time_and_an_older_one_its_day(then: float, words: str):
    assert message_time(then, NOON) == words
