"""The output of `mcptui test` on the terminal: a line a case while it runs, each failure, and a summary.

Everything from servers and files is cleaned. Colors only on a terminal, and not with NO_COLOR.
"""

import json
import shlex
from collections.abc import Callable, Iterator, Mapping
from difflib import unified_diff
from typing import Any

from tui.addons.tests.run.outcome import ABSENT, Mismatch, Outcome, RunOutcome, State, SuiteOutcome
from tui.addons.tests.run.reporter import RunStart
from tui.addons.tests.run.wrapped import wrapped, wrapped_command
from tui.addons.tests.suite.case import Suite
from tui.addons.tests.suite.find import shown_path
from tui.addons.tests.turns.table import text_table
from tui.core.text import clean, clean_line, compact, cropped, equal_start, padded, truncated
from tui.core.units import duration, plural

VALUE_CHARS = 200
MAX_TEXT = 256 * 1024
"""Maximum characters of a text that are compared line by line."""

LINES, LINE_CHARS = 12, 160
"""Lines of a difference between two texts, and characters of each."""

MISMATCHES = 3
CHANGES = 50
"""Maximum changed definitions of a contract, each of which is named."""

NOTES = 20
LOG_LINES = 5
STATE_CELLS, TIME_CELLS = 7, 10
NAME_CHARS = 100

_COLORS = {
    State.PASSED: "32",
    State.FAILED: "31;1",
    State.ERROR: "31;1",
    State.SKIPPED: "33",
}
MIN_WIDTH = 40
INDENT = "    "
"""How a line begins that continues the one before."""

REPEAT = "repeat: "
NOT_RUN = "not run: "
"""How the problem of a case begins that was not run because the run ended early."""


def colored_for(stream: Any, env: Mapping[str, str]) -> bool:
    """Return whether to use colors on a stream."""
    return stream.isatty() and not env.get("NO_COLOR") and env.get("TERM") != "dumb"


