"""Expectations from several observed values: what differs becomes a placeholder of its type. Pure.

Texts are compared word by word, JSON values leaf by leaf. The longest texts are only compared at both ends.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any

from tui.core.comparison.placeholders import (
    Part,
    Pattern,
    Placeholder,
    escaped,
    escaped_value,
    fits,
    fits_text,
    is_moment,
    parts_of,
    same,
    written,
)
from tui.core.comparison.text_parts import ID, NUMBER, TIME
from tui.core.text import equal_start

MOST_WORDS = 1_500
"""Of longer texts, only equal words at the start and the end are kept: aligning takes quadratic time."""

LONGEST = 1024 * 1024
"""Longer texts are not split into words."""

MOST_BACK = 20
"""Maximum words by which a part that only one text has is moved to a line break."""

MAX_DEPTH = 100
_ANY = f"<{Placeholder.ANY}>"
_TEXT = f"<{Placeholder.TEXT}>"

_UNIT = r"(?:ns|us|µs|ms|s|m|h|d|[kKMGT]?i?B|px|km|kg|C|F|x)\b"
_WORD = re.compile(
    rf"(?<!\w){TIME.regex}(?!\w)"
    rf"|(?<![\w.]){NUMBER.regex}(?=[.,]?(?!\w)|{_UNIT})"
    r"|\w(?:[\w.+~-]*\w)?(?:={1,2}(?!\w))?|\s+|.",
    re.DOTALL,
)
_TYPES = (
    (Placeholder.NUMBER, re.compile(NUMBER.regex)),
    (Placeholder.TIME, re.compile(TIME.regex)),
    (Placeholder.ID, re.compile(ID.regex)),
)

_Opcode = tuple[str, int, int, int, int]
_Choice = Callable[[Sequence[Part], str], Sequence[Part]]
"""Returns what replaces parts of an expectation that other words are observed in place of."""


def varied_text(texts: Sequence[str]) -> str:
    """Return an expectation that fits all observed texts of a result."""
    expected = escaped(texts[0])
    for text in texts[1:]:
        expected = widened_text(expected, text)
    return expected if all(fits_text(expected, text) for text in texts) else _TEXT


def widened(expected: Any, value: Any, name: str = "", depth: int = 0) -> Any:
    """Return an expectation that also fits this JSON value. Members that it lacks are no longer expected.

    `name` is that of the member that it is.
    """
    if depth > MAX_DEPTH:
        return expected if same(expected, value) else _ANY
    if isinstance(expected, dict) and isinstance(value, dict):
        return {
            key: widened(member, value[key], key, depth + 1)
            for key, member in expected.items()
            if key in value
        }
    if isinstance(expected, list) and isinstance(value, list):
        if len(expected) != len(value):
            return _ANY
        pairs = zip(expected, value, strict=True)
        return [widened(one, other, name, depth + 1) for one, other in pairs]
    if isinstance(expected, str):
        if fits(expected, value):
            return expected
        return _widened_string(expected, value) if isinstance(value, str) else _ANY
    if same(expected, value):
        return expected
    if not _is_number(expected) or not _is_number(value):
        return _ANY
    are_times = is_moment(name, expected) and is_moment(name, value)
    return f"<{Placeholder.TIME if are_times else Placeholder.NUMBER}>"


def _widened_string(expected: str, value: str) -> str:
    found = widened_text(expected, value)
    if found != f"<{Placeholder.NUMBER}>":
        return found if fits(found, value) else _TEXT
    # Alone, it fits numbers only.
    return f"<{Placeholder.ID}>" if re.fullmatch(ID.regex, value) else _TEXT


def widened_text(expected: str, text: str) -> str:
    """Return an expectation that also fits this text of a result."""
    if fits_text(expected, text):
        return expected
    if len(text) > LONGEST:
        return _TEXT
    found = written(_merged(_aligned(expected, text, _placeholder_for)))
    return found if fits_text(found, text) else _TEXT


def renewed(expected: Any, value: Any, depth: int = 0) -> Any:
    """Return an expectation that fits a JSON value, and keeps the placeholders that fit it.

    Other members of an object are still not expected, unless an expected one is missing: it may have been
    renamed, so they take its place.
    """
    if depth > MAX_DEPTH:
        return escaped_value(value)
    if isinstance(expected, dict) and isinstance(value, dict):
        new = {key: escaped_value(member) for key, member in value.items() if key not in expected}
        found = dict[str, Any]()
        for key, member in expected.items():
            found |= {key: renewed(member, value[key], depth + 1)} if key in value else new
        return found
    if isinstance(expected, list) and isinstance(value, list):
        kept = [renewed(one, other, depth + 1) for one, other in zip(expected, value, strict=False)]
        return [*kept, *map(escaped_value, value[len(kept) :])]
    if isinstance(expected, str):
        if fits(expected, value):
            return expected
        if isinstance(value, str):
            text = renewed_text(expected, value)
            return text if fits(text, value) else escaped(value)
    return expected if same(expected, value) and not isinstance(expected, str) else escaped_value(value)


def renewed_text(expected: str, text: str) -> str:
    """Return an expectation that fits a text of a result, and keeps the placeholders that fit it."""
    if fits_text(expected, text):
        return expected
    if len(text) > LONGEST:
        return escaped(text)
    found = written(_aligned(expected, text, lambda _, words: [words]))
    return found if fits_text(found, text) else escaped(text)


def _aligned(expected: str, text: str, choose: _Choice) -> list[Part]:
    """Return the parts of an expectation, with others where the words of a text differ."""
    old = [word for part in parts_of(expected) for word in _words_of(part)]
    new = _WORD.findall(text)
    found: list[Part] = []
    for tag, first, last, start, stop in _opcodes(old, new):
        parts, words = old[first:last], "".join(new[start:stop])
        if tag == "equal" or (parts and fits_text(written(parts), words)):
            found += parts
        else:
            found += choose(parts, words)
    return found


def _words_of(part: Part) -> Sequence[Part]:
    return _WORD.findall(part) if type(part) is str else (part,)


def _opcodes(old: Sequence[Part], new: Sequence[str]) -> Sequence[_Opcode]:
    # A placeholder is equal to no word.
    keys = [word if type(word) is str else (number, word) for number, word in enumerate(old)]
    found = list(_differing(keys, new))
    for at in range(1, len(found) - 1):
        (_, *before), (tag, a, b, c, d), (_, *after) = found[at - 1 : at + 2]
        if tag in ("insert", "delete"):
            added: tuple[Sequence[object], int, int] = (new, c, d) if tag == "insert" else (keys, a, b)
            back = _to_line_break(*added, before[1] - before[0])
            found[at - 1 : at + 2] = [
                ("equal", before[0], before[1] - back, before[2], before[3] - back),
                (tag, a - back, b - back, c - back, d - back),
                ("equal", after[0] - back, after[1], after[2] - back, after[3]),
            ]
    return found


def _to_line_break(words: Sequence[object], first: int, last: int, most: int) -> int:
    """Return by how many words an added part moves back, so that it begins at a line break, or 0."""
    for back in range(min(most, MOST_BACK) + 1):
        if back and words[first - back] != words[last - back]:
            break
        if str(words[first - back]).startswith("\n"):
            return back
    return 0


def _differing(keys: Sequence[object], new: Sequence[str]) -> Iterator[_Opcode]:
    start = equal_start(keys, new)
    end = equal_start(keys[start:][::-1], new[start:][::-1])
    left, right = keys[start : len(keys) - end], new[start : len(new) - end]
    yield "equal", 0, start, 0, start
    if max(len(left), len(right)) > MOST_WORDS:
        yield "replace", start, start + len(left), start, start + len(right)
    elif (
        len(left) == len(right)
        and 2 * sum(map(lambda one, other: one != other, left, right)) <= len(left) + 4
    ):
        for at, (one, other) in enumerate(zip(left, right, strict=True), start):
            yield "equal" if one == other else "replace", at, at + 1, at, at + 1
    else:
        for tag, *places in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
            a, b, c, d = (start + place for place in places)
            yield tag, a, b, c, d
    yield "equal", len(keys) - end, len(keys), len(new) - end, len(new)


def _placeholder_for(parts: Sequence[Part], words: str) -> Sequence[Part]:
    if not parts:
        return (Placeholder.TEXT,)
    if len(parts) == 1 and isinstance(parts[0], Placeholder):
        before = parts[0]
        is_id = before in (Placeholder.ID, Placeholder.NUMBER) and re.fullmatch(ID.regex, words)
        return (Placeholder.ID if is_id else Placeholder.TEXT,)
    if any(isinstance(part, Placeholder | Pattern) for part in parts):
        return (Placeholder.TEXT,)
    both = ("".join(map(str, parts)), words)
    for kind, pattern in _TYPES:
        if all(map(pattern.fullmatch, both)):
            if kind is not Placeholder.ID or any(map(str.isdigit, "".join(both))):
                return (kind,)
    return (Placeholder.TEXT,)


def _merged(parts: Sequence[Part]) -> list[Part]:
    """Return parts with one `<text>` for those that only blanks separate, and none directly after a "<"."""
    found: list[Part] = []
    for part in parts:
        while isinstance(part, Placeholder) and found and found[-1] == "<":
            found.pop()
            part = Placeholder.TEXT
        if part is Placeholder.TEXT and found:
            if found[-1] is part:
                continue
            if len(found) > 1 and found[-2] is part and type(found[-1]) is str and found[-1].isspace():
                found.pop()
                continue
        found.append(part)
    return found


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
