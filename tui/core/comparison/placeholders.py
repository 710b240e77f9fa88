"""Equality of JSON values, and placeholders for parts that vary. Pure, linear in the text.

A text of an expectation may contain `<text>`, `<number>`, `<time>`, `<id>`, `<any>` and `<re:PATTERN>`, and
no others. One more `<` makes them literal: `<<id>` is the text `<id>`. A pattern ends at the `>` that closes
it: those in `[…]`, after a backslash and with a `<` of their own belong to the pattern.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from functools import lru_cache
from itertools import groupby, islice
from typing import Any

from tui.core.comparison.text_parts import GAP, ID, NUMBER, TIME, Gap, TextPart, fits_whole
from tui.core.errors import reason_of
from tui.core.search.regex import MAX_PATTERN, found_in, search_of


def same(one: Any, other: Any) -> bool:
    """Return whether two JSON values of any depth are equal; true is not 1, but 1 is 1.0."""
    pairs = [(one, other)]
    while pairs:
        one, other = pairs.pop()
        if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
            pairs += [(value, other[key]) for key, value in one.items()]
        elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
            pairs += zip(one, other, strict=True)
        elif isinstance(one, dict | list | bool) or isinstance(other, dict | list | bool):
            if one is not other:
                return False
        elif one != other:
            return False
    return True


LONG_TEXT = 64 * 1024
"""Texts longer than this are only compared for equality."""


class Placeholder(StrEnum):
    """A kind of value that varies. UUIDs and durations are only found, and not written in expectations."""

    TIME = "time"
    UUID = "uuid"
    ID = "id"
    DURATION = "duration"
    NUMBER = "number"
    TEXT = "text"
    ANY = "any"


_DATE_TIME = r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?\s?(?:Z|[+-]\d{2}:?\d{2})?)?"
_CLOCK = r"\d{1,2}:\d{2}:\d{2}(?:[.,]\d{1,9})?"
_UNITS = "ns|us|µs|ms|s|sec|secs|seconds?|min|minutes?|milliseconds?"
_FOUND_IN_TEXT = {
    Placeholder.UUID: re.compile(r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b"),
    Placeholder.TIME: re.compile(rf"\b{_DATE_TIME}|\b{_CLOCK}\b"),
    Placeholder.DURATION: re.compile(rf"\b\d+(?:\.\d+)?\s?(?:{_UNITS})\b"),
}

_ID_KEYS = frozenset(
    {"id", "token", "cursor", "nextcursor", "requeststate", "etag", "nonce", "traceparent", "progresstoken"}
)
_ID_ENDINGS = ("Id", "ID", "_id", "-id", "Token", "_token")
_TIME_KEYS = re.compile(r"(?:^|_)(?:time|timestamp|date|now|at)$|(?:Time|Timestamp|Date|At)$|^lastModified$")
_DURATION_KEYS = re.compile(
    r"(?:^|_)(?:ms|duration|elapsed|latency|seconds|took|uptime|ttl)$"
    r"|(?:Ms|Millis|Duration|Elapsed|Latency|Seconds|Uptime)$"
)
_FIRST_TIME = 1e8
"""Smaller numbers are no seconds or milliseconds since 1970."""

Kinds = frozenset[Placeholder]
NOTHING: Kinds = frozenset()
RUN_TO_RUN: Kinds = frozenset({Placeholder.TIME, Placeholder.UUID, Placeholder.ID, Placeholder.DURATION})
"""What changes from run to run."""


def generalized(name: str, value: Any, kinds: Kinds) -> Any:
    """Return a scalar with placeholders in place of the parts of these kinds.

    The name of the member tells whether a bare number is an id, time or duration.
    """
    if isinstance(value, bool) or not isinstance(value, str | int | float) or not kinds:
        return value
    if Placeholder.ID in kinds and (name.lower() in _ID_KEYS or name.endswith(_ID_ENDINGS)):
        return f"<{Placeholder.ID}>"
    if isinstance(value, str):
        return generalized_text(value, kinds)
    if Placeholder.TIME in kinds and is_moment(name, value):
        return f"<{Placeholder.TIME}>"
    is_duration = Placeholder.DURATION in kinds and _DURATION_KEYS.search(name)
    return f"<{Placeholder.DURATION}>" if is_duration else value


def is_moment(name: str, value: float) -> bool:
    """Return whether a number, the member `name` of an object, counts seconds or less since 1970."""
    return value > _FIRST_TIME and _TIME_KEYS.search(name) is not None


def generalized_text(text: str, kinds: Kinds) -> str:
    """Return a text with placeholders in place of its times, UUIDs and durations."""
    if len(text) > LONG_TEXT:
        return text
    for kind, pattern in _FOUND_IN_TEXT.items():
        if kind in kinds:
            text = pattern.sub(f"<{kind}>", text)
    return text


PLACEHOLDERS = (Placeholder.TEXT, Placeholder.NUMBER, Placeholder.TIME, Placeholder.ID, Placeholder.ANY)
"""Those that an expectation may contain, besides `<re:…>`."""

_PARTS: dict[str, TextPart | Gap] = {
    Placeholder.TEXT: GAP,
    Placeholder.ANY: GAP,
    Placeholder.NUMBER: NUMBER,
    Placeholder.TIME: TIME,
    Placeholder.ID: ID,
}
_MARK = re.compile(f"(?<!<)(<+)(?:({'|'.join(PLACEHOLDERS)})>|re:)")
_NEXT_IN_PATTERN = re.compile(r"\\.|\[\^?\]?(?:[^\]\\]|\\.)*(?:\]|\\?\Z)|[<>]", re.DOTALL)

LONGEST = 16 * 1024 * 1024
"""Longer texts fit only `<text>` and `<any>`."""

MOST_WORK = 200_000_000
"""Maximum product of the lengths of a text and of what it has to fit, if that has a pattern within: about a
second."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regular expression of an expectation."""

    regex: str


