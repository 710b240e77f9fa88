"""GitHub Actions: annotations on the lines of test files, and the summary of the job."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TextIO

from tui.addons.tests.reports import details
from tui.addons.tests.reports.ci_log import command_stream, inert, is_github
from tui.addons.tests.reports.markdown import markdown
from tui.addons.tests.run.outcome import Outcome, RunOutcome, SuiteOutcome
from tui.addons.tests.run.reporter import AtEnd, RunStart
from tui.core.errors import reason_of
from tui.core.text import clean_line
from tui.core.units import noun

SHOWN = 10
"""Annotations of a kind that GitHub shows of a step."""

MESSAGE_CHARS = 2_000
SUMMARY_BYTES = 900 * 1024
"""GitHub rejects a summary of more than 1 MiB."""

_DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY = _DATA | str.maketrans({":": "%3A", ",": "%2C"})


def github_report(env: Mapping[str, str]) -> AtEnd | None:
    """Return the report in GitHub Actions, otherwise None."""
    return AtEnd(GithubReport(env, command_stream()).write) if is_github(env) else None


class GithubReport:
    """Prints annotations, and appends the summary of a run to that of the job."""

    def __init__(self, env: Mapping[str, str], out: TextIO) -> None:
        """`out` is stdout or stderr of the step: the runner reads both."""
        self._workspace = Path(env.get("GITHUB_WORKSPACE") or os.getcwd())
        self._summary = env.get("GITHUB_STEP_SUMMARY", "")
        self._out = out

    def write(self, start: RunStart, run: RunOutcome) -> None:
        for line in annotations(run, self._workspace):
            self._out.write(f"{line}\n")
        if self._summary:
            self._append(start, run)
        self._out.flush()

    def _append(self, start: RunStart, run: RunOutcome) -> None:
        """Append to the summary. Nobody asked for it, so that a failure is a warning."""
        text = b""
        for piece in markdown(start, run, self._workspace):
            octets = piece.encode("utf-8", "replace")
            if len(text) + len(octets) > SUMMARY_BYTES:
                text += b"\nThe rest is too long for a summary.\n"
                break
            text += octets
        try:
            with open(self._summary, "ab") as file:
                file.write(text + b"\n")
        except OSError as error:
            said = f"The summary of the job cannot be written ({reason_of(error)})."
            self._out.write(f"::warning::{said.translate(_DATA)}\n")


def annotations(run: RunOutcome, workspace: Path) -> list[str]:
    """Return a command for each case that failed, or could not be run, as many as GitHub shows."""
    bad = [
        (suite, outcome)
        for suite in run.suites
        for outcome in details.outcomes_of(suite)
        if outcome.state.is_bad
    ]
    found = [_annotation(suite, outcome, workspace) for suite, outcome in bad[:SHOWN]]
    if more := len(bad) - len(found):
        found.append(f"::notice::{more} more {noun(more, 'case')} failed. All are in the summary of the job.")
    return found


def _annotation(suite: SuiteOutcome, outcome: Outcome, workspace: Path) -> str:
    place = details.place_of(suite.path, workspace)
    text = inert(details.details(outcome, place))
    if len(text) > MESSAGE_CHARS:
        text = f"{text[:MESSAGE_CHARS]}\n… truncated"
    where = f"file={place.translate(_PROPERTY)},line={outcome.line},"
    has_place = not os.path.isabs(place) and clean_line(place, details.PLACE_CHARS) == place
    where = where if has_place else ""
    title = inert(details.name_of(outcome)).translate(_PROPERTY)
    return f"::error {where}title={title}::{text.translate(_DATA)}"
