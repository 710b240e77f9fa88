from typing import Any

import pytest

from tui.addons.tests.suite.case import TurnCase
from tui.addons.tests.turns.case_turn import (
    CaseApprover,
    limits_of,
)
from tui.core.permission.approval_policy import Policy, Verdict
from tui.core.ports import Answer, ApprovalRequest, TrustQuestion
from tui.core.tools import Tool
from tui.core.turn.limits import Limits

CASE = TurnCase("?", 1, never=("delete_*",))


@pytest.mark.parametrize(
    ("case", "limits", "steps"),
    [
        ({}, Limits(max_steps=20), 20),
        ({"max_steps": 3}, Limits(max_steps=20), 3),
        ({"max_steps": 30}, Limits(max_steps=20), 20),
    ],
)
def test_a_case_only_makes_the_limit_of_steps_stricter(
    case: dict[str, Any], limits: Limits, steps: int
) -> None:
    assert limits_of(TurnCase("?", 1, **case), limits).max_steps == steps


def test_a_run_may_cost_exactly_what_the_case_says_and_never_more_than_the_configuration() -> None:
    limit = limits_of(TurnCase("?", 1, cost=0.5), Limits()).turn_cost
    assert limit is not None and 0.5 < limit < 0.5000001
    assert limits_of(TurnCase("?", 1, cost=0.5), Limits(turn_cost=0.1)).turn_cost == 0.1
    assert limits_of(TurnCase("?", 1), Limits(turn_cost=0.1)).turn_cost == 0.1
    free = limits_of(TurnCase("?", 1, cost=0.0), Limits()).turn_cost
    assert free is not None and free > 0


@pytest.mark.parametrize(
    ("server", "tool", "answer"),
    [
        ("weather", "get_weather", Answer.ONCE),
        ("weather", "delete_all", Answer.NO),
        ("mcptui", "delete_cache", Answer.ONCE),
    ],
)
async def test_every_tool_is_allowed_but_those_that_must_never_be_called(
    server: str, tool: str, answer: Answer
) -> None:
    approver = CaseApprover(CASE, "weather")
    decision = await approver.ask(ApprovalRequest("1", Tool(server, tool), {}, "why"))
    assert decision.answer is answer and not decision.by_user
    assert await approver.trust(TrustQuestion(server, tool)) is False


@pytest.mark.parametrize("tool", [Tool("s", "t", read_only=True, trusted=True), Tool("s", "t")])
def test_no_call_runs_without_asking_the_approver(tool: Tool) -> None:
    assert Policy(trust=CaseApprover(CASE, "s")).judge(tool).verdict is Verdict.ASK
