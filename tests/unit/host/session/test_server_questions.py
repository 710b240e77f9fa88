"""Questions from a server end with the calls during which they were asked, and their answers are recorded."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from tests.conftest import until
from tests.unit.core.permission.test_approval_policy_recorded_decisions import Noted
from tests.unit.host.session.test_server_requests import Scripted, elicit
from tui.core.ports import BY_LIMIT, DecisionKind, digest_of
from tui.core.questions import Action, FormQuestion, Question, QuestionAnswer, Questioner, SamplingMeter
from tui.core.servers import SamplingRule, ServerSpec
from tui.host.session.server_questions import MAX_RECORDED, ServerQuestions
from tui.host.session.server_requests import ServerRequests


class Slow(Questioner):
    """Waits for `decided` before every answer; records the order in which questions are withdrawn."""

    def __init__(self) -> None:
        self.decided = asyncio.Event()
        self.seen: list[Any] = []
        self.withdrawn: list[Any] = []

    async def ask(self, question: Question) -> QuestionAnswer:
        self.seen.append(question)
        try:
            await self.decided.wait()
        except asyncio.CancelledError:
            self.withdrawn.append(question)
            raise
        return QuestionAnswer(Action.ACCEPT)


def form(number: int = 1) -> FormQuestion:
    return FormQuestion("srv", f"Question {number}", {"type": "object"})


async def asked(person: Slow, question: Coroutine[Any, Any, Any]) -> "asyncio.Task[Any]":
    before = len(person.seen)
    task = asyncio.create_task(question)
    await until(lambda: len(person.seen) > before)
    return task


async def test_questions_of_a_call_are_withdrawn_last_one_first() -> None:
    questions = ServerQuestions(person := Slow())
    with questions.call():
        answers = [await asked(person, questions.ask(form(number))) for number in (1, 2, 3)]
    await asyncio.gather(*answers)
    assert [one.message for one in person.withdrawn] == ["Question 3", "Question 2", "Question 1"]


async def test_a_question_remains_while_another_call_may_have_asked_it() -> None:
    questions = ServerQuestions(person := Slow())
    with questions.call():
        with questions.call():
            answer = await asked(person, questions.ask(form()))
        await asyncio.sleep(0)
        assert not answer.done()
    assert (await answer).action is Action.CANCEL


async def test_a_question_remains_when_a_later_call_ends() -> None:
    questions = ServerQuestions(person := Slow())
    answer = await asked(person, questions.ask(form()))
    with questions.call():
        pass
    person.decided.set()
    assert (await answer).action is Action.ACCEPT


async def test_a_timeout_of_the_questioner_is_raised() -> None:
    class Late(Questioner):
        async def ask(self, question: Question) -> QuestionAnswer:
            raise TimeoutError

    questions = ServerQuestions(Late())
    with pytest.raises(TimeoutError), questions.call():
        await questions.ask(form())


async def in_request(questions: ServerQuestions, known: int) -> QuestionAnswer:
    with questions.request(known):
        return await questions.ask(form(known))


async def test_withdrawing_a_request_withdraws_only_its_own_question() -> None:
    questions = ServerQuestions(person := Slow())
    first, second = [await asked(person, in_request(questions, number)) for number in (1, 2)]
    questions.withdraw("1")  # the session treats 1 and "1" as the same id
    assert (await first).action is Action.CANCEL and not second.done()
    person.decided.set()
    assert (await second).action is Action.ACCEPT


async def test_a_request_withdrawn_before_it_asks_is_not_shown() -> None:
    questions = ServerQuestions(person := Slow())
    questions.withdraw(1)
    assert (await in_request(questions, 1)).action is Action.CANCEL
    assert person.seen == []
    person.decided.set()
    assert (await in_request(questions, 1)).action is Action.ACCEPT  # the id is used again


class SlowlyClosing(Slow):
    """Takes some turns of the event loop to close a dialog."""

    async def ask(self, question: Question) -> QuestionAnswer:
        try:
            return await super().ask(question)
        except asyncio.CancelledError:
            for _ in range(20):
                await asyncio.sleep(0)
            raise


@pytest.mark.parametrize("turns", [0, 1, 2, 5, 30])
@pytest.mark.parametrize("twice", [False, True])
async def test_a_question_that_is_withdrawn_may_be_withdrawn_again_and_its_call_may_end(
    turns: int, twice: bool
) -> None:
    questions = ServerQuestions(person := SlowlyClosing())
    with questions.call():
        answer = await asked(person, in_request(questions, 1))
        questions.withdraw(1)
        for _ in range(turns):
            await asyncio.sleep(0)
        if twice:
            questions.withdraw(1)
    assert (await answer).action is Action.CANCEL


@pytest.mark.parametrize("turns", [0, 1, 2, 5])
@pytest.mark.parametrize("withdrawn_first", [True, False])
async def test_a_request_cancelled_while_its_dialog_closes_ends_as_cancelled_and_its_call_goes_on(
    turns: int, withdrawn_first: bool
) -> None:
    questions = ServerQuestions(person := SlowlyClosing())
    with questions.call():
        answer = await asked(person, in_request(questions, 1))
        steps = [lambda: questions.withdraw(1), answer.cancel]
        begin, finish = steps if withdrawn_first else reversed(steps)
        begin()
        for _ in range(turns):
            await asyncio.sleep(0)
        finish()
    await asyncio.wait({answer})
    assert answer.cancelled()


# ---- decisions -----------------------------------------------------------------------------------------


def requests_for(person: Questioner, **more: Any) -> tuple[ServerRequests, Noted]:
    log = Noted()
    return ServerRequests(ServerSpec("weather"), person, decisions=log, **more), log


async def test_a_form_is_recorded_with_its_question_and_without_the_answer() -> None:
    requests, log = requests_for(Scripted({"name": "Ada"}))
    await requests.answer("elicitation/create", elicit())
    (found,) = log.records
    assert (found.kind, found.subject, found.allowed) == (DecisionKind.ELICITATION, "form: Who?", True)
    assert (found.by, found.asked, found.asked_by) == ("key", True, "server weather")
    assert found.digest == digest_of(elicit())


async def test_an_unanswered_form_is_recorded_as_denied_by_default() -> None:
    requests, log = requests_for(Questioner())
    await requests.answer("elicitation/create", elicit())
    assert [(one.allowed, one.by, one.asked) for one in log.records] == [(False, "default", False)]


async def test_a_url_is_recorded_only_by_its_host() -> None:
    requests, log = requests_for(Scripted(address=Action.DECLINE))
    url = "https://a.example/secret?token=1"
    await requests.answer("elicitation/create", {"mode": "url", "message": "Pay", "url": url})
    assert [(one.subject, one.allowed) for one in log.records] == [("open a URL at a.example", False)]


class Model:
    async def sample(self, params: Any, *, max_tokens: int, meter: SamplingMeter) -> Any:
        return {"role": "assistant", "content": {"type": "text", "text": "Hi."}, "model": "m"}


SAMPLE = {"messages": [{"role": "user", "content": {"type": "text", "text": "hello"}}], "maxTokens": 10}


async def test_sampling_allowed_by_a_setting_is_recorded_with_the_setting_or_its_limit() -> None:
    requests, log = requests_for(Questioner(), sampler=Model())
    requests.spec = ServerSpec("weather", sampling=SamplingRule.ALLOW, sampling_per_minute=1)
    for _ in range(2):
        await requests.answer("sampling/createMessage", SAMPLE)
    assert [(one.kind, one.allowed) for one in log.records] == [
        (DecisionKind.SAMPLING, True),
        (DecisionKind.SAMPLING, False),
    ]
    assert log.records[0].by == "setting sampling = allow" and log.records[1].by.startswith(BY_LIMIT)


async def test_sampling_that_nobody_accepted_is_recorded_as_denied() -> None:
    requests, log = requests_for(Questioner(), sampler=Model())
    requests.spec = ServerSpec("weather", sampling=SamplingRule.ASK)
    await requests.answer("sampling/createMessage", SAMPLE)
    assert [(one.allowed, one.by) for one in log.records] == [(False, "default")]


async def test_roots_are_recorded_once() -> None:
    requests, log = requests_for(Questioner())
    requests.spec = ServerSpec("weather", roots=("/a", "/b"))
    for _ in range(3):
        await requests.answer("roots/list", {})
    assert [(one.kind, one.subject) for one in log.records] == [(DecisionKind.ROOTS, "2 folders")]


def test_the_number_of_recorded_requests_of_one_server_is_bounded() -> None:
    log = Noted()
    decisions = ServerQuestions(Questioner(), server="weather", decisions=log)
    for _ in range(MAX_RECORDED * 3):
        decisions.decided(DecisionKind.ELICITATION, "form", allowed=False, by="default")
    assert len(log.records) == MAX_RECORDED + 1
    assert log.records[-1].subject == "further requests are not recorded"
