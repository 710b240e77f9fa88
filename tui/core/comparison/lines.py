"""Two values as lines that are compared with each other: indented JSON, and texts line by line. Pure."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Any, NamedTuple

from tui.core.comparison.placeholders import NOTHING, Kinds, generalized, generalized_text
from tui.core.text import clean

MOST_LINES = 4_000
"""Maximum lines of a value to show; comparing them takes quadratic time in the worst case."""

QUICK_LINES = 2_000
"""With more lines, frequent lines are not paired first."""

LINE_CHARS = 2_000
NESTED = 256 * 1024
"""Maximum characters of a text that is parsed as JSON: results often contain JSON as text."""

MAX_DEPTH = 40


class Line(NamedTuple):
    """A cleaned line of a value; lines with the same `key` count as equal."""

    text: str
    key: str


def lines_of(value: Any, kinds: Kinds = NOTHING) -> list[Line]:
    """Return a JSON value as lines, at most `MOST_LINES`; multi-line texts stay so.

    Lines that differ only in values of these kinds count as equal.
    """
    lines: list[Line] = []
    for text, key in _lines(value, "", "", "", kinds, 0):
        if len(lines) >= MOST_LINES:
            return [*lines, Line("…", "…")]
        lines.append(Line(clean(text[:LINE_CHARS]).replace("\t", "    "), key[:LINE_CHARS]))
    return lines


def _lines(value: Any, indent: str, lead: str, name: str, kinds: Kinds, depth: int) -> Iterator[Line]:
    start = f"{indent}{lead}"
    is_text = isinstance(value, str)
    nested = _nested(value) if is_text else None
    if nested is not None and depth < MAX_DEPTH:
        yield _same(f"{start}JSON as text:")
        yield from _lines(nested, f"{indent}  ", "", "", kinds, depth + 1)
    elif is_text and "\n" in value:
        yield _same(f"{start}text:")
        for line in value.split("\n"):
            yield Line(f"{indent}  {line}", f"{indent}  {generalized_text(line, kinds)}")
    elif isinstance(value, dict | list) and value and depth < MAX_DEPTH:
        is_object = isinstance(value, dict)
        yield _same(start + ("{" if is_object else "["))
        members = value.items() if isinstance(value, dict) else ((name, item) for item in value)
        for member, item in members:
            key = f"{json.dumps(str(member), ensure_ascii=False)}: " if is_object else ""
            yield from _lines(item, f"{indent}  ", key, str(member), kinds, depth + 1)
        yield _same(indent + ("}" if is_object else "]"))
    else:
        key = generalized(name, value, kinds)
        yield Line(*(start + json.dumps(one, ensure_ascii=False) for one in (value, key)))


def _same(text: str) -> Line:
    return Line(text, text)


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


def line_pairs(before: Sequence[Line], after: Sequence[Line]) -> list[LinePair]:
    """Pair the lines of two values."""
    old, new = ([line.key for line in lines] for lines in (before, after))
    matcher = SequenceMatcher(None, old, new, autojunk=len(old) + len(new) > QUICK_LINES)
    pairs: list[LinePair] = []
    for kind, i, i_end, j, j_end in matcher.get_opcodes():
        for one, other in zip_longest(before[i:i_end], after[j:j_end]):
            left, right = (line.text if line is not None else None for line in (one, other))
            pairs.append(LinePair(left, right, kind == "equal"))
    return pairs
