"""Which reports a run has."""

from pathlib import Path

import pytest

from tui.addons.tests.reports.file_report import FileReport
from tui.addons.tests.reports.github import GithubReport
from tui.addons.tests.reports.reports import reports
from tui.core.errors import UsageError


def test_each_report_that_is_asked_for_is_one(tmp_path: Path):
    found = [*reports([("md", "a"), ("junit", "b")], {}, tmp_path)]
    assert [type(one) for one in found] == [FileReport, FileReport]


def test_an_unknown_kind_is_refused_with_the_one_that_was_meant(tmp_path: Path):
    with pytest.raises(UsageError, match=r"unknown kind “juint”\. Did you mean “junit”\?"):
        [*reports([("juint", "a.xml")], {}, tmp_path)]
    with pytest.raises(UsageError, match="Use junit, gitlab, md"):
        [*reports([("html", "a.xml")], {}, tmp_path)]


def test_sarif_is_a_report_of_the_linter(tmp_path: Path):
    with pytest.raises(UsageError, match="mcptui traffic --lint --report sarif=FILE"):
        [*reports([("sarif", "a.sarif")], {}, tmp_path)]


def test_two_reports_in_one_file_are_refused(tmp_path: Path):
    with pytest.raises(UsageError, match="two reports"):
        [*reports([("md", "a"), ("junit", "./a")], {}, tmp_path)]


def test_in_github_actions_its_report_comes_by_itself(tmp_path: Path):
    (report,) = reports([], {"GITHUB_ACTIONS": "true"}, tmp_path)
    assert isinstance(report, GithubReport)
