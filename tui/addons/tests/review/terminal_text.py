"""A failure as lines of text: what is expected and what came side by side. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from itertools import groupby, zip_longest

from tui.addons.tests.review.compared import ComparedLine, Part
from tui.addons.tests.review.decisions import Change
from tui.addons.tests.review.failures import Failure
from tui.addons.tests.suite.find import shown_path
from tui.core.text import cells_of, clean, clean_line, head_of, padded
from tui.core.units import plural

AROUND = 2
"""Equal lines to show before and after a difference."""

MOST_LINES = 60
LINE_CHARS = 400
CONTEXT = 2
LEAST_CELLS = 20
NUMBER_CELLS = 5

_CODES = {"dim": "2", "bold": "1", "bad": "31", "ok": "32", "warn": "33"}


@dataclass(frozen=True, slots=True)
class Paint:
    """Colors texts, if the terminal shows colors."""

    colored: bool

    def __call__(self, text: str, style: str) -> str:
        return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if self.colored and text.strip() else text


def case_lines(failure: Failure, progress: str, width: int, paint: Paint) -> Iterator[str]:
    """Yield the heading of a failure, what differs, and its last words."""
    outcome = failure.outcome
    place = f"{shown_path(failure.path)}:{outcome.line}"
    name = clean_line(failure.name, 200)
    yield "   ".join((paint(progress, "warn"), paint(name, "bold"), paint(place, "dim")))
    problem = "Nothing is expected yet." if failure.is_new else outcome.problem
    if problem:
        yield from (f"  {paint(line, 'bad')}" for line in clean(problem)[:2_000].splitlines())
    yield from side_by_side(failure.lines, width, paint)
    for one in outcome.mismatches:
        if one.path.rpartition(".")[2] in ("findings", "within"):
            yield f"  {clean_line(one.path, 80)}: {clean_line(str(one.got), 80)}  {clean_line(one.why, 300)}"
    yield from (f"  stderr: {clean_line(line, 200)}" for line in outcome.said)
    if outcome.repeat:
        yield f"  repeat: {clean_line(outcome.repeat, 400)}"


def parts_of(failure: Failure) -> list[Part]:
    """Return the parts that differ, in order; their numbers are shown beside their first lines."""
    return list(dict.fromkeys(line.part for line in failure.lines if not line.pair.same and line.part.steps))


def side_by_side(lines: Sequence[ComparedLine], width: int, paint: Paint) -> Iterator[str]:
    """Yield the lines in two columns, with a number for each part that differs."""
    if not lines:
        return
    cells = max(LEAST_CELLS, (width - NUMBER_CELLS - 7) // 2)
    parts = dict.fromkeys(line.part for line in lines if not line.pair.same and line.part.steps)
    heading = "got, with the number of each difference for m" if len(parts) > 1 else "got"
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
    left, right = _wrapped(before or "", cells), _wrapped(after or "", cells)
    for first, (one, other) in enumerate(zip_longest(left, right, fillvalue="")):
        sign = mark if not first else " "
        old = paint(padded(one, cells), "dim" if is_same else "bad")
        new = paint(padded(other, cells) if number else other, "dim" if is_same else "ok")
        yield f"  {paint(sign, 'warn')} {old} │ {new}{f' {number}' if number and not first else ''}".rstrip()


def _wrapped(text: str, cells: int) -> list[str]:
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
