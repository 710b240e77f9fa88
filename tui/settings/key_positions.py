"""Finds the place of each key in a TOML or JSON text: its line and the span of its value.

`tomllib` and `json` return values without places, but errors need lines and edits need spans. This scanner
does not validate the text, since the real parsers already have. Pure; never raises.
"""

import re
import tomllib
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass

from tui.core.jsonrpc.reader import json_value

KeyPath = tuple[str | int, ...]

MAX_DEPTH = 64
MAX_PLACES = 50_000
"""Deeper or later keys have no place. No real configuration is that large."""

# An unterminated string ends where its quotes had to be, so that no text is scanned twice. Groups are never
# repeated possessively: Python 3.11.0 to 3.11.2 keep what the last, failed iteration of such a group matched.
_TOKEN = re.compile(
    r'''
    (?P<space>[ \t\r]++) | (?P<newline>\n) | (?P<comment>\#[^\n]*+)
  | (?P<text>
        """(?:[^\\"]++|\\.|"{1,2}(?!"))*(?:"{3,5}|\\?\Z)
      | \'\'\'(?:[^']++|'{1,2}(?!'))*(?:'{3,5}|\Z)
      | "(?:[^"\\\n]++|\\[^\n])*"? | '[^'\n]*+'? )
  | (?P<mark>[\[\]{}=,.:])
  | (?P<bare>[^\s\[\]{}=,.:\#"']++) | (?P<other>.)
    ''',
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a key is: its line, from 1, and the span of its value.

    The span of a `[table]` header is empty and follows the header's line.
    """

    line: int
    start: int
    end: int
    header: bool = False


def toml_places(text: str) -> dict[KeyPath, Place]:
    """Return the place of each key, table header and array element in a TOML text."""
    return _Scanner(text, "=").toml()


def json_places(text: str) -> dict[KeyPath, Place]:
    """Return the place of each key and array element in a JSON text without comments."""
    return _Scanner(text, ":").json()


def line_of(places: Mapping[KeyPath, Place], path: KeyPath) -> int:
    """Return the line of `path`, or of the nearest container with one, or 0."""
    for length in range(len(path), 0, -1):
        if (place := places.get(path[:length])) is not None:
            return place.line
    return 0


def bracket_lines(text: str) -> tuple[int, int]:
    """Return the lines of the first bracket that is not closed, and of the deepest one; 0 for none."""
    opened: list[int] = []
    line, depth, deepest = 1, 0, 0
    for token in _TOKEN.finditer(text):
        mark = token["mark"]
        if mark in ("[", "{"):
            opened.append(line)
            if len(opened) > depth:
                depth, deepest = len(opened), line
        elif mark in ("]", "}") and opened:
            opened.pop()
        line += token[0].count("\n")
    return (opened[0] if opened else 0), deepest


def unquoted(token: str) -> str:
    """Return the key of a bare or quoted token."""
    if token[:1] not in "\"'" or len(token) < 2:
        return token
    if token[0] == "'" or "\\" not in token:
        return token[1:-1]
    try:
        value = tomllib.loads(f"k = {token}")["k"]
    except (ValueError, RecursionError):
        value = json_value(token, token[1:-1])
    return str(value)


class _Scanner:
    def __init__(self, text: str, separator: str) -> None:
        self._text = text
        self._separator = separator
        self._lines = [found.end() for found in re.finditer("\n", text)]
        self._places: dict[KeyPath, Place] = {}
        self._arrays: dict[KeyPath, int] = {}
        self._tokens = (  # kind, text, start and end of each except whitespace
            (found.lastgroup or "other", found.group(), found.start(), found.end())
            for found in _TOKEN.finditer(text)
            if found.lastgroup != "space"
        )

    def _line(self, offset: int) -> int:
        return bisect_right(self._lines, offset) + 1

    def _note(self, path: KeyPath, line: int, start: int, end: int, header: bool = False) -> None:
        if len(path) <= MAX_DEPTH and len(self._places) < MAX_PLACES:
            self._places.setdefault(path, Place(line, start, end, header))

    def toml(self) -> dict[KeyPath, Place]:
        table: KeyPath = ()
        parts: list[str] = []
        begin = 0
        for kind, token, start, _ in self._tokens:
            if kind in ("newline", "comment"):
                parts = []
            elif token == "[" and kind == "mark" and not parts:
                table = self._header(start)
            elif token == "=" and kind == "mark":
                path = (*table, *parts)[: MAX_DEPTH + 1]
                parts = []
                self._value(path, self._line(begin))
            elif kind in ("text", "bare"):
                begin = begin if parts else start
                parts.append(unquoted(token))
        return self._places

    def json(self) -> dict[KeyPath, Place]:
        self._value((), 1)
        self._places.pop((), None)
        return self._places

    def _header(self, start: int) -> KeyPath:
        """Read a header after its first bracket, and return the path of its table."""
        parts: list[str] = []
        many = False
        end = len(self._text)
        for kind, token, _, behind in self._tokens:
            if kind == "newline":
                end = behind
                break
            many = many or (token == "[" and kind == "mark")
            if kind in ("text", "bare"):
                parts.append(unquoted(token))
        path: KeyPath = self._in_arrays(parts[:MAX_DEPTH], many)
        line = self._line(start)
        for length in range(1, len(path)):
            self._note(path[:length], line, end, end)
        self._note(path, line, end, end, header=True)
        return path

    def _in_arrays(self, parts: list[str], many: bool) -> KeyPath:
        """Return the path of a header's table, with an element's index after an array's name."""
        path: KeyPath = ()
        for number, part in enumerate(parts):
            path = (*path, part)
            if many and number == len(parts) - 1:
                self._arrays[path] = self._arrays.get(path, -1) + 1
            if path in self._arrays:
                path = (*path, self._arrays[path])
        return path

    def _value(self, path: KeyPath, line: int) -> None:
        """Read a value that is no member: to the end of its line in TOML, of the text in JSON."""
        begin, end = -1, 0
        for kind, token, start, behind in self._tokens:
            if kind in ("newline", "comment"):
                if self._separator == "=":
                    break
                continue
            begin, end = start if begin < 0 else begin, behind
            if kind == "mark" and token in "[{":
                end = self._members(path, is_table=token == "{")
        if begin >= 0:
            self._note(path, line, begin, end)

    def _members(self, path: KeyPath, *, is_table: bool) -> int:
        """Note the members of a table or list after its bracket, and return where it ends."""
        if len(path) > MAX_DEPTH:
            return self._skipped()
        parts: list[str] = []
        key: KeyPath = ()
        index, line, begin, end = 0, 0, -1, len(self._text)
        tokens = (token for token in self._tokens if token[0] not in ("newline", "comment"))
        for kind, token, start, behind in tokens:
            if kind == "mark" and token in "]},":
                if begin >= 0:
                    self._note(key, line, begin, end)
                if token != ",":
                    return behind
                parts, key, begin, index = [], (), -1, index + 1
            elif is_table and not key:
                if kind == "mark" and token == self._separator:
                    key, parts = (*path, *parts)[: MAX_DEPTH + 1], []
                elif kind in ("text", "bare"):
                    line = line if parts else self._line(start)
                    parts.append(unquoted(token))
            else:
                if begin < 0 and not is_table:
                    key, line = (*path, index)[: MAX_DEPTH + 1], self._line(start)
                begin, end = start if begin < 0 else begin, behind
                if kind == "mark" and token in "[{":
                    end = self._members(key, is_table=token == "{")
        if begin >= 0:
            self._note(key, line, begin, end)
        return end

    def _skipped(self) -> int:
        """Skip a table or list that is too deep, and return where it ends."""
        depth = 1
        for kind, token, _, behind in self._tokens:
            if kind == "mark":
                depth += (token in "[{") - (token in "]}")
            if not depth:
                return behind
        return len(self._text)
