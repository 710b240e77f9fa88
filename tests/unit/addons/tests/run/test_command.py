"""The exit code of a run, and what a run is about."""

import argparse
import re
from pathlib import Path
from typing import Any

import pytest

from tests.cases import each_case
from tui.addons.tests.run import command
from tui.addons.tests.run.command import TestRun, exit_code, read_suites
from tui.addons.tests.run.outcome import Outcome, RunOutcome, State, SuiteOutcome
from tui.addons.tests.suite.case import Suite
from tui.commands.command_line import parse
from tui.core.errors import UsageError

SUITE = Suite(Path("a"))
PASSED, FAILED, ERROR, SKIPPED = (Outcome("one", 1, state) for state in State)


def suite_of(*outcomes: Outcome, **more: Any) -> SuiteOutcome:
    return SuiteOutcome(SUITE, outcomes, **more)


@each_case(
    ("suites", "code"),
    [
        ([suite_of(PASSED)], 0),
        ([suite_of(PASSED, SKIPPED)], 0),
        ([suite_of(PASSED, FAILED)], 1),
        ([suite_of(PASSED, ERROR)], 1),
        ([suite_of(SKIPPED)], 2),
        ([], 2),
        ([suite_of(ERROR, problem="no", not_started=True), suite_of(FAILED)], 5),
        ([suite_of(problem="unknown key"), suite_of(problem="no", not_started=True)], 2),
        ([suite_of(PASSED), suite_of(problem="unknown key")], 2),
    ],
)
def test_the_exit_code_is_that_of_the_worst(suites: list[SuiteOutcome], code: int):
    assert exit_code(RunOutcome(suites)) == code


def parsed(*words: str) -> argparse.Namespace:
    return parse(["test", *words])


def test_invalid_files_are_planned_with_their_problem(tmp_path: Path):
    (tmp_path / "a.mcp.toml").write_text("[[call]]\ntol = 1\n")
    (tmp_path / "b.mcp.toml").write_text('[[call]]\ntool = "x"\ntext = "y"\n')
    invalid, valid = read_suites([str(tmp_path)])
    assert "call[1].tol" in invalid.problem and not invalid.suite.cases
    assert valid.problem == "" and [case.name for case in valid.suite.cases] == ["x"]


def test_files_without_selected_cases_are_an_error_with_their_tags(tmp_path: Path):
    file = tmp_path / "a.mcp.toml"
    file.write_text('[[call]]\ntool = "x"\ntext = "y"\ntags = ["slow"]\n')
    for words, said in ((["-k", "z"], "-k."), (["--tag", "fast"], "--tag. Tags: slow.")):
        with pytest.raises(UsageError, match=rf"none of 1 case matches {re.escape(said)}$"):
            TestRun(parsed(str(file), *words), read_suites([str(file)])).require_cases()
    TestRun(parsed(str(file), "--tag", "slow"), read_suites([str(file)])).require_cases()


@pytest.mark.parametrize("words", [["--yes"], ["--read-only", "x"], ["--schema", "ok"]])
def test_what_has_no_effect_is_refused(words: list[str]):
    with pytest.raises(UsageError, match=r"requires|takes no files"):
        command.test(parsed(*words))


def test_nothing_after_two_dashes_is_refused():
    with pytest.raises(SystemExit):
        parsed("--")


def test_a_file_without_cases_says_what_to_add(tmp_path: Path):
    (tmp_path / "a.mcp.toml").write_text('server = "x"\n')
    with pytest.raises(UsageError, match=r"a\.mcp\.toml has no cases\. Add \[\[call\]\]"):
        TestRun(parsed(str(tmp_path)), read_suites([str(tmp_path)])).require_cases()


def test_the_options_of_a_run_are_those_of_the_command_line(tmp_path: Path):
    run = TestRun(parsed("a", "-k", "x y", "b", "--tag", "t", "-x", "--era", "both", "--jobs", "3"), [])
    found = run.options
    assert run.args.words == ["a", "b"]
    assert (found.matching, found.tags, found.stop, found.era, found.jobs) == ("x y", ("t",), True, "both", 3)


def test_a_run_saves_nothing_and_no_definition_keeps_it_from_calling():
    options = command.test_options(parsed("a", "--trust-config"))
    assert (options.save, options.accept_all, options.trust_config, options.command) == (
        *(False, True, True, "test"),
    )
