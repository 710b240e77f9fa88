"""The outline of a JSON object of any size: where its members stand, found without reading their values.

A frame of 50 MB costs a fraction of a second, no memory, and never more than some 64 KiB at a time inside
one call into C, so that other threads run. Nesting of any depth is as good as any. What stands inside the
values is not checked; whoever needs that reads them. Pure.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

MAX_MEMBERS = 4096
"""More members of one object are not looked at: no message has them, and a flood of them costs time."""

_FIRST_SLICE, _LAST_SLICE = 256, 64 * 1024
_MAX_KEY = 512
_REDUCTIONS = 16
_SPACE = re.compile(rb"[ \t\r\n]*")
_SCALAR = re.compile(rb"-?\d[\d.eE+-]*|true|false|null")
_MARKS = re.compile(rb'["{}\[\]]')
_ALIKE = bytes.maketrans(b"[]", b"{}")
_NO_MARKS = bytes(code for code in range(256) if code not in b'"{}[]')


@dataclass(frozen=True, slots=True)
class Outline:
    """What an object holds.

    Attributes:
        members: where the value of each key begins and ends; the last of duplicate keys. A value that does
            not end has the end -1.
        end: index behind the object, -1 if it does not end.
    """

    members: dict[str, tuple[int, int]]
    end: int


def outline(raw: bytes, start: int = 0) -> Outline:
    """Return the outline of the object that begins at `start`, of a torn one as far as it goes.

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
        key = _key(raw[key_at:place]) if place - key_at <= _MAX_KEY else ""
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
    """Yield where the values of the array at `start` begin and end, at most `limit` of them."""
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
    """Return the index behind the value that begins at `start`, -1 if the text ends first.

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
        if len(raw) - start < len("false"):  # may be the beginning of a word
            return -1
        raise ValueError("no value")
    return found.end()


def after_space(raw: bytes, start: int) -> int:
    """Return the index of the first byte from `start` on that is no white space."""
    found = _SPACE.match(raw, start)
    return found.end() if found else start


def _key(quoted: bytes) -> str:
    return str(json.loads(quoted.decode("utf-8", "replace")))


def _string_end(raw: bytes, start: int) -> int:
    mark = raw[start : start + 1]
    if mark != b'"':
        if not mark:
            return -1
        raise ValueError("no string")
    for offset, part in _masked(raw, start + 1):
        found = part.find(b'"')
        if found >= 0:
            return offset + found + 1
    return -1


def _container_end(raw: bytes, start: int) -> int:
    depth, inside = 0, False
    for offset, part in _masked(raw, start):
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
    """Yield slices of growing size with their offsets; what is escaped by a backslash is blanked out."""
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