Part = str | Placeholder | Pattern
"""A part of an expectation; texts are literal."""


def parts_of(expected: str) -> tuple[Part, ...]:
    """Return the literal texts, placeholders and patterns of an expectation, in order."""
    return _parts(expected) if len(expected) <= LONG_TEXT else tuple(_parsed(expected))


def has_placeholder(value: Any) -> bool:
    """Return whether a value is a text with a placeholder, maybe escaped, so that `fits` must compare it."""
    return isinstance(value, str) and "<" in value and _MARK.search(value) is not None


def _parsed(expected: str) -> Iterator[Part]:
    literal: list[str] = []
    at = 0
    closed = True
    for mark in _MARK.finditer(expected):
        if mark.start() < at:  # within a pattern
            continue
        literal.append(expected[at : mark.start()])
        at = mark.end()
        if len(mark[1]) > 1:
            literal.append(mark[0][1:])
            continue
        end = at if mark[2] else _end_of_pattern(expected, at) if closed else -1
        if end < 0:  # neither does any other after it, so that no text is read twice
            closed = False
            literal.append(mark[0])
            continue
        if text := "".join(literal):
            yield text
        literal = []
        yield Placeholder(mark[2]) if mark[2] else Pattern(expected[at : end - 1])
        at = end
    literal.append(expected[at:])
    if text := "".join(literal):
        yield text


@lru_cache(maxsize=256)
def _parts(expected: str) -> tuple[Part, ...]:
    return tuple(_parsed(expected))


def _end_of_pattern(text: str, start: int) -> int:
    """Return the position after the `>` that closes a pattern, or -1."""
    depth = 0
    for found in _NEXT_IN_PATTERN.finditer(text, start, start + MAX_PATTERN):
        if found[0] == ">" and not depth:
            return found.end()
        depth += {"<": 1, ">": -1}.get(found[0], 0)
    return -1


