"""Finds the positions of values in a JSON text of any size without parsing them. Pure.

A message of 50 MB takes a fraction of a second and no memory. Each call into C processes at most about 64
KiB, so that other threads run. Any depth of nesting is fine. The contents of values are not checked; callers
parse them if needed.

`outline`, `items` and `value_end` are for messages: strict between members, the last of duplicate keys wins.
`root_value`, `child_values` and `value_text` are for showing whatever was received: text that is cut off is
found up to its end, a duplicate key is found twice, and a number is kept as it was written.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

MAX_MEMBERS = 4096
"""Maximum members of one object that are read; no message has more, and a flood of them takes time."""

PAGE = 2_000
"""Values of one container that are found at once; a value of the kind MORE stands for the rest."""

_FIRST_SLICE, _LAST_SLICE = 256, 64 * 1024
_MAX_KEY = 512
_REDUCTIONS = 16
_SPACE = re.compile(rb"[ \t\r\n]*")
_SCALAR = re.compile(rb"-?\d[\d.eE+-]*|true|false|null|NaN|-?Infinity")
_MARKS = re.compile(rb'["{}\[\]]')
_TO_BRACKET = re.compile(rb'(?:[^"\\\[\]{}]++|"(?:[^"\\]++|\\.)*")*[\[\]{}]', re.DOTALL)
_ALIKE = bytes.maketrans(b"[]", b"{}")
_NO_MARKS = bytes(code for code in range(256) if code not in b'"{}[]')

_SEPARATORS = b" \t\r\n,:"
_SEPARATED = re.compile(rb"[\s,:]*+")
_WORD = re.compile(rb"[^\s,:\[\]{}\"]++")
_WORD_SLICE = 256 * 1024


@dataclass(frozen=True, slots=True)
class Outline:
    """The members of an object: start and end of the value of each key; for duplicate keys the last one.

    The end is -1 for a value that is cut off; `end` is the index after the object, -1 if it is cut off.
    """

    members: dict[str, tuple[int, int]]
    end: int


def outline(raw: bytes, start: int = 0) -> Outline:
    """Return the outline of the object that begins at `start`; if it is cut off, its members up to there.

    Raises:
        ValueError: there is no object, or it is not JSON between its members.
    """
    members: dict[str, tuple[int, int]] = {}
    place = after_space(raw, start)
    if raw[place : place + 1] != b"{":
        raise ValueError("no object")
    place = after_space(raw, place + 1)
    if raw[place : place + 1] == b"}":
        return Outline(members, place + 1)
    for _ in range(MAX_MEMBERS):
        key_at, place = place, _string_end(raw, place)
        if place < 0:
            return Outline(members, -1)
        quoted = raw[key_at:place].decode("utf-8", "replace") if place - key_at <= _MAX_KEY else '""'
        key = str(json.loads(quoted))
        place = after_space(raw, place)
        if place >= len(raw):
            return Outline(members, -1)
        if raw[place] != 0x3A:
            raise ValueError("no colon")
        begin = after_space(raw, place + 1)
        place = value_end(raw, begin)
        members[key] = (begin, place)
        if place < 0:
            return Outline(members, -1)
        place = after_space(raw, place)
        mark = raw[place : place + 1]
        if mark == b"}":
            return Outline(members, place + 1)
        if mark != b",":
            if not mark:
                return Outline(members, -1)
            raise ValueError("no comma")
        place = after_space(raw, place + 1)
    raise ValueError("too many members")


def items(raw: bytes, start: int, limit: int) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each value of the array at `start`, at most `limit` of them."""
    place = after_space(raw, start + 1)
    for _ in range(limit):
        if raw[place : place + 1] in (b"]", b""):
            return
        end = value_end(raw, place)
        if end < 0:
            return
        yield place, end
        place = after_space(raw, end)
        if raw[place : place + 1] != b",":
            return
        place = after_space(raw, place + 1)


def value_end(raw: bytes, start: int) -> int:
    """Return the index after the value that begins at `start`, -1 if the text ends first.

    Raises:
        ValueError: no value begins there.
    """
    mark = raw[start : start + 1]
    if mark == b'"':
        return _string_end(raw, start)
    if mark in (b"{", b"["):
        return _container_end(raw, start)
    if not mark:
        return -1
    found = _SCALAR.match(raw, start)
    if found is None:
        if len(raw) - start < len("-Infinity"):  # may be the beginning of a word
            return -1
        raise ValueError("no value")
    return found.end()


def after_space(raw: bytes, start: int) -> int:
    """Return the index of the first byte from `start` on that is not white space."""
    found = _SPACE.match(raw, start)
    return found.end() if found else start


def _string_end(raw: bytes, start: int) -> int:
    mark = raw[start : start + 1]
    if mark != b'"':
        if not mark:
            return -1
        raise ValueError("no string")
    found = raw.find(b'"', start + 1, start + _FIRST_SLICE)
    if found > 0 and raw[found - 1] != 0x5C:
        return found + 1
    for offset, part in _masked(raw, start + 1):
        found = part.find(b'"')
        if found >= 0:
            return offset + found + 1
    return -1


