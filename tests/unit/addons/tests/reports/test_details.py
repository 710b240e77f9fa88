"""What reports say about outcomes."""

from dataclasses import replace
from pathlib import Path

from tests.unit.addons.tests.reports.outcomes import (
    EMPTY,
    ERROR,
    FAILED,
    MIXED,
    NOT_STARTED,
    PASSED,
    suite_outcome,
)
from tui.addons.tests.reports.details import (
    OUTPUT_CHARS,
    count_words,
    details,
    name_of,
    outcomes_of,
    output_text,
    place_of,
    summary,
)
from tui.addons.tests.run.failure_text import mismatch_lines
from tui.addons.tests.run.outcome import Mismatch, Outcome, RunOutcome, State


def test_the_counts_of_a_run_name_each_state_that_occurs():
    assert count_words(MIXED) == "1 failed, 1 error, 1 passed, 1 skipped in 2.0 s"
    assert count_words(replace(MIXED, interrupted=True)).endswith(", interrupted after 2.0 s")
    assert count_words(EMPTY) == "nothing was run in 0 ms"


def test_a_server_that_does_not_start_counts_as_an_error():
    (found,) = outcomes_of(NOT_STARTED.suites[0])
    assert (found.name, found.line, found.problem) == ("(server start)", 2, "python: not found")
    assert count_words(NOT_STARTED).startswith("1 error ")


def test_a_problem_of_a_suite_is_not_said_twice():
    suite = suite_outcome(PASSED, ERROR, problem=ERROR.problem)
    assert outcomes_of(suite) == [PASSED, ERROR]


def test_an_invalid_file_is_an_error_of_the_file():
    (found,) = outcomes_of(suite_outcome(problem="It is too large."))
    assert (found.name, found.line, found.state) == ("(file)", 1, State.ERROR)


def test_an_invalid_file_has_the_line_of_its_first_problem_and_all_problems_in_its_details():
    problem = "a/b.mcp.toml:3 call[1]: no request\na/b.mcp.toml:9 call[2]: no request"
    (found,) = outcomes_of(suite_outcome(problem=problem))
    assert found.line == 3
    assert details(found, "a/b.mcp.toml") == problem


def test_the_first_mismatch_is_the_summary_of_a_failure_if_it_has_values():
    assert summary(replace(FAILED, problem="result differs")) == 'result.rain: expected 3, got "three"'
    without = [Mismatch("error", why="it succeeded")]
    assert summary(replace(FAILED, problem="It succeeded.", mismatches=without)) == "It succeeded."
    assert summary(replace(FAILED, mismatches=())) == "failed"
    assert summary(PASSED) == ""


def test_details_have_place_differences_last_words_and_command():
    assert details(FAILED, "weather.mcp.toml").split("\n") == [
        "weather.mcp.toml:12",
        *(line for one in FAILED.mismatches for line, _ in mismatch_lines(one)),
        "stderr: starting",
        "stderr: no data",
        "repeat: mcptui call get_weather location=Hangzhou -- python weather.py",
    ]


def test_details_of_many_and_long_differences_are_bounded():
    text = "a line\n" * 10_000
    outcome = replace(FAILED, mismatches=[Mismatch(f"result[{at}]", text, text) for at in range(5_000)])
    said = details(outcome, "x.mcp.toml")
    assert "4950 more differences" in said
    assert len(said) < 2_000_000


def test_output_is_cleaned_and_only_its_end_is_kept():
    assert output_text(["\x1b[1mbold\x1b[0m \x07", "b"]) == "bold ␇\nb"
    long = output_text(["first", *["x" * 1_000] * 100, "last"])
    assert len(long) <= OUTPUT_CHARS + 2
    assert long.startswith("…x") and long.endswith("x\nlast")


def test_a_place_is_relative_inside_of_the_folder_only(tmp_path: Path):
    assert place_of(tmp_path / "a" / "b.mcp.toml", tmp_path) == "a/b.mcp.toml"
    outside = tmp_path / "b.mcp.toml"
    assert place_of(outside, tmp_path / "a") == outside.as_posix()


def test_a_name_is_one_line_with_its_era():
    assert name_of(Outcome("a\nb", 1, State.PASSED, era="modern")) == "a b [modern]"


def test_a_run_without_cases_has_no_counts():
    assert count_words(RunOutcome([suite_outcome()])).startswith("nothing was run")
