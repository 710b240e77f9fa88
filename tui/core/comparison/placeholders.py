"""Equality of JSON values, and placeholders for parts that vary (`<number>`). Pure, linear in the text."""

import re
from enum import StrEnum
from functools import lru_cache
from typing import Any

from tui.core.regex import found_in


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
    """A kind of value that varies."""

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
_PATTERNS = {
    Placeholder.UUID: r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b",
    Placeholder.TIME: rf"\b{_DATE_TIME}|\b{_CLOCK}\b",
    Placeholder.DURATION: rf"\b\d+(?:\.\d+)?\s?(?:{_UNITS})\b",
    Placeholder.ID: r"[\w.:+/=~-]+",
    Placeholder.NUMBER: r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?",
    Placeholder.TEXT: r".*",
    Placeholder.ANY: r".*",
}
_FOUND_IN_TEXT = {
    kind: re.compile(_PATTERNS[kind]) for kind in (Placeholder.UUID, Placeholder.TIME, Placeholder.DURATION)
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
    if Placeholder.TIME in kinds and _TIME_KEYS.search(name) and value > _FIRST_TIME:
        return f"<{Placeholder.TIME}>"
    is_duration = Placeholder.DURATION in kinds and _DURATION_KEYS.search(name)
    return f"<{Placeholder.DURATION}>" if is_duration else value


def generalized_text(text: str, kinds: Kinds) -> str:
    """Return a text with placeholders in place of its times, UUIDs and durations."""
    if len(text) > LONG_TEXT:
        return text
    for kind, pattern in _FOUND_IN_TEXT.items():
        if kind in kinds:
            text = pattern.sub(f"<{kind}>", text)
    return text


_PLACEHOLDER = re.compile(f"<({'|'.join(Placeholder)})>")
_REGEX = re.compile(r"<re:(.*)>", re.DOTALL)


def has_placeholder(value: Any) -> bool:
    """Return whether a value is a text with a placeholder."""
    return isinstance(value, str) and (
        _PLACEHOLDER.search(value) is not None or _REGEX.fullmatch(value) is not None
    )


def fits(expected: str, value: Any) -> bool:
    """Return whether a value is as a text with placeholders expects.

    A placeholder alone also fits a number, and `<any>` fits everything. `<re:…>` must be the whole
    expectation.
    """
    if expected == f"<{Placeholder.ANY}>":
        return True
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return False
    alone = _PLACEHOLDER.fullmatch(expected)
    if not isinstance(value, str):
        if alone is None or alone[1] == Placeholder.TEXT:
            return False
        return alone[1] != Placeholder.TIME or value > _FIRST_TIME
    if alone is not None and alone[1] == Placeholder.NUMBER:
        return False  # "7" is not 7
    if len(value) > LONG_TEXT:
        return alone is not None and alone[1] == Placeholder.TEXT
    if (pattern := _REGEX.fullmatch(expected)) is not None:
        return found_in(rf"\A(?:{pattern[1]})\Z", value) is True
    return _expectation(expected).fullmatch(value) is not None


@lru_cache(maxsize=256)
def _expectation(text: str) -> re.Pattern[str]:
    """Return the pattern of a text with placeholders.

    Each placeholder ends at the first place where the text after it follows, and is not tried again after
    that: otherwise, several could take very long.
    """
    first, *rest = _PLACEHOLDER.split(text)
    made = re.escape(first)
    for at in range(0, len(rest), 2):
        pattern, after = _PATTERNS[Placeholder(rest[at])].replace(".*", ".*?"), re.escape(rest[at + 1])
        is_last = at + 2 == len(rest)
        made += f"(?:{pattern}){after}" if is_last else f"(?>(?:{pattern}){after})"
    return re.compile(made, re.DOTALL)
