"""Approval and trust by number."""

import asyncio
from typing import Any

import pytest

from tests.unit.addons.plain.plain_stage import Stage
from tui.addons.plain.approver import PlainApprover
from tui.core.ports import Answer, ApprovalRequest, Decision, TrustQuestion
from tui.core.tools import Tool


def request(**values: Any) -> ApprovalRequest:
    tool = Tool("notes", "add_note", "", {"type": "object"})
    return ApprovalRequest(
        "1", tool, values.pop("arguments", {"text": "hi"}), "may change something", **values
    )


def approver(stage: Stage) -> PlainApprover:
    found = PlainApprover(stage.asking)
    found.announce("1")
    return found


@pytest.mark.parametrize(
    ("typed", "decision"),
    [
        (["1"], Decision(Answer.ONCE)),
        (["2"], Decision(Answer.SESSION)),
        (["3"], Decision(Answer.ALWAYS)),
        (["4"], Decision(Answer.NO)),
        (["5", "too late"], Decision(Answer.NO, "too late")),
        ([], Decision(Answer.NO, "the input ended before an answer", by_user=False)),
    ],
)
async def test_a_call_is_decided_by_a_number(typed: list[str], decision: Decision):
    assert await approver(Stage(*typed)).ask(request()) == decision


async def test_a_call_that_may_only_be_allowed_once_has_no_lasting_choices():
    stage = Stage("2")
    assert await approver(stage).ask(request(once_only=True)) == Decision(Answer.NO)
    assert not any("mcptui quits" in line for line in stage.lines)


async def test_arguments_that_are_too_long_to_show_can_only_be_denied():
    stage = Stage("1")
    assert await approver(stage).ask(request(arguments={"text": "x" * 100_000})) == Decision(Answer.NO)


async def test_the_question_waits_for_the_line_of_its_call():
    stage = Stage("1")
    waiting = PlainApprover(stage.asking)
    asked = asyncio.create_task(waiting.ask(request()))
    await asyncio.sleep(0)
    assert stage.lines == []
    waiting.announce("1")
    assert (await asked).answer is Answer.ONCE


@pytest.mark.parametrize(("typed", "trusted"), [(["1"], True), (["2"], False), (["3"], None), ([], None)])
async def test_a_server_is_trusted_by_a_number(typed: list[str], trusted: bool | None):
    assert await approver(Stage(*typed)).trust(TrustQuestion("notes", "list_notes")) is trusted
