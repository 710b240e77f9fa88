"""The YAML at the beginning of a SKILL.md, compared with what the entry says. Pure.

PyYAML reads the text as events, which cost nothing before they are used: nesting, aliases and size are
bounded while they arrive. Its own values are not used, because it reads YAML 1.1, and what a server sends was
made by a library of its own: `yes` is a text in one version of YAML and a boolean in the other. A scalar
therefore equals each of its readings, so that no library causes a false alarm.
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cache
from typing import Any

from tui.addons.skills.entry import MAX_FRONT_MATTER
from tui.core.errors import dotted

Path = tuple[str | int, ...]

MAX_DEPTH = 32
MAX_VALUES = 10_000
"""Scalars, lists and objects, those of aliases counted each time."""

MAX_NUMBER = 64
"""Characters of a number or a time of YAML 1.1."""

_OPENING = re.compile(r"\ufeff?---[ \t]*\r?\n")
_CLOSING = re.compile(r"^---[ \t]*\r?$", re.MULTILINE)
_TEXT_TAG = "tag:yaml.org,2002:str"
_CORE_NUMBER = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_CORE_WORDS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_BASES = {"0o": 8, "0x": 16}


class FrontMatterProblem(ValueError):
    """The front matter cannot be read; the message is the end of a sentence about it, with nothing of it."""


@dataclass(frozen=True, slots=True)
class Plain:
    """A scalar without quotes, which versions of YAML read differently."""

    text: str


def differences(text: str, expected: Mapping[str, Any]) -> list[str]:
    """Return the fields in which the front matter of a SKILL.md differs from its entry: `metadata.version`.

    Raises FrontMatterProblem if there is none, or if it cannot be read.
    """
    found = read(block(text))
    if not isinstance(found, dict):
        raise FrontMatterProblem("is not a list of fields")
    return [dotted(path) for path in _differing(found, expected, ())]


def block(text: str) -> str:
    """Return the YAML between the first two lines `---`."""
    start, end, _ = _places(text)
    return text[start:end]


def body(text: str) -> str:
    """Return a text without its front matter."""
    return text[_places(text)[2] :]


def _places(text: str) -> tuple[int, int, int]:
    """Return where the YAML starts and ends, and where the text after it starts."""
    opening = _OPENING.match(text)
    if opening is None:
        raise FrontMatterProblem("is missing: the file does not begin with a line ---")
    closing = _CLOSING.search(text, opening.end(), opening.end() + MAX_FRONT_MATTER + 5)
    if closing is None:
        raise FrontMatterProblem(f"does not end with a line --- within {MAX_FRONT_MATTER:,} characters")
    return opening.end(), closing.start(), closing.end()


def read(text: str) -> Any:
    """Return YAML as JSON values, with `Plain` for scalars without quotes; keys are texts."""
    import yaml

    if text.count("\x85") or text.count("\u2028") or text.count("\u2029"):
        raise FrontMatterProblem("contains line separators that versions of YAML read differently")
    try:
        return _Builder().built(yaml.parse(text, Loader=yaml.BaseLoader))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" in line {mark.line + 2}" if mark is not None else ""
        raise FrontMatterProblem(f"is not valid YAML{where}") from None


class _Builder:
    """Builds a value from events, without recursion."""

    def __init__(self) -> None:
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._values = 0

    def built(self, events: Iterator[Any]) -> Any:
        import yaml

        documents, root = 0, Plain("")
        open_: list[tuple[Any, list[Any], str | None, int]] = []
        for event in events:
            value: Any
            match event:
                case yaml.DocumentStartEvent():
                    documents += 1
                    if documents > 1:
                        raise FrontMatterProblem("has more than one YAML document")
                    continue
                case yaml.ScalarEvent():
                    self._count(1)
                    value = self._scalar(event)
                    self._keep(event.anchor, value, self._values - 1)
                case yaml.AliasEvent():
                    if event.anchor not in self._anchors:
                        raise FrontMatterProblem("has an alias of itself, or without an anchor")
                    value, size = self._anchors[event.anchor]
                    self._count(size)
                case yaml.SequenceStartEvent() | yaml.MappingStartEvent():
                    if event.tag is not None:
                        raise FrontMatterProblem("uses a YAML tag")
                    if len(open_) >= MAX_DEPTH:
                        raise FrontMatterProblem(f"is nested more than {MAX_DEPTH} levels deep")
                    self._count(1)
                    open_.append((event, [], event.anchor, self._values - 1))
                    continue
                case yaml.SequenceEndEvent() | yaml.MappingEndEvent():
                    start, items, anchor, before = open_.pop()
                    value = _object(items) if isinstance(start, yaml.MappingStartEvent) else items
                    self._keep(anchor, value, before)
                case _:
                    continue
            if open_:
                open_[-1][1].append(value)
            else:
                root = value
        return root

    def _keep(self, anchor: str | None, value: Any, before: int) -> None:
        if anchor is not None:
            self._anchors[anchor] = value, self._values - before

    def _count(self, values: int) -> None:
        self._values += values
        if self._values > MAX_VALUES:
            raise FrontMatterProblem(f"has more than {MAX_VALUES:,} values")

    @staticmethod
    def _scalar(event: Any) -> Any:
        if event.tag not in (None, "!", _TEXT_TAG):
            raise FrontMatterProblem("uses a YAML tag")
        if event.style is None and event.tag is None:
            return Plain(event.value)
        if event.style == '"':  # a character beyond U+FFFF may be written as two escapes, as in JSON
            return event.value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return event.value


def _object(items: list[Any]) -> dict[str, Any]:
    found = {}
    for key, value in zip(items[::2], items[1::2], strict=True):
        name = key.text if isinstance(key, Plain) else key
        if not isinstance(name, str):
            raise FrontMatterProblem("has a key that is not a text")
        if name in found:
            raise FrontMatterProblem("has a key twice")
        found[name] = value
    return found


def _differing(found: Any, expected: Any, path: Path) -> Iterator[Path]:
    """Yield the paths at which two values differ."""
    match found, expected:
        case dict(), Mapping():
            for name in dict.fromkeys((*found, *expected)):
                if name not in found or name not in expected:
                    yield (*path, name)
                else:
                    yield from _differing(found[name], expected[name], (*path, name))
        case list(), list() if len(found) == len(expected):
            for number, (one, other) in enumerate(zip(found, expected, strict=True)):
                yield from _differing(one, other, (*path, number))
        case Plain(text), _:
            if not any(_equal(one, expected) for one in readings(text)):
                yield path
        case str(), str() if found == expected:
            return
        case _:
            yield path


def _equal(found: Any, expected: Any) -> bool:
    """Whether two scalars are equal: numbers by value, instants by time, everything else by type too."""
    if isinstance(found, date):
        return _instant(found) == _read_instant(expected)
    if isinstance(found, bool) or isinstance(expected, bool):
        return found is expected
    if isinstance(found, int | float) and isinstance(expected, int | float):
        return found == expected
    return type(found) is type(expected) and bool(found == expected)


def _instant(found: date) -> datetime:
    whole = found if isinstance(found, datetime) else datetime(found.year, found.month, found.day)
    return whole if whole.tzinfo is not None else whole.replace(tzinfo=UTC)


def _read_instant(text: Any) -> datetime | None:
    if not isinstance(text, str):
        return None
    try:
        return _instant(datetime.fromisoformat(text))
    except ValueError:
        return None


def readings(text: str) -> list[Any]:
    """Return what a scalar without quotes is in the core schema of YAML 1.2, and in YAML 1.1."""
    return [_core(text), _yaml_1_1(text)]


def _core(text: str) -> Any:
    if text in _CORE_WORDS:
        return _CORE_WORDS[text]
    try:
        if text[:2] in _BASES:
            return int(text[2:], _BASES[text[:2]]) if "_" not in text else text
        if _CORE_NUMBER.fullmatch(text):
            number = int(text) if text.lstrip("+-").isdigit() else float(text)
            return number if math.isfinite(number) else text
    except (ValueError, OverflowError):  # a number of thousands of digits
        return text
    return text


def _yaml_1_1(text: str) -> Any:
    tag = _resolve(text)
    if tag == _TEXT_TAG or len(text) > MAX_NUMBER:
        return text
    import yaml

    try:
        value = yaml.SafeLoader("").construct_object(yaml.ScalarNode(tag, text))
    except (yaml.YAMLError, ValueError, OverflowError):
        return text
    return text if isinstance(value, float) and not math.isfinite(value) else value


def _resolve(text: str) -> str:
    resolvers = _resolvers()
    for tag, pattern in (*resolvers.get(text[:1], ()), *resolvers.get(None, ())):
        if pattern.match(text):
            return str(tag)
    return _TEXT_TAG


@cache
def _resolvers() -> Mapping[Any, Any]:
    import yaml

    return dict(yaml.SafeLoader.yaml_implicit_resolvers)
