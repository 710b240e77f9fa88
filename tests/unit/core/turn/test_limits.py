"""The meter reaches each limit exactly at its value."""

from tui.core.events import LimitName
from tui.core.turn.limits import Limits, TurnMeter, fingerprint

SECOND = 1_000_000_000


def test_no_limit_is_reached_at_the_start():
    assert TurnMeter(Limits(), 0).reached(0) is None


def test_the_number_of_steps_is_limited():
    meter = TurnMeter(Limits(max_steps=2), 0, steps=2)
    reached = meter.reached(0)
    assert reached is not None and (reached.limit, reached.value) == (LimitName.MAX_STEPS, 2)


def test_the_number_of_tool_calls_is_limited():
    meter = TurnMeter(Limits(max_tool_calls=2), 0)
    meter.call_ended("a")
    assert meter.reached(0) is None
    meter.call_ended("b")
    reached = meter.reached(0)
    assert reached is not None and reached.limit is LimitName.MAX_TOOL_CALLS


def test_the_time_of_a_turn_is_limited():
    meter = TurnMeter(Limits(turn_seconds=5), 0)
    assert meter.reached(4 * SECOND) is None
    reached = meter.reached(5 * SECOND)
    assert reached is not None and reached.limit is LimitName.TURN_SECONDS


def test_time_spent_waiting_for_the_person_does_not_count():
    meter = TurnMeter(Limits(turn_seconds=5), 0)
    meter.pause(1 * SECOND)
    assert meter.used_seconds(3 * SECOND) == 1
    meter.resume(11 * SECOND)
    assert meter.used_seconds(12 * SECOND) == 2


def test_a_step_with_one_successful_call_is_not_an_error_step():
    meter = TurnMeter(Limits(consecutive_errors=2), 0)
    meter.step_ended(calls=2, failed=2)
    meter.step_ended(calls=2, failed=1)
    meter.step_ended(calls=1, failed=1)
    assert meter.reached(0) is None
    meter.step_ended(calls=1, failed=1)
    reached = meter.reached(0)
    assert reached is not None and reached.limit is LimitName.CONSECUTIVE_ERRORS


def test_identical_calls_reach_their_limit():
    meter = TurnMeter(Limits(identical_calls_stop=3), 0)
    assert [meter.call_ended("same") for _ in range(2)] == [1, 2]
    assert meter.reached(0) is None
    meter.call_ended("same")
    reached = meter.reached(0)
    assert reached is not None and reached.limit is LimitName.IDENTICAL_CALLS


def test_calls_are_identical_whatever_the_order_of_their_keys():
    assert fingerprint("t", {"a": 1, "b": {"c": 2, "d": 3}}, "r") == fingerprint(
        "t", {"b": {"d": 3, "c": 2}, "a": 1}, "r"
    )


def test_polling_with_changing_results_is_not_repetition():
    assert fingerprint("t", {}, "10 %") != fingerprint("t", {}, "20 %")
