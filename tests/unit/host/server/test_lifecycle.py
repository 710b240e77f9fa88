"""A server's states, when a stopped one is restarted, and when a list is read again."""

from contextlib import nullcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.core.errors import IllegalTransition
from tui.core.servers import ServerState
from tui.host.server.lifecycle import (
    LONGEST_DELAY,
    LOOP_DEATHS,
    SECOND,
    TRANSITIONS,
    RestartPolicy,
    require_transition,
)


@pytest.fixture
def policy():
    return RestartPolicy()


@pytest.mark.parametrize("after", ServerState)
@pytest.mark.parametrize("state", ServerState)
def test_a_transition_outside_the_table_is_rejected(state, after):
    legal = (state, after) in TRANSITIONS
    with nullcontext() if legal else pytest.raises(IllegalTransition):
        require_transition(state, after)


def test_stopped_is_reached_only_through_stopping():
    before = [state for state, after in TRANSITIONS if after is ServerState.STOPPED]
    assert before == [ServerState.STOPPING]


def test_the_delay_doubles_starting_at_one_second(policy):
    delays = [policy.delay_after_death(at * 60 * SECOND, 0) for at in range(8)]
    assert delays == [1, 2, 4, 8, 16, 32, 60, 60]


def test_a_minute_of_uptime_resets_the_delay(policy):
    for at in range(4):
        policy.delay_after_death(at * 100 * SECOND, 0)
    assert policy.delay_after_death(1000 * SECOND, 60 * SECOND) == 1


def test_a_manual_start_resets_the_crash_loop(policy):
    for at in range(5):
        policy.delay_after_death(at, 0)
    policy.forget()
    assert policy.delay_after_death(6, 0) == 1


@given(st.lists(st.tuples(st.integers(0, 200), st.integers(0, 100), st.floats(0.8, 1.2)), max_size=60))
def test_exits_never_lead_to_more_than_five_starts_in_two_minutes(deaths):
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
