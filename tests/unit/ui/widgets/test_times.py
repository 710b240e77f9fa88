"""How long ago something was."""

import time

from tests.cases import each_case
from tui.ui.widgets.times import when

NOON = time.mktime((2026, 11, 21, 12, 0, 0, 0, 0, -1))


@each_case(
    ("then", "words"),
    [
        (0.0, "never"),
        (NOON + 500, "just now"),  # the clock of another machine
        (NOON - 20, "just now"),
        (NOON - 60, "1 min ago"),
        (NOON - 3599, "59 min ago"),
        (NOON - 3 * 3600, "09:00"),
        (NOON - 13 * 3600, "yesterday 23:00"),
        (NOON - 3 * 86_400, "2026-11-18"),
        (NOON - 400 * 86_400, "2025-10-17"),
    ],
)
def test_recent_times_are_more_precise(then: float, words: str):
    assert when(then, NOON) == words
