"""Pausing time limits: alone, together, nested."""

import asyncio

import pytest

from tui.core.time_limits import TimeLimit, TimeLimits

SHORT = 0.05


class Counted:
    """Counts pauses and resumes."""

    def __init__(self) -> None:
        self.pauses = 0
        self.resumes = 0

    def pause(self) -> None:
        self.pauses += 1

    def resume(self) -> None:
        self.resumes += 1


async def test_a_limit_ends_work_that_takes_too_long() -> None:
    limit = TimeLimit(SHORT)
    with pytest.raises(TimeoutError):
        async with limit:
            await asyncio.Event().wait()
    assert limit.expired


async def test_a_paused_limit_does_not_expire() -> None:
    async with TimeLimit(SHORT) as limit:
        limit.pause()
        await asyncio.sleep(2 * SHORT)
        limit.resume()
    assert not limit.expired


async def test_a_resumed_limit_still_expires() -> None:
    limit = TimeLimit(SHORT)
    began = asyncio.get_running_loop().time()
    with pytest.raises(TimeoutError):
        async with limit:
            limit.pause()
            limit.resume()
            await asyncio.Event().wait()
    assert asyncio.get_running_loop().time() - began < 200 * SHORT


async def test_a_limit_paused_before_it_begins_does_not_expire() -> None:
    limit = TimeLimit(SHORT)
    limit.pause()
    async with limit:
        await asyncio.sleep(2 * SHORT)
    assert not limit.expired


async def test_resuming_a_finished_limit_does_nothing() -> None:
    async with TimeLimit(SHORT) as limit:
        limit.pause()
    limit.resume()
    assert not limit.expired


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
