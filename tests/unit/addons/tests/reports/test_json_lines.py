"""`--json`: an object a line."""

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.addons.tests.reports.outcomes import FAILED, MIXED, PASSED, PATH, SERVER
from tui.addons.tests.reports.json_lines import JsonLines, case_object
from tui.addons.tests.run.outcome import Mismatch, Outcome, RunOutcome, State
from tui.addons.tests.suite.case import Suite, TurnCase

SUITE = Suite(PATH, SERVER)


def told(run: RunOutcome) -> list[dict[str, Any]]:
    out = io.StringIO()
    report = JsonLines(out.write)
    for suite in run.suites:
        for outcome in suite.outcomes:
            report.case_ended(suite.suite, outcome)
        report.suite_ended(suite)
    report.ended(run)
    assert out.getvalue().isascii()
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_a_run_is_a_line_for_each_case_suite_and_the_run():
    found = told(MIXED)
    assert [one["type"] for one in found] == ["case"] * 4 + ["suite", "run"]
    assert [one["state"] for one in found[:4]] == ["passed", "failed", "error", "skipped"]
    counts = {"passed": 1, "failed": 1, "error": 1, "skipped": 1}
    assert found[-1] == {"type": "run", "seconds": 2.0, "interrupted": False, "recording": None} | counts
    assert found[-2].items() >= {"suite": str(PATH), "problem": "", "seconds": 1.5, **counts}.items()


def test_a_case_has_all_that_is_known_about_it():
    found = case_object(SUITE, FAILED)
    assert found == {
        "type": "case",
        "suite": str(PATH),
        "line": 12,
        "case": "rain",
        "kind": "tool",
        "state": "failed",
        "problem": "",
        "mismatches": [
            {"path": "result.rain", "expected": 3, "got": "three", "why": ""},
            {"path": "text", "expected": "light\nrain", "got": "no\nrain", "why": ""},
        ],
        "notes": [],
        "ms": 1234.5,
        "era": "",
        "server": "weather",
        "call": "hand-7",
        "repeat": "mcptui call get_weather location=Hangzhou -- python weather.py",
    }


def test_a_side_without_a_value_is_left_out_and_null_is_a_value():
    outcome = replace(FAILED, mismatches=[Mismatch("result.a", expected=None)])
    assert case_object(SUITE, outcome)["mismatches"] == [{"path": "result.a", "expected": None, "why": ""}]


def test_the_kind_of_a_turn_case_and_of_the_contract_is_named():
    turn = Outcome("q", 1, State.PASSED, case=TurnCase("q", 1))
    assert case_object(SUITE, turn)["kind"] == "turn"
    assert case_object(SUITE, replace(PASSED, case=None))["kind"] == "contract"


def test_of_a_value_that_is_long_or_no_json_only_the_beginning_is_printed():
    outcome = replace(FAILED, mismatches=[Mismatch("text", "x" * 100_000, float("nan"))])
    (found,) = case_object(SUITE, outcome)["mismatches"]
    assert found["expected_head"].startswith('"xxx') and len(found["expected_head"]) <= 4_100
    assert found["got_head"] == "nan"


@settings(max_examples=20)
@given(st.text(st.characters(codec=None, exclude_categories=())))
def test_any_text_is_one_line_of_ascii(text: str):
    outcome = replace(FAILED, name=text, problem=text, mismatches=[Mismatch(text, text, [text])])
    (found, *_) = told(RunOutcome([replace(MIXED.suites[0], outcomes=[outcome])]))
    assert found["case"] == text


def test_the_recording_is_its_path():
    assert told(replace(MIXED, recording=Path("a.mcptrace")))[-1]["recording"] == "a.mcptrace"


def test_no_text_is_a_command_of_the_runner():
    out = io.StringIO()
    JsonLines(out.write).case_ended(SUITE, replace(FAILED, problem="##[set-output name=a]##vso[x]"))
    assert "##" not in out.getvalue()
    assert json.loads(out.getvalue())["problem"] == "##[set-output name=a]##vso[x]"


def test_the_era_is_that_of_the_run_or_the_one_that_the_server_spoke():
    one = Outcome("a", 1, State.PASSED, spoken="modern")
    assert case_object(SUITE, one)["era"] == "modern"
    assert case_object(SUITE, replace(one, era="legacy"))["era"] == "legacy"


def test_faults_before_the_cases_and_cases_that_fail_without_faults_as_well_are_told():
    broken = replace(FAILED, faults=["delay=1s"], fails_anyway=True)
    start = [("tools/list", "vanish")]
    suite = replace(MIXED.suites[0], outcomes=[PASSED, broken], start_faults=start)
    cases = told(RunOutcome([suite]))
    assert [(one["type"], one.get("case"), one.get("fails_anyway")) for one in cases] == [
        ("case", "sun", None),
        ("case", "rain", True),
        ("case", "rain", True),
        ("suite", None, None),
        ("run", None, None),
    ]
    assert cases[1]["faults"] == ["delay=1s"]
    assert cases[3]["start_faults"] == [{"method": "tools/list", "fault": "vanish"}]
