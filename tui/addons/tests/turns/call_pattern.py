"""Call patterns: `TOOL ARGUMENT=VALUE ARGUMENT~PART …`, the calls that a turn case expects. Pure.

    get_weather location~Hangzhou
    create_order sku=A1 items=2 options.gift=true note="to my brother"
    search filter={"city": "Hangzhou"} since=<time>

A call matches if its tool does, and each named argument; others do not matter. Unlike a rule, a pattern
compares values: `=` compares JSON, with placeholders, and objects may have more members; `~` finds a part of
a text, without regard to case.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

from tui.addons.tests.suite.json_path import leaves_of
from tui.core.comparison.values import Change, Tolerance, compare
from tui.core.text import clean_line, fold

MAX_CHARS = 4_000
"""Maximum characters of a pattern."""

EXAMPLE = "get_weather location~Hangzhou days=3"
_MISSING = object()
_DECODER = json.JSONDecoder()
_SPACES = re.compile(r"\s*")
_NAME = re.compile(r'"((?:[^"\\]|\\.)*)"|[^\s=~"\']+', re.DOTALL)
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"|\'([^\']*)\'', re.DOTALL)
_BARE = re.compile(r"\S*")
_ESCAPED = re.compile(r'\\(["\\])')


@dataclass(frozen=True, slots=True)
class ArgumentPattern:
    """What one argument must be.

    Attributes:
        name: of the argument, or a dotted path in it, as in `options.units`.
        value: the JSON value that it equals, or the text that it contains.
        part: whether it only contains the text.
        written: the value as written without quotes, which a text may also equal (`zip=1234`); otherwise "".
    """

    name: str
    value: Any
    part: bool = False
    written: str = ""

    def __str__(self) -> str:
        if self.part:
            return f"{_as_name(self.name)}~{_as_text(self.value, part=True)}"
        value = _as_text(self.value) if isinstance(self.value, str) else _as_json(self.value)
        return f"{_as_name(self.name)}={self.written or value}"

    def problem(self, arguments: Mapping[str, Any]) -> str:
        """Return what is wrong with this argument of a call, in a few words, or ""."""
        got = argument_at(arguments, self.name)
        if got is _MISSING:
            return f"{self.name} is missing"
        if self.part:
            is_right = _contains(got, fold(self.value))
        else:
            is_right = (self.written != "" and got == self.written) or is_covered(self.value, got)
        return "" if is_right else f"{self.name} is {clean_line(_as_json(got), 120)}"


@dataclass(frozen=True, slots=True)
class CallPattern:
    """A call that is expected: `tool` is a name or a pattern such as `get_*`."""

    tool: str
    arguments: tuple[ArgumentPattern, ...] = ()

    def __str__(self) -> str:
        return " ".join((_as_name(self.tool), *map(str, self.arguments)))

    def names(self, tool: str) -> bool:
        return fnmatchcase(tool, self.tool)

    def problems(self, tool: str, arguments: Mapping[str, Any]) -> list[str]:
        """Return what is wrong with a call, in a few words each; nothing if it matches."""
        if not self.names(tool):
            return [f"the tool is {tool}"]
        return [problem for one in self.arguments if (problem := one.problem(arguments))]

    def matches(self, tool: str, arguments: Mapping[str, Any]) -> bool:
        return not self.problems(tool, arguments)


@lru_cache(maxsize=512)
def pattern_of(text: str) -> CallPattern:
    r"""Return the pattern that a text describes.

    Values with spaces need quotes, single or double (`\"` is a quote within double ones). A value without
    quotes is JSON if it can be, otherwise text.

    Raises:
        ValueError: it is not a pattern. The message has the column, and what to write.
    """
    if len(text) > MAX_CHARS:
        raise ValueError(f"has more than {MAX_CHARS:,} characters")
    place = _end(_SPACES, text, 0)
    tool, place = _name(text, place)
    if not tool:
        raise ValueError(f"column {place + 1}: the name of a tool is missing. Write, for example: {EXAMPLE}")
    if place < len(text) and not text[place].isspace():
        shown = clean_line(text[:place], 60)
        raise ValueError(
            f"column {place + 1}: a space is missing after the tool {shown}. Write, for example: {EXAMPLE}"
        )
    arguments: list[ArgumentPattern] = []
    while (place := _end(_SPACES, text, place)) < len(text):
        argument, place = _argument(text, place)
        if any(argument.name == known.name and argument.part == known.part is False for known in arguments):
            raise ValueError(f"{clean_line(argument.name, 60)} is compared twice. Delete one")
        arguments.append(argument)
    return CallPattern(tool, tuple(arguments))


def as_pattern(tool: str, arguments: Mapping[str, Any]) -> str:
    """Return a call as the pattern that it matches. Names and texts are raw."""
    return str(CallPattern(tool, tuple(ArgumentPattern(name, value) for name, value in arguments.items())))


def is_covered(expected: Any, got: Any) -> bool:
    """Return whether a JSON value is as expected: with placeholders in texts, and maybe more members."""
    found = compare(expected, got, Tolerance(placeholders=True))
    return found.complete and all(
        one.kind is Change.ADDED and isinstance(one.steps[-1], str) for one in found.differences
    )


def argument_at(arguments: Mapping[str, Any], path: str) -> Any:
    """Return the argument of this name, or else what a dotted path leads to, or a value that equals none."""
    if path in arguments:
        return arguments[path]
    found: Any = arguments
    for step in path.split("."):
        if isinstance(found, Mapping) and step in found:
            found = found[step]
        elif isinstance(found, list) and step.isdecimal() and int(step[:9]) < len(found):
            found = found[int(step[:9])]
        else:
            return _MISSING
    return found


def _end(pattern: re.Pattern[str], text: str, place: int) -> int:
    found = pattern.match(text, place)
    return found.end() if found else place


def _name(text: str, place: int) -> tuple[str, int]:
    """Return the name at a place, and where it ends; "" if there is none."""
    found = _NAME.match(text, place)
    if found is None:
        return "", place
    return (found[0] if found[1] is None else _ESCAPED.sub(r"\1", found[1])), found.end()


def _argument(text: str, place: int) -> tuple[ArgumentPattern, int]:
    name, end = _name(text, place)
    shown = clean_line(text[place : _end(_BARE, text, place)], 60)
    if not name or text[end : end + 1] not in ("=", "~"):
        raise ValueError(
            f"column {place + 1}: {shown} must be ARGUMENT=VALUE or ARGUMENT~PART. "
            "Put a value with spaces in quotes"
        )
    if text[end] == "~":
        part, after = _text(text, end + 1)
        if not part:
            raise ValueError(f"column {end + 2}: the text that {shown} contains is missing")
        return ArgumentPattern(name, part, part=True), after
    value, written, after = _value(text, end + 1)
    return ArgumentPattern(name, value, written=written), after


def _value(text: str, place: int) -> tuple[Any, str, int]:
    """Return the value at a place, where it ends, and between them how it is written, if without quotes."""
    if text[place : place + 1] in ("{", "["):
        try:
            value, end = _DECODER.raw_decode(text, place)
        except (ValueError, RecursionError):
            sign = text[place]
            raise ValueError(
                f"column {place + 1}: the JSON value that starts with {sign} is not complete. "
                "Put a text in quotes"
            ) from None
        _check_end(text, end)
        return value, "", end
    written, end = _text(text, place)
    if text[place : place + 1] in ('"', "'"):
        return written, "", end
    if end == place:
        raise ValueError(f'column {place + 1}: the value is missing. "" is an empty text')
    try:
        value = json.loads(written, parse_constant=lambda _: written)
    except ValueError:
        return written, "", end
    return value, written, end


def _text(text: str, place: int) -> tuple[str, int]:
    """Return the text at a place, in quotes or until a space, and where it ends."""
    if text[place : place + 1] not in ('"', "'"):
        end = _end(_BARE, text, place)
        return text[place:end], end
    quoted = _QUOTED.match(text, place)
    if quoted is None:
        raise ValueError(f"column {place + 1}: the closing {text[place]} is missing")
    _check_end(text, quoted.end())
    value = quoted[2] if quoted[1] is None else _ESCAPED.sub(r"\1", quoted[1])
    return value, quoted.end()


def _check_end(text: str, end: int) -> None:
    if end < len(text) and not text[end].isspace():
        raise ValueError(f"column {end + 1}: a space is missing")


def _contains(value: Any, folded: str) -> bool:
    """Return whether a text in a JSON value has a part, or a number, as text."""
    texts = (one if isinstance(one, str) else json.dumps(one, default=str) for one in leaves_of(value))
    return any(folded in fold(text) for text in texts)


def _as_name(name: str) -> str:
    return name if re.fullmatch(r'[^\s=~"\']+', name) else _in_quotes(name)


def _as_json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (RecursionError, ValueError):
        return "(nested too deeply)"


def _as_text(text: str, *, part: bool = False) -> str:
    """Return a text as it is written: in quotes if it would otherwise be read differently."""
    if re.fullmatch(r'[^\s"\'{\[]\S*', text) and (part or not _is_json(text)):
        return text
    if "'" not in text and ('"' in text or "\\" in text):
        return f"'{text}'"
    return _in_quotes(text)


def _in_quotes(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
