"""The recorded decisions about calls by the model."""

from typing import Any

import pytest

from tests.scripted_model import ScriptedModel, calls, says
from tests.unit.core.stand_ins import YES, FunctionToolbox, ScriptedApprover, call, played, policy_of
from tui.core.context.built_in_tools import BUILT_IN
from tui.core.permission.approval_policy import Mode, TurnPermission, decider_of
from tui.core.ports import Answer, Decision, DecisionKind, DecisionRecord, digest_of
from tui.core.tools import Tool
from tui.core.turn.limits import Limits


class Noted:
    def __init__(self) -> None:
        self.records: list[DecisionRecord] = []

    def add(self, record: DecisionRecord) -> None:
        self.records.append(record)


async def decided(
    *answers: Decision, count: int = 1, read_only: bool = False, **more: Any
) -> list[DecisionRecord]:
    log = Noted()
    model = ScriptedModel([calls(*(call(number) for number in range(count))), says("done")])
    await played(
        model,
        FunctionToolbox(read_only=read_only),
        approver=ScriptedApprover(*answers),
        decisions=log,
        **more,
    )
    return log.records


@pytest.mark.parametrize(
    ("answer", "allowed", "by"),
    [
        (YES, True, "key (once)"),
        (Decision(Answer.SESSION), True, "key (until mcptui quits)"),
        (Decision(Answer.ALWAYS), True, "key (always)"),
        (Decision(Answer.NO, "too risky"), False, "key"),
    ],
)
async def test_an_answer_is_recorded_with_a_digest_and_without_values(
    answer: Decision, allowed: bool, by: str
) -> None:
    (found,) = await decided(answer)
    assert (found.kind, found.server, found.subject) == (DecisionKind.CALL, "srv", "echo")
    assert (found.allowed, found.by, found.asked, found.asked_by) == (allowed, by, True, "model")
    assert found.digest == digest_of({"text": "hi"}) and "hi" not in found.digest


async def test_without_a_person_the_default_decides() -> None:
    (found,) = await decided(Decision(Answer.NO, "no terminal", by_user=False))
    assert (found.allowed, found.asked, found.by) == (False, False, "default (no terminal)")


def test_a_denial_without_a_person_is_recorded_with_its_ask_rule() -> None:
    refused = Decision(Answer.NO, "no terminal", by_user=False)
    assert decider_of(refused, "ask files/*") == "rule ask files/*"


@pytest.mark.parametrize(
    ("mode", "read_only", "allowed", "by"),
    [
        (Mode.ALL, False, True, "option --approve all"),
        (Mode.NONE, True, False, "option --approve none"),
        (Mode.READS, False, False, "option --approve reads"),
        (Mode.ASK, True, True, "default (marked read-only by a trusted server)"),
    ],
)
async def test_a_call_without_a_question_records_what_decided(
    mode: Mode, read_only: bool, allowed: bool, by: str
) -> None:
    (found,) = await decided(mode=mode, read_only=read_only)
    assert (found.allowed, found.asked, found.by) == (allowed, False, by)


async def test_calls_that_run_in_parallel_are_recorded_once_each() -> None:
    found = await decided(count=3, read_only=True)
    assert [one.allowed for one in found] == [True] * 3


async def test_a_call_beyond_a_limit_is_recorded_as_denied_by_it() -> None:
    found = await decided(count=2, read_only=True, limits=Limits(max_calls_per_reply=1))
    assert sorted((one.allowed, one.by == "limit") for one in found) == [(False, True), (True, False)]


def test_built_in_tools_are_not_recorded() -> None:
    tool = Tool("mcptui", "x", digest=f"{BUILT_IN}x")
    TurnPermission(ScriptedApprover(), policy_of(), log := Noted()).record(
        tool, {}, allowed=True, by="default"
    )
    assert not log.records


def test_a_resource_that_the_model_reads_is_recorded_as_a_call_of_its_server() -> None:
    tool = Tool("mcptui", "read_resource", digest=f"{BUILT_IN}read_resource")
    permission = TurnPermission(ScriptedApprover(), policy_of(), log := Noted())
    permission.record(tool, {"server": "docs", "uri": "x:y"}, allowed=True, by="default")
    (found,) = log.records
    assert (found.server, found.subject, found.allowed) == ("docs", "read_resource", True)
