"""Resource subscriptions and the updates that a server reports."""

import asyncio
from types import SimpleNamespace

import pytest

from tests.conftest import until
from tui.core.ports import MonotonicClock
from tui.core.workbench import ResourceSubscription
from tui.host.frames.link import RequestError
from tui.host.session.subscriptions import MOST, ChangeStream, Subscriptions, listen


@pytest.fixture
def subscriptions():
    made = Subscriptions()
    made.add("a://x")
    made.add("a://x/y")
    return made


def updates(subscriptions):
    return {uri: one.updates for uri, one in subscriptions.by_uri.items()}


def test_an_update_counts_for_its_resource_and_one_of_a_part_for_its_nearest_parent(subscriptions):
    for uri in ("a://x", "a://x/y/z", "a://x?q", "a://xy", "b://", 7, None):
        subscriptions.updated(uri)
    assert updates(subscriptions) == {"a://x": 2, "a://x/y": 1}


def test_a_resource_whose_updates_arrive_counts_as_subscribed_even_if_refused(subscriptions):
    subscriptions.settle("a://x", "no")
    subscriptions.missed()
    assert subscriptions.by_uri["a://x"] == ResourceSubscription(1, "no")
    subscriptions.updated("a://x")
    assert subscriptions.by_uri["a://x"] == ResourceSubscription(2)


def test_only_real_changes_of_subscriptions_are_signalled(subscriptions):
    subscriptions.turned.clear()
    subscriptions.remove("unknown")
    subscriptions.updated("a://x")
    assert not subscriptions.turned.is_set()
    subscriptions.remove("a://x")
    assert subscriptions.turned.is_set()
    assert subscriptions.uris == ("a://x/y",)


def test_the_number_of_subscriptions_is_limited(subscriptions):
    for number in range(MOST):
        subscriptions.add(f"b://{number}")
    assert len(subscriptions.uris) == MOST


# ---- the change stream ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("acknowledged", "end", "opened", "is_supported"),
    [
        ([{"resourceSubscriptions": ["a://x"]}, {}], None, [1], True),
        ([{"resourceSubscriptions": 7}], None, [0], True),
        ([], None, [0], True),
        ([], RequestError(-32601, "no such method"), [], False),
        ([{}], RequestError(-32000, "Connection closed"), [0], True),
    ],
)
async def test_a_change_stream_opens_once_and_is_over_for_good_only_if_unsupported(
    acknowledged, end, opened, is_supported
):
    class Scripted:
        async def request(self, method, params, heard):
            self.asked = params["notifications"]
            for honored in acknowledged:
                heard("notifications/subscriptions/acknowledged", {"notifications": honored})
            if end is not None:
                raise end

    session, seen = Scripted(), []
    assert await listen(session, frozenset({"tools"}), seen.append, ("a://x",), ("t",)) is is_supported
    assert seen == opened
    assert session.asked == {"toolsListChanged": True, "resourceSubscriptions": ["a://x"], "taskIds": ["t"]}


class HurriedClock(MonotonicClock):
    async def sleep(self, seconds):
        await asyncio.sleep(0)


class Streams:
    """Opens streams as a server would; `events` lists what happened to each, by number."""

    def __init__(self, streamed=("tools",)):
        self.streamed = frozenset(streamed)
        self.events = []
        self.ends = []
        self.tasks = []
        self.may_open = asyncio.Event()
        self.may_open.set()

    async def listen(self, opened, uris, tasks):
        self.tasks.append(tasks)
        number = len(self.ends)
        self.ends.append(asyncio.get_running_loop().create_future())
        try:
            await self.may_open.wait()
            self.events.append((f"open {number}", uris))
            opened(len(uris))
            return await self.ends[number]
        finally:
            self.events.append((f"close {number}", uris))


