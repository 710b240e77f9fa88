"""A server's states, and when a stopped one is restarted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tui.core.errors import IllegalTransition
from tui.core.servers import ServerState
from tui.host.lifecycle import (
    LONGEST_DELAY,
    LONGEST_GAP,
    LONGEST_RETRY,
    LOOP_DEATHS,
    LOOP_SECONDS,
    SECOND,
    TRANSITIONS,
    LifecycleEvent,
    RefreshPace,
    RestartPolicy,
    RetryDelay,
    after,
)


@pytest.fixture
def policy():
    return RestartPolicy()


@pytest.mark.parametrize("happening", LifecycleEvent)
@pytest.mark.parametrize("state", ServerState)
def test_a_transition_outside_the_table_is_rejected(state, happening):
    if (state, happening) in TRANSITIONS:
        assert after(state, happening) is TRANSITIONS[state, happening]
    else:
        with pytest.raises(IllegalTransition):
            after(state, happening)


def test_stopped_is_reached_only_through_stopping():
    assert [row for row, state in TRANSITIONS.items() if state is ServerState.STOPPED] == [
        (ServerState.STOPPING, LifecycleEvent.GONE)
    ]


def test_the_delay_doubles_starting_at_one_second(policy):
    delays = [policy.delay_after_death(at * 60 * SECOND, 0) for at in range(8)]
    assert delays == [1, 2, 4, 8, 16, 32, 60, 60]


def test_a_minute_of_uptime_resets_the_delay(policy):
    for at in range(4):
        policy.delay_after_death(at * 100 * SECOND, 0)
    assert policy.delay_after_death(1000 * SECOND, 60 * SECOND) == 1


def test_five_exits_in_two_minutes_are_a_crash_loop(policy):
    delays = [policy.delay_after_death(at * 10 * SECOND, 0) for at in range(5)]
    assert delays[:4] == [1, 2, 4, 8]
    assert delays[4] is None


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


def test_a_call_waits_for_the_rest_of_the_delay(policy):
    policy.delay_after_death(10 * SECOND, 0)
    left = [policy.seconds_left(int(at * SECOND)) for at in (10, 10.25, 11, 99)]
    assert left == [1, 0.75, 0, 0]


def test_a_call_starts_only_a_server_that_exited_by_itself(policy):
    assert policy.seconds_left(0) is None
    for end in (policy.is_ready, policy.forget):
        policy.delay_after_death(0, 0)
        assert policy.is_due
        end()
        assert (policy.is_due, policy.seconds_left(99 * SECOND)) == (False, None)


class Lifecycle(RuleBasedStateMachine):
    """A server with arbitrary actions of person, calls and process: the table and the policy together."""

    def __init__(self):
        super().__init__()
        self.state, self.policy = ServerState.STOPPED, RestartPolicy()
        self.now = self.ready_at = 0
        self.was_ready = self.was_stopped = False
        self.deaths: list[int] = []
        self.starts_by_calls: list[int] = []

    def move(self, happening):
        self.state = after(self.state, happening)

    @rule(seconds=st.floats(0, 90))
    def time_passes(self, seconds):
        self.now += int(seconds * SECOND)

    @precondition(lambda self: self.state is ServerState.STOPPED)
    @rule()
    def the_person_starts_it(self):
        self.policy.forget()
        self.deaths.clear()
        self.starts_by_calls.clear()
        self.begin()

    def begin(self):
        self.was_ready = self.was_stopped = False
        self.move(LifecycleEvent.START)

    @rule()
    def the_person_stops_it(self):
        self.policy.forget()
        self.deaths.clear()
        self.was_stopped = True
        if self.state in (ServerState.STARTING, ServerState.RUNNING):
            self.move(LifecycleEvent.STOP)

    @rule()
    def a_call_needs_it(self):
        if self.state is ServerState.STOPPED and self.policy.seconds_left(self.now) == 0:
            self.starts_by_calls.append(self.now)
            self.begin()

    @precondition(lambda self: self.state is ServerState.STARTING)
    @rule()
    def it_is_ready(self):
        self.move(LifecycleEvent.READY)
        self.policy.is_ready()
        self.was_ready, self.ready_at = True, self.now

    @precondition(lambda self: self.state in (ServerState.STARTING, ServerState.RUNNING))
    @rule()
    def it_dies(self):
        self.move(LifecycleEvent.DIE if self.state is ServerState.RUNNING else LifecycleEvent.FAIL)

    @precondition(lambda self: self.state is ServerState.STOPPING)
    @rule(jitter=st.floats(0.8, 1.2))
    def it_is_gone(self, jitter):
        self.move(LifecycleEvent.GONE)
        if not self.was_stopped:
            self.deaths.append(self.now)
            self.policy.delay_after_death(self.now, self.now - self.ready_at if self.was_ready else 0, jitter)

    @invariant()
    def a_call_can_start_only_what_died_and_is_stopped(self):
        assert not self.policy.is_due or (self.deaths and self.state is not ServerState.RUNNING)

    @invariant()
    def five_deaths_in_two_minutes_leave_it_to_the_person(self):
        recent = [at for at in self.deaths if self.now - at < LOOP_SECONDS * SECOND]
        last = self.deaths[-LOOP_DEATHS:]
        if len(last) == LOOP_DEATHS and last[-1] - last[0] < LOOP_SECONDS * SECOND and last[-1] in recent:
            assert not self.policy.is_due

    @invariant()
    def calls_start_it_less_often_than_it_dies_in_a_loop(self):
        for first in self.starts_by_calls:
            assert sum(0 <= at - first < LOOP_SECONDS * SECOND for at in self.starts_by_calls) <= LOOP_DEATHS


TestLifecycle = Lifecycle.TestCase


# ---- refreshing -----------------------------------------------------------------------------------------


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
