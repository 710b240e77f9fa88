"""JSON as it was written, found part by part: where each value begins and ends, and nothing more. Pure.

Nothing is parsed that nobody looks at, so a body of 50 MB opens like a small one; what was cut off shows as
far as it goes; a key that is there twice shows twice; a number stays as it was written. The long loops give
other threads their turn: no regular expression ever runs over more than `STEP` bytes.
"""

import json
import re
from dataclasses import dataclass
from enum import Enum

STEP = 256 * 1024
"""Bytes that one call of the regular expression looks at: some milliseconds."""

PAGE = 2_000
"""Values of one container that are found at once; the rest stands behind a line of its own."""

_SPACE = b" \t\r\n,:"
_BLANK = re.compile(rb"[\s,:]*+")
_RUN = re.compile(rb'(?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*")*', re.DOTALL)
_WORD = re.compile(rb"[^\s,:\[\]{}\"]++")


class Kind(Enum):
    """What a value is."""

    OBJECT = "object"
    ARRAY = "array"
    STRING = "string"
    WORD = "word"
    """A number, true, false, null, or what is no JSON at all."""
    MORE = "more"
    """The values of a container from here on, not found yet."""


@dataclass(frozen=True, slots=True)
class Value:
    """Where a value stands.

    Attributes:
        kind: what it is.
        start: offset of its first byte.
        end: offset after its last.
        key: its key in an object, "" in an array.
        position: its place in its container, from 0.
        is_cut: the bytes end before it does.
    """

    kind: Kind
    start: int
    end: int
    key: str = ""
    position: int = 0
    is_cut: bool = False

    @property
    def size(self) -> int:
        """Bytes that it takes."""
        return self.end - self.start

    @property
    def is_container(self) -> bool:
        """Whether it has values in it."""
        return self.kind in (Kind.OBJECT, Kind.ARRAY)


_KINDS = {ord("{"): Kind.OBJECT, ord("["): Kind.ARRAY, ord('"'): Kind.STRING}


def whole(data: bytes) -> Value | None:
    """Return the value that `data` is, None if it is no JSON by its first character."""
    start = _after_space(data, 0)
    if start >= len(data) or data[start] not in b'{["-0123456789tfn':
        return None
    return _value(data, start, "", 0)


def members(data: bytes, container: Value, start: int = -1, position: int = 0) -> list[Value]:
    """Return the values in a container, at most `PAGE`; what follows is one value of the kind MORE.

    Args:
        data: the bytes.
        container: the one whose values are sought; a MORE goes on where it stands.
        start: where to go on, -1 for the beginning.
        position: the place of the first value found.
    """
    keyed = container.kind is Kind.OBJECT
    at = container.start + 1 if start < 0 else start
    found: list[Value] = []
    while True:
        at = _after_space(data, at)
        if at >= container.end or data[at] in b"}]":
            return found
        if len(found) >= PAGE:
            found.append(Value(Kind.MORE, at, container.end, position=position))
            return found
        key = ""
        if keyed and data[at] == 0x22:
            end = _end_of_string(data, at)
            key = text(data, Value(Kind.STRING, at, end), 400)
            at = _after_space(data, end)
            if at >= len(data):
                return found
        value = _value(data, at, key, position)
        found.append(value)
        position += 1
        at = max(value.end, at + 1)


def text(data: bytes, value: Value, limit: int = 4096) -> str:
    """Return a string's text, or how a word is written; at most about `limit` characters. Not cleaned."""
    end = min(value.end, value.start + limit * 6)
    raw = data[value.start : end]
    if value.kind is not Kind.STRING:
        return raw.decode("utf-8", "replace")[:limit]
    if end < value.end or value.is_cut:
        raw = _closed(raw)
    try:
        decoded = json.loads(raw, strict=False)
    except ValueError:
        return raw.strip(b'"').decode("utf-8", "replace")[:limit]
    return str(decoded)[:limit]


def _closed(raw: bytes) -> bytes:
    """Return a string that was cut as one that ends, without half an escape or half a character."""
    raw = raw.decode("utf-8", "ignore").encode()
    cut = raw.rfind(b"\\", max(0, len(raw) - 6))
    if cut >= 0:
        slashes = len(raw[: cut + 1]) - len(raw[: cut + 1].rstrip(b"\\"))
        if slashes % 2:
            raw = raw[:cut]
    return raw + b'"'


def _value(data: bytes, start: int, key: str, position: int) -> Value:
    kind = _KINDS.get(data[start], Kind.WORD)
    if kind is Kind.WORD:
        match = _WORD.match(data, start, start + STEP)
        end = match.end() if match else start + 1
        return Value(kind, start, end, key, position)
    end = _end_of_string(data, start) if kind is Kind.STRING else _end_of_container(data, start)
    is_cut = end > len(data)
    return Value(kind, start, min(end, len(data)), key, position, is_cut)


def _after_space(data: bytes, at: int) -> int:
    if at < len(data) and data[at] not in _SPACE:
        return at
    while (match := _BLANK.match(data, at, at + STEP)) is not None and match.end() > at:
        at = match.end()
    return at


def _end_of_string(data: bytes, start: int) -> int:
    """Return the offset after a string; beyond the end of `data` if it does not end."""
    at = start + 1
    while True:
        at = data.find(b'"', at)
        if at < 0:
            return len(data) + 1
        slashes = at
        while data[slashes - 1] == 0x5C:
            slashes -= 1
        if (at - slashes) % 2 == 0 or slashes <= start:
            return at + 1
        at += 1


def _end_of_container(data: bytes, start: int) -> int:
    """Return the offset after an object or array; beyond the end of `data` if it does not end."""
    depth, at, size = 0, start, len(data)
    while at < size:
        sign = data[at]
        if sign in b"{[":
            depth += 1
            at += 1
        elif sign in b"}]":
            depth -= 1
            at += 1
            if not depth:
                return at
        elif sign == 0x22:
            at = _end_of_string(data, at)
        match = _RUN.match(data, at, at + STEP) if at < size else None
        if match is not None and match.end() > at:
            at = match.end()
        elif at < size and data[at] not in b'{[}]"':
            at += 1
    return size + 1
