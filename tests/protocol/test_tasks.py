"""Tasks of a real server: followed, given input, cancelled, and resumed after a restart."""

import asyncio
import json
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests import programs
from tests.conftest import until
from tests.hosts import called, far, running
from tests.http_server import MODERN, STREAM, event, http_server, reply
from tests.protocol.test_questions import Person
from tui.core.jsonrpc.extensions import TASKS
from tui.core.questions import Questioner
from tui.core.tasks import KnownTasks
from tui.core.tools import CallFailure
from tui.core.traffic import Direction
from tui.host.server.host_context import Answerers, Remembered
from tui.settings.state.server_memory import stored_tasks

SERVER = Path(__file__).parent / "task_server.py"


class Stage:
    def __init__(self, host, captured, tasks_file):
        self.host = host
        self.captured = captured
        self.tasks_file = tasks_file
        self.told = []

    async def call(self, name, seconds=10.0):
        (tool,) = [tool for tool in self.host.toolbox.tools() if tool.name == name]
        return await self.host.toolbox.call(tool, {}, seconds=seconds, progress=self.progress)

    async def by_hand(self, name, call="hand-1"):
        (tool,) = [tool for tool in self.host.workbench.tools("srv") if tool.name == name]
        return await self.host.workbench.call_tool(tool, {}, call=call, seconds=10.0, progress=self.progress)

    def progress(self, *said):
        self.told.append(said)

    def sent(self, method):
        out = [json.loads(one.raw) for one in self.captured if one.direction is Direction.OUT]
        return [one["params"] for one in out if one.get("method") == method]

    def at_the_server(self):
        tasks = json.loads(self.tasks_file.read_text()) if self.tasks_file.exists() else {}
        return [task["status"] for task in tasks.values()]


@asynccontextmanager
async def stage(tmp_path, questioner=None, book=None):
    captured = []
    tasks_file = tmp_path / "at-server.json"
    spec = programs.server("srv", SERVER, env={"TASKS_FILE": str(tasks_file)})
    around = {
        "answerers": Answerers(questioner=questioner or Questioner()),
        "remembered": Remembered(tasks=book or KnownTasks()),
    }
    async with running(spec, sink=captured.append, **around) as host:
        yield Stage(host, captured, tasks_file)


async def test_a_call_that_becomes_a_task_gives_its_result(tmp_path):
    async with stage(tmp_path) as it:
        result = await it.call("count", seconds=0.5)  # the timeout of a call does not apply to its task
        assert (result.content[0].text, result.structured) == ("counted to 3", {"n": 3})
        assert (None, None, "task working: 2 of 3") in it.told
        assert len(it.sent("tasks/get")) == 3 and list(it.host.workbench.tasks("srv")) == []
        capabilities = it.sent("tools/call")[0]["_meta"]["io.modelcontextprotocol/clientCapabilities"]
        assert capabilities["extensions"][TASKS] == {}


async def test_a_call_answered_at_once_is_not_a_task(tmp_path):
    async with stage(tmp_path) as it:
        assert (await it.call("plain")).content[0].text == "at once"
        assert it.sent("tasks/get") == []


async def test_a_task_asks_the_user_once(tmp_path):
    person = Person({"name": "Ada"})
    async with stage(tmp_path, person) as it:
        assert (await it.call("greet")).content[0].text == "Hello, Ada!"
        assert [question.message for question in person.asked] == ["Your name?"]
        (update,) = it.sent("tasks/update")
        assert update["inputResponses"] == {"who": {"action": "accept", "content": {"name": "Ada"}}}


async def test_declining_the_question_of_a_task_is_an_answer(tmp_path):
    async with stage(tmp_path) as it:
        assert (await it.call("greet")).content[0].text == "Hello, nobody!"


@pytest.mark.parametrize(
    ("tool", "text", "failure"),
    [
        ("broken", "The task failed: error -32603, out of luck.", CallFailure.PROTOCOL),
        ("wrong", "no such thing", CallFailure.NONE),
    ],
)
async def test_a_task_that_fails_is_a_result(tmp_path, tool, text, failure):
    async with stage(tmp_path) as it:
        result = await it.call(tool)
        assert (result.is_error, result.failure, result.content[0].text) == (True, failure, text)


async def test_cancelling_the_call_of_a_model_cancels_its_task_at_the_server(tmp_path):
    async with stage(tmp_path) as it:
        calling = asyncio.create_task(it.call("stuck"))
        await until(lambda: len(it.sent("tasks/get")) > 1)
        calling.cancel()
        await asyncio.wait({calling})
        assert calling.cancelled() and it.at_the_server() == ["cancelled"]
        assert list(it.host.workbench.tasks("srv")) == []
        assert len(it.sent("tasks/cancel")) == 1


