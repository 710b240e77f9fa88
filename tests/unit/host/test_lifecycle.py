"""The table of a server's life, and when a dead one is started again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.core.errors import IllegalTransition
from tui.core.servers import ServerState
from tui.host.lifecycle import (
    LONGEST_DELAY,
    LOOP_DEATHS,
    SECOND,
    TRANSITIONS,
    Happening,
    RestartPolicy,
    after,
)


@pytest.mark.parametrize("happening", Happening)
@pytest.mark.parametrize("state", ServerState)
def test_whatever_the_table_does_not_list_is_refused(state, happening):
    if (state, happening) in TRANSITIONS:
        assert after(state, happening) is TRANSITIONS[state, happening]
    else:
        with pytest.raises(IllegalTransition):
            after(state, happening)


def test_stopped_is_only_reached_through_stopping():
    assert [row for row, state in TRANSITIONS.items() if state is ServerState.STOPPED] == [
        (ServerState.STOPPING, Happening.GONE)
    ]


def test_the_delay_doubles_from_one_second():
    policy = RestartPolicy()
    delays = [policy.delay_after_death(at * 60 * SECOND, 0) for at in range(8)]
    assert delays == [1, 2, 4, 8, 16, 32, 60, 60]


def test_a_minute_of_health_forgets_the_delay():
    policy = RestartPolicy()
    for at in range(4):
        policy.delay_after_death(at * 100 * SECOND, 0)
    assert policy.delay_after_death(1000 * SECOND, 60 * SECOND) == 1


def test_five_deaths_in_two_minutes_are_a_crash_loop():
    policy = RestartPolicy()
    delays = [policy.delay_after_death(at * 10 * SECOND, 0) for at in range(5)]
    assert delays[:4] == [1, 2, 4, 8]
    assert delays[4] is None


def test_a_start_by_hand_forgets_the_crash_loop():
    policy = RestartPolicy()
    for at in range(5):
        policy.delay_after_death(at, 0)
    policy.forget()
    assert policy.delay_after_death(6, 0) == 1


@given(st.lists(st.tuples(st.integers(0, 200), st.integers(0, 100), st.floats(0.8, 1.2)), max_size=60))
def test_deaths_never_lead_to_more_than_five_starts_in_two_minutes(deaths):
    policy, now, starts = RestartPolicy(), 0, []
    for rest, lived, jitter in deaths:
        now += (rest + lived) * SECOND
        delay = policy.delay_after_death(now, lived * SECOND, jitter)
        if delay is None:
            break
        assert 0 < delay <= LONGEST_DELAY
        now += int(delay * SECOND)
        starts.append(now)
    for first in starts:
        assert sum(0 <= at - first < 120 * SECOND for at in starts) <= LOOP_DEATHS
