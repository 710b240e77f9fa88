"""How often a tool list is asked for again."""

from tui.host.refresh import LONGEST_GAP, SECOND, RefreshPace


def test_the_first_change_is_fetched_at_once():
    assert RefreshPace().wait_seconds(5 * SECOND) == 0


def test_a_storm_is_answered_more_and_more_slowly():
    pace, now, waits = RefreshPace(), 0, []
    for _ in range(8):
        wait = pace.wait_seconds(now)
        now += int(wait * SECOND)
        pace.refreshed(now)
        waits.append(wait)
    assert waits == [0, 2, 4, 8, 16, 32, 60, LONGEST_GAP]


def test_rest_brings_back_the_short_gap():
    pace = RefreshPace()
    for now in (0, 1, 2):
        pace.wait_seconds(now * SECOND)
        pace.refreshed(now * SECOND)
    assert pace.wait_seconds(500 * SECOND) == 0
    pace.refreshed(500 * SECOND)
    assert pace.wait_seconds(501 * SECOND) == 1
