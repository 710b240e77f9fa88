"""Questions from servers reach the person, and requests the model, without configured secrets."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from tui.core.questions import (
    Action,
    AddressQuestion,
    FormQuestion,
    Question,
    QuestionAnswer,
    Questioner,
    SamplingMeter,
    SamplingQuestion,
)
from tui.core.secrets.redact import Redactor
from tui.core.servers import SamplingRule, ServerSpec
from tui.host.redaction import ResultRedactor
from tui.host.session.server_questions import ServerQuestions
from tui.host.session.server_requests import ServerRequests

SECRET = "canary-7f3a9c-secret"
MARK = "[redacted:KEY]"
REDACTION = ResultRedactor(Redactor({"KEY": SECRET}))


@dataclass
class Person(Questioner):
    seen: list[Any] = field(default_factory=list)

    async def ask(self, question: Question) -> QuestionAnswer:
        self.seen.append(question)
        return QuestionAnswer(Action.ACCEPT)

    def refused(self, server: str, why: str) -> None:
        self.seen.append(why)


async def test_no_question_shows_a_secret():
    person = Person()
    asked = ServerQuestions(person, REDACTION.value)
    await asked.ask(FormQuestion("s", f"enter {SECRET}", {"title": SECRET}))
    await asked.ask(SamplingQuestion("s", {"systemPrompt": SECRET}))
    await asked.ask(SamplingQuestion("s", {"systemPrompt": SECRET}, reply={"content": [SECRET]}))
    asked.refused(f"elicitation/create: {SECRET}")
    assert SECRET not in repr(person.seen) and all(MARK in repr(one) for one in person.seen)
    assert len(person.seen) == 4


async def test_the_url_that_the_person_agrees_to_open_is_shown_unchanged():
    person = Person()
    question = AddressQuestion("s", f"https://h.example/?t={SECRET}", f"open {SECRET}", "elicitation")
    await ServerQuestions(person, REDACTION.value).ask(question)
    (seen,) = person.seen
    assert seen.url == question.url and seen.message == f"open {MARK}"


class Model:
    def __init__(self) -> None:
        self.params: list[Any] = []

    async def sample(self, params: Any, *, max_tokens: int, meter: SamplingMeter) -> Any:
        self.params.append(params)
        return {"role": "assistant", "content": {"type": "text", "text": "hi"}, "model": "m"}


@pytest.mark.parametrize(("as_is", "sent"), [(False, MARK), (True, SECRET)])
async def test_sampling_requests_for_the_model_are_redacted_unless_they_are_sent_as_is(
    as_is: bool, sent: str
):
    person, model = Person(), Model()
    spec = ServerSpec("s", sampling=SamplingRule.ASK, send_as_is=as_is)
    requests = ServerRequests(spec, person, sampler=model, redact=REDACTION.value)
    message = {"role": "user", "content": {"type": "text", "text": f"use {SECRET}"}}
    await requests.answer("sampling/createMessage", {"messages": [message], "maxTokens": 10})
    (params,) = model.params
    assert f"use {sent}" in repr(params)
    assert SECRET not in repr(person.seen)
