"""Pausing time limits: alone, together, nested."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from tui.core.time_limits import CallTimeout, TimeLimit, TimeLimits
from tui.core.turn.limits import Limits

SHORT = 0.05


Pass = Callable[[float], Awaitable[None]]


@pytest.fixture
async def passes(monkeypatch: pytest.MonkeyPatch) -> Pass:
    """Return a function that moves the clock of the event loop: on a busy machine, short sleeps take long."""
    loop = asyncio.get_running_loop()
    now = loop.time()
    monkeypatch.setattr(loop, "time", lambda: now)

    async def passes(seconds: float) -> None:
        nonlocal now
        now += seconds
        for _ in range(3):  # rounds of the loop: a timer is due, ends a task, which ends
            await asyncio.sleep(0)

    return passes


class Counted:
    """Counts pauses and resumes."""

    def __init__(self) -> None:
        self.pauses = 0
        self.resumes = 0

    def pause(self) -> None:
        self.pauses += 1

    def resume(self) -> None:
        self.resumes += 1


@pytest.mark.parametrize("is_paused", [False, True])
async def test_a_limit_ends_work_that_takes_too_long_even_if_it_was_paused(is_paused: bool) -> None:
    limit = TimeLimit(SHORT)
    began = asyncio.get_running_loop().time()
    with pytest.raises(TimeoutError):
        async with limit:
            if is_paused:
                limit.pause()
                limit.resume()
            await asyncio.Event().wait()
    assert limit.expired and asyncio.get_running_loop().time() - began < 200 * SHORT


@pytest.mark.parametrize("is_early", [False, True])
async def test_a_limit_that_is_paused_within_or_before_it_begins_does_not_expire(is_early: bool) -> None:
    limit = TimeLimit(SHORT)
    if is_early:
        limit.pause()
    async with limit:
        limit.pause()
        await asyncio.sleep(2 * SHORT)
    limit.resume()
    assert not limit.expired


async def test_a_limit_without_seconds_passes_once_it_is_expired_even_while_it_is_paused(
    passes: Pass,
) -> None:
    limit = TimeLimit()
    with pytest.raises(TimeoutError):
        async with limit:
            limit.restart()
            limit.pause()
            await passes(3600)
            assert not limit.expired
            limit.expire(1)
            limit.expire(9)
            await passes(0.5)
            limit.resume()
            await passes(0.6)
            await asyncio.Event().wait()
    assert limit.expired


async def test_a_limit_that_was_removed_or_left_no_longer_expires(passes: Pass) -> None:
    async with TimeLimit(1) as limit:
        limit.end()
        await passes(2)
        limit.expire()
        await passes(0)
    limit.expire()
    assert not limit.expired


async def test_what_is_left_of_a_limit_does_not_count_pauses_and_what_follows(passes: Pass) -> None:
    async with TimeLimit(5) as limit:
        await passes(1)
        limit.pause()
        await passes(3)
    limit.resume()
    await passes(1)
    assert limit.left == pytest.approx(4)


def test_pauses_nest() -> None:
    held = Counted()
    limits = TimeLimits(held)
    with limits.standing_still():
        with limits.standing_still():
            pass
        assert (held.pauses, held.resumes) == (1, 0)
    assert (held.pauses, held.resumes) == (1, 1)


def test_a_limit_added_during_a_pause_is_paused_and_resumed_on_leaving() -> None:
    held, limits = Counted(), TimeLimits()
    with limits.standing_still(), limits.holding(held):
        assert held.pauses == 1
    assert held.resumes == 1
    limits.pause()
    assert held.pauses == 1


async def test_a_restarted_limit_has_its_time_again(passes: Pass) -> None:
    async with TimeLimit(SHORT, most=200 * SHORT) as limit:
        for _ in range(8):
            await passes(SHORT / 4)
            limit.restart()
    assert not limit.expired and limit.signs and not limit.is_total


async def test_a_limit_that_is_restarted_all_the_time_ends_at_its_total(passes: Pass) -> None:
    limit = TimeLimit(SHORT, most=3 * SHORT)
    began = asyncio.get_running_loop().time()
    with pytest.raises(TimeoutError):
        async with limit:
            while True:
                await passes(SHORT / 10)
                limit.restart()
    assert asyncio.get_running_loop().time() - began == pytest.approx(3 * SHORT, abs=SHORT / 5)
    assert limit.is_total


async def test_a_pause_does_not_use_up_the_total(passes: Pass) -> None:
    async with TimeLimit(SHORT, most=2 * SHORT) as limit:
        limit.pause()
        await passes(3 * SHORT)
        limit.restart()
        limit.resume()
    assert not limit.expired


async def test_a_limit_without_a_total_cannot_be_restarted(passes: Pass) -> None:
    limit = TimeLimit(SHORT)
    with pytest.raises(TimeoutError):
        async with limit:
            while True:
                await passes(SHORT / 10)
                limit.restart()
    assert not limit.signs


def test_a_server_only_shortens_a_timeout_that_is_no_setting_and_overrides_no_option() -> None:
    plain = CallTimeout.of(5)
    assert plain.of_server(9, 90) == plain
    assert plain.of_server(2, None) == CallTimeout(2, 2)
    chosen = CallTimeout(5, 50, "--seconds", "10 times --seconds")
    assert chosen.of_server(1, 2) == chosen


async def test_the_maximum_of_a_call_is_the_limit_of_the_turn_unless_it_is_set() -> None:
    limits = (Limits(), Limits(turn_seconds=30, tool_seconds=40), Limits(tool_max_seconds=120))
    assert [one.call_timeout.most for one in limits] == [900.0, 40.0, 120.0]
    timeout = CallTimeout(60, 30)
    assert timeout.passed(timeout.limit()) == "did not finish within 30 s (tool_max_seconds)."
