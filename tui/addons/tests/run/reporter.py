"""The protocol of reporters, which follow a run: the terminal, reports in files, the store of last runs.

Everything arrives in the order of the files, one suite after the other, also if several run side by side.
Texts from servers are raw: a reporter cleans and escapes them for its format.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tui.addons.tests.run.outcome import Outcome, RunOutcome, SuiteOutcome
from tui.addons.tests.suite.case import Suite


@dataclass(frozen=True, slots=True)
class RunStart:
    """What a run is about to do.

    Attributes:
        suites: in the order of the run. A file that cannot be used is one without cases.
        recording: the file that gets its messages, or None.
        at: seconds since the epoch.
    """

    suites: Sequence[Suite] = ()
    recording: Path | None = None
    at: float = 0.0


class Reporter:
    """Follows a run. Each method returns quickly and may raise UsageError, which ends with exit code 2.

    After such an error, the reporter is not called again, and the others still are.
    """

    def began(self, run: RunStart) -> None:
        """Called once, before the first server starts."""

    def suite_began(self, suite: Suite) -> None:
        """Called before the first case of a suite."""

    def case_ended(self, suite: Suite, outcome: Outcome) -> None:
        """Called for each case, turn case and contract; in each era with `--era both`."""

    def suite_ended(self, outcome: SuiteOutcome) -> None:
        """Called after the last case of a suite, also if its server did not start or the file is invalid."""

    def ended(self, run: RunOutcome) -> None:
        """Called once, also after ctrl+c. Reports in files are written here."""


class AtEnd(Reporter):
    """A reporter that writes a report when the run ends, also after ctrl+c."""

    def __init__(self, write: Callable[[RunStart, RunOutcome], object]) -> None:
        self._write = write
        self._start = RunStart()

    def began(self, run: RunStart) -> None:
        self._start = run

    def ended(self, run: RunOutcome) -> None:
        self._write(self._start, run)