@pytest.fixture
async def running():
    tasks = []

    def run(streams, subscriptions, relisted, followed=None, clock=None):
        clock = clock or HurriedClock()
        stream = ChangeStream(
            streams.listen,
            streams.streamed,
            subscriptions,
            clock,
            lambda kinds: relisted.extend(kinds),
            followed,
        )
        tasks.append(asyncio.create_task(stream.run()))
        return tasks[-1]

    yield run
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_a_new_subscription_opens_the_next_stream_before_the_last_is_closed(running):
    streams, subscriptions, relisted = Streams(), Subscriptions(), []
    running(streams, subscriptions, relisted)
    await until(lambda: len(streams.events) == 1)
    streams.may_open.clear()
    subscriptions.add("a://x")
    await until(lambda: len(streams.ends) == 2)
    subscriptions.add("a://y")
    await until(lambda: len(streams.ends) == 3)
    assert streams.events == [("open 0", ())]
    streams.may_open.set()
    await until(lambda: len(streams.events) == 5)
    assert [event for event, _ in streams.events if event.startswith("open")] == [
        "open 0",
        "open 1",
        "open 2",
    ]
    assert streams.events.index(("open 1", ("a://x",))) < streams.events.index(("close 0", ()))
    assert relisted == []
    assert [one.updates for one in subscriptions.by_uri.values()] == [0, 0]


async def test_subscriptions_to_a_server_without_change_streams_say_so(running):
    streams, subscriptions = Streams(), Subscriptions()
    subscriptions.add("a://x")
    running(streams, subscriptions, [])
    await until(lambda: streams.ends)
    streams.ends[0].set_result(False)
    await until(lambda: "does not support" in subscriptions.by_uri["a://x"].problem)
    subscriptions.add("a://later")
    await until(lambda: "does not support" in subscriptions.by_uri["a://later"].problem)
    assert len(streams.ends) == 1


class PatientClock(MonotonicClock):
    """Passes the first short waits, and never ends a longer one."""

    async def sleep(self, seconds):
        if seconds > 2:
            await asyncio.Event().wait()


async def while_it_waits(running, followed=None):
    """Return streams that wait to be reopened, and the subscriptions."""
    streams, subscriptions = Streams(), Subscriptions()
    subscriptions.add("a://x")
    running(streams, subscriptions, [], followed, PatientClock())
    for number in range(3):
        await until(lambda number=number: len(streams.ends) > number)
        streams.ends[number].set_result(True)
    await until(lambda: streams.events[-1][0] == "close 2")
    return streams, subscriptions


async def test_a_stream_that_waits_to_be_reopened_is_reopened_at_once_for_a_new_subscription(running):
    streams, subscriptions = await while_it_waits(running)
    subscriptions.add("a://y")
    await until(lambda: streams.events[-1] == ("open 3", ("a://x", "a://y")))
    assert [one.problem for one in subscriptions.by_uri.values()] == ["", ""]


async def test_a_stream_that_waits_to_be_reopened_is_reopened_at_once_for_a_followed_task(running):
    followed = SimpleNamespace(followed={}, began=asyncio.Event())
    streams, _ = await while_it_waits(running, followed)
    followed.followed["task-1"] = None
    followed.began.set()
    await until(lambda: streams.tasks[-1] == ("task-1",))


async def test_a_subscription_says_that_its_stream_waits_to_be_reopened(running):
    _, subscriptions = await while_it_waits(running)
    await until(lambda: subscriptions.by_uri["a://x"].problem)
    assert subscriptions.by_uri["a://x"].problem == "The change stream ended. Retrying in 4 s."


async def test_an_ordinary_gap_is_not_reported_as_a_problem(running):
    streams, subscriptions = Streams(), Subscriptions()
    problems = []
    subscriptions.settle = lambda uri, problem: problems.append(problem)
    subscriptions.add("a://x")
    running(streams, subscriptions, [])
    await until(lambda: streams.ends)
    streams.ends[0].set_result(True)
    await until(lambda: len(streams.ends) == 2 and len(problems) == 2)
    assert problems == ["", ""]


async def test_a_stream_only_for_subscriptions_closes_with_the_last_of_them(running):
    streams, subscriptions = Streams(()), Subscriptions()
    running(streams, subscriptions, [])
    subscriptions.add("a://x")
    await until(lambda: streams.events == [("open 0", ("a://x",))])
    subscriptions.remove("a://x")
    await until(lambda: streams.events[1:] == [("close 0", ("a://x",))])
    assert len(streams.ends) == 1


async def test_without_a_followed_task_there_is_no_task_stream(running):
    streams = Streams(streamed=())
    followed = SimpleNamespace(followed=set(), began=asyncio.Event())
    running(streams, Subscriptions(), [], followed)
    await asyncio.sleep(0)
    assert streams.tasks == []