class TerminalReport:
    """Writes the run as text, each line at once.

    Lines of `is_terminal` fit its width, except values and long words. Other lines are never broken or cut.
    """

    def __init__(
        self,
        write: Callable[[str], object],
        *,
        colored: bool = False,
        width: int = 80,
        is_terminal: bool = False,
    ) -> None:
        self._write = write
        self._colored = colored
        self._width = max(MIN_WIDTH, width) - 1  # a terminal may break a full line
        self._is_terminal = is_terminal

    def began(self, run: RunStart) -> None:
        for suite in run.suites:
            for warning in suite.warnings:
                self._line(f"warning: {clean_line(warning, 600)}", "33")

    def suite_began(self, suite: Suite) -> None:
        """Write nothing: each case has the name of its file."""

    def case_ended(self, suite: Suite, outcome: Outcome) -> None:
        name = f"{shown_path(suite.path)}::{clean_line(outcome.name, NAME_CHARS)}{_era(outcome)}"
        time = "" if outcome.ms is None else duration(outcome.ms)
        word = self._in_color(outcome.state.upper(), _COLORS[outcome.state])
        room = self._width - STATE_CELLS - TIME_CELLS - 1
        name = padded(cropped(name, room) if self._is_terminal else name, room)
        time = time.rjust(STATE_CELLS + TIME_CELLS - len(outcome.state))
        self._write(f"{name} {word}{time}".rstrip() + "\n")

    def suite_ended(self, outcome: SuiteOutcome) -> None:
        if outcome.problem and not outcome.outcomes:
            self._write(f"{shown_path(outcome.path)} {self._in_color('ERROR', _COLORS[State.ERROR])}\n")

    def ended(self, run: RunOutcome) -> None:
        bad = [(suite, one) for suite in run.suites for one in suite.outcomes if one.state.is_bad]
        broken = [suite for suite in run.suites if suite.problem]
        if broken:
            self._write("\n")
        for suite in broken:
            named = suite.problem.startswith(clean_line(str(suite.path), 400))
            head = "" if named else f"{shown_path(suite.path)}: "
            self._line(f"{head}{_indented(suite.problem)}", "31")
            if suite.not_started and not any(one.said for one in suite.outcomes):
                for line in _log(suite):
                    self._line(f"  log: {line}")
        for suite, outcome in bad:
            self._failure(suite, outcome)
        self._notes(run)
        self._turns(run)
        self._summary(run)

    # ---- parts ---------------------------------------------------------------------------------------

    def _failure(self, suite: SuiteOutcome, outcome: Outcome) -> None:
        head = f"{clean_line(outcome.name, 400)}{_era(outcome)}"
        place = f"{shown_path(suite.path)}:{outcome.line}"
        if outcome.state is State.ERROR and suite.problem and outcome.problem == suite.problem:
            return  # that is written once for the file
        self._write("\n")
        self._line(f"{outcome.state.upper()}  {head}  ({place})", _COLORS[outcome.state])
        for line, color in failure_lines(outcome):
            if color or line.startswith(" "):  # values
                self._write(f"{self._in_color(f'  {line}', color)}\n")
            else:
                self._line(f"  {line}", is_command=line.startswith(REPEAT))

    def _notes(self, run: RunOutcome) -> None:
        told, missed = dict[str, None](), dict[str, int]()
        for suite in run.suites:
            for one in suite.outcomes:
                head = f"{shown_path(suite.path)}:{one.line} {clean_line(one.name, NAME_CHARS)}"
                if one.problem.startswith(NOT_RUN):
                    missed[one.problem] = missed.get(one.problem, 0) + 1
                elif one.state is State.SKIPPED:
                    told[f"{head}: skipped: {clean_line(one.problem, 400)}"] = None
                told |= {f"{head}: {clean_line(note, 400)}": None for note in one.notes}
        if told or (missed and not run.interrupted):
            self._write("\n")
        for why, number in () if run.interrupted else missed.items():
            self._line(f"{plural(number, 'case')} {clean_line(why, 400)}", "33")
        for text in list(told)[:NOTES]:
            self._line(text, "33")
        if (more := len(told) - NOTES) > 0:
            self._line(f"and {plural(more, 'more note')}", "33")

    def _turns(self, run: RunOutcome) -> None:
        lines = text_table(run)
        self._write("\n" if lines else "")
        for line in lines:
            self._line(line)

    def _summary(self, run: RunOutcome) -> None:
        counts = [(state, run.count(state)) for state in State]
        words = [f"{number} {_words(state, number)}" for state, number in counts if number]
        broken = sum(bool(suite.problem) and not suite.outcomes for suite in run.suites)
        words += [f"{plural(broken, 'file')} not run"] if broken else []
        worst = next(
            (state for state in (State.FAILED, State.ERROR, State.PASSED) if run.count(state)), State.SKIPPED
        )
        color = _COLORS[State.ERROR if broken else worst]
        text = f"{', '.join(words) or 'no cases'} in {duration(run.seconds * 1000)}"
        self._write("\n")
        self._line(f"interrupted: {text}" if run.interrupted else text, color)
        if run.recording is not None and (run.count(State.FAILED) or run.count(State.ERROR)):
            name = run.recording.name if run.recording.is_absolute() else str(run.recording)
            self._line(f"messages: mcptui traffic {clean_line(shlex.quote(name), 200)}")

    def _line(self, text: str, color: str = "", *, is_command: bool = False) -> None:
        lines = [text]
        if self._is_terminal:
            lines = (wrapped_command if is_command else wrapped)(text, self._width, INDENT)
        self._write("".join(f"{self._in_color(line, color)}\n" for line in lines))

    def _in_color(self, text: str, color: str) -> str:
        return f"\x1b[{color}m{text}\x1b[0m" if self._colored and color else text


def _log(suite: SuiteOutcome) -> list[str]:
    """Return the last lines of the log of a server that did not start; none if its problem says it all.

    A start that is tried again, in the other era, prints the same again.
    """
    lines = list(dict.fromkeys(clean_line(line, LINE_CHARS) for line in suite.stdout))[-LOG_LINES:]
    return [] if len(lines) == 1 and lines[0] in suite.problem else lines


