"""JUnit XML: valid by the schema of Jenkins, whatever servers say."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.addons.tests.reports.outcomes import (
    BASE,
    EMPTY,
    FAILED,
    MIXED,
    NOT_STARTED,
    PASSED,
    run_outcome,
    suite_outcome,
)
from tui.addons.tests.reports.junit import attributes, content, junit
from tui.addons.tests.run.outcome import Mismatch, Outcome, RunOutcome, State
from tui.addons.tests.run.reporter import RunStart

START = RunStart(at=1_700_000_000.0)

CHILDREN: Mapping[str, set[str]] = {
    "testsuites": {"testsuite"},
    "testsuite": {"testsuite", "properties", "testcase", "system-out", "system-err"},
    "properties": {"property"},
    "property": set(),
    "testcase": {"skipped", "error", "failure", "system-out", "system-err"},
    **{name: set() for name in ("skipped", "error", "failure", "system-out", "system-err")},
}
"""The elements of junit-10.xsd of Jenkins' xUnit plugin, as far as they can be in each other."""

REQUIRED: Mapping[str, set[str]] = {
    "testsuite": {"name", "tests", "failures", "errors"},
    "property": {"name", "value"},
    "testcase": {"name"},
}
ALLOWED: Mapping[str, set[str]] = {
    "testsuites": {"name", "time", "tests", "failures", "errors"},
    "testsuite": REQUIRED["testsuite"]
    | {"group", "time", "skipped", "timestamp", "hostname", "id", "package", "file", "log", "url", "version"},
    "property": REQUIRED["property"],
    "testcase": {"name", "time", "classname", "group"},
    **{name: {"type", "message"} for name in ("skipped", "error", "failure")},
}
TIME = re.compile(r"(([0-9]{0,3},)*[0-9]{3}|[0-9]{0,3})*(\.[0-9]{0,3})?")


def check(element: Element) -> None:
    """Fail unless an element is valid by the schema."""
    given = set(element.attrib)
    assert REQUIRED.get(element.tag, set()) <= given <= ALLOWED.get(element.tag, set())
    assert TIME.fullmatch(element.get("time", ""))
    assert {child.tag for child in element} <= CHILDREN[element.tag]
    for child in element:
        check(child)


def report(run: RunOutcome, *, with_lines: bool = False) -> Element:
    text = "".join(junit(START, run, BASE, with_lines=with_lines))
    return ElementTree.fromstring(text.encode())


@pytest.mark.parametrize(
    "run", [MIXED, NOT_STARTED, EMPTY, replace(MIXED, interrupted=True, recording=Path("a.mcptrace"))]
)
def test_a_report_is_valid_by_the_schema_of_jenkins(run: RunOutcome):
    found = report(run)
    assert found.tag == "testsuites"
    check(found)


def test_a_suite_has_its_counts_time_and_file():
    (suite,) = report(MIXED)
    assert {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped", "time", "file")} == {
        "tests": "4",
        "failures": "1",
        "errors": "1",
        "skipped": "1",
        "time": "1.500",
        "file": "tests/weather.mcp.toml",
    }
    assert suite.get("timestamp", "").startswith("2023-11-14T")


def test_a_case_has_name_class_and_time():
    cases = report(MIXED).findall(".//testcase")
    assert [case.get("name") for case in cases] == ["sun", "rain", "snow", "hail"]
    assert {case.get("classname") for case in cases} == {"tests.weather"}
    assert [case.get("time") for case in cases] == ["0.041", "1.234", "0.000", "0.000"]


def test_a_failure_says_where_and_what_and_repeats_it():
    failure = report(MIXED).find(".//failure")
    assert failure is not None and failure.text is not None
    assert failure.get("message") == 'result.rain: expected 3, got "three"'
    assert failure.text.startswith("tests/weather.mcp.toml:12\n")
    assert "mcptui call get_weather" in failure.text


def test_a_skipped_case_says_why():
    skipped = report(MIXED).find(".//skipped")
    assert skipped is not None and skipped.get("message") == "not in summer"


def test_the_output_of_the_server_is_that_of_the_suite():
    run = RunOutcome([suite_outcome(PASSED, stdout=["listening", "<b>"])])
    assert report(run).findtext(".//system-out") == "listening\n<b>"


def test_files_and_lines_of_cases_are_attributes_if_wanted():
    (case, *_) = report(MIXED, with_lines=True).findall(".//testcase")
    assert (case.get("file"), case.get("line")) == ("tests/weather.mcp.toml", "5")


def test_an_interrupted_run_says_so():
    values = {
        one.get("name"): one.get("value") for one in report(replace(MIXED, interrupted=True)).iter("property")
    }
    assert values["interrupted"] == "true"


def test_a_server_that_does_not_start_is_an_error():
    error = report(NOT_STARTED).find(".//testcase[@name='(server start)']/error")
    assert error is not None and error.get("message") == "python: not found"


def test_injected_faults_are_those_of_their_case_and_of_the_suite():
    survived = replace(PASSED, faults=["delay=1s", "delay=1s"])
    broken = replace(FAILED, faults=["lose=answer"], fails_anyway=True)
    found = report(RunOutcome([suite_outcome(survived, broken, start_faults=[("tools/list", "vanish")])]))
    check(found)
    (suite,) = found
    values = {one.get("name"): one.get("value") for one in suite.iter("property")}
    assert values["faults"] == "injected in tools/list, before the cases: vanish"
    assert suite.findtext("testcase/system-out") == "injected: 2 × delay=1s"
    assert "injected: lose=answer (fails without faults, too)" in suite.findtext("testcase/failure", "")


EVIL = "]]> \x00 \x1b[31m \ud800 \ufffe & < > \" ' \r\n \x85 \u202e <!-- ]]&gt;"


def test_text_that_xml_cannot_have_is_replaced():
    outcome = replace(FAILED, name=EVIL, problem=EVIL, mismatches=[Mismatch(EVIL, EVIL, EVIL)], said=[EVIL])
    found = report(run_outcome(outcome))
    check(found)
    text = found.findtext(".//failure")
    assert text is not None and "]]>" in text


@settings(max_examples=20)
@given(st.text(st.characters(codec=None, exclude_categories=())))
def test_any_text_is_valid_as_attribute_and_content(text: str):
    whole = f"<a{attributes(b=text)}>{content(text)}</a>".encode()
    found = ElementTree.fromstring(whole)
    assert (found.text or "") == found.get("b")


def test_times_that_are_no_number_of_seconds_are_bounded():
    run = run_outcome(
        Outcome("slow", 1, State.PASSED, ms=float("inf")), Outcome("odd", 1, State.PASSED, ms=-1)
    )
    check(report(run))
