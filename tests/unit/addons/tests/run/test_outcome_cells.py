from tui.addons.tests.run.outcome import Outcome, RunOutcome, State, SuiteOutcome, TurnCell, TurnRun
from tui.addons.tests.suite.case import Suite


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


def test_a_run_counts_the_outcomes_of_all_suites(tmp_path) -> None:
    suites = [SuiteOutcome(Suite(tmp_path), [Outcome("a", 1, State.PASSED)]) for _ in range(2)]
    assert RunOutcome(suites).count(State.PASSED) == 2
