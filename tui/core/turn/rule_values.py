"""How a pattern of a rule is compared with the arguments of a call. Pure.

The model writes the arguments and the server reads them, so one value may have several readings: a path with
`..` in it is the text that was written and the place where it leads. Nothing is corrected on the way. A rule
that asks or denies counts if one reading matches, a rule that allows only if all of them do.

A pattern cannot see what only the server knows: links, mounts, `~`, folders that a relative path starts from,
upper and lower case that mean the same file, names for the same host.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import unquote

ANY = "*"
"""The name of an argument that stands for all of them, at any depth."""

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/\\]*")


_DETOUR = re.compile(r"//|(?:^|/)\.\.?(?:/|$)")
"""What a path without empty names, `.` and `..` does not have."""

UNREADABLE = (TypeError, ValueError, RecursionError, OverflowError)


class _Missing:
    """What stands at a path where there is nothing."""


MISSING = _Missing()


def covers_any(pattern: str, argument: str, arguments: Mapping[str, Any]) -> bool:
    """Return whether a value at `argument` may match: one of its readings does, or it cannot be read."""
    for value in values_at(argument, arguments):
        if value is MISSING:
            continue
        inner = _leaves(value) if isinstance(value, Mapping | list | tuple) else ()
        for item in (value, *inner):
            try:
                if any(_matches(texts, pattern) for texts in _readings(item)):
                    return True
            except UNREADABLE:
                return True
    return False


def covers_all(pattern: str, argument: str, arguments: Mapping[str, Any]) -> bool:
    """Return whether there is a value at `argument`, and each one matches in each of its readings."""
    found = False
    for value in values_at(argument, arguments):
        if value is MISSING:
            return False
        for item in value if isinstance(value, list | tuple) and value else (value,):
            try:
                if not all(_matches(texts, pattern) for texts in _readings(item)):
                    return False
            except UNREADABLE:
                return False
            found = True
    return found


def _matches(texts: Sequence[str], pattern: str) -> bool:
    """Return whether a spelling of one reading matches."""
    if any(fnmatchcase(text, pattern) for text in texts):
        return True
    return "\\" in pattern and any(fnmatchcase(text.replace("/", "\\"), pattern) for text in texts)


def values_at(argument: str, arguments: Mapping[str, Any]) -> Iterator[Any]:
    """Yield what stands at a dotted path, `MISSING` where it leads to nothing.

    A name may have a dot in it. A path leads into each item of an array, or into the one whose number it has.
    """
    if argument == ANY:
        yield from _leaves(arguments)
        return
    path = argument.split(".")
    waiting: list[tuple[int, Any]] = [(0, arguments)]
    while waiting:
        begun, value = waiting.pop()
        if begun == len(path):
            yield value
        elif isinstance(value, list | tuple):
            if (number := _number(path[begun])) is None:
                waiting.extend((begun, item) for item in value)
            elif number < len(value):
                waiting.append((begun + 1, value[number]))
            else:
                yield MISSING
        else:
            ends = range(begun + 1, len(path) + 1) if isinstance(value, Mapping) else ()
            found = [(end, value[name]) for end in ends if (name := ".".join(path[begun:end])) in value]
            waiting.extend(found)
            if not found:
                yield MISSING


def _number(name: str) -> int | None:
    return int(name) if name.isascii() and name.isdecimal() and len(name) < 7 else None


def _leaves(tree: Any) -> Iterator[Any]:
    """Yield everything in objects and arrays that is neither."""
    waiting = [tree]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Mapping):
            waiting.extend(value.values())
        elif isinstance(value, list | tuple):
            waiting.extend(value)
        else:
            yield value


def _readings(value: Any) -> Iterator[Sequence[str]]:
    """Yield what a value may mean, each meaning with its spellings. Raises `UNREADABLE` if it is too odd."""
    if isinstance(value, str):
        yield (value,)
        yield from _places(value)
        return
    written = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    yield (written, str(int(value))) if isinstance(value, float) and value.is_integer() else (written,)


def _places(text: str) -> Iterator[Sequence[str]]:
    """Yield the places that a path may lead to, each with its spellings."""
    if "/" not in text and "\\" not in text and text not in (".", ".."):
        return
    is_file = text[:5].lower() == "file:"
    for meaning in dict.fromkeys([text, unquote(text)]):
        for windows in (False, True) if "\\" in meaning else (False,):
            if is_file:
                place = _normal(re.sub("^//[^/]*", "", meaning[5:]), windows)
                yield (*_spelled(place), *_spelled(f"file://{place}"))
            else:
                yield _spelled(_normal(meaning, windows))


def _spelled(place: str) -> Sequence[str]:
    return (place,) if place.endswith("/") else (place, f"{place}/")


def _normal(path: str, windows: bool) -> str:
    """Return a path without empty names, `.` and `..`. What leads above a relative start stays."""
    if windows:
        path = path.replace("\\", "/")
    if not _DETOUR.search(path):
        return path.removesuffix("/") or "/"
    head = found.group() if (found := _SCHEME.match(path)) else ""
    names: list[str] = []
    is_absolute = bool(head) or path.startswith("/")
    for name in path[len(head) :].split("/"):
        if name == ".." and (names and names[-1] != ".."):
            names.pop()
        elif name not in ("", ".") and not (name == ".." and is_absolute):
            names.append(name)
    return head + ("/" if is_absolute else "") + "/".join(names) or "."
