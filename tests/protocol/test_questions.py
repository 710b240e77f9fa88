"""Questions of real servers during a call, in both eras, and the answers that they get."""

import asyncio
import json
import os
import signal
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests import programs
from tests.conftest import until
from tests.hosts import Raw, called, far, ignore, running, text_of
from tests.http_server import STREAM, event, http_server, reply
from tui.core.questions import (
    Action,
    AddressQuestion,
    FormQuestion,
    QuestionAnswer,
    Questioner,
)
from tui.core.servers import SamplingRule
from tui.core.tools import CallFailure
from tui.core.traffic import TrafficSink
from tui.host.server.host_context import Answerers
from tui.host.session.server_questions import MAX_TOLD, MAX_WAITING
from tui.host.session.server_requests import MAX_ROUNDS

HERE = Path(__file__).parent
ASKING = HERE / "asking_server.py"
FAULTS = HERE.parent / "corpus" / "faults"


class Person(Questioner):
    """Answers with the same content while `wait` is set; questions of the type `at_once` in any case."""

    at_once = AddressQuestion

    def __init__(self, content=None):
        self.asked = []
        self.told = []
        self.withdrawn = 0
        self.content = content or {}
        self.wait = asyncio.Event()
        self.wait.set()

    async def ask(self, question):
        self.asked.append(question)
        if isinstance(question, self.at_once):
            return QuestionAnswer(Action.ACCEPT)
        try:
            await self.wait.wait()
        except asyncio.CancelledError:
            self.withdrawn += 1
            raise
        return QuestionAnswer(Action.ACCEPT, self.content)

    def refused(self, server, why):
        self.told.append(f"{server}: {why}")


@pytest.fixture
def started(hosting):
    """Start a program as the server `srv`."""

    async def start(script: Path, questioner: Questioner | None = None, *, sink=ignore, sampler=None, **spec):
        server = programs.server("srv", script, **spec)
        answerers = Answerers(questioner=questioner or Questioner(), sampler=sampler)
        return await hosting(server, answerers=answerers, sink=sink)

    return start


# ---- rounds (2026-07-28) -----------------------------------------------------------------------------------


async def test_a_modern_server_gets_its_form_answer_and_its_unchanged_state(started):
    person = Person({"name": "Ada"})
    host = await started(ASKING, person)
    result = await called(host, "greet")
    assert host.status("srv").protocol == "2026-07-28"
    assert json.loads(text_of(result)) == {
        "given": {"who": {"action": "accept", "content": {"name": "Ada"}}},
        "exact": True,
    }
    assert [(one.server, one.message, one.round) for one in person.asked] == [("srv", "Who are you?", 1)]


async def test_the_rounds_of_a_call_are_counted(started):
    person = Person({"name": "Ada"})
    host = await started(ASKING, person)
    assert not (await called(host, "twice")).is_error
    assert [(one.message, one.round) for one in person.asked] == [
        ("First", 1),
        ("Second", 1),
        ("First", 2),
        ("Second", 2),
    ]


async def test_a_modern_server_gets_a_decline_without_a_user(started):
    host = await started(ASKING, Questioner())
    assert json.loads(text_of(await called(host, "greet")))["given"] == {"who": {"action": "decline"}}


async def test_a_raw_request_by_hand_shows_that_input_is_required(started):
    host = await started(ASKING, Person({"name": "Ada"}))
    answer = await host.workbench.request("srv", "tools/call", {"name": "greet"}, call="c", seconds=10)
    assert answer.result["resultType"] == "input_required"


async def test_reading_a_resource_and_getting_a_prompt_can_have_rounds_too(started):
    person = Person({"name": "Ada"})
    host = await started(ASKING, person)
    read = await host.workbench.read_resource("srv", "a://b", call="c", seconds=10)
    got = await host.workbench.get_prompt("srv", "p", {}, call="c", seconds=10)
    assert "yours s" in str(read.content) and not read.is_error
    assert "for you s" in str(got.messages) and not got.problem
    assert [one.message for one in person.asked] == ["Whose?", "For whom?"]


async def test_endless_rounds_end_with_an_error(started):
    person = Person()
    host = await started(FAULTS / "input_required_loop.py", person)
    result = await called(host)
    assert result.failure is CallFailure.PROTOCOL
    assert f"requested input {MAX_ROUNDS} times" in text_of(result)
    assert len(person.asked) == MAX_ROUNDS


# ---- requests (2025-11-25 and before) ----------------------------------------------------------------------


