"""Compares patterns of rules with the arguments of a call. Pure.

The model writes the arguments and the server reads them, so one value may have several readings: a path with
`..` in it is both the text as written and the place that it leads to, and a text with invisible characters or
fullwidth letters is also the text that the user reads. Nothing is corrected on the way. A rule that asks or
denies counts if one reading matches, a rule that allows only if all of them do.

A pattern cannot see what only the server knows: links, mounts, `~`, folders that a relative path starts from,
upper and lower case that mean the same file, names for the same host.
"""

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from typing import Any
from urllib.parse import unquote

from tui.core.text import UNSEEN

ANY = "*"
"""The name of an argument that stands for all of them, at any depth."""

MAX_DECODED = 5
"""How often a percent-encoded text is decoded; one encoded more often cannot be read."""

MAX_WORK = 300_000
"""Maximum characters that are read for other spellings in one call; longer ones cannot be read."""

_TEXT_WORK = 200
"""The minimum cost of a text, in characters."""

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/\\]*")

_DETOUR = re.compile(r"//|(?:^|/)\.\.?(?:/|$)")
"""Found only in a path with empty names, `.` or `..`."""

_NOTHING = re.compile(r"/(?:\.?/)+")
"""Empty names and `.` within a path."""

_ESCAPE = re.compile(r"%[0-9A-Fa-f]{2}")

_INVISIBLE = re.compile(rf"{UNSEEN}|[\u200c-\u200d\x0c]")
_MARKED = re.compile("[^\u0300-\u036f][\u0300-\u036f]{1,4}")
"""Matches a letter with its marks. Longer runs would take quadratic time."""

_SPECIAL = "*?[]\\"

UNREADABLE = (TypeError, ValueError, RecursionError, OverflowError)


@cache
def _blanks() -> str:
    """Return the characters that a server may strip: blanks, control and invisible characters."""
    chars = map(chr, [*range(0x3001), 0xFEFF, *range(0xFFF9, 0xFFFC), *range(0xE0000, 0xE0080)])
    return "".join(char for char in chars if unicodedata.category(char) in ("Cc", "Cf", "Zs", "Zl", "Zp"))


class Readings:
    """The readings of the texts of one call; each text is read once, however many rules need it."""

    def __init__(self) -> None:
        self._places: dict[str, Sequence[Sequence[str]] | None] = {}
        self._texts: dict[str, _Texts] = {}
        self._left = MAX_WORK

    def of(self, value: Any) -> Iterator[Sequence[str]]:
        """Yield the readings of a value, each with its spellings.

        Raises:
            TypeError, ValueError, RecursionError, OverflowError: it is too unusual or too large to read.
        """
        if isinstance(value, str):
            yield (value,)
            yield from self._other(value)
            return
        written = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        if (plain := plain_text(written)) != written:
            yield (_Plain(plain),)
        yield (written, str(int(value))) if isinstance(value, float) and value.is_integer() else (written,)

    def all_at(self, argument: str, arguments: Mapping[str, Any]) -> "_Texts":
        """Return all values at an argument of the call, and inside it."""
        if argument not in self._texts:
            found: dict[str, None] = {}
            try:
                for value in values_at(argument, arguments):
                    inner = _leaf_values(value) if isinstance(value, Mapping | list | tuple) else ()
                    for item in (value, *inner) if value is not MISSING else ():
                        for texts in self.of(item):
                            found.update(dict.fromkeys(texts))
                self._texts[argument] = _Texts(tuple(found))
            except UNREADABLE:
                self._texts[argument] = _Texts((), is_readable=False)
        return self._texts[argument]

    def _other(self, text: str) -> Sequence[Sequence[str]]:
        if text not in self._places:
            self._places[text] = self._read(text)
        found = self._places[text]
        if found is None:
            raise ValueError("too large to read, or encoded too often")
        return found

    def _read(self, text: str) -> Sequence[Sequence[str]] | None:
        plain = plain_text(text)
        if not (_is_odd(text) or _is_odd(plain)):
            others = (text.strip(_blanks()), _Plain(plain), _Plain(plain.strip(_blanks())))
            return tuple((other,) for other in dict.fromkeys(others) if other != text)
        found: dict[Sequence[str], None] = {}
        waiting, begun = [text], {text}
        while waiting:
            one = waiting.pop()
            self._left -= len(one) + _TEXT_WORK
            if self._left < 0 or len(begun) > MAX_DECODED:
                return None
            for number, meaning in enumerate(_meanings(one)):
                if number > 2 * MAX_DECODED:
                    return None
                found.update(dict.fromkeys([(meaning,), *_places(meaning)]))
                if (plain := plain_text(meaning)) not in begun and plain != meaning:
                    begun.add(plain)
                    waiting.append(_Plain(plain))
        return tuple(found)


