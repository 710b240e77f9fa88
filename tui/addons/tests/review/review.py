"""`mcptui test --review`: runs the cases, then asks on the terminal about each that failed."""

import argparse
import os
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import replace

from tui.addons.tests.review.decisions import Change, Decision, Review, decision_words
from tui.addons.tests.review.failures import failures_of
from tui.addons.tests.review.files import texts_of, write
from tui.addons.tests.review.terminal_text import case_lines, change_lines, parts_of
from tui.addons.tests.run.command import PASSED, TestRun
from tui.addons.tests.run.plan import read_suites
from tui.addons.tests.run.terminal import Paint, colored_for
from tui.commands.permission.terminal_approver import is_terminal, typed_answer, yes_or_no
from tui.core.errors import McptuiError, UsageError
from tui.core.text import clean, clean_line
from tui.core.units import plural

MOST_COLUMNS = 160
FAILED = 1
ASK = "a accept, m this part varies, x keep failing, n next, u undo, q quit: "
ASK_NEW = "a accept the result, x keep it empty, n next, u undo, q quit: "
ASK_OTHER = "x keep failing, n next, u undo, q quit: "


def review(args: argparse.Namespace) -> int:
    """Run the command and return its exit code: 0 if nothing fails any more."""
    if not is_terminal():
        raise UsageError(
            "--review asks about each case, and there is no terminal to ask on.",
            next_step="Use it in a terminal, or without --review for a run.",
        )
    if args.json:
        raise UsageError("--review cannot be combined with --json.")
    at = time.time()
    run = TestRun(args, read_suites(args.words))
    run.options = replace(run.options, run_empty=True)
    run.require_cases()
    code = run.run()
    failures = failures_of(run.outcome, at)
    if run.outcome.interrupted or not failures:
        return code
    state = Review.of(failures, texts_of({one.path for one in failures}))
    width = min(MOST_COLUMNS, shutil.get_terminal_size((100, 24)).columns - 1)
    TerminalReview(state, width, Paint(colored_for(sys.stdout, os.environ))).ask_all()
    is_settled = not any(one.differs for one in state.failures)
    return PASSED if is_settled and code == FAILED else code


class TerminalReview:
    """Asks about one failure after the other."""

    def __init__(self, review: Review, width: int, paint: Paint) -> None:
        self._review = review
        self._width = width
        self._paint = paint

    def ask_all(self) -> None:
        """Ask until each has a decision, or the user quits, and say what was decided."""
        is_open = self._review.to_open()
        while is_open and self._ask():
            is_open = self._review.open > 0
        review = self._review
        words = [f"{count} {decision_words(one, count)}" for one in Decision if (count := review.count(one))]
        words += [f"{review.open} without a decision"] if review.open else []
        print(f"\nReviewed: {', '.join(words)}.")

    def _ask(self) -> bool:
        """Show the current failure and carry out one answer; return False to quit."""
        failure = self._review.current
        if failure is None:
            return False
        print()
        for line in case_lines(failure, self._review.progress, self._width, self._paint):
            print(line)
        question = ASK_OTHER if failure.why_not_accepted else ASK_NEW if failure.is_new else ASK
        answer = typed_answer(f"\n{question}")
        word, _, number = (answer or "").strip().partition(" ")
        if answer is None or word == "q":
            return False
        match word:
            case "a":
                self._make(self._review.accept, failure.why_not_accepted)
            case "m":
                self._vary(number.strip())
            case "x":
                self._review.skip()
            case "n":
                self._review.step()
            case "u":
                self._undo()
            case _:
                print("Type one of these letters, and enter.")
        return True

    def _vary(self, number: str) -> None:
        failure = self._review.current
        if failure is None or failure.why_not_accepted or failure.is_new:
            print(failure.why_not_accepted or "Accept the result first." if failure is not None else "")
            return
        if not (parts := parts_of(failure)):
            print("No value differs.")
            return
        if not number:
            several = len(parts) > 1
            number = (typed_answer(f"Which difference, 1 to {len(parts)}: ") or "") if several else "1"
        place = int(number) if number.isdecimal() and len(number) < 6 else 0
        if not 0 < place <= len(parts):
            print(f"There are {plural(len(parts), 'difference')}. Type m and a number.")
            return
        part = parts[place - 1]
        self._make(lambda: self._review.vary(part), failure.why_not_varied(part))

    def _make(self, make: Callable[[], Change | None], why_not: str) -> None:
        """Write a change, some after a yes, or say why that is impossible."""
        if why_not:
            print(why_not)
            return
        try:
            if (change := make()) is None or (change.is_shown and not self._is_wanted(change)):
                return
            write(change.path, change.before, change.after)
        except McptuiError as error:
            print(f"! {clean(str(error))}")
            return
        self._review.made(change)
        print(f"Wrote {clean_line(change.path.name, 200)}.")

    def _is_wanted(self, change: Change) -> bool:
        for line in change_lines(change, self._paint):
            print(line)
        return bool(yes_or_no(typed_answer("Write this? y yes, n no: ") or ""))

    def _undo(self) -> None:
        change = self._review.undo()
        if change is None:
            print("Nothing to undo.")
            return
        try:
            write(change.path, change.before, change.after)
        except McptuiError as error:
            print(f"! {clean(str(error))}")
        else:
            self._review.undone()
            print(f"Undone in {clean_line(change.path.name, 200)}.")