async def test_the_task_of_an_abandoned_call_by_hand_is_resumed_after_a_restart(tmp_path):
    stored = stored_tasks(tmp_path / "state" / "tasks.json")
    async with stage(tmp_path, book=KnownTasks(stored)) as it:
        calling = asyncio.create_task(it.by_hand("stuck"))
        await until(lambda: it.sent("tasks/get"))
        task = it.host.workbench.task_of("srv", "hand-1")
        assert task.tool == "stuck" and list(it.host.workbench.tasks("srv")) == []
        busy = await it.host.workbench.fetch_task(task, call="hand-2", progress=it.progress)
        assert "Another call is already waiting for this task." in busy.content[0].text
        calling.cancel()
        await asyncio.wait({calling})
        assert it.at_the_server() == ["working"]
    stored.close()
    at_server = tmp_path / "at-server.json"
    at_server.write_text(at_server.read_text().replace('"stuck"', '"count"'))

    async with stage(tmp_path, book=KnownTasks(stored_tasks(tmp_path / "state" / "tasks.json"))) as it:
        assert it.host.status("srv").tasks == 1
        (task,) = it.host.workbench.tasks("srv")
        result = await it.host.workbench.fetch_task(task, call="hand-1", progress=it.progress)
        assert result.content[0].text == "counted to 3"
        assert list(it.host.workbench.tasks("srv")) == []


async def left_at_work(it):
    """Call a tool that never ends by hand, and abandon the call."""

    def all_answered():
        seen = [(one.direction, json.loads(one.raw)) for one in it.captured if one.kind is None]
        asked = [one for way, one in seen if way is Direction.OUT and one.get("method") == "tasks/get"]
        answered = {one.get("id") for way, one in seen if way is Direction.IN}
        return asked and all(one["id"] in answered for one in asked)

    calling = asyncio.create_task(it.by_hand("stuck"))
    await until(all_answered)  # the server writes its file while it answers
    calling.cancel()
    await asyncio.wait({calling})


async def test_a_task_of_an_earlier_run_can_be_cancelled(tmp_path):
    book = KnownTasks()
    async with stage(tmp_path, book=book) as it:
        await left_at_work(it)
    async with stage(tmp_path, book=book) as it:
        (task,) = it.host.workbench.tasks("srv")
        assert await it.host.workbench.cancel_task(task) == ""
        assert it.at_the_server() == ["cancelled"] and list(it.host.workbench.tasks("srv")) == []


async def test_a_task_unknown_to_its_server_is_removed(tmp_path):
    book = KnownTasks()
    async with stage(tmp_path, book=book) as it:
        await left_at_work(it)
        it.tasks_file.write_text("{}")
        (task,) = it.host.workbench.tasks("srv")
        result = await it.host.workbench.fetch_task(task, call="hand-2", progress=it.progress)
        assert "The server no longer has the task:" in result.content[0].text
        assert list(it.host.workbench.tasks("srv")) == []


async def test_the_task_of_a_stopped_server_is_kept(tmp_path):
    async with stage(tmp_path) as it:
        calling = asyncio.create_task(it.by_hand("stuck"))
        await until(lambda: it.sent("tasks/get"))
        await it.host.stop("srv")
        result = await calling
        assert result.failure is CallFailure.SERVER_DIED
        assert (
            "The task may continue on the server. Fetch its result in the workbench."
            in result.content[0].text
        )
        assert len(it.host.workbench.tasks("srv")) == 1


def result(members):
    """Return an answerer with a result about the task t-9."""

    async def answer(asked, writer):
        whole = {"resultType": "complete", "taskId": "t-9", "ttlMs": None, **members}
        writer.write(reply({"jsonrpc": "2.0", "id": asked.message["id"], "result": whole}))

    return answer


DONE = result({"status": "completed", "result": {"content": [{"type": "text", "text": "far away"}]}})


async def test_over_http_requests_for_a_task_name_it_in_a_header():
    answers = {
        "tools/call": result({"resultType": "task", "status": "working", "pollIntervalMs": 250}),
        "tasks/get": DONE,
    }
    async with http_server(answers=answers) as server, running(far(server)) as host:
        found = await called(host)
    assert found.content[0].text == "far away"
    headers = [one.headers for one in server.asked if one.method == "tasks/get"]
    assert [(one["mcp-method"], one["mcp-name"]) for one in headers] == [("tasks/get", "t-9")]


async def test_a_reported_task_is_fetched_at_once_instead_of_after_its_interval():
    """Its interval is a minute, so the result is fetched in time only because of the report."""

    async def listen(asked, writer):
        wanted = asked.message["params"]["notifications"]
        stamp = {"_meta": {"io.modelcontextprotocol/subscriptionId": asked.message["id"]}}

        def told(method, params):
            return event({"jsonrpc": "2.0", "method": method, "params": params | stamp})

        accepted = told("notifications/subscriptions/acknowledged", {"notifications": wanted})
        writer.write(STREAM + b"\r\n" + accepted)
        if wanted.get("taskIds") == ["t-9"]:
            writer.write(told("notifications/tasks", {"taskId": "t-9", "status": "completed"}))

    offers = {"tools": {}, "extensions": {TASKS: {}}}
    answers = {
        "server/discover": result(
            {"supportedVersions": [MODERN], "capabilities": offers, "ttlMs": 0, "cacheScope": "private"}
        ),
        "tools/call": result({"resultType": "task", "status": "working", "pollIntervalMs": 60_000}),
        "tasks/get": DONE,
        "subscriptions/listen": listen,
    }
    async with http_server(answers=answers) as server, running(far(server)) as host:
        async with asyncio.timeout(20):
            found = await called(host)
    assert found.content[0].text == "far away"
    assert server.methods().count("tasks/get") == 1
