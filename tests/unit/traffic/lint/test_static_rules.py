"""The rules whose findings do not depend on the course of a run."""

import pytest

from tests.unit.test_docs import codes_of_the_linter, rows_of
from tui.traffic.lint.lint import section_of
from tui.traffic.lint.static_rules import RUN_RULES, STATIC_RULES


def test_each_rule_is_static_or_about_the_course_of_a_run():
    assert set(STATIC_RULES) | RUN_RULES == codes_of_the_linter() and not RUN_RULES & set(STATIC_RULES)


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
