"""The values of a run."""

from pathlib import Path

from tui.addons.tests.run.outcome import (
    ABSENT,
    Mismatch,
    Outcome,
    RunOutcome,
    State,
    SuiteOutcome,
    TurnCell,
    TurnRun,
)
from tui.addons.tests.suite.case import Suite


def test_outcomes_are_counted_over_all_suites():
    suites = [
        SuiteOutcome(Suite(Path(name)), [Outcome("a", 1, state) for state in states])
        for name, states in (("x", [State.PASSED, State.FAILED]), ("y", [State.PASSED]))
    ]
    run = RunOutcome(suites)
    assert [run.count(state) for state in State] == [2, 1, 0, 0]
    assert [one.path for one in suites] == [Path("x"), Path("y")]


def test_a_missing_value_is_not_null():
    assert Mismatch("text").expected is ABSENT and Mismatch("text", None).expected is None


def test_the_numbers_of_a_cell_are_those_of_runs_that_the_model_ended() -> None:
    cell = TurnCell(
        "gpt",
        wanted=4,
        runs=[
            TurnRun(State.PASSED, tokens=100, cost=0.1, ms=10.0),
            TurnRun(State.FAILED, tokens=301, cost=None, ms=30.0),
            TurnRun(State.ERROR, tokens=999, cost=9.0, ms=999.0),
        ],
    )
    assert (cell.passed, len(cell.judged)) == (1, 2)
    assert (cell.tokens, cell.cost, cell.ms) == (200, 0.1, 20.0)


def test_a_cell_without_runs_has_no_numbers() -> None:
    cell = TurnCell("gpt")
    assert (cell.passed, cell.tokens, cell.cost, cell.ms) == (0, None, None, None)