async def test_a_legacy_server_gets_one_reply_to_each_form_and_url_request(started):
    person = Person({"name": "Ada"})
    host = await started(FAULTS / "server_requests.py", person)
    replies = json.loads(text_of(await called(host)))
    assert replies["s2"] == {"result": {"action": "accept", "content": {"name": "Ada"}}}
    assert replies["s3"] == {"result": {"action": "accept"}}
    codes = {reply["error"]["code"] for reply in replies.values() if "error" in reply}
    assert codes == {-32601} and len(replies) == 6


async def test_the_timeout_of_a_call_is_paused_while_the_user_is_asked(started):
    person = Person({"name": "Ada"})
    person.wait.clear()
    host = await started(FAULTS / "server_requests.py", person)
    calling = asyncio.create_task(called(host, seconds=2))
    await until(lambda: any(isinstance(one, FormQuestion) for one in person.asked))
    await asyncio.sleep(2.2)
    assert not calling.done()
    person.wait.set()
    assert not (await calling).is_error


async def test_a_cancelled_round_withdraws_its_question(started):
    person = Person()
    person.wait.clear()
    host = await started(ASKING, person)
    calling = asyncio.create_task(called(host, "greet"))
    await until(lambda: person.asked)
    calling.cancel()
    await asyncio.wait({calling})
    assert calling.cancelled()
    await until(lambda: person.withdrawn == len(person.asked) == 1)


async def test_dangerous_urls_of_a_phishing_server_are_refused_without_a_question(started):
    person = Person({"api_key": "none of yours"})
    received, keep = kept(b'"id":"u')
    host = await started(FAULTS / "elicitation_phishing.py", person, sink=keep)
    await called(host)
    await until(lambda: len(answers(received)) == 10)
    shown = [one.url for one in person.asked if isinstance(one, AddressQuestion)]
    assert sorted(shown) == [
        "https://accounts.google.com@attacker.example/login",
        "https://github.com.attacker.example/login",
        "https://xn--pple-43d.com/",
    ]
    refused = [one for one in answers(received) if "error" in one]
    assert len(refused) == 7 and {one["error"]["code"] for one in refused} == {-32602}
    assert len(person.told) == MAX_TOLD
    assert all(one.startswith("srv: elicitation/create: the URL was not opened") for one in person.told)


def kept(part: bytes) -> tuple[list[dict], TrafficSink]:
    """Return a list, and a sink that adds the messages that contain `part`, without blanks."""
    found: list[dict] = []

    def keep(captured):
        if part in captured.raw.replace(b" ", b""):
            found.append(json.loads(captured.raw))

    return found, keep


def answers(messages: Sequence[dict]) -> list[dict]:
    return [one for one in messages if "method" not in one]


async def test_stopping_a_server_withdraws_its_questions(started):
    person = Person()
    person.wait.clear()
    host = await started(FAULTS / "elicitation_phishing.py", person)
    await called(host)
    await until(lambda: any(isinstance(one, FormQuestion) for one in person.asked))
    await host.shutdown()
    assert len(person.asked) <= MAX_WAITING
    assert person.withdrawn == sum(isinstance(one, FormQuestion) for one in person.asked)


async def test_the_end_of_a_call_withdraws_its_questions(started):
    person = Person()
    person.wait.clear()
    replies, keep = kept(b'"id":"f1"')
    host = await started(FAULTS / "elicitation_phishing.py", person, sink=keep)
    await called(host)
    await until(lambda: answers(replies))
    assert [one["result"] for one in answers(replies)] == [{"action": "cancel"}]


async def test_a_broken_http_connection_withdraws_the_questions_of_its_call():
    async def ask_and_hang(asked, writer):
        asking = {"jsonrpc": "2.0", "id": "f1", "method": "elicitation/create", "params": FORM}
        writer.write(STREAM + b"\r\n" + event(asking))
        await writer.drain()
        await until(lambda: person.asked)
        writer.transport.abort()

    person = Person()
    person.wait.clear()
    async with http_server(modern=False, once={"tools/call": ask_and_hang}) as server:
        async with running(far(server), answerers=Answerers(questioner=person)) as host:
            assert (await called(host)).is_error
            await until(lambda: person.withdrawn == 1)


FORM = {"message": "Who?", "requestedSchema": {"type": "object", "properties": {}}}
TEXT = {"role": "user", "content": {"type": "text", "text": "Hi"}}


