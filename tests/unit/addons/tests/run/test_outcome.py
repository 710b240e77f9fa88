"""The values of a run."""

from pathlib import Path

from tui.addons.tests.run.outcome import ABSENT, Mismatch, Outcome, RunOutcome, State, SuiteOutcome
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
