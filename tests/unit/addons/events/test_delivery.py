"""The delivery of events by a real server, over both transports and in both modes."""

import asyncio
from contextlib import asynccontextmanager

import pytest

from tests.conftest import until
from tests.hosts import called
from tests.unit.addons.events.stage import HostedServer, hosting
from tui.addons.events.delivery import Delivery
from tui.addons.events.subscription import State, Subscription
from tui.addons.events.wire import POLL_MODE, PUSH_MODE
from tui.core.background import cancel_all
from tui.core.ports import MonotonicClock


class HurriedClock(MonotonicClock):
    """Waits at most a moment, and remembers what was asked for."""

    def __init__(self):
        self.waits = []

    async def sleep(self, seconds):
        self.waits.append(seconds)
        await asyncio.sleep(min(seconds, 0.02))


class Delivered:
    """A delivery, with the ids that it accepted."""

    def __init__(self, host, mode, position=None, heartbeat=30.0):
        self.state = Subscription("push", mode, position, heartbeat=heartbeat)
        self.ids, self.problems, self.clock = [], [], HurriedClock()
        self.delivery = Delivery(HostedServer(host), self.state, {"repo": "x"}, self.accept, self.clock)

    async def accept(self, event):
        self.ids.append(event.id)
        self.problems.append(event.problem)


@asynccontextmanager
async def delivering(*switches, mode=PUSH_MODE, over="stdio", **more):
    async with hosting(*switches, over=over) as host:
        one = Delivered(host, mode, **more)
        task = asyncio.create_task(one.delivery.run())
        try:
            yield host, one
        finally:
            await cancel_all((task,))


def ids(count, start=0):
    return [f"evt-{number}" for number in range(start, start + count)]


FLOOD = 3_000
"""More than queues, pages and pipes hold."""


@pytest.mark.parametrize(
    ("mode", "over"), [(PUSH_MODE, "sdk"), (PUSH_MODE, "http"), (POLL_MODE, "stdio"), (POLL_MODE, "http")]
)
async def test_a_flood_is_delivered_in_order_and_without_loss(mode, over):
    async with delivering(mode=mode, over=over) as (host, one):
        await until(lambda: one.state.state in (State.LIVE, State.POLLING))
        await called(host, "emit", count=FLOOD)
        await until(lambda: len(one.ids) >= FLOOD)
        assert one.ids == ids(FLOOD)
        assert (one.state.gaps, one.state.duplicates) == (0, 0)


@pytest.mark.parametrize("over", ["stdio", "sdk", "http"])
async def test_cancelling_a_stream_ends_it_at_the_server(over):
    async with hosting(over=over) as host:
        one = Delivered(host, PUSH_MODE)
        task = asyncio.create_task(one.delivery.run())
        await until(lambda: one.state.state is State.LIVE)
        await cancel_all((task,))

        while True:
            if (await called(host, "look")).structured["cancelled"]:
                return
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("mode", [PUSH_MODE, POLL_MODE])
async def test_delivery_continues_from_its_cursor_without_duplicates(mode):
    async with hosting() as host:
        one = Delivered(host, mode)
        task = asyncio.create_task(one.delivery.run())
        await until(lambda: one.state.cursor == "0")
        await called(host, "emit", count=3)
        await until(lambda: one.state.cursor == "3")
        await cancel_all((task,))
        await called(host, "emit", count=2)
        again = Delivered(host, mode, one.state.position)
        task = asyncio.create_task(again.delivery.run())
        await until(lambda: len(again.ids) == 2)
        await cancel_all((task,))
        assert again.ids == ids(2, 3)
        asked = (await called(host, "look")).structured["asked"]
        assert {"cursor": "3", "maxAgeMs": 86_400_000}.items() <= next(
            one.items() for one in asked if one.get("maxAgeMs")
        )


@pytest.mark.parametrize("mode", [PUSH_MODE, POLL_MODE])
async def test_a_gap_is_counted_and_delivery_goes_on(mode):
    async with hosting("gap") as host:
        await called(host, "emit", count=9)
        one = Delivered(host, mode, Subscription("push", mode).position)
        one.state.cursor = "1"
        task = asyncio.create_task(one.delivery.run())
        await until(lambda: len(one.ids) == 2)
        await cancel_all((task,))
        assert (one.ids, one.state.gaps, one.state.cursor) == (ids(2, 7), 1, "9")