async def test_over_http_a_question_is_withdrawn_with_its_call_while_another_call_runs():
    answered: list[dict] = []
    held = asyncio.Event()

    async def ask(asked, writer):
        asking = {"jsonrpc": "2.0", "id": "f1", "method": "elicitation/create", "params": FORM}
        writer.write(STREAM + b"\r\n" + event(asking))
        await writer.drain()

    async def hold(asked, writer):
        await held.wait()
        result = {"content": [{"type": "text", "text": "done"}]}
        writer.write(reply({"jsonrpc": "2.0", "id": asked.message["id"], "result": result}))

    async def take(asked, writer):
        answered.append(asked.message)
        writer.write(reply(status="202 Accepted"))

    person = Person()
    person.wait.clear()
    async with http_server(modern=False, once={"tools/call": hold}, answers={"POST": take}) as server:
        async with running(far(server), answerers=Answerers(questioner=person)) as host:
            other = asyncio.create_task(called(host))
            await until(lambda: "tools/call" in server.methods())
            server.once["tools/call"] = ask
            own = asyncio.create_task(called(host))
            await until(lambda: person.asked)
            own.cancel()
            await until(lambda: person.withdrawn == 1)
            await until(lambda: answered)
            assert (answered[0]["id"], answered[0]["result"]) == ("f1", {"action": "cancel"})
            assert not other.done()
            held.set()
            assert text_of(await other) == "done"


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("elicitation/create", FORM),
        (
            "elicitation/create",
            {"mode": "url", "elicitationId": "1", "message": "", "url": "https://a.test/"},
        ),
        ("sampling/createMessage", {"messages": [TEXT], "maxTokens": 9}),
    ],
    ids=["form", "url", "sampling"],
)
@pytest.mark.parametrize("fails", [False, True], ids=["result", "error"])
async def test_over_http_an_answer_arrives_although_questions_of_its_call_are_open(method, params, fails):
    async def ask(asked, writer):
        asking = [{"jsonrpc": "2.0", "id": f"q{n}", "method": method, "params": params} for n in range(3)]
        writer.write(STREAM + b"\r\n" + b"".join(map(event, asking)))
        await writer.drain()
        await until(lambda: len(person.asked) == 3)
        given_up = {"result": {"content": [{"type": "text", "text": "nobody answered"}]}}
        if fails:
            given_up = {"error": {"code": -32603, "message": "nobody answered"}}
        writer.write(event({"jsonrpc": "2.0", "id": asked.message["id"], **given_up}))
        await writer.drain()
        writer.close()

    person = Person()
    person.at_once = ()
    person.wait.clear()
    async with http_server(modern=False, once={"tools/call": ask}) as server:
        answerers = Answerers(questioner=person, sampler=Model())
        async with running(far(server, sampling=SamplingRule.ASK), answerers=answerers) as host:
            result = await called(host)
            assert "nobody answered" in text_of(result) and result.is_error is fails
            await until(lambda: person.withdrawn == len(person.asked))
            assert not (await called(host)).is_error


async def test_a_question_is_withdrawn_when_its_server_exits_whatever_is_running(started):
    person = Person()
    person.wait.clear()
    host = await started(FAULTS / "server_requests.py", person)
    calls = [asyncio.create_task(called(host)) for _ in range(2)]
    await until(lambda: any(isinstance(one, FormQuestion) for one in person.asked))
    os.kill(host.status("srv").pid, signal.SIGKILL)
    await until(lambda: person.withdrawn == sum(isinstance(one, FormQuestion) for one in person.asked))
    assert all(one.failure is CallFailure.SERVER_DIED for one in await asyncio.gather(*calls))


@pytest.mark.parametrize("script", [ASKING, FAULTS / "server_requests.py"])
async def test_only_supported_capabilities_are_declared(started, script):
    sent = Raw()
    host = await started(script, Person(), sink=sent)
    await host.shutdown()
    assert any(b'"elicitation":{"form":{},"url":{}}' in raw for raw in sent)
    assert not any(b'"sampling"' in raw for raw in sent)


async def test_a_call_that_requires_a_url_continues_when_its_server_reports_completion(started):
    person = Person()
    person.wait.clear()  # only the server reports that it is done
    host = await started(HERE / "address_server.py", person)
    result = await called(host)
    assert text_of(result) == "paid on call 2"
    assert isinstance(person.asked[0], AddressQuestion)


# ---- roots -------------------------------------------------------------------------------------------------


