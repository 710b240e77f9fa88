"""The recorded decisions about requests from servers."""

from typing import Any

from tests.unit.core.permission.test_call_approval_call_decisions import Noted
from tests.unit.host.test_server_requests import Scripted, elicit
from tui.core.ports import BY_LIMIT, DecisionKind, digest_of
from tui.core.questions import Action, Refuser
from tui.core.servers import SamplingRule, ServerSpec
from tui.host.server_questions import MAX_RECORDED, ServerDecisions
from tui.host.server_requests import ServerRequests


def requests_for(person: Refuser, **more: Any) -> tuple[ServerRequests, Noted]:
    log = Noted()
    return ServerRequests("weather", person, decisions=log, **more), log


async def test_a_form_is_recorded_with_its_question_and_without_the_answer() -> None:
    requests, log = requests_for(Scripted({"name": "Ada"}))
    await requests.answer("elicitation/create", elicit())
    (found,) = log.records
    assert (found.kind, found.subject, found.allowed) == (DecisionKind.ELICITATION, "form: Who?", True)
    assert (found.by, found.asked, found.asked_by) == ("key", True, "server weather")
    assert found.digest == digest_of(elicit())


async def test_an_unanswered_form_is_recorded_as_denied_by_default() -> None:
    requests, log = requests_for(Refuser())
    await requests.answer("elicitation/create", elicit())
    assert [(one.allowed, one.by, one.asked) for one in log.records] == [(False, "default", False)]


async def test_a_url_is_recorded_only_by_its_host() -> None:
    requests, log = requests_for(Scripted(address=Action.DECLINE))
    url = "https://a.example/secret?token=1"
    await requests.answer("elicitation/create", {"mode": "url", "message": "Pay", "url": url})
    assert [(one.subject, one.allowed) for one in log.records] == [("open a URL at a.example", False)]


class Model:
    label = "model"

    async def sample(self, params: Any, *, max_tokens: int) -> Any:
        return {"role": "assistant", "content": {"type": "text", "text": "Hi."}, "model": "m"}, 5


SAMPLE = {"messages": [{"role": "user", "content": {"type": "text", "text": "hello"}}], "maxTokens": 10}


async def test_sampling_allowed_by_a_setting_is_recorded_with_the_setting_or_its_limit() -> None:
    requests, log = requests_for(Refuser(), sampler=Model())
    requests.spec = ServerSpec("weather", sampling=SamplingRule.ALLOW, sampling_per_minute=1)
    for _ in range(2):
        await requests.answer("sampling/createMessage", SAMPLE)
    assert [(one.kind, one.allowed) for one in log.records] == [
        (DecisionKind.SAMPLING, True),
        (DecisionKind.SAMPLING, False),
    ]
    assert log.records[0].by == "setting sampling = allow" and log.records[1].by.startswith(BY_LIMIT)


async def test_sampling_that_nobody_accepted_is_recorded_as_denied() -> None:
    requests, log = requests_for(Refuser(), sampler=Model())
    requests.spec = ServerSpec("weather", sampling=SamplingRule.ASK)
    await requests.answer("sampling/createMessage", SAMPLE)
    assert [(one.allowed, one.by) for one in log.records] == [(False, "default")]


async def test_roots_are_recorded_once() -> None:
    requests, log = requests_for(Refuser())
    requests.spec = ServerSpec("weather", roots=("/a", "/b"))
    for _ in range(3):
        await requests.answer("roots/list", {})
    assert [(one.kind, one.subject) for one in log.records] == [(DecisionKind.ROOTS, "2 folders")]


def test_the_number_of_recorded_requests_of_one_server_is_bounded() -> None:
    log = Noted()
    decisions = ServerDecisions("weather", log)
    for _ in range(MAX_RECORDED * 3):
        decisions.add(DecisionKind.ELICITATION, "form", allowed=False, by="default")
    assert len(log.records) == MAX_RECORDED + 1
    assert log.records[-1].subject == "further requests are not recorded"
