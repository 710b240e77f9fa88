from pathlib import Path
from typing import Any, cast

from tests.unit.addons.tests.review.stage import failed_run
from tui.addons.tests.run.outcome import Outcome, State
from tui.addons.tests.screens.case_rows import Doing
from tui.addons.tests.screens.case_runs import CaseRuns, key_of
from tui.addons.tests.suite.case import Suite, TurnCase

WAITS, RUNS = Doing(waits=True), Doing(runs=True)


def runs_of(changed: list[str]) -> CaseRuns:
    return CaseRuns(cast(Any, None), lambda: changed.append("changed"))


def test_the_cases_of_a_run_run_one_after_the_other(tmp_path: Path):
    suite = failed_run(tmp_path / "a.mcp.toml").suites[0].suite
    changed: list[str] = []
    runs = runs_of(changed)
    runs.doing = {(suite.path, "Contract", "contract"): WAITS} | {
        (suite.path, "Case", case.name): WAITS for case in suite.cases
    }
    runs.suite_began(suite)
    assert [doing.runs for doing in runs.doing.values()] == [True, False, False, False, False]
    runs.case_ended(suite, Outcome("contract", 5, State.PASSED))
    assert next(iter(runs.doing.items())) == ((suite.path, "Case", "the weather"), RUNS)
    assert runs.done == 1 and changed


def test_the_end_of_a_turn_case_is_that_of_its_first_model():
    suite = Suite(Path("a.mcp.toml"), turns=(TurnCase("Is it warm?", 1),))
    runs = runs_of([])
    runs.doing = {(suite.path, "TurnCase", "Is it warm?"): RUNS}
    runs.case_ended(suite, Outcome("Is it warm? [small]", 1, State.PASSED, case=suite.turns[0]))
    assert not runs.doing


def test_failures_replace_those_of_the_last_run(tmp_path: Path):
    run = failed_run(tmp_path / "a.mcp.toml")
    runs = runs_of([])
    runs._take(run, 5.0)
    assert {key[2] for key in runs.failures} == {"contract", "the weather", "an order", "its state", "saved"}
    assert all(key == key_of(failure) for key, failure in runs.failures.items())
    assert not runs.cancel()
