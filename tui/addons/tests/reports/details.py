"""What a report says about an outcome: its summary on one line, and its details. Pure.

Texts are cleaned and bounded. Each report escapes them for its format.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path

from tui.addons.tests.run.failure_text import failure_lines, mismatch_line, with_values
from tui.addons.tests.run.outcome import Outcome, RunOutcome, State, SuiteOutcome
from tui.addons.tests.suite.case import ENDING
from tui.core.text import clean, clean_line, without_styling
from tui.core.units import duration, noun

MOST_MISMATCHES = 50
"""Maximum differences of a case."""

LINE_CHARS = 400
"""Maximum characters of a sentence or a value on one line."""

PLACE_CHARS = 4_096
OUTPUT_CHARS = 64 * 1024
"""Maximum characters of the server's output. Its end is kept."""

COUNTED = (State.FAILED, State.ERROR, State.PASSED, State.SKIPPED)
"""The states in the order in which a summary counts them."""

_PLACE = re.compile(rf"{re.escape(ENDING)}:(\d{{1,6}})\b")
"""The line of the first problem of a file."""

FILE, START = "(file)", "(server start)"
"""The names of what failed if no case could be run: the file cannot be used, or its server did not start."""


def place_of(path: Path, base: Path) -> str:
    """Return the path of a test file relative to a folder, with slashes, or whole if it is elsewhere."""
    whole = Path(os.path.realpath(path.parent), path.name)
    inside = Path(os.path.realpath(base))
    return (whole.relative_to(inside) if whole.is_relative_to(inside) else whole).as_posix()


def name_of(outcome: Outcome) -> str:
    """Return the name of a case on one line, with its era if there are several."""
    name = clean_line(outcome.name, LINE_CHARS) or "(no name)"
    return f"{name} [{outcome.era}]" if outcome.era else name


def suite_name(place: str) -> str:
    """Return the place of a test file without its ending."""
    return place.removesuffix(ENDING) or place


def outcomes_of(suite: SuiteOutcome) -> list[Outcome]:
    """Return the outcomes of a suite. If none says why it could not be run, one for the suite comes first."""
    found = list(suite.outcomes)
    if suite.problem and not any(one.state is State.ERROR for one in found):
        server = suite.suite.server
        if suite.not_started:
            found.insert(0, Outcome(START, server.line if server else 1, State.ERROR, suite.problem))
        else:
            place = _PLACE.search(suite.problem[:LINE_CHARS])
            found.insert(0, Outcome(FILE, int(place[1]) if place else 1, State.ERROR, suite.problem))
    return found


def counts(run: RunOutcome) -> dict[State, int]:
    """Return the number of outcomes in each state, with those of suites that could not be run."""
    found = dict.fromkeys(COUNTED, 0)
    for suite in run.suites:
        for outcome in outcomes_of(suite):
            found[outcome.state] += 1
    return found


def count_words(run: RunOutcome) -> str:
    """Return the summary of a run: "1 failed, 2 errors, 11 passed in 3.2 s"."""
    words = [
        f"{number} {noun(number, 'error') if state is State.ERROR else state}"
        for state, number in counts(run).items()
        if number
    ]
    ended = ", interrupted after" if run.interrupted else " in"
    return f"{', '.join(words) or 'nothing was run'}{ended} {duration(run.seconds * 1000)}"


def summary(outcome: Outcome) -> str:
    """Return on one line why a case failed, could not be run or was skipped; "" if it passed."""
    if outcome.state.is_bad and (first := with_values(outcome)) is not None:
        return mismatch_line(first)
    return clean_line(outcome.problem, LINE_CHARS) or (str(outcome.state) if outcome.state.is_bad else "")


def details(outcome: Outcome, place: str) -> str:
    """Return everything about a failed case as plain text: what differs, the server's words, the command."""
    lines = [line.text for line in failure_lines(outcome, MOST_MISMATCHES)]
    if not (outcome.name == FILE and _PLACE.search(outcome.problem[:LINE_CHARS])):  # it has its places
        lines.insert(0, f"{clean_line(place, PLACE_CHARS)}:{outcome.line}")
    return "\n".join(lines)


def output_text(lines: Sequence[str]) -> str:
    """Return lines of a server's output, cleaned, without colors; only the end if there is much."""
    kept = list[str]()
    room = OUTPUT_CHARS
    for line in reversed(lines):
        text = clean(without_styling(line[-OUTPUT_CHARS:]))
        if len(text) >= room:
            kept.append(f"…{text[-room:]}")
            break
        kept.append(text)
        room -= len(text) + 1
    return "\n".join(reversed(kept))