def fits(expected: str, value: Any) -> bool:
    """Return whether a JSON value is as a text with placeholders expects.

    `<any>` fits everything, `<number>`, `<id>` and `<time>` alone fit a number, and a pattern its digits.
    `<number>` alone does not fit a text: "7" is not 7.
    """
    parts = parts_of(expected)
    alone = parts[0] if len(parts) == 1 else ""
    if alone is Placeholder.ANY:
        return True
    if isinstance(value, str):
        return alone is not Placeholder.NUMBER and fits_text(expected, value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    if alone is Placeholder.TIME:
        return value > _FIRST_TIME
    if isinstance(alone, Pattern):
        return _fits_pattern(alone.regex, json.dumps(value))
    return alone is Placeholder.NUMBER or alone is Placeholder.ID


def fits_text(expected: str, text: str) -> bool:
    """Return whether a text, such as that of a result, is as an expectation with placeholders."""
    if "<" not in expected:
        return text == expected
    parts = parts_of(expected)
    if all(type(part) is str for part in parts):
        return text == "".join(map(str, parts))
    # By identity: the literal text "any" is equal to `Placeholder.ANY`.
    if all(part is Placeholder.TEXT or part is Placeholder.ANY for part in parts):
        return True
    if len(text) > LONGEST:
        return False
    if any(isinstance(part, Pattern) for part in parts):
        return _fits_with_patterns(parts, text)
    pieces = [part if type(part) is str else _PARTS[str(part)] for part in parts]
    return fits_whole(pieces, text)


def _fits_pattern(regex: str, text: str) -> bool:
    return found_in(rf"\A{_scoped(regex)}\Z", text) is True


_FLAGS = re.compile(r"\(\?([aimsx]+)\)")


def _scoped(regex: str) -> str:
    """Return a pattern as a group, which its flags are limited to: `(?i)a` may not follow other text."""
    flags = _FLAGS.match(regex)
    return f"(?{flags[1]}:{regex[flags.end() :]})" if flags else f"(?:{regex})"


def pattern_faults(expected: str) -> Iterator[tuple[str, str]]:
    """Yield each pattern of an expectation that cannot be used, with the reason."""
    for part in parts_of(expected) if "<re:" in expected else ():
        if isinstance(part, Pattern):
            try:
                search_of(_scoped(part.regex))
            except (re.error, RecursionError, OverflowError) as error:
                yield part.regex, reason_of(error)


def _fits_with_patterns(parts: tuple[Part, ...], text: str) -> bool:
    """Compare the literal start and end, and the rest with RE2."""
    start = parts[0] if type(parts[0]) is str else ""
    end = parts[-1] if type(parts[-1]) is str else ""
    if not (text.startswith(start) and text.endswith(end) and len(text) >= len(start) + len(end)):
        return False
    inner = parts[bool(start) : len(parts) - bool(end)]
    text = text[len(start) : len(text) - len(end)]
    regex = "".join(map(_regex_of, inner))
    return len(regex) * len(text) <= MOST_WORK and _fits_pattern(regex, text)


def _regex_of(part: Part) -> str:
    if isinstance(part, Pattern):
        return _scoped(part.regex)
    if type(part) is str:
        return re.escape(part)
    found = _PARTS[str(part)]
    return f"(?:{found.regex})" if isinstance(found, TextPart) else "(?s:.*)"


def escaped(text: str) -> str:
    """Return an expectation that fits exactly this text."""
    return _MARK.sub(lambda mark: f"<{mark[0]}", text) if "<" in text else text


def escaped_value(value: Any) -> Any:
    """Return an expectation that fits this JSON value."""
    if isinstance(value, dict):
        return {name: escaped_value(member) for name, member in value.items()}
    if isinstance(value, list):
        return [escaped_value(item) for item in value]
    return escaped(value) if isinstance(value, str) else value


def written(parts: Iterable[Part]) -> str:
    """Return parts as an expectation: the opposite of `parts_of`."""
    made: list[str] = []
    for is_literal, group in groupby(parts, lambda part: type(part) is str):
        if is_literal:
            made.append(escaped("".join(map(str, group))))
            continue
        marks = "".join(f"<re:{part.regex}>" if isinstance(part, Pattern) else f"<{part}>" for part in group)
        # A "<" directly before it would escape it.
        before = made.pop() if made else ""
        stem = before.rstrip("<")
        count = len(before) - len(stem)
        made += (stem, "<re:\\<>" * count, marks)
    return "".join(made)


_LOOKALIKE = re.compile(r"<([A-Za-z]{2,12})(?::[^<>]{1,60})?>")
_END_TAG = re.compile(r"</([A-Za-z]{2,12})")
MOST_LOOKALIKES = 1_000
_MEANT = {
    "uuid": Placeholder.ID,
    "guid": Placeholder.ID,
    "hash": Placeholder.ID,
    "string": Placeholder.TEXT,
    "str": Placeholder.TEXT,
    "words": Placeholder.TEXT,
    "int": Placeholder.NUMBER,
    "integer": Placeholder.NUMBER,
    "float": Placeholder.NUMBER,
    "num": Placeholder.NUMBER,
    "digits": Placeholder.NUMBER,
    "duration": Placeholder.TEXT,
    "date": Placeholder.TIME,
    "datetime": Placeholder.TIME,
    "timestamp": Placeholder.TIME,
    "regex": "re:…",
    "regexp": "re:…",
}
_SIMILAR = 0.75


def has_open_pattern(expected: str) -> bool:
    """Return whether a text has a `<re:` that is literal because no `>` ends it."""
    literal = "".join(part for part in parts_of(expected) if type(part) is str)
    return literal.count("<re:") > len(re.findall("<<re:", expected))


def misspelled(expected: str) -> list[tuple[str, str]]:
    """Return what looks like a placeholder but is literal, each with the placeholder that may be meant.

    Elements of markup, which have an end (`</text>`), do not count. Only the first `MOST_LOOKALIKES` do.
    """
    if "<" not in expected:
        return []
    literal = " ".join(part for part in parts_of(expected) if type(part) is str)
    marks = dict.fromkeys(mark.group(0, 1) for mark in islice(_LOOKALIKE.finditer(literal), MOST_LOOKALIKES))
    # Those that are right here were escaped.
    known = {*PLACEHOLDERS, "re", *_END_TAG.findall(literal)} if marks else set()
    meant = ((mark, _meant(name.lower())) for mark, name in marks if name not in known)
    return [(mark, f"<{one}>") for mark, one in meant if one]


def _meant(name: str) -> str:
    if name in PLACEHOLDERS:
        return name
    if name in _MEANT or len(name) < 3:
        return _MEANT.get(name, "")
    near = ((SequenceMatcher(None, name, one).ratio(), str(one)) for one in PLACEHOLDERS)
    ratio, nearest = max(near)
    return nearest if ratio >= _SIMILAR else ""
