"""A failure as lines of text: what is expected and what came side by side. Pure."""

from collections.abc import Iterator, Sequence
from difflib import unified_diff
from itertools import groupby, zip_longest

from tui.addons.tests.review.compared import ComparedLine, Part, differing
from tui.addons.tests.review.decisions import Change
from tui.addons.tests.review.failures import Failure
from tui.addons.tests.run.failure_text import PROBLEM_CHARS, Kind, indented
from tui.addons.tests.run.output import INDENT
from tui.addons.tests.run.terminal import Paint, wrapped, wrapped_command
from tui.addons.tests.suite.find import shown_path
from tui.core.text import cells_of, clean, clean_line, head_of, padded, truncated
from tui.core.units import plural

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
