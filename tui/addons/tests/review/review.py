"""`mcptui test --review`: runs the cases, then asks on the terminal about each that failed."""

import argparse
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from difflib import unified_diff
from itertools import groupby, zip_longest

from tui.addons.tests.review.compared import ComparedLine, Part, differing
from tui.addons.tests.review.decisions import Change, Decision, Review, counted
from tui.addons.tests.review.failures import Failure, failures_of
from tui.addons.tests.review.files import texts_of, write
from tui.addons.tests.run.command import PASSED, TestRun
from tui.addons.tests.run.failure_text import PROBLEM_CHARS, Kind, indented
from tui.addons.tests.run.output import INDENT
from tui.addons.tests.run.plan import read_suites
from tui.addons.tests.run.terminal import Paint, wrapped, wrapped_command
from tui.addons.tests.suite.find import shown_path
from tui.commands.permission.terminal_approver import is_terminal, typed_answer, yes_or_no
from tui.commands.streams import colored
from tui.core.errors import McptuiError, UsageError
from tui.core.text import cells_of, clean, clean_line, head_of, padded, truncated
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
    TerminalReview(state, width, Paint(colored())).ask_all()
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
        words = [counted(one, count) for one in Decision if (count := review.count(one))]
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


AROUND = 2
"""Equal lines to show before and after a difference."""

MOST_LINES = 60
LINE_CHARS = 400
CONTEXT = 2
LEAST_CELLS = 20
NUMBER_CELLS = 5


def case_lines(failure: Failure, progress: str, width: int, paint: Paint) -> Iterator[str]:
    """Yield the heading of a failure, what differs, and what else is known, in lines of a width."""
    outcome = failure.outcome
    place = f"{shown_path(failure.path)}:{outcome.line}"
    head = f"{paint(progress, 'warn')}   {paint(clean_line(failure.name, 200), 'bold')}"
    if cells_of(f"{progress}   {clean_line(failure.name, 200)}   {place}") <= width:
        yield f"{head}   {paint(place, 'dim')}"
    else:
        yield from (head, f"  {paint(place, 'dim')}")
    problem = "Nothing is expected yet." if failure.is_new else outcome.problem
    for line in indented(truncated(problem, PROBLEM_CHARS)).split("\n") if problem else ():
        yield from (paint(one, "bad") for one in wrapped(f"  {line}", width, INDENT))
    yield from side_by_side(failure.lines, width, paint)
    for text, kind in failure.other_lines():
        yield from (wrapped_command if kind is Kind.REPEAT else wrapped)(f"  {text}", width, INDENT)


def parts_of(failure: Failure) -> list[Part]:
    """Return the parts that differ, in order; their numbers are shown beside their first lines."""
    return [part for part in differing(failure.lines) if part.steps]


def side_by_side(lines: Sequence[ComparedLine], width: int, paint: Paint) -> Iterator[str]:
    """Yield the lines in two columns, with a number for each part that differs."""
    if not lines:
        return
    cells = max(LEAST_CELLS, (width - NUMBER_CELLS - 7) // 2)
    parts = dict.fromkeys(line.part for line in lines if not line.pair.same and line.part.steps)
    heading = "got, [1] is the number for m" if len(parts) > 1 else "got"
    yield f"    {paint(padded('expected', cells), 'dim')} │ {paint(heading, 'dim')}"
    numbers: dict[Part, int] = {}
    shown = _near_differences(lines)
    count = 0
    for is_shown, group in groupby(range(len(lines)), key=lambda at: at in shown):
        places = list(group)
        if not is_shown:
            yield paint(f"    … {plural(len(places), 'equal line')}", "dim")
            continue
        for at in places:
            yield from _rows(lines[at], numbers, cells, paint)
            count += 1
            if count >= MOST_LINES:
                yield paint("    … more lines", "dim")
                return


def _near_differences(lines: Sequence[ComparedLine]) -> set[int]:
    differing = [at for at, line in enumerate(lines) if not line.pair.same]
    return {near for at in differing for near in range(at - AROUND, at + AROUND + 1)}


def _rows(line: ComparedLine, numbers: dict[Part, int], cells: int, paint: Paint) -> Iterator[str]:
    before, after, is_same = line.pair.before, line.pair.after, line.pair.same
    mark, number = " ", ""
    if not is_same:
        mark = "~" if before is not None and after is not None else "-" if after is None else "+"
        if line.part.steps and line.part not in numbers:
            numbers[line.part] = len(numbers) + 1
            number = f"[{numbers[line.part]}]"
    left, right = _folded(before or "", cells), _folded(after or "", cells)
    for first, (one, other) in enumerate(zip_longest(left, right, fillvalue="")):
        sign = mark if not first else " "
        old = paint(padded(one, cells), "dim" if is_same else "bad")
        new = paint(padded(other, cells) if number else other, "dim" if is_same else "ok")
        yield f"  {paint(sign, 'warn')} {old} │ {new}{f' {number}' if number and not first else ''}".rstrip()


def _folded(text: str, cells: int) -> list[str]:
    found: list[str] = []
    while cells_of(text) > cells:
        head = head_of(text, cells) or text[:1]
        found.append(head)
        text = text[len(head) :]
    return [*found, text]


def change_lines(change: Change, paint: Paint) -> Iterator[str]:
    """Yield what a change writes, as a difference between the lines of the file."""
    before, after = change.before.splitlines(), change.after.splitlines()
    for line in list(unified_diff(before, after, n=CONTEXT, lineterm=""))[2:]:
        style = {"-": "bad", "+": "ok", "@": "dim"}.get(line[:1], "dim")
        yield f"  {paint(clean(line[:LINE_CHARS]).expandtabs(4), style)}"