def _container_end(raw: bytes, start: int) -> int:
    depth, at, inside = 0, start, False
    while found := _TO_BRACKET.match(raw, at, start + _FIRST_SLICE):  # small containers end here
        at = found.end()
        depth += 1 if raw[at - 1] in b"{[" else -1
        if not depth:
            return at
    for offset, part in _masked(raw, at):
        if inside and b'"' not in part:  # in the middle of a long string
            continue
        pieces = part.translate(_ALIKE, _NO_MARKS).split(b'"')
        brackets = b"".join(pieces[1::2] if inside else pieces[::2])
        for _ in range(_REDUCTIONS):  # pairs cancel out, what closes more than was opened is left in front
            if b"{}" not in brackets:
                break
            brackets = brackets.replace(b"{}", b"")
        closing = brackets.count(b"}")
        if depth and closing < depth:
            depth += len(brackets) - 2 * closing
            inside ^= not len(pieces) & 1
            continue
        for found in _MARKS.finditer(part):
            mark = found.group()
            if mark == b'"':
                inside = not inside
            elif not inside:
                depth += 1 if mark in b"{[" else -1
                if not depth:
                    return offset + found.end()
    return -1


def _masked(raw: bytes, start: int) -> Iterator[tuple[int, bytes]]:
    """Yield slices of growing size with their offsets; characters escaped by a backslash are blanked out."""
    size, escaped = _FIRST_SLICE, False
    while start < len(raw):
        part = raw[start : start + size]
        length = len(part)
        if escaped:
            part = b"_" + part[1:]
        escaped = False
        if b"\\" in part:
            part = part.replace(b"\\\\", b"__").replace(b'\\"', b"__")
            escaped = part.endswith(b"\\")
        yield start, part
        start += length
        size = min(size * 2, _LAST_SLICE)


class JsonKind(Enum):
    """The kind of a value that is shown."""

    OBJECT = "object"
    ARRAY = "array"
    STRING = "string"
    WORD = "word"
    """A number, true, false, null, or text that is not JSON at all."""
    MORE = "more"
    """The values of a container from here on, not found yet."""


@dataclass(frozen=True, slots=True)
class JsonValue:
    """The position of a value: the offsets of its first byte and after its last.

    `key` is "" in an array, `position` counts from 0, `is_cut` says that the text ends before it does.
    """

    kind: JsonKind
    start: int
    end: int
    key: str = ""
    position: int = 0
    is_cut: bool = False

    @property
    def size(self) -> int:
        return self.end - self.start

    @property
    def is_container(self) -> bool:
        return self.kind in (JsonKind.OBJECT, JsonKind.ARRAY)


_KINDS = {ord("{"): JsonKind.OBJECT, ord("["): JsonKind.ARRAY, ord('"'): JsonKind.STRING}


def root_value(data: bytes) -> JsonValue | None:
    """Return the value at the root of `data`, None if its first character cannot begin JSON."""
    start = _after_separators(data, 0)
    if start >= len(data) or data[start] not in b'{["-0123456789tfn':
        return None
    return _value_at(data, start, "", 0)


def child_values(data: bytes, container: JsonValue, start: int = -1, position: int = 0) -> list[JsonValue]:
    """Return the values in a container, at most `PAGE`; if there are more, the last one is of the kind MORE.

    To continue, give the container again with the start of that MORE and its position.
    """
    keyed = container.kind is JsonKind.OBJECT
    at = container.start + 1 if start < 0 else start
    found: list[JsonValue] = []
    while True:
        at = _after_separators(data, at)
        if at >= container.end or data[at] in b"}]":
            return found
        if len(found) >= PAGE:
            found.append(JsonValue(JsonKind.MORE, at, container.end, position=position))
            return found
        key = ""
        if keyed and data[at] == 0x22:
            end = _end_or_beyond(data, at)
            key = value_text(data, JsonValue(JsonKind.STRING, at, end), 400)
            at = _after_separators(data, end)
            if at >= len(data):
                return found
        value = _value_at(data, at, key, position)
        found.append(value)
        position += 1
        at = max(value.end, at + 1)


def value_text(data: bytes, value: JsonValue, limit: int = 4096) -> str:
    """Return the text of a string, or a word as written; at most about `limit` characters. Not cleaned."""
    end = min(value.end, value.start + limit * 6)
    raw = data[value.start : end]
    if value.kind is not JsonKind.STRING:
        return raw.decode("utf-8", "replace")[:limit]
    if end < value.end or value.is_cut:
        raw = _closed(raw)
    try:
        decoded = json.loads(raw, strict=False)
    except ValueError:
        return raw.strip(b'"').decode("utf-8", "replace")[:limit]
    return str(decoded)[:limit]


def _closed(raw: bytes) -> bytes:
    """Return a string that is cut off as one that ends, without an incomplete escape or character."""
    raw = raw.decode("utf-8", "ignore").encode()
    cut = raw.rfind(b"\\", max(0, len(raw) - 6))
    if cut >= 0:
        slashes = len(raw[: cut + 1]) - len(raw[: cut + 1].rstrip(b"\\"))
        if slashes % 2:
            raw = raw[:cut]
    return raw + b'"'


def _value_at(data: bytes, start: int, key: str, position: int) -> JsonValue:
    kind = _KINDS.get(data[start], JsonKind.WORD)
    if kind is JsonKind.WORD:
        match = _WORD.match(data, start, start + _WORD_SLICE)
        return JsonValue(kind, start, match.end() if match else start + 1, key, position)
    end = _end_or_beyond(data, start)
    return JsonValue(kind, start, min(end, len(data)), key, position, is_cut=end > len(data))


def _end_or_beyond(data: bytes, start: int) -> int:
    """Return the offset after a string or container; beyond the end of `data` if it is cut off."""
    end = value_end(data, start)
    return end if end >= 0 else len(data) + 1


def _after_separators(data: bytes, at: int) -> int:
    if at < len(data) and data[at] not in _SEPARATORS:
        return at
    while (match := _SEPARATED.match(data, at, at + _WORD_SLICE)) is not None and match.end() > at:
        at = match.end()
    return at
