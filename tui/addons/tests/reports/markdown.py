"""A report in Markdown: the counts, a table of the cases, and what differs in those that failed.

Also the summary of a job of GitHub Actions.
"""

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tui.addons.tests.reports import details
from tui.addons.tests.run.outcome import Outcome, RunOutcome, State, SuiteOutcome
from tui.addons.tests.run.reporter import RunStart
from tui.addons.tests.turns.table import matrix
from tui.core.attachments import fenced
from tui.core.text import clean_line
from tui.core.units import duration, plural
from tui.storage.exports.markdown import escaped

MOST_ROWS = 500
"""Maximum rows of the table. Cases that passed are left out first."""

MOST_DETAILS = 100
"""Maximum cases whose differences are shown."""

CELL_CHARS = 200
DETAIL_CHARS = 8_000

Placed = tuple[str, Outcome]
"""An outcome, with the place of its test file."""


def markdown(start: RunStart, run: RunOutcome, base: Path) -> Iterator[str]:
    """Yield the report."""
    placed = [
        (place, outcome)
        for suite in run.suites
        for place in (details.place_of(suite.path, base),)
        for outcome in details.outcomes_of(suite)
    ]
    bad = [one for one in placed if one[1].state.is_bad]
    yield f"## mcptui test: {details.count_words(run)}\n\n"
    yield from _warnings(run.suites, base)
    yield from _table(placed, bad)
    yield from _turns(run)
    yield from _coverage(run.extra.get("coverage"))
    for place, outcome in bad[:MOST_DETAILS]:
        yield from _details(place, outcome)
    if len(bad) > MOST_DETAILS:
        yield f"Details of {plural(len(bad) - MOST_DETAILS, 'more case')} are left out.\n\n"
    if run.recording is not None:
        command = f"mcptui traffic {shlex.quote(clean_line(str(run.recording), 4096))}"
        yield f"The messages of this run:\n\n{fenced(command, 'sh')}\n"


def _warnings(suites: Sequence[SuiteOutcome], base: Path) -> Iterator[str]:
    lines = [
        f"- {escaped(f'{details.place_of(suite.path, base)}: {clean_line(warning, details.LINE_CHARS)}')}\n"
        for suite in suites
        for warning in suite.suite.warnings
    ]
    yield from lines[:MOST_ROWS]
    if lines:
        yield "\n"


def _table(placed: list[Placed], bad: list[Placed]) -> Iterator[str]:
    if not placed:
        return
    shown = placed if len(placed) <= MOST_ROWS else bad[:MOST_ROWS]
    yield "| state | case | file | time | |\n|---|---|---|---:|---|\n"
    for place, outcome in shown:
        yield _row(place, outcome)
    yield "\n"
    if len(placed) > len(shown):
        yield f"{plural(len(placed) - len(shown), 'more case')} are not in the table.\n\n"


def _turns(run: RunOutcome) -> Iterator[str]:
    """Yield the table of turn cases and models."""
    header, *rows = matrix(run) or [[]]
    if not header:
        return
    yield f"| {' | '.join(map(cell, header))} |\n|---{'|---' * (len(header) - 1)}|\n"
    for row in rows[:MOST_ROWS]:
        yield f"| {' | '.join(map(cell, row))} |\n"
    yield "\n"


def _coverage(found: Any) -> Iterator[str]:
    """Yield the coverage of the run, with what is not covered."""
    if found is None:
        return
    yield f"Coverage: {found['percent']:g} %\n\n| | covered | of |\n|---|---:|---:|\n"
    for name, numbers in found["kinds"].items():
        yield f"| {cell(name)} | {numbers['covered']} | {numbers['total']} |\n"
    yield "\n"
    for missing in found["missing"][:MOST_ROWS]:
        yield f"- not covered: {escaped(clean_line(missing, CELL_CHARS))}\n"
    yield "\n" if found["missing"] else ""


def _row(place: str, outcome: Outcome) -> str:
    state = f"**{outcome.state}**" if outcome.state.is_bad else str(outcome.state)
    took = duration(outcome.ms) if outcome.ms is not None else ""
    notes = "" if outcome.state is State.SKIPPED else " ".join(outcome.notes)
    said = details.summary(outcome) or notes
    cells = (state, cell(details.name_of(outcome)), cell(f"{place}:{outcome.line}"), took, cell(said))
    return f"| {' | '.join(cells)} |\n"


def _details(place: str, outcome: Outcome) -> Iterator[str]:
    text = details.details(outcome, place)
    if len(text) > DETAIL_CHARS:
        text = f"{text[:DETAIL_CHARS]}\n… truncated"
    yield f"### {escaped(details.name_of(outcome))}\n\n{fenced(text, 'text')}\n\n"


def cell(text: str) -> str:
    """Return a text as a cell of a table, on one line, without effect as Markdown."""
    return escaped(clean_line(text, CELL_CHARS)).replace("|", "\\|")
