"""Simpler values in place of one that breaks a tool, as a person would write them. Pure.

Hypothesis shrinks too, but with 96 to 296 tries where this takes 6 to 75 (measured). Each try is a call, and
one that breaks the tool costs a time limit or a new process.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from tui.addons.tests.fuzz.edges import COUNTS, DEEP, LENGTHS, NUMBERS

FEW = 24
"""Characters or items that are left out one by one. Of more, halves and quarters are."""

MOST_CHARS = 4_096
"""Characters of a text that are looked at."""

LETTERS = ("a", "é", "日")
"""Simple characters: one of ASCII, of Latin-1, and of neither."""


def simpler(value: Any) -> Iterator[Any]:
    """Yield values that are simpler than a JSON value, the simplest first. None of them is equal to it."""
    match value:
        case True:
            yield False
        case int():
            yield from _simpler_integers(value)
        case float():
            yield from (one for one in (0, 1, int(value), round(value, 1)) if one != value)
        case str():
            yield from _simpler_texts(value)
        case list():
            yield from _simpler_arrays(value)
        case dict():
            yield from _simpler_objects(value)


def complexity(value: Any) -> tuple[int, int, int]:
    """Return what a shrunk value has less of: size, then unusual characters and types, then amounts."""
    size = oddness = amount = 0
    waiting = [value]
    while waiting:
        size += 1
        match one := waiting.pop():
            case bool():
                amount += one
            case int() | float():
                oddness += isinstance(one, float) + (one < 0)
                amount += int(abs(one))
            case str():
                size += len(one)
                oddness += sum(map(_oddness, one[:MOST_CHARS]))
            case list():
                waiting += one
            case dict():
                size += len(one)
                waiting += one.values()
    return size, oddness, amount


def causes(cause: Any, value: Any) -> bool:
    """Return whether a value probably breaks a tool in the same way as a shrunk one: it has what that has."""
    match cause, value:
        case dict(), dict():
            return all(name in value and causes(one, value[name]) for name, one in cause.items())
        case str(), str() if cause:
            return cause in value
        case int() | float(), int() | float() if cause < 0 or cause >= 10:
            return bool(value <= cause if cause < 0 else value >= cause)
        case list(), list() if _depth(cause) > 2 or len(cause) > 2:
            return _depth(value) >= _depth(cause) and len(value) >= len(cause)
    return bool(cause == value)


def _oddness(char: str) -> int:
    return LETTERS.index(char) if char in LETTERS else 3 + (not char.isalnum()) + (not char.isprintable())


def _simpler_integers(value: int) -> Iterator[int]:
    yield from (one for one in (0, 1) if abs(value) > one)
    if value < 0:
        yield from (one for one in (-1, -value) if one != value)
    sign, size = (-1, -value) if value < 0 else (1, value)
    for one in _smaller(size, NUMBERS):
        if sign * one > 1 or sign < 0:
            yield sign * one


def _smaller(size: int, tried: tuple[int, ...]) -> Iterator[int]:
    """Yield sizes below one, the next round one first. Those that were `tried` before cost nothing."""
    below = [one for one in tried if one < size]
    for at in below[-1:]:
        yield from (one for one in (at, at + 1) if one < size)
    step = size // 2
    while step:
        yield size - step
        step //= 2


def _simpler_texts(text: str) -> Iterator[str]:
    yield from ("",) if text else ()
    if (size := len(text)) > 1:
        yield text[0]
        for letter in LETTERS[: 1 + (not text.isascii())]:
            if text != letter * size:
                yield letter * size
        yield from (text[:less] for less in _smaller(size, LENGTHS))
        yield from _with_less(text)
    for at, char in islice(enumerate(text), FEW):
        for letter in LETTERS:
            if _oddness(letter) < _oddness(char):
                yield text[:at] + letter + text[at + 1 :]


def _with_less(value: Any) -> Iterator[Any]:
    """Yield a text or an array without a part of it."""
    size = len(value)
    part = 1 if size <= FEW else size // 4
    for start in range(0, size, part):
        yield value[:start] + value[start + part :]


def _simpler_arrays(items: list[Any]) -> Iterator[Any]:
    yield from ([],) if items else ()
    if (size := len(items)) > 1:
        yield items[:1]
        if items != items[:1] * size:
            yield items[:1] * size
        else:
            yield from ([one] * size for one in simpler(items[0]))
        yield from (items[:less] for less in _smaller(size, COUNTS))
        yield from _with_less(items)
    depth = _depth(items)
    if size == 1 and depth > 2:  # of nested arrays, levels are left out
        for less in _smaller(depth, DEEP):
            inner = items
            for _ in range(depth - less):
                inner = inner[0]
            yield inner
        return
    for at, item in islice(enumerate(items), FEW):
        yield from ([*items[:at], one, *items[at + 1 :]] for one in simpler(item))


def _depth(items: Any) -> int:
    depth = 0
    while isinstance(items, list):
        depth, items = depth + 1, items[0] if len(items) == 1 else None
    return depth


def _simpler_objects(members: dict[str, Any]) -> Iterator[Any]:
    for name in members:
        yield {key: value for key, value in members.items() if key != name}
    for name, value in members.items():
        yield from ({**members, name: one} for one in simpler(value))


def is_round(value: Any) -> bool:
    """Return whether a person may have written all amounts of a value, such as 200,000 but not 162,465."""
    match value:
        case int():
            return len(str(abs(value)).rstrip("0")) <= 2
        case str():
            return is_round(len(value))
        case list():
            return is_round(len(value)) and (_depth(value) > FEW or all(map(is_round, value[:FEW])))
        case dict():
            return all(map(is_round, value.values()))
    return True
