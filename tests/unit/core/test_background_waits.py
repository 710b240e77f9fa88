import asyncio

from tui.core.background import first_of, set_within


async def test_waiting_ends_with_the_first_condition_or_the_timeout():
    event = asyncio.Event()
    event.set()
    await first_of(event.wait(), asyncio.Event().wait(), seconds=60)
    await first_of(asyncio.Event().wait(), seconds=0.01)


async def test_conditions_that_are_no_longer_awaited_are_cancelled():
    forever = asyncio.ensure_future(asyncio.Event().wait())
    await first_of(asyncio.sleep(0), forever)
    assert forever.cancelled()


async def test_an_event_is_awaited_until_it_is_set_or_the_timeout():
    event = asyncio.Event()
    await set_within(event, 0.01)
    event.set()
    await asyncio.wait_for(set_within(event, 60), 5)
