"""The output of `mcptui test` on the terminal: a line a case while it runs, each failure, and a summary.

Everything from servers and files is cleaned. Colors only on a terminal, and not with NO_COLOR.
"""

import shlex
from collections.abc import Callable

from tui.addons.tests.run.failure_text import (
    NAME_CHARS,
    Kind,
    failure_lines,
    faults_of,
    indented,
    start_faults,
)
from tui.addons.tests.run.outcome import Outcome, RunOutcome, State, SuiteOutcome
from tui.addons.tests.run.reporter import Reporter, RunStart
from tui.addons.tests.run.terminal import Paint, wrapped, wrapped_command
from tui.addons.tests.suite.case import Suite
from tui.addons.tests.suite.find import shown_path
from tui.addons.tests.turns.table import text_table
from tui.commands.recordings import recordings
from tui.core.text import clean_line, cropped, padded
from tui.core.units import duration, plural
from tui.traffic.explain.crash import last_words

NOTES, LOG_CHARS = 20, 160
STATE_CELLS, TIME_CELLS = 7, 10

_STYLES = {State.PASSED: "ok", State.FAILED: "bad bold", State.ERROR: "bad bold", State.SKIPPED: "warn"}
_OF_LINES = {Kind.EXPECTED: "bad", Kind.GOT: "ok"}
MIN_WIDTH = 40
INDENT = "    "
"""How a line begins that continues the one before."""

NOT_RUN = "not run: "
"""How the problem of a case begins that was not run because the run ended early."""


