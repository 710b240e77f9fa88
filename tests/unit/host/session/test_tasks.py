"""Following a task: polling, input and its end; every failure is a result."""

import asyncio
import time

import pytest

from tests.conftest import until
from tui.core.questions import Action, QuestionAnswer, Questioner
from tui.core.servers import ServerSpec
from tui.core.tasks import KnownTasks, Task
from tui.core.tools import CallFailure, TextContent
from tui.core.workbench import RawAnswer
from tui.host.session.server_requests import ServerRequests
from tui.host.session.tasks import MAX_FAILURES, Caller, ServerTasks

DONE = {"status": "completed", "result": {"content": [{"type": "text", "text": "found"}]}}
WORKING = {"status": "working", "pollIntervalMs": 500}
UNKNOWN = RawAnswer(error={"code": -32602, "message": "Task not found"})
BROKEN = RawAnswer(error={"code": -32603, "message": "internal"})
LOST = RawAnswer(problem="The server srv ended.", failure=CallFailure.SERVER_DIED)


def task(**more):
    return Task("srv", "o", "t-1", "research", created=time.time(), **more)


class Person(Questioner):
    def __init__(self):
        self.asked = 0

    async def ask(self, question):
        self.asked += 1
        return QuestionAnswer(Action.ACCEPT, {"a": "1"})


class Scripted:
    """A server whose `tasks/get` responses come from a list, repeating the last."""

    def __init__(self, *answers):
        self.book = KnownTasks()
        self.person = Person()
        self.sent = []
        self.slept = []
        self.told = []
        self._answers = list(answers)
        spec = ServerSpec("srv", "x")
        requests = ServerRequests(spec, self.person)
        self.over = asyncio.Event()
        self.tasks = ServerTasks(spec, self.book, requests, self.ask, self, lambda: None, self.over)

    async def ask(self, method, params):
        self.sent.append((method, params))
        if method != "tasks/get":
            return UNKNOWN if self._answers == [UNKNOWN] else RawAnswer(result={})
        found = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        return found if isinstance(found, RawAnswer) else RawAnswer(result={"taskId": "t-1", **found})

    def now_ns(self):
        return int(sum(self.slept) * 1e9)

    async def sleep(self, seconds):
        self.slept.append(seconds)
        await asyncio.sleep(0)

    async def result(self, *, now=False, **how):
        caller = Caller(lambda *said: self.told.append(said), **how)
        return await self.tasks.follow(task(), caller, now=now)

    def methods(self):
        return [method for method, _ in self.sent]


async def test_a_task_is_polled_at_its_interval_until_it_has_a_result():
    server = Scripted(WORKING, {**WORKING, "statusMessage": "1 of 2"}, DONE)
    assert (await server.result()).content == (TextContent("found"),)
    assert server.slept == [1.0, 0.5, 0.5]
    assert [words for _, _, words in server.told] == ["task working", "task working: 1 of 2"]
    assert server.book.of("srv", "o") == ()


async def test_missing_input_cancels_the_task():
    server = Scripted({"status": "input_required", "inputRequests": {"k": {"method": "x/unknown"}}})
    result = await server.result()
    assert result.is_error and "x/unknown" in result.content[0].text
    assert server.methods()[-1] == "tasks/cancel"


@pytest.mark.parametrize(
    ("answer", "text", "failure"),
    [
        (
            {"status": "failed", "error": {"code": -32603, "message": "no\x1b luck"}},
            "no␛ luck",
            CallFailure.PROTOCOL,
        ),
        ({"status": "failed"}, "no reason given", CallFailure.PROTOCOL),
        (
            {"status": "cancelled", "statusMessage": "too slow"},
            "cancelled the task. too slow",
            CallFailure.PROTOCOL,
        ),
        ({"status": "completed"}, "has no result", CallFailure.PROTOCOL),
        (UNKNOWN, "no longer has the task", CallFailure.PROTOCOL),
    ],
)
async def test_every_other_end_is_an_error_with_an_explanation(answer, text, failure):
    server = Scripted(answer)
    result = await server.result()
    assert result.is_error and result.failure is failure and text in result.content[0].text
    assert server.book.of("srv", "o") == ()