async def test_a_modern_server_gets_its_roots_in_a_round(started, tmp_path):
    host = await started(ASKING, Questioner(), roots=(str(tmp_path),))
    found = json.loads(text_of(await called(host, "roots")))
    assert found == {"roots": {"roots": [{"uri": tmp_path.as_uri(), "name": tmp_path.name}]}}


async def test_a_legacy_server_gets_its_roots_and_a_notification_of_changes(started, tmp_path):
    sent = Raw()
    host = await started(FAULTS / "server_requests.py", Person({"name": "Ada"}), sink=sent)
    assert json.loads(text_of(await called(host)))["s4"] == {"result": {"roots": []}}
    host.reconfigure("srv", roots=(str(tmp_path),))
    await until(lambda: any(b"notifications/roots/list_changed" in raw for raw in sent))
    await called(host)
    await until(lambda: any(tmp_path.as_uri().encode() in raw for raw in sent))


# ---- sampling ----------------------------------------------------------------------------------------------


class Model:
    """Replies with a fixed text and records the requests."""

    def __init__(self):
        self.asked = []

    async def sample(self, params, *, max_tokens, meter):
        self.asked.append((params, max_tokens))
        content = {"type": "text", "text": "Hello"}
        meter.tokens = 10
        return {"role": "assistant", "content": content, "model": "fixed", "stopReason": "endTurn"}


async def test_a_modern_server_gets_a_reply_of_the_model_within_its_limit(started):
    model = Model()
    host = await started(ASKING, sampling=SamplingRule.ALLOW, sampler=model)
    found = json.loads(text_of(await called(host, "sample")))
    assert found["it"]["content"] == {"type": "text", "text": "Hello"}
    assert [most for _, most in model.asked] == [50]


async def test_a_server_that_cancels_each_sampling_request_has_a_budget_too(started, tmp_path):
    streamed = tmp_path / "streamed"
    streamed.touch()

    class Streaming(Model):
        async def sample(self, params, *, max_tokens, meter):
            self.asked.append((params, max_tokens))
            meter.tokens = 400
            with streamed.open("a") as file:
                file.write("x")
            await asyncio.Event().wait()

    model = Streaming()
    script = HERE / "cancelling_server.py"
    env = {"STREAMED": str(streamed)}
    host = await started(script, sampling=SamplingRule.ALLOW, sampler=model, env=env, sampling_tokens=1000)
    assert text_of(await called(host)) == "5 rejected"
    assert [most for _, most in model.asked] == [1000, 600, 200]


async def test_sampling_that_needs_approval_is_declined_without_a_user(started):
    model = Model()
    host = await started(ASKING, sampling=SamplingRule.ASK, sampler=model)
    result = await called(host, "sample")
    assert result.is_error and "declined by the user" in text_of(result)
    assert model.asked == []


async def test_sampling_is_not_declared_to_a_server_that_may_not_use_it(started):
    sent = Raw()
    host = await started(ASKING, sampling=SamplingRule.NEVER, sampler=Model(), sink=sent)
    assert "Set its sampling to ask or allow" in text_of(await called(host, "sample"))
    assert not any(b'"sampling":' in raw for raw in sent)
    await host.shutdown()
    sent.clear()
    host = await started(ASKING, sampling=SamplingRule.ALLOW, sampler=Model(), sink=sent)
    assert any(b'"sampling":{"tools":{}}' in raw for raw in sent)


async def test_a_flood_of_sampling_is_refused_and_not_queued(started):
    model = Model()
    replies, keep = kept(b'"id":"samp-')
    host = await started(FAULTS / "sampling_abuse.py", sampling=SamplingRule.ALLOW, sampler=model, sink=keep)
    await called(host)
    await until(lambda: len(answers(replies)) == 500, seconds=30)
    assert len(model.asked) == 10
    assert all(most <= 100_000 for _, most in model.asked)
    assert sum("error" in reply for reply in answers(replies)) == 490


async def test_sampling_that_is_allowed_or_denied_later_is_declared_with_the_next_call(started):
    sent = Raw()

    def declared() -> bool:
        return b'"sampling":{"tools":{}}' in next(raw for raw in reversed(sent) if b'"tools/call"' in raw)

    host = await started(ASKING, sampling=SamplingRule.NEVER, sampler=Model(), sink=sent)
    host.reconfigure("srv", sampling=SamplingRule.ALLOW)
    assert "Hello" in text_of(await called(host, "sample")) and declared()
    host.reconfigure("srv", sampling=SamplingRule.NEVER)
    assert "Set its sampling" in text_of(await called(host, "sample")) and not declared()
