import asyncio

import pytest

from tui.core.jsonrpc.messages import Failure, Notification, Response
from tui.host.frames.inbox import BURST, WAITING, EndOfInbox, Inbox


class Time:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def log(number=0):
    return Notification("notifications/message", {"data": number})


def progress(token, value):
    return Notification("notifications/progress", {"progressToken": token, "progress": value})


async def drained(inbox):
    """Return the messages that are available without waiting."""
    found = []
    while True:
        getting = asyncio.ensure_future(inbox.get())
        await asyncio.sleep(0)
        if not getting.done():
            getting.cancel()
            return found
        found.append(getting.result())


async def test_a_response_does_not_wait_behind_a_flood():
    inbox = Inbox(Time())
    for number in range(50_000):
        inbox.put(log(number))
    await drained(inbox)
    inbox.put(Response(1, {}))
    assert await drained(inbox) == [Response(1, {})]


async def test_a_flood_is_rate_limited():
    time = Time()
    inbox = Inbox(time)
    passed = 0
    for second in range(10):
        time.now = float(second)
        for number in range(1000):
            inbox.put(log(number))
        passed += len(await drained(inbox))
    assert passed <= BURST + 9 * 100


async def test_progress_that_was_not_yet_fetched_is_replaced_by_newer_progress():
    inbox = Inbox(Time())
    for value in range(1000):
        inbox.put(progress("a", value))
        inbox.put(progress("b", -value))
    assert await drained(inbox) == [progress("a", 999), progress("b", -999)]


async def test_a_response_can_be_diverted_past_the_queue():
    inbox, taken = Inbox(Time()), []
    inbox.divert = lambda response: response.id == 1 and not taken.append(response)
    frames = [Response(1, {}), Response(2, {}), Failure(1, -1, "no")]
    assert all(inbox.put(frame) for frame in frames)
    assert taken == frames[:1]
    assert await drained(inbox) == frames[1:]


async def test_a_response_is_not_diverted_past_earlier_messages():
    inbox, taken = Inbox(Time()), []
    inbox.divert = taken.append
    frames = [progress("a", 1), Response(1, {}), Response(2, {})]
    for frame in frames:
        inbox.put(frame)
    assert not taken
    assert await drained(inbox) == frames


async def test_a_closed_inbox_diverts_nothing():
    inbox, taken = Inbox(Time()), []
    inbox.divert = taken.append
    inbox.close()
    assert not inbox.put(Response(1, {}))
    assert not taken


async def test_list_changed_is_never_lost_in_a_flood():
    inbox = Inbox(Time())
    changed = Notification("notifications/tools/list_changed")
    inbox.put(changed)
    for number in range(1000):
        inbox.put(log(number))
    inbox.put(changed)
    assert (await drained(inbox)).count(changed) == 1


async def test_a_delayed_notification_arrives_without_another_message():
    inbox = Inbox()
    for number in range(BURST):
        inbox.put(log(number))
        await drained(inbox)
    inbox.put(log(-1))
    async with asyncio.timeout(2):
        assert await inbox.get() == log(-1)


async def test_responses_received_before_the_end_are_still_delivered():
    inbox = Inbox()
    inbox.put(Response(1, {}))
    inbox.close()
    inbox.put(Response(2, {}))
    assert await inbox.get() == Response(1, {})
    with pytest.raises(EndOfInbox):
        await inbox.get()
    assert inbox.emptied.is_set()


async def test_put_returns_whether_the_session_will_receive_the_message():
    inbox = Inbox(Time())
    assert all(inbox.put(log(number)) for number in range(WAITING))
    assert not inbox.put(log())
    assert inbox.put(Response(1, {}))
    inbox.close()
    assert not inbox.put(Response(2, {}))