@pytest.mark.parametrize(
    "bad", [BROKEN, {"status": "dreaming"}, RawAnswer(result=7), RawAnswer(problem="Late.")]
)
async def test_a_failed_poll_is_retried_a_few_times(bad):
    server = Scripted(bad, bad, WORKING, bad, DONE)
    assert (await server.result()).content == (TextContent("found"),)
    server = Scripted(bad)
    result = await server.result()
    assert len(server.sent) == MAX_FAILURES and "Cannot track the task" in result.content[0].text
    assert len(server.book.of("srv", "o")) == 1


async def test_a_task_past_its_time_to_live_ends_with_an_error():
    server = Scripted({"status": "working", "pollIntervalMs": 30_000, "ttlMs": 40_000})
    result = await server.result()
    assert "within its time to live" in result.content[0].text
    assert sum(server.slept[:-1]) < 100 < sum(server.slept) and server.book.of("srv", "o") == ()


@pytest.mark.parametrize("jump", [3_600.0, -3_600.0, 400 * 86_400.0])
async def test_a_running_task_does_not_notice_that_the_wall_clock_is_set(monkeypatch, jump):
    working = {**WORKING, "ttlMs": 600_000}
    server, real = Scripted(working, working, DONE), time.time
    following = asyncio.create_task(server.result())
    await until(lambda: server.sent)
    monkeypatch.setattr(time, "time", lambda: real() + jump)
    assert (await following).content == (TextContent("found"),)


async def test_the_server_decides_whether_a_task_of_an_earlier_run_has_expired():
    server = Scripted(DONE)
    old = Task("srv", "o", "t-1", "x", created=time.time() - 10_000, ttl_ms=1_000)
    result = await server.tasks.follow(old, Caller(lambda *_: None), now=True)
    assert result.content == (TextContent("found"),)


@pytest.mark.parametrize("other", ["t-2", "", "T-1", 1, None, ["t-1"]])
async def test_the_state_of_another_task_is_not_that_of_this_one(other):
    server = Scripted({**DONE, "taskId": other}, {**WORKING, "taskId": other}, WORKING, DONE)
    assert (await server.result()).content == (TextContent("found"),)
    assert len(server.sent) == 4
    result = await Scripted({**DONE, "taskId": other}).result()
    assert result.is_error and "the response is about another task" in result.content[0].text


async def test_a_state_without_an_id_answers_its_request():
    assert not (await Scripted(RawAnswer(result=DONE)).result()).is_error


async def test_the_confirmation_that_another_task_was_cancelled_is_reported():
    server = Scripted(DONE)

    async def ask(method, params):
        return RawAnswer(result={"taskId": "t-2", "status": "cancelled"})

    server.tasks._ask = ask
    assert await server.tasks.cancel(task()) == (
        "The task was not cancelled: the response is about another task."
    )


async def test_the_end_of_the_connection_ends_the_wait_for_the_next_poll():
    server = Scripted(WORKING, LOST)

    async def sleep(seconds):
        await asyncio.Event().wait()

    server.sleep = sleep
    following = asyncio.create_task(server.result())
    await until(lambda: server.tasks.followed)
    server.over.set()
    server._answers = [LOST]
    assert (await following).failure is CallFailure.SERVER_DIED


async def test_a_task_from_an_earlier_run_is_polled_at_once():
    server = Scripted(DONE)
    assert (await server.result(now=True)).content == (TextContent("found"),)
    assert server.slept == []


async def test_a_cancellation_that_the_server_rejects_is_reported():
    said = await Scripted(UNKNOWN).tasks.cancel(task())
    assert said == "The task was not cancelled: error -32602, Task not found."
    assert await Scripted(DONE).tasks.cancel(task()) == ""


async def test_only_one_call_may_follow_a_task():
    server = Scripted(WORKING)
    following = asyncio.create_task(server.result())
    await until(lambda: server.sent)
    assert "Another call is already waiting" in (await server.result()).content[0].text
    following.cancel()
    await asyncio.wait({following})


async def test_a_response_that_is_not_a_task_is_a_failed_call():
    server = Scripted(DONE)
    result = await server.tasks.follow_new("research", {"taskId": 7}, Caller(lambda *_: None))
    assert result.content == (TextContent("The server returned a task without a valid taskId."),)


def test_a_report_about_a_task_that_nobody_follows_is_ignored():
    Scripted(DONE).tasks.changed_at_server({"taskId": ["t-1"]})
