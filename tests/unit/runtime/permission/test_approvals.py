"""Approvals whose server leaves while the user is asked."""

import asyncio

import pytest

from tui.core.context.built_in_tools import BUILT_IN
from tui.core.ports import Answer, ApprovalRequest, Decision, TrustQuestion
from tui.core.secrets.redact import Redactor
from tui.core.tools import Tool
from tui.runtime.permission.approvals import TurnApprover

SECRET = "configured-value"


class Person:
    """Answers once `answers` is set."""

    def __init__(self) -> None:
        self.asked: list[ApprovalRequest] = []
        self.answers = asyncio.Event()
        self.withdrawn = 0

    async def ask(self, request: ApprovalRequest) -> Decision:
        self.asked.append(request)
        await self._wait()
        return Decision(Answer.ALWAYS)

    async def trust(self, question: TrustQuestion) -> bool | None:
        await self._wait()
        return True

    async def _wait(self) -> None:
        try:
            await self.answers.wait()
        except asyncio.CancelledError:
            self.withdrawn += 1
            raise


class Stage:
    def __init__(self, digest: str = "d") -> None:
        self.person, self.left = Person(), asyncio.Event()
        self.approver = TurnApprover(self.person, lambda server: self.left.wait(), Redactor({"K": SECRET}))
        self.request = ApprovalRequest("c", Tool("srv", "t", digest=digest), {"a": SECRET}, "why")


async def test_an_answer_in_time_is_passed_on() -> None:
    stage = Stage()
    stage.person.answers.set()
    assert await stage.approver.ask(stage.request) == Decision(Answer.ALWAYS)
    assert await stage.approver.trust(TrustQuestion("srv", "t")) is True


async def test_the_user_is_shown_no_secret() -> None:
    stage = Stage()
    stage.person.answers.set()
    await stage.approver.ask(stage.request)
    assert [one.arguments for one in stage.person.asked] == [{"a": "[redacted:K]"}]


async def test_an_approval_of_a_server_that_left_is_withdrawn_and_denies_the_call() -> None:
    stage = Stage()
    stage.left.set()
    decision = await stage.approver.ask(stage.request)
    assert (decision.answer, decision.by_user) == (Answer.NO, False)
    assert decision.reason == "the server “srv” was removed or changed"


async def test_a_question_about_the_trust_in_a_server_that_left_has_no_answer() -> None:
    stage = Stage()
    asking = asyncio.create_task(stage.approver.trust(TrustQuestion("srv", "t")))
    await asyncio.sleep(0)
    stage.left.set()
    assert await asking is None and not stage.person.answers.is_set()


async def test_a_tool_of_mcptui_belongs_to_no_server() -> None:
    stage = Stage(digest=f"{BUILT_IN}read_result")
    stage.left.set()
    stage.person.answers.set()
    assert (await stage.approver.ask(stage.request)).answer is Answer.ALWAYS


async def test_cancelling_the_turn_withdraws_the_question() -> None:
    stage = Stage()
    asking = asyncio.create_task(stage.approver.ask(stage.request))
    for _ in range(3):
        await asyncio.sleep(0)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert stage.person.withdrawn == 1
