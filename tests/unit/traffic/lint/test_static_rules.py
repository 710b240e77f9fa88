"""The rules whose findings do not depend on the course of a run."""

import pytest

from tests.unit.test_docs import codes_of_the_linter, rows_of
from tui.traffic.lint.lint import section_of
from tui.traffic.lint.static_rules import STATIC_RULES

OF_THE_RUN = {
    *("answer-after-cancel", "bad-cancel", "before-initialize", "duplicate-answer", "id-type", "incomplete"),
    *("not-mcp", "not-negotiated", "not-whole", "progress-late", "progress-order", "progress-token"),
    *("reused-id", "unknown-id", "unstable-order"),
}
"""Rules about the order of messages, other messages, or the limits of mcptui."""


def test_each_rule_is_static_or_about_the_course_of_a_run():
    assert set(STATIC_RULES) == codes_of_the_linter() - OF_THE_RUN


def test_meanings_and_severities_are_those_of_the_documentation():
    rows = {code.strip("`"): (severity, meaning) for code, severity, meaning in rows_of("The linter")}
    for code, rule in STATIC_RULES.items():
        severity, meaning = rows[code]
        assert severity.split(", ")[0] == rule.severity.name.lower()
        assert meaning.startswith(rule.meaning)


@pytest.mark.parametrize(
    ("revision", "section"),
    [
        ("2025-06-18", "2025-06-18 basic/transports"),
        ("2026-07-28", "2026-07-28 basic/transports/stdio"),
        ("", "2025-11-25 basic/transports"),
        ("2099-01-01", "2025-11-25 basic/transports"),
    ],
)
def test_a_page_has_its_name_in_the_revision(revision: str, section: str):
    assert section_of("basic/transports", revision) == section
    assert section_of("", revision) == ""
