"""Two values side by side, line by line: indented JSON, with only the differences highlighted. Pure."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Any

from tui.core.text import clean
from tui.core.comparison import RUN_TO_RUN, bare, is_known
from tui.ui.widgets.page import Lines
from tui.ui.widgets.rows import EMPTY, Row, pad, wrap

MOST_LINES = 4_000
"""Maximum lines of a value to show; comparing them takes quadratic time in the worst case."""

QUICK_LINES = 2_000
"""With more lines, frequent lines are not paired first."""

LINE_CHARS = 2_000
NESTED = 256 * 1024
"""Maximum characters of a text that is parsed as JSON: results often contain JSON as text."""

MAX_DEPTH = 40
AROUND = 3
"""Equal lines to show before and after a difference."""

_MEMBER = re.compile(r'\s*"((?:[^"\\]|\\.)*)": (.*?),?$')


def lines_of(value: Any) -> list[str]:
    """Return a JSON value as cleaned lines, at most `MOST_LINES`; multi-line texts stay so."""
    lines: list[str] = []
    for line in _lines(value, "", "", 0):
        if len(lines) >= MOST_LINES:
            return [*lines, "…"]
        lines.append(clean(line[:LINE_CHARS]).replace("\t", "    "))
    return lines


def _lines(value: Any, indent: str, lead: str, depth: int) -> Iterator[str]:
    start = f"{indent}{lead}"
    if isinstance(value, str):
        nested = _nested(value)
        if nested is not None and depth < MAX_DEPTH:
            yield f"{start}JSON as text:"
            yield from _lines(nested, f"{indent}  ", "", depth + 1)
        elif "\n" in value:
            yield f"{start}text:"
            yield from (f"{indent}  {line}" for line in value.split("\n"))
        else:
            yield start + json.dumps(value, ensure_ascii=False)
    elif isinstance(value, dict | list) and value and depth < MAX_DEPTH:
        is_object = isinstance(value, dict)
        yield start + ("{" if is_object else "[")
        members = value.items() if isinstance(value, dict) else (("", item) for item in value)
        for name, item in members:
            key = f"{json.dumps(str(name), ensure_ascii=False)}: " if is_object else ""
            yield from _lines(item, f"{indent}  ", key, depth + 1)
        yield indent + ("}" if is_object else "]")
    else:
        yield start + json.dumps(value, ensure_ascii=False)


def _nested(text: str) -> Any:
    if len(text) > NESTED or text[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


@dataclass(frozen=True, slots=True)
class LinePair:
    """Two lines next to each other, None for a missing one; `same` means that nothing is highlighted."""

    before: str | None
    after: str | None
    same: bool = False


def line_pairs(before: Sequence[str], after: Sequence[str], *, masked: bool) -> list[LinePair]:
    """Pair lines; with `masked`, lines that differ only in times, ids and durations count as equal."""
    old, new = ([_bare(line, masked) for line in lines] for lines in (before, after))
    matcher = SequenceMatcher(None, old, new, autojunk=len(old) + len(new) > QUICK_LINES)
    pairs: list[LinePair] = []
    for kind, i, i_end, j, j_end in matcher.get_opcodes():
        beside = zip_longest(before[i:i_end], after[j:j_end])
        pairs += [LinePair(*lines, kind == "equal") for lines in beside]
    return pairs


def _bare(line: str, masked: bool) -> str:
    if not masked:
        return line
    if found := _MEMBER.match(line):
        try:
            value = json.loads(found[2])
        except (ValueError, RecursionError):
            value = None
        # A value that, judging by its name, may differ between calls: an id, a time, a duration.
        other = value + 1 if isinstance(value, int | float) else "" if isinstance(value, str) else None
        if other is not None and is_known((found[1],), value, other, RUN_TO_RUN.kinds):
            return line[: found.start(2)]
    return bare(line, RUN_TO_RUN.kinds)


def parts_that_differ(before: str, after: str) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the differing part of two lines: start and end in each, without common prefix and suffix."""
    most = min(len(before), len(after))
    start = next((place for place in range(most) if before[place] != after[place]), most)
    end = 0
    while end < most - start and before[-1 - end] == after[-1 - end]:
        end += 1
    return (start, len(before) - end), (start, len(after) - end)


def side_by_side_rows(pairs: Sequence[LinePair], width: int) -> list[Row]:
    """Return the pairs as rows of a width; equal lines far from a difference are only counted."""
    cells = max(8, (width - 5) // 2)
    rows: list[Row] = []
    for at, stop in _stretches(pairs):
        if at < 0:
            count = f"{stop} equal line{'s' if stop != 1 else ''}"
            rows.append(((f"  {'┄' * 3} {count}", "rule"),))
            continue
        for pair in pairs[at:stop]:
            rows += _pair_rows(pair, cells)
    return rows


def _stretches(pairs: Sequence[LinePair]) -> Iterator[tuple[int, int]]:
    """Yield ranges to show, and (-1, number of lines) for omitted lines."""
    shown = bytearray(len(pairs))
    for place, pair in enumerate(pairs):
        if not pair.same:
            start, stop = max(0, place - AROUND), min(len(pairs), place + AROUND + 1)
            shown[start:stop] = b"\x01" * (stop - start)
    place = 0
    while place < len(pairs):
        stop = shown.find(b"\0" if shown[place] else b"\x01", place)
        stop = len(pairs) if stop < 0 else stop
        yield (place, stop) if shown[place] else (-1, stop - place)
        place = stop


def _pair_rows(pair: LinePair, cells: int) -> list[Row]:
    old, new = pair.before, pair.after
    sign, style = (" ", "") if pair.same else ("-", "bad") if new is None else ("+", "ok")
    if pair.same or old is None or new is None:
        left: Row = ((old or "", "dim" if pair.same else "bad"),)
        right: Row = ((new or "", "dim" if pair.same else "ok"),)
    else:
        sign, style = "~", "warn"
        mine, other = parts_that_differ(old, new)
        left, right = _marked(old, mine, "bad bold"), _marked(new, other, "ok bold")
    rows: list[Row] = []
    for one, two in zip_longest(wrap(left, cells), wrap(right, cells), fillvalue=EMPTY):
        lead = ((f"{sign} ", style),) if not rows else (("  ", ""),)
        rows.append((*lead, *pad(one, cells), (" │ ", "rule"), *two))
    return rows


def _marked(line: str, part: tuple[int, int], style: str) -> Row:
    start, end = part
    spans = ((line[:start], "text"), (line[start:end], style), (line[end:], "text"))
    return tuple(span for span in spans if span[0]) or EMPTY


class SideBySide(Lines):
    """A sheet with two values side by side, followed by `notes`."""

    def __init__(self, pairs: Sequence[LinePair], notes: Sequence[Row] = ()) -> None:
        super().__init__(())
        self._pairs, self._notes = pairs, notes

    def fit(self, width: int) -> None:
        self._rows = side_by_side_rows(self._pairs, max(20, width))
        self._rows += [EMPTY, *self._notes] if self._notes else []
