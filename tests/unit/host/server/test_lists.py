"""Lists that are kept fresh, and the time that reading them may take."""

import asyncio
from contextlib import asynccontextmanager

import pytest

from tests.conftest import until
from tests.unit.host.session.test_client_requests import scripted
from tests.unit.host.supervised import TestClock
from tui.core.ports import MonotonicClock
from tui.host.server import lists
from tui.host.server.lists import LONGEST_GAP, FreshList, read_pages


class Server:
    """Lists when allowed to."""

    def __init__(self):
        self.began = self.listed = 0
        self.may_list = asyncio.Event()
        self.may_list.set()

    async def list_again(self):
        self.began += 1
        await self.may_list.wait()
        self.listed += 1
        return True


@asynccontextmanager
async def kept_fresh(server, clock=None):
    fresh = FreshList("the tools of srv", clock or MonotonicClock(), lambda: False)
    task = asyncio.create_task(fresh.run(server.list_again))
    try:
        yield fresh
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_an_unchanged_list_is_settled_without_listing_it_again():
    server = Server()
    async with kept_fresh(server) as fresh:
        await fresh.settled()
        assert server.listed == 0


async def test_a_call_does_not_wait_for_the_delay_between_changes():
    server = Server()
    async with kept_fresh(server) as fresh:
        for round in range(1, 6):
            fresh.changed()
            async with asyncio.timeout(1):
                await fresh.settled()
            assert server.listed == round


async def listings_after(rests):
    """Return the waits before the listings, each of which begins after the server has paused so long."""
    server, clock = Server(), TestClock()
    async with kept_fresh(server, clock) as fresh:
        for number, rest in enumerate((0, *rests)):
            clock.now += rest * 1_000_000_000
            fresh.changed()
            await until(lambda number=number: server.listed == number + 1)
            await asyncio.sleep(0)
    return clock.naps


async def test_under_a_storm_of_changes_the_gap_grows():
    assert await listings_after([0] * 7) == [2, 4, 8, 16, 32, LONGEST_GAP, LONGEST_GAP]


async def test_after_a_quiet_period_the_gap_is_short_again():
    assert await listings_after([1, 1, 500, 1]) == [1, 3, 1]


async def test_a_change_during_the_listing_is_also_awaited():
    server = Server()
    server.may_list.clear()
    async with kept_fresh(server) as fresh:
        fresh.changed()
        waiting = asyncio.create_task(fresh.settled())
        await until(lambda: server.began == 1)
        fresh.changed()
        server.may_list.set()
        await waiting
        assert server.listed == 2


async def test_a_list_that_never_arrives_does_not_block_calls_for_long(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(lists, "SETTLE_SECONDS", 0.01)
    server = Server()
    server.may_list.clear()
    async with kept_fresh(server) as fresh:
        fresh.changed()
        await fresh.settled()
        assert server.listed == 0


async def test_what_the_user_is_asked_during_one_page_takes_no_time_from_the_next():
    pages = [{"tools": [1], "nextCursor": "2"}, {"tools": [2]}]

    async def respond():
        with session.requests.clocks.standing_still():
            await asyncio.sleep(0.15)
        return pages.pop(0)

    session = scripted(respond)
    walk = await read_pages(session, "tools", 0.1)
    assert walk.items == [1, 2] and not walk.note