class TerminalReport(Reporter):
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
        self._paint = Paint(colored)
        self._width = max(MIN_WIDTH, width) - 1  # a terminal may break a full line
        self._is_terminal = is_terminal

    def began(self, run: RunStart) -> None:
        for suite in run.suites:
            for warning in suite.warnings:
                self._line(f"warning: {clean_line(warning, 600)}", "warn")

    def case_ended(self, suite: Suite, outcome: Outcome) -> None:
        name = f"{shown_path(suite.path)}::{clean_line(outcome.name, NAME_CHARS)}{_era(outcome)}"
        time = "" if outcome.ms is None else duration(outcome.ms)
        word = self._paint(outcome.state.upper(), _STYLES[outcome.state])
        room = self._width - STATE_CELLS - TIME_CELLS - 1
        name = padded(cropped(name, room) if self._is_terminal else name, room)
        time = time.rjust(STATE_CELLS + TIME_CELLS - len(outcome.state))
        self._write(f"{name} {word}{time}".rstrip() + "\n")

    def suite_ended(self, outcome: SuiteOutcome) -> None:
        if outcome.problem and not outcome.outcomes:
            self._write(f"{shown_path(outcome.path)} {self._paint('ERROR', _STYLES[State.ERROR])}\n")

    def ended(self, run: RunOutcome) -> None:
        bad = [(suite, one) for suite in run.suites for one in suite.outcomes if one.state.is_bad]
        broken = [suite for suite in run.suites if suite.problem]
        if broken:
            self._write("\n")
        for suite in broken:
            named = suite.problem.startswith(clean_line(str(suite.path), 400))
            head = "" if named else f"{shown_path(suite.path)}: "
            self._line(f"{head}{indented(suite.problem)}", "bad")
            if suite.not_started and not any(one.said for one in suite.outcomes):
                for line in _log(suite):
                    self._line(f"  log: {line}")
        for suite, outcome in bad:
            self._failure(suite, outcome)
        self._notes(run)
        self._turns(run)
        self._faults(run)
        self._summary(run)

    # ---- parts ---------------------------------------------------------------------------------------

    def _failure(self, suite: SuiteOutcome, outcome: Outcome) -> None:
        head = f"{clean_line(outcome.name, 400)}{_era(outcome)}"
        place = f"{shown_path(suite.path)}:{outcome.line}"
        if outcome.state is State.ERROR and suite.problem and outcome.problem == suite.problem:
            return  # that is written once for the file
        self._write("\n")
        self._line(f"{outcome.state.upper()}  {head}  ({place})", _STYLES[outcome.state])
        for line, kind in failure_lines(outcome):
            if kind.is_value:
                self._write(f"{self._paint(f'  {line}', _OF_LINES.get(kind, ''))}\n")
            elif kind is not Kind.NOTE:  # those of all cases follow
                self._line(f"  {line}", is_command=kind is Kind.REPEAT)

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
            self._line(f"{plural(number, 'case')} {clean_line(why, 400)}", "warn")
        for text in list(told)[:NOTES]:
            self._line(text, "warn")
        if (more := len(told) - NOTES) > 0:
            self._line(f"and {plural(more, 'more note')}", "warn")

    def _turns(self, run: RunOutcome) -> None:
        lines = text_table(run, self._width if self._is_terminal else 0)
        self._write("\n" if lines else "")
        for line in lines:
            self._line(line)

    def _faults(self, run: RunOutcome) -> None:
        """Write which cases survived the faults that were injected into them."""
        outside = [*start_faults(run.suites)]
        if not (struck := run.struck) and not outside and "faults" not in run.extra:
            return
        self._write("\n")
        if not struck and not outside:
            self._line("no faults injected: no message matched, or draw others with seed=N", "warn")
            return
        for line in outside:
            self._line(line, "warn")
        if not struck:
            return
        for suite, one in struck:
            survived = one.state is State.PASSED
            name = f"{shown_path(suite.path)}:{one.line} {clean_line(one.name, NAME_CHARS)}{_era(one)}"
            word = "survived" if survived else "broken  "
            self._line(f"{word}  {name}: {faults_of(one)}", "" if survived else "bad")
        number = sum(one.state is State.PASSED for _, one in struck)
        judged = sum(not one.fails_anyway for _, one in struck)
        self._line(f"{number} of {plural(judged, 'case')} with faults survived")

    def _summary(self, run: RunOutcome) -> None:
        counts = [(state, run.count(state)) for state in State]
        words = [f"{number} {_words(state, number)}" for state, number in counts if number]
        broken = sum(bool(suite.problem) and not suite.outcomes for suite in run.suites)
        words += [f"{plural(broken, 'file')} not run"] if broken else []
        worst = next(
            (state for state in (State.FAILED, State.ERROR, State.PASSED) if run.count(state)), State.SKIPPED
        )
        style = _STYLES[State.ERROR if broken else worst]
        text = f"{', '.join(words) or 'no cases'} in {duration(run.seconds * 1000)}"
        self._write("\n")
        self._line(f"interrupted: {text}" if run.interrupted else text, style)
        if run.recording is not None and (run.count(State.FAILED) or run.count(State.ERROR)):
            path = run.recording
            is_known = path.parent == recordings().folder
            name = path.name if is_known else str(path)
            self._line(f"messages: mcptui traffic {clean_line(shlex.quote(name), 4096)}", is_command=True)

    def _line(self, text: str, style: str = "", *, is_command: bool = False) -> None:
        lines = [text]
        if self._is_terminal:
            lines = (wrapped_command if is_command else wrapped)(text, self._width, INDENT)
        self._write("".join(f"{self._paint(line, style)}\n" for line in lines))


def _log(suite: SuiteOutcome) -> list[str]:
    """Return what a server that did not start printed last; nothing if its problem says it all.

    A start that is tried again, in the other era, prints the same again.
    """
    lines = list(dict.fromkeys(clean_line(line, LOG_CHARS) for line in last_words(suite.stdout)))
    return [] if len(lines) == 1 and lines[0] in suite.problem else lines


def _era(outcome: Outcome) -> str:
    return f" [{outcome.era}]" if outcome.era else ""


def _words(state: State, number: int) -> str:
    return "errors" if state is State.ERROR and number != 1 else str(state)
