from typing import Any

import pytest

from tests.cases import each_case
from tui.addons.tests.run.outcome import Mismatch, State, TurnCell, TurnRun
from tui.addons.tests.suite.case import TurnCase
from tui.addons.tests.turns.run import (
    CaseApprover,
    limits_of,
    mismatch_words,
    verdict,
)
from tui.core.permission.approval_policy import Policy, Verdict
from tui.core.ports import Answer, ApprovalRequest, TrustQuestion
from tui.core.tools import Tool
from tui.core.turn.limits import Limits

WORDS = {"p": State.PASSED, "f": State.FAILED, "e": State.ERROR}


def cell(runs: str, wanted: int = 0) -> TurnCell:
    """Return a cell; p is a run that passed, f one that failed, e one that could not be run."""
    made = [TurnRun(WORDS[one], problem={"f": "wrong", "e": "HTTP 429"}.get(one, "")) for one in runs]
    return TurnCell("m", wanted=wanted or len(runs), runs=made)


@each_case(
    ("runs", "wanted", "passing", "state", "problem"),
    [
        ("ppppp", 5, 1.0, State.PASSED, ""),
        ("ppppf", 5, 0.8, State.PASSED, ""),
        ("pppff", 5, 0.8, State.FAILED, "3 of 5 runs passed, 4 must. wrong"),
        ("f", 1, 1.0, State.FAILED, "wrong"),
        ("pp", 3, 0.66, State.PASSED, ""),
        ("pppf", 10, 0.3, State.PASSED, ""),
        ("e", 5, 0.8, State.ERROR, "HTTP 429"),
        ("pe", 5, 0.8, State.ERROR, "HTTP 429"),
        ("ppppe", 5, 0.8, State.PASSED, ""),
        ("ffe", 5, 0.8, State.FAILED, "0 of 5 runs passed, 4 must. wrong"),
        ("pppppppppppppfff", 16, 0.8, State.PASSED, ""),
    ],
)
def test_the_share_of_passed_runs_decides_unless_errors_could_change_it(
    runs: str, wanted: int, passing: float, state: State, problem: str
) -> None:
    case = TurnCase("?", 1, runs=wanted, passing=passing)
    assert verdict(case, cell(runs, wanted)) == (state, problem)


def test_a_share_that_is_no_exact_fraction_is_not_rounded_up() -> None:
    case = TurnCase("?", 1, runs=10, passing=0.7)  # 0.7 * 10 is 7.000000000000001 in some orders
    assert verdict(case, cell("p" * 7 + "f" * 3))[0] is State.PASSED


@each_case(
    ("mismatch", "words"),
    [
        (Mismatch("calls[0]", "get_weather", why="not called"), "get_weather: not called"),
        (Mismatch("never[0]", "delete_*", why="delete_all was called"), "delete_all was called"),
        (Mismatch("answer", "rain", "sun", "not in the answer"), 'not in the answer: "rain"'),
        (Mismatch("max_steps", 2, 3), "max_steps is 2: it was 3"),
        (Mismatch("cost", 0.1, 0.2), "cost is 0.1: it was 0.2"),
        (Mismatch("turn", got="empty", why="the model returned nothing"), "the model returned nothing"),
    ],
)
def test_a_mismatch_in_words(mismatch: Mismatch, words: str) -> None:
    assert mismatch_words(mismatch) == words


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