def _era(outcome: Outcome) -> str:
    return f" [{outcome.era}]" if outcome.era else ""


def _words(state: State, number: int) -> str:
    return "errors" if state is State.ERROR and number != 1 else str(state)


def failure_lines(outcome: Outcome) -> Iterator[tuple[str, str]]:
    """Yield what there is to say about a case that did not pass as clean lines, each with its color."""
    first = outcome.mismatches[0] if outcome.mismatches else None
    is_contract = outcome.case is None
    is_share = outcome.cell is not None and outcome.cell.wanted > 1
    if outcome.problem and (
        is_share or is_contract or first is None or first.got is first.expected is ABSENT
    ):
        yield from ((line, "") for line in _indented(truncated(outcome.problem, 2_000)).split("\n"))
    most = CHANGES if is_contract else MISMATCHES
    for one in outcome.mismatches[:most]:
        if one is not first or one.got is not one.expected:
            yield from mismatch_lines(one)
    if (more := len(outcome.mismatches) - most) > 0:
        yield f"and {plural(more, 'more difference')}", ""
    for line in outcome.said:
        yield f"stderr: {clean_line(line, LINE_CHARS)}", ""
    if outcome.repeat:
        yield f"{REPEAT}{' '.join(clean(outcome.repeat).splitlines())}", ""


def mismatch_lines(one: Mismatch) -> Iterator[tuple[str, str]]:
    """Yield a difference as clean lines, each with its color: the path, and both values or a small diff."""
    head, _, kind = one.path.rpartition(".")
    if kind == "findings":
        where = f"{clean_line(head, 200)}: " if head else ""
        yield f"{where}finding {clean_line(str(one.got), 60)}: {clean_line(one.why, 400)}", ""
        yield f'  to accept it, add findings = ["{clean_line(str(one.got), 60)}"]', ""
        return
    why = f"  ({clean_line(one.why, 400)})" if one.why else ""
    yield f"{clean_line(one.path, 200)}{why}", ""
    if one.expected is ABSENT and one.got is ABSENT:
        return
    if _is_long(one.expected) or _is_long(one.got):
        if one.expected is not ABSENT and one.got is not ABSENT:
            yield "  - expected, + got", ""
            yield from _text_difference(*_around(_text(one.expected), _text(one.got)))
            return
    for mark, word, value, color in (("-", "expected", one.expected, "31"), ("+", "got", one.got, "32")):
        text = "(nothing)" if value is ABSENT else compact(value, VALUE_CHARS)
        yield f"  {mark} {word:8} {text}", color


def _is_long(value: Any) -> bool:
    if isinstance(value, str):
        return "\n" in value or len(value) > VALUE_CHARS
    return isinstance(value, dict | list) and len(compact(value, VALUE_CHARS + 1)) > VALUE_CHARS


def _text(value: Any) -> str:
    found = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2, default=str)
    return found[:MAX_TEXT]


def _indented(text: str) -> str:
    """Return a cleaned text whose further lines are indented: none can look like a line of ours."""
    return clean(text).replace("\r", "").replace("\n", "\n  ")


def _text_difference(before: str, after: str) -> Iterator[tuple[str, str]]:
    """Yield the lines of a small difference between two texts."""
    lines = [clean(text).split("\n") for text in (before, after)]
    found = list(unified_diff(lines[0], lines[1], n=1, lineterm=""))[2:]  # names of files
    for line in found[:LINES]:
        color = {"-": "31", "+": "32"}.get(line[0], "")
        shown = line if line.startswith("@@") else f"{line[0]} {line[1:]}"
        yield f"  {truncated(shown, LINE_CHARS)}", color
    if (more := len(found) - LINES) > 0:
        yield f"  and {plural(more, 'more line')}", ""


def _around(one: str, other: str) -> tuple[str, str]:
    """Return two texts, of single lines only the part from shortly before the place where they differ."""
    if "\n" in one or "\n" in other:
        return one, other
    start = max(0, equal_start(one, other) - LINE_CHARS // 4)
    mark = "…" if start else ""
    return mark + one[start:], mark + other[start:]
