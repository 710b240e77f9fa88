"""The meter reaches each limit exactly at its value."""

import asyncio

import pytest

from tests.unit.core.stand_ins import HandClock
from tui.core.events import LimitName, LimitReached
from tui.core.turn.limits import Limits, TurnMeter, fingerprint

SECOND = 1_000_000_000


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


def test_no_limit_is_reached_at_the_start():
    assert TurnMeter(Limits()).reached() is None


def test_the_time_of_a_turn_is_limited(clock: HandClock):
    meter = TurnMeter(Limits(turn_seconds=5), clock)
    clock.ns = 4 * SECOND
    assert meter.reached() is None
    clock.ns = 5 * SECOND
    assert meter.reached() == LimitReached(LimitName.TURN_SECONDS, 5)


def test_time_spent_waiting_for_the_person_does_not_count(clock: HandClock):
    meter = TurnMeter(Limits(turn_seconds=5), clock)
    clock.ns = SECOND
    meter.time.pause()
    clock.ns = 11 * SECOND
    assert meter.time.seconds == 1
    meter.time.resume()
    clock.ns = 12 * SECOND
    assert meter.time.seconds == 2


async def test_a_step_is_not_ended_by_the_time_of_the_turn_while_the_user_is_asked():
    meter = TurnMeter(Limits(turn_seconds=0))
    with meter.clocks.standing_still():
        async with meter.limited():
            await asyncio.sleep(0)
            await asyncio.sleep(0)
    with pytest.raises(TimeoutError):
        async with meter.limited():
            await asyncio.Event().wait()


def test_a_step_with_one_successful_call_is_not_an_error_step():
    meter = TurnMeter(Limits(consecutive_errors=2))
    meter.step_ended(calls=2, failed=2)
    meter.step_ended(calls=2, failed=1)
    meter.step_ended(calls=1, failed=1)
    assert meter.reached() is None
    meter.step_ended(calls=1, failed=1)
    assert meter.reached() == LimitReached(LimitName.CONSECUTIVE_ERRORS, 2)


def test_calls_are_identical_whatever_the_order_of_their_keys():
    assert fingerprint("t", {"a": 1, "b": {"c": 2, "d": 3}}, "r") == fingerprint(
        "t", {"b": {"d": 3, "c": 2}, "a": 1}, "r"
    )


def test_polling_with_changing_results_is_not_repetition():
    assert fingerprint("t", {}, "10 %") != fingerprint("t", {}, "20 %")
