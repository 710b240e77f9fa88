"""One queue of questions, one visible at a time."""

import asyncio
from dataclasses import replace
from unittest.mock import Mock

import pytest

from tests.conftest import until
from tui.core.ports import Answer, ApprovalRequest, Decision
from tui.core.questions import Action, AddressQuestion, QuestionAnswer
from tui.core.tools import Tool
from tui.ui.chat.question_queue import QuestionQueue
from tui.ui.keys.answer_pause import GRACE_SECONDS, AnswerDelay


def request(name: str) -> ApprovalRequest:
    return ApprovalRequest(f"call {name}", Tool("notes", name), {}, "not read-only")


class Watched(QuestionQueue):
    def __init__(self) -> None:
        self.now = 100.0
        self.shown: list[str | None] = []
        self.regions = Mock()
        super().__init__(Mock(), self.regions, Mock())
        self.answer_delay = AnswerDelay(lambda: self.now)

    def changed(self) -> None:
        name = self.current.tool.name if self.current else None
        if self.shown[-1:] != [name]:
            self.shown.append(name)


async def test_an_answer_goes_to_the_call_that_is_shown():
    approvals = Watched()
    asked = asyncio.create_task(approvals.ask(request("add")))
    await until(lambda: approvals.current)
    approvals.decide(Answer.SESSION)
    assert await asked == Decision(Answer.SESSION)
    assert approvals.shown == ["add", None]


async def test_an_answer_that_is_not_offered_does_nothing():
    approvals = Watched()
    asked = asyncio.create_task(approvals.ask(replace(request("add"), once_only=True)))
    await until(lambda: approvals.current)
    approvals.decide(Answer.ALWAYS)
    assert approvals.current is not None
    approvals.decide(Answer.ONCE)
    assert await asked == Decision(Answer.ONCE)


async def test_a_second_question_waits_until_the_first_is_answered():
    approvals = Watched()
    first = asyncio.create_task(approvals.ask(request("first")))
    second = asyncio.create_task(approvals.ask(request("second")))
    await until(lambda: approvals.waiting == 1)
    approvals.decide(Answer.NO, "not that")
    assert await first == Decision(Answer.NO, "not that")
    assert not second.done()
    approvals.decide(Answer.ONCE)
    assert await second == Decision(Answer.ONCE)
    assert approvals.shown == ["first", "second", None]


@pytest.mark.parametrize("which", [0, 1])
async def test_a_cancelled_call_withdraws_its_question(which):
    approvals = Watched()
    tasks = [asyncio.create_task(approvals.ask(request(name))) for name in ("first", "second")]
    await until(lambda: approvals.waiting == 1)
    tasks[which].cancel()
    await asyncio.wait({tasks[which]})
    assert approvals.waiting == 0
    approvals.decide(Answer.ONCE)
    assert await tasks[1 - which] == Decision(Answer.ONCE)


async def test_a_question_can_be_answered_only_after_the_grace_time():
    approvals = Watched()
    asked = asyncio.create_task(approvals.ask(request("add")))
    await until(lambda: approvals.current)
    assert not approvals.answer_delay.accepts_keys
    approvals.now += GRACE_SECONDS + 0.01
    assert approvals.answer_delay.accepts_keys
    approvals.decide(Answer.ONCE)
    await asked


def test_an_answer_without_a_question_is_ignored():
    Watched().decide(Answer.ONCE)


def test_a_malformed_question_is_reported_cleaned_on_one_line():
    approvals = Watched()
    approvals.refused("we\x1b[2Jather", "elicitation/create: url must be\n a string")
    told = (
        "Rejected an invalid request from the server “we␛[2Jather”. elicitation/create: url must be a string."
    )
    approvals.regions.notify.assert_called_once_with(told, severity="warning", timeout=12)
    assert approvals.shown == []


async def test_a_question_after_a_wrong_answer_comes_before_those_that_wait():
    questions = Watched()
    wrong = AddressQuestion("a", "https://a/", "", "sign in")
    again = replace(wrong, message="Not this URL.", again=True)
    tasks = [
        asyncio.create_task(questions.ask(wrong)),
        asyncio.create_task(questions.ask(request("other"))),
    ]
    await until(lambda: questions.waiting == 1)
    questions.settle(wrong, QuestionAnswer(Action.ACCEPT, pasted="x"))
    await tasks[0]
    tasks.append(asyncio.create_task(questions.ask(again)))
    await until(lambda: questions.first is again)
    assert questions.waiting == 1
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
