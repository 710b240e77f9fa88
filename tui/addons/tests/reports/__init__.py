"""Reports of a run: JUnit XML, Markdown, GitHub annotations, JSON lines. Each is a `Reporter`."""

from collections.abc import Mapping, Sequence

_PLACE = "tui.addons.tests.reports"

REPORTS: Mapping[str, str] = {
    "junit": f"{_PLACE}.file_report:junit_report",
    "gitlab": f"{_PLACE}.file_report:gitlab_report",
    "md": f"{_PLACE}.file_report:markdown_report",
}
"""What makes the report `--report KIND=FILE`, by kind; it is given the path."""

AUTOMATIC: Sequence[str] = (f"{_PLACE}.github:github_report",)
"""What makes a report that nobody asks for, or None; it is given the environment."""
