"""GitHub Actions: annotations, the summary of the job, and text that must not become a command."""

import io
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.addons.tests.reports.outcomes import (
    BASE,
    EMPTY,
    FAILED,
    MIXED,
    NOT_STARTED,
    run_outcome,
    suite_outcome,
)
from tui.addons.tests.reports import github
from tui.addons.tests.reports.github import GithubReport, annotations, github_report
from tui.addons.tests.reports.markdown import markdown
from tui.addons.tests.run.outcome import Mismatch, RunOutcome, SuiteOutcome
from tui.addons.tests.run.reporter import RunStart
from tui.addons.tests.suite.case import Suite


def test_a_case_that_failed_is_an_annotation_on_its_line():
    first, second = annotations(MIXED, BASE)
    assert first.startswith(
        "::error file=tests/weather.mcp.toml,line=12,title=rain::tests/weather.mcp.toml:12%0A"
    )
    assert second == (
        "::error file=tests/weather.mcp.toml,line=20,title=snow::"
        "tests/weather.mcp.toml:20%0AThe server ended before it responded."
    )


def test_a_server_that_does_not_start_is_annotated_at_its_table():
    (found,) = annotations(NOT_STARTED, BASE)
    assert found.startswith("::error file=tests/weather.mcp.toml,line=2,title=(server start)::")


def test_no_more_annotations_than_github_shows_and_the_others_are_counted():
    found = annotations(run_outcome(*[FAILED] * 13), BASE)
    assert len(found) == 11
    assert found[-1] == "::notice::3 more cases failed. All are in the summary of the job."


def test_a_file_outside_of_the_workspace_has_no_place():
    (found,) = annotations(RunOutcome([suite_outcome(FAILED, path=Path("/elsewhere/a.mcp.toml"))]), BASE)
    assert found.startswith("::error title=rain::/elsewhere/a.mcp.toml:12")


@pytest.mark.parametrize("name", ["a\x1b[31m", "b\udcff"])
def test_a_file_with_an_odd_name_has_no_place_and_is_named_cleaned(name: str):
    (found,) = annotations(RunOutcome([suite_outcome(FAILED, path=BASE / f"{name}.mcp.toml")]), BASE)
    assert found.startswith("::error title=rain::") and name not in found


def test_the_place_of_an_invalid_file_is_told_once():
    wrong = SuiteOutcome(Suite(BASE / "a.mcp.toml"), problem="a.mcp.toml:2 call[1].tol: unknown key")
    (found,) = annotations(RunOutcome([wrong]), BASE)
    assert found == "::error file=a.mcp.toml,line=2,title=(file)::a.mcp.toml:2 call[1].tol: unknown key"


def test_properties_and_messages_are_escaped():
    outcome = replace(
        FAILED, name="100 % a,b::c\r\nd", mismatches=[Mismatch("text", "a\n::error::x", "b\r%")]
    )
    (found,) = annotations(run_outcome(outcome), BASE)
    assert "\n" not in found and "\r" not in found
    assert ",title=100 %25 a%2Cb%3A%3Ac d::" in found


@settings(max_examples=20)
@given(st.text(), st.text())
def test_an_annotation_is_one_command_whatever_the_texts(name: str, text: str):
    outcome = replace(FAILED, name=name, mismatches=[Mismatch(text, text, text)], said=[text], repeat=text)
    (found,) = annotations(run_outcome(outcome), BASE)
    assert len(found.splitlines()) == 1
    properties, _, data = found.removeprefix("::error ").partition("::")
    assert properties.count(",") == 2
    assert data.startswith("tests/weather.mcp.toml:12%0A")


def test_the_summary_is_appended_to_that_of_the_job(tmp_path: Path):
    summary, out = tmp_path / "summary.md", io.StringIO()
    summary.write_text("before\n")
    env = {"GITHUB_STEP_SUMMARY": str(summary), "GITHUB_WORKSPACE": str(BASE)}
    GithubReport(env, out).write(RunStart(), MIXED)
    text = summary.read_text()
    assert text.startswith("before\n## mcptui test: 1 failed, 1 error, 1 passed, 1 skipped")
    assert len(out.getvalue().splitlines()) == 2


def test_a_summary_that_cannot_be_written_is_a_warning(tmp_path: Path):
    out = io.StringIO()
    GithubReport({"GITHUB_STEP_SUMMARY": str(tmp_path)}, out).write(RunStart(), EMPTY)
    assert out.getvalue().startswith("::warning::The summary of the job cannot be written (")


def test_a_summary_stays_below_its_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(github, "SUMMARY_BYTES", most := 20_000)
    summary = tmp_path / "summary.md"
    long = replace(FAILED, mismatches=[Mismatch("text", "é" * 190, "ü" * 190)] * 50)
    run = RunOutcome([suite_outcome(*[long] * 30)])
    assert sum(len(piece) for piece in markdown(RunStart(), run, BASE)) > most
    GithubReport({"GITHUB_STEP_SUMMARY": str(summary)}, io.StringIO()).write(RunStart(), run)
    assert summary.stat().st_size < most + 100


def test_github_is_known_by_its_variable():
    assert github_report({"GITHUB_ACTIONS": "true"}) is not None
    assert github_report({"CI": "true"}) is None
