"""A report in a file, written at the end of a run, whole or not at all."""

import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from tui.addons.tests.reports.junit import junit
from tui.addons.tests.reports.markdown import markdown
from tui.addons.tests.run.outcome import RunOutcome
from tui.addons.tests.run.reporter import AtEnd, RunStart
from tui.core.errors import UsageError, reason_of
from tui.core.files import atomic_write
from tui.core.text import clean_line

Render = Callable[[RunStart, RunOutcome, Path], Iterator[str]]
"""Yields a report piece by piece. Paths of test files in it are relative to the folder."""


def _at_end(path: Path, render: Render) -> AtEnd:
    return AtEnd(partial(_write, path, render, Path.cwd()))


def _write(path: Path, render: Render, base: Path, start: RunStart, run: RunOutcome) -> None:
    write_report(path, render(start, run, base))


def write_report(path: Path, pieces: Iterator[str]) -> None:
    """Write a report. Raises UsageError if that fails; an existing file is then unchanged."""
    try:
        atomic_write(path, pieces, mode=_mode(), wait=False)
    except (OSError, UnicodeError) as error:
        why = f"cannot write the report ({reason_of(error)})"
        raise UsageError(why, where=clean_line(str(path), 4096)) from error


def junit_report(path: Path) -> AtEnd:
    """Return a report as JUnit XML, valid by the schema of Jenkins."""
    return _at_end(path, junit)


def gitlab_report(path: Path) -> AtEnd:
    """Return a report as JUnit XML with the file and line of each case."""
    return _at_end(path, partial(junit, with_lines=True))


def markdown_report(path: Path) -> AtEnd:
    """Return a report in Markdown."""
    return _at_end(path, markdown)


def _mode() -> int:
    """Return the mode of a file for programs of CI, which may run as another user, as the umask allows."""
    mask = os.umask(0o077)
    os.umask(mask)
    return 0o666 & ~mask
