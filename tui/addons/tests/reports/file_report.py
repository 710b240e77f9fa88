"""A report in a file, written at the end of a run, whole or not at all."""

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

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

    def __init__(self, kind: str, file: str, render: Render, base: Path) -> None:
        """Raises UsageError if `file` is a folder."""
        self._kind, self._render, self._base = kind, render, base
        self._path = Path(os.path.expanduser(file))
        self._start = RunStart()
        if self._path.is_dir():
            raise UsageError(f"{self._label} cannot be written: it is a folder", next_step="Name a file.")

    @property
    def _label(self) -> str:
        return f"--report {self._kind}={clean_line(str(self._path), 4096)}"

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
        with suppress(OSError):  # writing names the reason
            self._path.parent.mkdir(parents=True, exist_ok=True)
        pieces = self._render(self._start, run, self._base)
        try:
            atomic_write(self._path, pieces, mode=_mode(), wait=False)
        except OSError as error:
            raise UsageError(f"{self._label} cannot be written ({reason_of(error)})") from error


def _mode() -> int:
    """Return the mode of a file for programs of CI, which may run as another user, as the umask allows."""
    mask = os.umask(0o077)
    os.umask(mask)
    return 0o666 & ~mask
