"""Chooses the reports of a run: those of `--report KIND=FILE`, and GitHub's in GitHub Actions."""

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

from tui.addons.tests.reports.file_report import FileReport, Render
from tui.addons.tests.reports.github import GithubReport, is_github
from tui.addons.tests.reports.junit import junit
from tui.addons.tests.reports.markdown import markdown
from tui.addons.tests.run.reporter import Reporter
from tui.core.errors import UsageError
from tui.core.text import capitalized, quoted_name

KINDS: Mapping[str, Render] = {
    "junit": junit,
    "gitlab": partial(junit, with_lines=True),
    "md": markdown,
}


def reports(asked: Iterable[tuple[str, str]], env: Mapping[str, str], base: Path) -> Iterator[Reporter]:
    """Yield a reporter for each report. `base` is the folder that paths in them are relative to.

    Raises UsageError for an unknown kind, for a folder, and for two reports in one file.
    """
    from tui.settings.problems import did_you_mean

    files = set[str]()
    for kind, file in asked:
        if kind == "sarif":
            step = "Lint the recording of the run: mcptui traffic --lint --report sarif=FILE."
            raise UsageError("mcptui test has no report sarif", next_step=step)
        if kind not in KINDS:
            hint = did_you_mean(kind, KINDS) or f"use {', '.join(KINDS)}"
            raise UsageError(f"--report: unknown kind {quoted_name(kind)}", next_step=f"{capitalized(hint)}")
        path = os.path.realpath(os.path.expanduser(file))
        if path in files:
            raise UsageError(f"--report: two reports would be written to {quoted_name(file, 400)}")
        files.add(path)
        yield FileReport(kind, file, KINDS[kind], base)
    if is_github(env):
        yield GithubReport(env, sys.stderr)