class _Plain(str):
    """A text as the user reads it. It is compared with the pattern as the user reads that."""

    __slots__ = ()


def plain_text(text: str) -> str:
    """Return a text without invisible characters, and with plain letters for fullwidth and similar ones.

    Linear. Letters of other scripts that look like Latin ones are not replaced.
    """
    if text.isascii() and text.isprintable():
        return text
    text = _INVISIBLE.sub("", text)
    if text.isascii():
        return text
    table = {
        ord(char): plain
        for char in set(text)
        if not char.isascii() and (plain := unicodedata.normalize("NFKC", char)) != char
    }
    return _composed(text.translate(table))


def _plain_pattern(pattern: str) -> str:
    """Return a pattern with plain letters, which adds no special characters and keeps those that it has."""
    table = {
        ord(char): plain
        for char in set(pattern)
        if not char.isascii() and not any(one in (plain := plain_text(char)) for one in _SPECIAL)
    }
    return _composed(pattern.translate(table))


def _composed(text: str) -> str:
    return _MARKED.sub(lambda found: unicodedata.normalize("NFC", found[0]), text)


MISSING = object()
"""The value at a path that leads to nothing."""


def covers_any(
    pattern: str, argument: str, arguments: Mapping[str, Any], readings: Readings | None = None
) -> bool:
    """Return whether a value at `argument` may match: a reading matches, or it cannot be read."""
    return (readings or Readings()).all_at(argument, arguments).has(pattern)


def covers_all(
    pattern: str, argument: str, arguments: Mapping[str, Any], readings: Readings | None = None
) -> bool:
    """Return whether there are values at `argument`, and all of their readings match."""
    readings = readings or Readings()
    found = False
    for value in values_at(argument, arguments):
        if value is MISSING:
            return False
        for item in value if isinstance(value, list | tuple) and value else (value,):
            try:
                if not all(_matches(texts, pattern) for texts in readings.of(item)):
                    return False
            except UNREADABLE:
                return False
            found = True
    return found


class _Texts:
    """Texts to compare with many patterns; a pattern that no text can match is rejected at once."""

    def __init__(self, texts: Sequence[str], *, is_readable: bool = True) -> None:
        self._texts = texts
        self._is_readable = is_readable
        self._joined = "\0".join(texts)

    def has(self, pattern: str) -> bool:
        """Return whether a text matches, or one cannot be read."""
        if not self._is_readable:
            return True
        if not pattern.isascii():
            plain = _plain_pattern(pattern)
            if plain.strip("*?") and plain != pattern and self._has(plain):
                return True
        return self._has(pattern)

    def _has(self, pattern: str) -> bool:
        if not ("[" in pattern or "\\" in pattern):
            longest = max(re.split(r"[*?]", pattern), key=len)
            if longest not in self._joined:
                return False
        return _matches(self._texts, pattern)


def _matches(texts: Sequence[str], pattern: str) -> bool:
    if any(fnmatchcase(text, pattern) for text in texts):
        return True
    if not pattern.isascii() and any(isinstance(text, _Plain) for text in texts):
        return _matches([str(text) for text in texts], _plain_pattern(pattern))
    return "\\" in pattern and any(fnmatchcase(text.replace("/", "\\"), pattern) for text in texts)


