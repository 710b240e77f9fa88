"""How often a tool list is requested again."""

from tui.host.lifecycle import LONGEST_GAP, LONGEST_RETRY, SECOND, RefreshPace, RetryDelay


def test_the_first_change_is_fetched_at_once():
    assert RefreshPace().wait_seconds(5 * SECOND) == 0


def test_under_a_storm_of_changes_the_gap_grows():
    pace, now, waits = RefreshPace(), 0, []
    for _ in range(8):
        wait = pace.wait_seconds(now)
        now += int(wait * SECOND)
        pace.refreshed(now)
        waits.append(wait)
    assert waits == [0, 2, 4, 8, 16, 32, 60, LONGEST_GAP]


def test_after_a_quiet_period_the_gap_is_short_again():
    pace = RefreshPace()
    for now in (0, 1, 2):
        pace.wait_seconds(now * SECOND)
        pace.refreshed(now * SECOND)
    assert pace.wait_seconds(500 * SECOND) == 0
    pace.refreshed(500 * SECOND)
    assert pace.wait_seconds(501 * SECOND) == 1


def test_the_delay_between_retries_grows():
    retry = RetryDelay()
    delays = [retry.after_failure() for _ in range(11)]
    assert delays == [2, 4, 8, 16, 32, 64, 128, 256, 512, LONGEST_RETRY, LONGEST_RETRY]


def test_a_success_resets_the_retry_delay():
    retry = RetryDelay()
    retry.after_failure()
    retry.after_failure()
    retry.reset()
    assert retry.after_failure() == 2


def test_uptime_longer_than_the_last_delay_resets_the_retry_delay():
    retry = RetryDelay()
    assert [retry.after_failure(worked) for worked in (0, 1, 3.9, 8, 1)] == [2, 4, 8, 2, 4]


def test_the_first_and_the_longest_retry_delay_may_be_chosen():
    retry = RetryDelay(0.5, longest=3)
    assert [retry.after_failure() for _ in range(5)] == [0.5, 1, 2, 3, 3]
    assert retry.after_failure(worked_seconds=3) == 0.5
