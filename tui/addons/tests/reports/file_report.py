"""A report in a file, written at the end of a run, whole or not at all."""

import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from tui.addons.tests.reports.junit import junit
from tui.addons.tests.reports.markdown import markdown
from tui.addons.tests.run.outcome import Outcome, RunOutcome, SuiteOutcome
from tui.addons.tests.run.reporter import RunStart
from tui.addons.tests.suite.case import Suite
from tui.core.errors import UsageError, reason_of
from tui.core.files import atomic_write
from tui.core.text import clean_line

Render = Callable[[RunStart, RunOutcome, Path], Iterator[str]]
"""Yields a report piece by piece. Paths of test files in it are relative to the folder."""


class FileReport:
    """Writes a report when the run ends, also after ctrl+c."""

    def __init__(self, path: Path, render: Render, base: Path) -> None:
        self._path, self._render, self._base = path, render, base
        self._start = RunStart()

    def began(self, run: RunStart) -> None:
        self._start = run

    def suite_began(self, suite: Suite) -> None:
        pass

    def case_ended(self, suite: Suite, outcome: Outcome) -> None:
        pass

    def suite_ended(self, outcome: SuiteOutcome) -> None:
        pass

    def ended(self, run: RunOutcome) -> None:
        """Write the report. Raises UsageError if that fails; an existing file is then unchanged."""
        pieces = self._render(self._start, run, self._base)
        try:
            atomic_write(self._path, pieces, mode=_mode(), wait=False)
        except OSError as error:
            why = f"cannot write the report ({reason_of(error)})"
            raise UsageError(why, where=clean_line(str(self._path), 4096)) from error


def junit_report(path: Path) -> FileReport:
    """Return a report as JUnit XML, valid by the schema of Jenkins."""
    return FileReport(path, junit, Path.cwd())


def gitlab_report(path: Path) -> FileReport:
    """Return a report as JUnit XML with the file and line of each case."""
    return FileReport(path, partial(junit, with_lines=True), Path.cwd())


def markdown_report(path: Path) -> FileReport:
    """Return a report in Markdown."""
    return FileReport(path, markdown, Path.cwd())


def _mode() -> int:
    """Return the mode of a file for programs of CI, which may run as another user, as the umask allows."""
    mask = os.umask(0o077)
    os.umask(mask)
    return 0o666 & ~mask