def values_at(argument: str, arguments: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the values at a dotted path, `MISSING` if it leads to nothing.

    A name may have a dot in it. A path leads into each item of an array, or into the one whose number it has.
    """
    if argument == ANY:
        yield from _leaf_values(arguments)
        return
    path = argument.split(".")
    waiting: list[tuple[int, Any]] = [(0, arguments)]
    while waiting:
        begun, value = waiting.pop()
        if begun == len(path):
            yield value
        elif isinstance(value, list | tuple):
            step = path[begun]
            if not (step.isascii() and step.isdecimal() and len(step) < 7):
                waiting.extend((begun, item) for item in value)
            elif int(step) < len(value):
                waiting.append((begun + 1, value[int(step)]))
            else:
                yield MISSING
        else:
            ends = range(begun + 1, len(path) + 1) if isinstance(value, Mapping) else ()
            found = [(end, value[name]) for end in ends if (name := ".".join(path[begun:end])) in value]
            waiting.extend(found)
            if not found:
                yield MISSING


def _leaf_values(tree: Any) -> Iterator[Any]:
    """Yield all values inside objects and arrays that are neither."""
    waiting = [tree]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Mapping):
            waiting.extend(value.values())
        elif isinstance(value, list | tuple):
            waiting.extend(value)
        else:
            yield value


def _is_odd(text: str) -> bool:
    """Return whether a text may be a path, or is encoded."""
    if "/" in text or "\\" in text or ("%" in text and _ESCAPE.search(text)):
        return True
    return len(text) < 1000 and text.strip(_blanks()) in (".", "..")


def _meanings(text: str) -> Iterator[str]:
    """Yield a text, then stripped and decoded again and again until nothing changes."""
    while True:
        yield text
        stripped = text.strip(_blanks())
        if stripped != text:
            yield stripped
        decoded = _decoded(stripped)
        if decoded == stripped:
            return
        text = decoded


def _decoded(text: str) -> str:
    """Return a text with percent-encoding decoded, in linear time."""
    escapes = dict.fromkeys(_ESCAPE.findall(text))
    if len(text) < 2000 or not escapes:
        return unquote(text)
    decoded = text.encode(errors="surrogatepass")
    for escape in sorted(escapes, key="%25".__eq__):  # last, because it creates other escapes
        decoded = decoded.replace(escape.encode(), bytes.fromhex(escape[1:]))
    return decoded.decode(errors="replace")


def _places(text: str) -> Iterator[Sequence[str]]:
    if "/" not in text and "\\" not in text and text not in (".", ".."):
        return
    is_file = text[:5].lower() == "file:"
    for windows in (False, True) if "\\" in text else (False,):
        if is_file:
            place = _normal(re.sub("^//[^/]*", "", text[5:]), windows)
            yield (*_spellings(place), *_spellings(f"file://{place}"))
        else:
            yield _spellings(_normal(text, windows))


def _spellings(place: str) -> Sequence[str]:
    return (place,) if place.endswith("/") else (place, f"{place}/")


def _normal(path: str, windows: bool) -> str:
    """Return a path without empty names, `.` and `..`. A leading `..` of a relative path stays."""
    if windows:
        path = path.replace("\\", "/")
    if not _DETOUR.search(path):
        return path.removesuffix("/") or "/"
    head = found.group() if (found := _SCHEME.match(path)) else ""
    tail = _NOTHING.sub("/", path[len(head) :])
    names: list[str] = []
    is_absolute = bool(head) or path.startswith("/")
    for name in tail.split("/"):
        if name == ".." and (names and names[-1] != ".."):
            names.pop()
        elif name not in ("", ".") and not (name == ".." and is_absolute):
            names.append(name)
    return head + ("/" if is_absolute else "") + "/".join(names) or "."
