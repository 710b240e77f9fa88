"""Findings as SARIF."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tui.core.traffic import Finding, Severity
from tui.storage.exports import sarif as module
from tui.storage.exports.sarif import SarifRule, SarifRun, fingerprint, sarif, spec_address

RULES = (
    SarifRule("no-description", Severity.HINT, "A tool without a description.", "2025-11-25 server/tools"),
    SarifRule("bad-error", Severity.ERROR, "An error without a code."),
)
FOUND = Finding(
    7,
    "no-description",
    Severity.HINT,
    'The tool "a" has no description.',
    "2025-11-25 server/tools",
    "weather",
    "tools/list",
    subject="a",
)


def run(*findings: Finding, server: str = "weather", file: str = "src/my server.py") -> dict[str, Any]:
    found = SarifRun(server, RULES, file)
    for finding in findings:
        found.add(finding)
    (whole,) = json.loads("".join(sarif([found])))["runs"]
    return dict(whole)


def results(*findings: Finding) -> Sequence[dict[str, Any]]:
    return list(run(*findings)["results"])


def test_a_run_has_its_rules_also_when_nothing_is_found():
    found = run()
    assert found["results"] == []
    assert [rule["id"] for rule in found["tool"]["driver"]["rules"]] == ["bad-error", "no-description"]
    assert found["invocations"] == [{"executionSuccessful": True}]


def test_a_rule_has_level_meaning_and_page():
    bad, missing = run()["tool"]["driver"]["rules"]
    assert missing["defaultConfiguration"] == {"level": "note"}
    assert missing["helpUri"] == "https://modelcontextprotocol.io/specification/2025-11-25/server/tools"
    assert bad["shortDescription"] == {"text": "An error without a code."}
    assert "helpUri" not in bad


def test_each_server_has_an_id_of_its_own():
    assert run(server="weather")["automationDetails"] == {"id": "mcptui/weather/"}


def test_a_finding_is_a_result_with_rule_level_place_and_fingerprints():
    (found,) = results(FOUND)
    assert found["ruleId"] == "no-description" and found["ruleIndex"] == 1 and found["level"] == "note"
    assert found["message"] == {"text": 'The tool "a" has no description.'}
    (place,) = found["locations"]
    assert place["physicalLocation"]["artifactLocation"] == {"uri": "src/my%20server.py"}
    assert place["logicalLocations"] == [{"name": "a", "fullyQualifiedName": "weather/a"}]
    assert set(found["partialFingerprints"]) == {"mcptui/v1", "primaryLocationLineHash"}


def test_the_same_finding_on_several_entries_is_one_result():
    (found,) = results(*(replace(FOUND, seq=seq) for seq in (7, 9, 9, 11, 13, 15, 17)))
    assert found["occurrenceCount"] == 7
    assert found["properties"]["entries"] == [7, 9, 11, 13, 15]


def test_a_finding_of_no_rule_of_the_log_is_left_out():
    assert results(replace(FOUND, code="unknown-id")) == []


def test_a_fingerprint_depends_on_server_rule_method_and_subject_only():
    other = replace(FOUND, seq=99, sentence="Worded otherwise.", section="", severity=Severity.ERROR, count=3)
    assert fingerprint(other) == fingerprint(FOUND)
    for change in ({"source": "b"}, {"code": "b"}, {"method": "b"}, {"subject": "b"}):
        assert fingerprint(replace(FOUND, **change)) != fingerprint(FOUND)


def test_results_are_in_the_same_order_in_each_run():
    findings = [replace(FOUND, subject=name) for name in "abcdef"]
    assert results(*findings) == results(*reversed(findings))


def test_results_are_bounded_and_the_others_counted(monkeypatch: Any):
    monkeypatch.setattr(module, "MOST_RESULTS", 2)
    found = run(*(replace(FOUND, subject=name) for name in "abcd"))
    assert len(found["results"]) == 2
    (said,) = found["invocations"][0]["toolExecutionNotifications"]
    assert said["message"]["text"].startswith("2 more findings ")


@settings(max_examples=20)
@given(st.text(), st.text())
def test_any_text_is_json_in_ascii(name: str, text: str):
    finding = replace(FOUND, sentence=text, subject=name, source=name)
    written = "".join(sarif([SarifRun(name, RULES, name)]))
    assert written.isascii() and json.loads(written)
    assert results(finding)[0]["message"]["text"]


def test_an_address_is_that_of_the_page():
    assert spec_address("2026-07-28 basic").endswith("/2026-07-28/basic")
