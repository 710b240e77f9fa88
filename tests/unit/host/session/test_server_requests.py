"""How the host answers requests from a server, and how the rounds of one call end."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from tui.core.jsonrpc.protocol import INVALID_PARAMS
from tui.core.questions import (
    Action,
    AddressQuestion,
    FormQuestion,
    Question,
    QuestionAnswer,
    Questioner,
    SamplingMeter,
)
from tui.core.servers import SamplingRule, ServerSpec
from tui.host.session import server_requests
from tui.host.session.server_questions import MAX_TOLD, MAX_WAITING, ServerQuestions
from tui.host.session.server_requests import (
    NOT_OPENED,
    UNTIL_DONE,
    InputRounds,
    Refusal,
    RoundProblem,
    ServerRequests,
)

NAME = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
ASK = {"method": "elicitation/create", "params": {"message": "Who?", "requestedSchema": NAME}}


class Scripted(Questioner):
    """Answers forms with `content` and URLs with `address`; keeps the questions."""

    def __init__(
        self,
        content: Mapping[str, Any] | None = None,
        address: Action = Action.ACCEPT,
        wait: asyncio.Event | None = None,
    ) -> None:
        self.asked: list[Question] = []
        self.told: list[str] = []
        self._content = content
        self._address = address
        self._wait = wait

    async def ask(self, question: Question) -> QuestionAnswer:
        self.asked.append(question)
        if isinstance(question, AddressQuestion):
            return QuestionAnswer(self._address)
        if self._wait is not None:
            await self._wait.wait()
        if self._content is None:
            return QuestionAnswer(Action.DECLINE)
        return QuestionAnswer(Action.ACCEPT, self._content)

    def refused(self, server: str, why: str) -> None:
        self.told.append(f"{server}: {why}")


def requests_for(person: Questioner) -> ServerRequests:
    return ServerRequests(ServerSpec("weather"), person)


def elicit(**params: Any) -> dict[str, Any]:
    return {"message": "Who?", "requestedSchema": NAME, **params}


async def test_an_answer_that_does_not_match_its_schema_is_never_sent() -> None:
    found = await requests_for(Scripted({"nmae": "Ada"})).answer("elicitation/create", elicit())

    assert isinstance(found, Refusal) and "“nmae” is not a field" in found.message


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"requestedSchema": NAME}, "message must be"),
        ({"message": "a", "requestedSchema": []}, "requestedSchema must be an object"),
        ({"message": "a", "mode": "telepathy"}, "mode must be form or url"),
        ({"message": "a", "mode": None}, "mode must be form or url"),
        ({"message": "a", "mode": "url"}, "url must be a string"),
        ({"message": "a", "mode": "url", "url": "javascript:alert(1)"}, "the URL was not opened"),
    ],
)
async def test_a_malformed_request_is_refused_before_the_person_is_asked(
    params: dict[str, Any], said: str
) -> None:
    person = Scripted({})

    found = await requests_for(person).answer("elicitation/create", params)

    assert isinstance(found, Refusal) and found.code == INVALID_PARAMS and said in found.message
    assert person.asked == []


async def test_the_decision_about_a_url_is_returned_to_the_server() -> None:
    params = {"message": "Sign in", "mode": "url", "url": "https://a.example/x"}

    answers = [
        await requests_for(Scripted(address=action)).answer("elicitation/create", params) for action in Action
    ]

    assert answers == [{"action": "accept"}, {"action": "decline"}, {"action": "cancel"}]


async def test_excess_questions_are_cancelled_without_being_shown() -> None:
    answered = asyncio.Event()
    person = Scripted({}, wait=answered)
    questions = ServerQuestions(person)
    question = FormQuestion("weather", "Who?", {})

    asking = [asyncio.create_task(questions.ask(question)) for _ in range(500)]
    done, _ = await asyncio.wait(asking[MAX_WAITING:])

    assert {task.result().action for task in done} == {Action.CANCEL}
    assert len(person.asked) == MAX_WAITING
    answered.set()
    await asyncio.wait(asking)


# ---- rounds ----------------------------------------------------------------------------------------------


def rounds(person: Questioner) -> InputRounds:
    return InputRounds(requests_for(person))


async def test_a_round_without_requests_is_sent_again() -> None:
    assert await rounds(Questioner()).answers({"requestState": "s"}) == ({}, "s")


@pytest.mark.parametrize(
    ("wanted", "problem"),
    [
        ({}, "without any input"),
        ({"inputRequests": []}, "an invalid input request"),
        ({"inputRequests": {"a": ASK}, "requestState": 5}, "an invalid input request"),
        ({"inputRequests": {"a": "ask"}}, "an invalid input request"),
        ({"inputRequests": {"a": {"method": "sampling/createMessage"}}}, "Set its sampling to ask"),
        ({"inputRequests": {"a": {"method": "made/up"}}}, "is not supported"),
        ({"inputRequests": {str(n): ASK for n in range(99)}}, "99 inputs at once"),
    ],
)
async def test_an_invalid_round_ends_the_call_with_an_explanation(
    wanted: dict[str, Any], problem: str
) -> None:
    with pytest.raises(RoundProblem, match=problem):
        await rounds(Questioner()).answers(wanted)


OPEN = {
    "method": "elicitation/create",
    "params": {"mode": "url", "message": "Go", "url": "https://a.example/"},
}
SAMPLE = {"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 1}}


@pytest.mark.parametrize(
    "unanswerable",
    [
        SAMPLE,
        {"method": "made/up"},
        "ask",
        {"method": "elicitation/create", "params": {"message": "?", "requestedSchema": 5}},
        {"method": "elicitation/create", "params": {"mode": "url", "message": "?", "url": "file:///x"}},
    ],
)
async def test_a_round_with_an_input_that_cannot_be_given_asks_for_nothing(unanswerable: Any) -> None:
    person = Scripted({"name": "Ada"})
    with pytest.raises(RoundProblem):
        await rounds(person).answers({"inputRequests": {"a": ASK, "b": OPEN, "c": unanswerable}})
    assert person.asked == []


@pytest.mark.parametrize(
    ("params", "tokens", "problem"),
    [({"messages": "?", "maxTokens": 5}, 100, "messages"), (None, 1, "the request has about")],
)
async def test_a_round_with_sampling_beyond_its_budget_or_malformed_asks_for_nothing(
    params: Any, tokens: int, problem: str
) -> None:
    person = Scripted({"name": "Ada"})
    spec = ServerSpec("weather", "x", sampling=SamplingRule.ASK, sampling_tokens=tokens)
    requests = ServerRequests(spec, person, sampler=NeverAsked())
    sample = {"method": "sampling/createMessage", "params": params or ADD}
    with pytest.raises(RoundProblem, match=problem):
        await InputRounds(requests).answers({"inputRequests": {"a": ASK, "b": sample}})
    assert person.asked == []


async def test_no_required_url_is_opened_if_one_of_them_cannot_be() -> None:
    person = Scripted({})
    listed = [*required()["elicitations"], *required("file:///x")["elicitations"]]
    with pytest.raises(RoundProblem, match="the URL was not opened"):
        await rounds(person).visit({"elicitations": listed})
    assert person.asked == []


def required(url: str = "https://a.example/", count: int = 1) -> dict[str, Any]:
    one = {"mode": "url", "elicitationId": "e1", "url": url, "message": "Sign in"}
    return {"elicitations": [one] * count}


async def test_the_person_may_confirm_that_a_url_is_done() -> None:
    person = Scripted({})

    await rounds(person).visit(required())

    opened, confirmed = person.asked
    assert (opened.message, confirmed.message) == ("Sign in", UNTIL_DONE)


@pytest.mark.parametrize(
    ("make", "data", "problem"),
    [
        (Questioner, required(), "it was declined"),
        (lambda: Scripted(None), required(), "it was not finished"),
        (Questioner, required("file:///etc/passwd"), "the URL was not opened"),
        (Questioner, required(count=9), "requires opening 9 URLs"),
        (Questioner, None, "did not send one"),
        (Questioner, {"elicitations": ["x"]}, "did not send one"),
    ],
)
async def test_a_required_url_that_is_not_visited_ends_the_call_with_an_explanation(
    make: Callable[[], Questioner], data: Any, problem: str
) -> None:
    with pytest.raises(RoundProblem, match=problem):
        await rounds(make()).visit(data)


async def test_without_a_browser_the_person_is_told_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISPLAY", ":0")
    for name in ("SSH_CONNECTION", "SSH_TTY"):
        monkeypatch.delenv(name, raising=False)
    person, opened = Scripted(), []

    def open_browser(address: str) -> bool:
        opened.append(address)
        return False

    monkeypatch.setattr(server_requests, "open_browser", open_browser)
    requests = ServerRequests(ServerSpec("weather"), person)
    await requests.answer("elicitation/create", {"message": "a", "mode": "url", "url": "https://a.example/"})

    assert opened == ["https://a.example/"]
    assert [question.message for question in person.asked] == ["a", NOT_OPENED]


async def test_a_test_accepts_an_address_without_a_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    class Accepting(Questioner):
        async def ask(self, question: Question) -> QuestionAnswer:
            return QuestionAnswer(Action.ACCEPT, opens=False)

    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr(server_requests, "open_browser", pytest.fail)
    asked = {"message": "a", "mode": "url", "url": "https://a.example/"}
    found = await ServerRequests(ServerSpec("weather"), Accepting()).answer("elicitation/create", asked)
    assert found == {"action": "accept"}


@pytest.mark.parametrize(
    ("method", "code", "message", "told"),
    [
        (
            "elicitation/create",
            -32602,
            "elicitation/create: no schema",
            ["weather: elicitation/create: no schema"],
        ),
        ("sampling/createMessage", -32602, "bad", ["weather: sampling/createMessage: bad"]),
        ("sampling/createMessage", -1, "declined by the user", []),
        ("roots/list", -32602, "Invalid request parameters", []),
    ],
)
def test_the_person_is_told_about_a_malformed_question(
    method: str, code: int, message: str, told: list[str]
) -> None:
    person = Scripted()
    requests_for(person).refused(method, code, message)
    assert person.told == told


def test_malformed_questions_are_reported_once_each_and_only_a_few_times() -> None:
    person = Scripted()
    requests = requests_for(person)
    for number in (0, 0, *range(100)):
        requests.refused("elicitation/create", INVALID_PARAMS, f"elicitation/create: problem {number}")
    assert person.told == [f"weather: elicitation/create: problem {number}" for number in range(MAX_TOLD)]


class NeverAsked:
    """A model that gets no request."""

    async def sample(self, params: Any, *, max_tokens: int, meter: SamplingMeter) -> Mapping[str, Any]:
        raise AssertionError("asked")


ADD = {"messages": [{"role": "user", "content": {"type": "text", "text": "2+2?"}}], "maxTokens": 5}