@pytest.mark.parametrize("mode", [PUSH_MODE, POLL_MODE])
async def test_duplicates_are_left_out(mode):
    async with delivering("duplicates", "emit=4", mode=mode) as (_, one):
        await until(lambda: one.state.duplicates == 3)
        assert one.ids == ["evt-0"]


async def test_without_cursors_nothing_is_replayed():
    async with delivering("null") as (host, one):
        await until(lambda: one.state.state is State.LIVE)
        await called(host, "emit", count=2)
        await until(lambda: len(one.ids) == 2)
        assert one.state.position.cursor is None


async def test_messages_that_name_another_subscription_are_not_of_the_stream():
    async with delivering("wrong_id", "emit=3", heartbeat=0.2) as (_, one):
        await until(lambda: one.state.state is State.LOST)
        assert one.ids == [] and "silent" in one.state.problem


async def test_a_silent_stream_is_opened_again_with_its_cursor():
    async with delivering("silent", "emit=1", heartbeat=0.2) as (host, one):
        await until(lambda: len(one.ids) == 1)
        await until(lambda: one.state.state is State.LOST)
        await until(lambda: one.state.state is State.LIVE)
        look = (await called(host, "look")).structured
        assert look["streams"] >= 2 and look["asked"][-1]["cursor"] == "1"


async def test_a_stream_that_the_server_closes_is_opened_again():
    async with delivering("close", "emit=2") as (_, one):
        await until(lambda: one.state.state is State.LOST)
        assert one.state.problem == "The server closed the stream."
        await until(lambda: len(one.clock.waits) >= 3)
        assert one.ids == ids(2) and one.state.duplicates == 0


async def test_a_transient_error_leaves_the_stream_open():
    async with delivering("error") as (_, one):
        await until(lambda: "upstream 503" in one.state.problem)
        assert one.state.state is State.LIVE


@pytest.mark.parametrize(
    ("why", "said"),
    [
        ("removed", "The server no longer offers it."),
        ("revoked", "Access denied (Forbidden: Access revoked)."),
        ("changed", "The server changed its schema."),
    ],
)
@pytest.mark.parametrize(
    ("mode", "how"), [(PUSH_MODE, "terminate"), (PUSH_MODE, "refuse"), (POLL_MODE, "refuse")]
)
async def test_the_server_ends_a_subscription(mode, how, why, said):
    async with hosting(f"{how}={why}") as host:
        one = Delivered(host, mode)
        await asyncio.wait_for(one.delivery.run(), 20)
        assert (one.state.state, one.state.problem) == (State.ENDED, said)


async def test_a_poll_without_an_interval_has_a_floor():
    async with delivering("next=0", mode=POLL_MODE) as (_, one):
        await until(lambda: len(one.clock.waits) >= 3)
        assert set(one.clock.waits) == {1.0}


async def test_an_endless_backlog_has_pauses():
    async with delivering("endless", mode=POLL_MODE) as (_, one):
        await until(lambda: 1.0 in one.clock.waits)
        assert one.clock.waits.index(1.0) == 99


@pytest.mark.parametrize("huge", [100_000, 400_000])
@pytest.mark.parametrize("mode", [PUSH_MODE, POLL_MODE])
async def test_a_huge_event_is_named_without_its_data(mode, huge):
    async with delivering(f"huge={huge}", "emit=1", mode=mode) as (_, one):
        await until(lambda: one.ids)
        assert one.ids == ["evt-0"] and one.state.cursor == "1"
        assert "It has no data." in one.problems[0] or "too large to keep" in one.problems[0]


async def test_more_than_can_be_accepted_closes_the_stream_and_continues(monkeypatch):
    monkeypatch.setattr("tui.addons.events.delivery.MAX_QUEUE", 5)
    async with delivering() as (host, one):
        await until(lambda: one.state.state is State.LIVE)
        await called(host, "emit", count=500)
        await until(lambda: len(one.ids) >= 500)
        assert one.ids == ids(500)


async def test_a_server_that_stops_counts_as_a_lost_connection():
    async with delivering() as (host, one):
        await until(lambda: one.state.state is State.LIVE)
        await host.stop("srv")
        await until(lambda: one.state.state is State.LOST)
