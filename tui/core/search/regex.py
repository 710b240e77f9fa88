"""Finds Python's regular expressions with RE2, in linear time: translates them to its syntax. Pure.

Both read most patterns alike (https://github.com/google/re2/wiki/Syntax). But in RE2 word characters and word
boundaries are ASCII, `$` is the very end, and escapes and inline flags differ. So Python's own parser reads
the pattern, and it is rewritten. For word boundaries the text is marked, and the pattern matches the marks.
"""

import re
import warnings
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any

MAX_REPEAT = 1000
"""RE2 rejects larger counts, including products of nested ones."""

_INSIDE, _BOUNDARY = 2 * "\U0010fffe", 2 * "\U0010ffff"
"""The marks (noncharacters) of `\\B` and `\\b`; two, because a pattern may ask twice at the same place."""

_MARKS = r"\x{10fffe}\x{10ffff}"
_LAST = 0x10FFFD
_SURROGATES = range(0xD800, 0xE000)
_STAND_IN = 0x10F000 - 0xD800
"""Added to a lone surrogate, which UTF-8 cannot encode, gives the private character that replaces it."""

_SPACE = r"\t-\r\x1c-\x20\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}"
_DOTTED = "iI\u0130\u0131"
"""Equal to each other in Python when case is ignored; to RE2 they are two pairs."""

_UNSUPPORTED = {
    op.ASSERT: "look-around",
    op.ASSERT_NOT: "look-around",
    op.FAILURE: "look-around",
    op.GROUPREF: "a backreference",
    op.GROUPREF_EXISTS: "a conditional group",
    op.ATOMIC_GROUP: "an atomic group",
    op.POSSESSIVE_REPEAT: "a possessive repetition",
}
_CATEGORIES = {
    op.CATEGORY_DIGIT: "d",
    op.CATEGORY_NOT_DIGIT: "D",
    op.CATEGORY_SPACE: "s",
    op.CATEGORY_NOT_SPACE: "S",
    op.CATEGORY_WORD: "w",
    op.CATEGORY_NOT_WORD: "W",
}
_POSITIONS = {
    op.AT_BEGINNING: r"\A",
    op.AT_BEGINNING_STRING: r"\A",
    op.AT_END: rf"(?:[{_MARKS}]*\n?[{_MARKS}]*\z)",
    op.AT_END_STRING: rf"[{_MARKS}]*\z",
    op.AT_BOUNDARY: r"\b",
    op.AT_NON_BOUNDARY: r"\B",
}
_LINE_POSITIONS = {op.AT_BEGINNING: "(?m:^)", op.AT_END: f"[{_MARKS}]*(?m:$)"}
_MARKED_POSITIONS = {op.AT_BOUNDARY: r"\x{10ffff}", op.AT_NON_BOUNDARY: r"\x{10fffe}"}

_Items = Iterable[tuple[Any, Any]]


MEMORY = 8 * 1024 * 1024
"""Maximum bytes that RE2 may use for one pattern."""

MAX_PATTERN = 10_000

_ERRORS = (re.error, RecursionError, OverflowError)
Search = Callable[[bytes], object]


def found_in(pattern: str, text: str) -> bool | None:
    """Return whether a pattern is found in a text; None if RE2 does not support the pattern."""
    if len(pattern) > MAX_PATTERN:
        return None
    try:
        if asks_for_boundaries(pattern) and not text.isascii():
            return bool(_search(pattern, marked=True)(marked_text(re2_text(text))))
        return bool(_search(pattern)(re2_text(text)))
    except _ERRORS:
        return None


def search_of(pattern: str, *, ignore_case: bool = False, marked: bool = False) -> Search:
    """Return a search for a pattern of Python in UTF-8, or in `marked_text`. Raises `re.error`."""
    import re2  # type: ignore[import-untyped]

    options = re2.Options()
    options.max_mem = MEMORY
    options.never_capture = True
    options.log_errors = False  # they would go to stderr
    try:
        translated = re2_pattern(pattern, ignore_case=ignore_case, marked=marked)
        search: Search = re2.compile(translated, options).search
    except re2.error as error:
        raise re.error(error.args[0].decode("utf-8", "replace")) from None
    finally:
        re2.purge()  # RE2 would keep 128 patterns
    return search


_search = lru_cache(maxsize=16)(search_of)


def asks_for_boundaries(pattern: str) -> bool:
    r"""Return whether a pattern may have a `\b` or `\B`, so that non-ASCII texts must be marked."""
    return "\\b" in pattern or "\\B" in pattern


def re2_pattern(pattern: str, *, ignore_case: bool, marked: bool = False) -> str:
    """Return a pattern of Python as one of RE2, for `marked_text` if `marked`, else for `re2_text`.

    Raises:
        re.error: it is not valid, or RE2 does not support it.
        RecursionError: it is nested too deeply.
        OverflowError: a number in it is too large.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a future Python may read "[[" differently
        parsed = _parser.parse(pattern, re.IGNORECASE if ignore_case else 0)
    return _Translation(marked).group(parsed, parsed.state.flags, MAX_REPEAT)


def required_letters(pattern: str) -> str:
    """Return lower-case letters, digits, blanks and underscores that every match contains in a row.

    Matches may have them in any case. It is the longest such text among the required parts of the pattern, ""
    for none. Errors as `re2_pattern`.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parsed = _parser.parse(pattern)
    return max("".join(_letters(parsed)).split("\0"), key=len)


def _letters(items: _Items) -> Iterable[str]:
    """Yield the letters that items require, and NUL where other letters may come between."""
    for kind, value in items:
        if kind is op.LITERAL and re.fullmatch("[A-Za-z0-9 _]", chr(value)):
            yield chr(value).lower()
        elif kind is op.SUBPATTERN:
            yield from _letters(value[3])
        elif kind in (op.MAX_REPEAT, op.MIN_REPEAT) and value[0]:
            yield from ("\0", *_letters(value[2]), "\0")
        elif kind is not op.AT:
            yield "\0"


def re2_text(text: str) -> bytes:
    """Return a text as RE2 reads it: UTF-8, with private characters for lone surrogates."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return re.sub("[\ud800-\udfff]", lambda found: chr(ord(found[0]) + _STAND_IN), text).encode()


def marked_text(text: bytes) -> bytes:
    """Return a text of `re2_text` with marks where words begin and end, and where they do not."""
    pieces: list[str] = []
    decoded = text.decode()
    at = 0
    for word in re.finditer(r"\w+", decoded):
        pieces += _INSIDE.join(decoded[at : word.start()]), _BOUNDARY, _INSIDE.join(word[0]), _BOUNDARY
        at = word.end()
    pieces.append(_INSIDE.join(decoded[at:]))
    first, last = (
        "" if not char or re.match(r"\w", char) else _INSIDE for char in (decoded[:1], decoded[-1:])
    )
    return f"{first}{''.join(pieces)}{last}".encode()


class _Translation:
    def __init__(self, marked: bool) -> None:
        self._skip = f"[{_MARKS}]*" if marked else ""
        self._positions = _POSITIONS | _MARKED_POSITIONS if marked else _POSITIONS

    def group(self, items: _Items, flags: int, most: int) -> str:
        inside = "".join([self._item(kind, value, flags, most) for kind, value in items])
        return f"(?{'i' if flags & re.IGNORECASE else '-i'}:{inside})"

    def _item(self, kind: Any, value: Any, flags: int, most: int) -> str:
        if kind in _UNSUPPORTED:
            raise re.error(f"{_UNSUPPORTED[kind]} is not supported")
        if kind is op.AT:
            is_line = flags & re.MULTILINE and value in _LINE_POSITIONS
            return _LINE_POSITIONS[value] if is_line else self._positions[value]
        if kind is op.BRANCH:
            return f"(?:{'|'.join([self.group(branch, flags, most) for branch in value[1]])})"
        if kind is op.SUBPATTERN:
            _, added, removed, items = value
            return self.group(items, (flags | added) & ~removed, most)
        # Which length is tried first makes no difference to whether it matches.
        if kind in (op.MAX_REPEAT, op.MIN_REPEAT):
            least, largest, items = value
            return self._repeat(least, largest, items, flags, most)
        return self._skip + self._char(kind, value, flags)

    def _repeat(self, least: int, largest: int, items: _Items, flags: int, most: int) -> str:
        is_endless = largest is op.MAXREPEAT
        if is_endless and least < 2:
            return self.group(items, flags, most) + "*+"[least]
        left = most // max(1, least if is_endless else largest)
        if not left:
            raise re.error(f"more than {MAX_REPEAT} repetitions")
        return f"{self.group(items, flags, left)}{{{least},{'' if is_endless else largest}}}"

    def _char(self, kind: Any, value: Any, flags: int) -> str:
        if kind is op.IN:
            return _class(value, flags)
        if kind is op.ANY:
            return f"[^{_MARKS}]" if flags & re.DOTALL else rf"[^\n{_MARKS}]"
        if kind is op.NOT_LITERAL:
            return _class([(op.NEGATE, None), (op.LITERAL, value)], flags)
        return _class([(kind, value)], flags)


def _class(items: _Items, flags: int) -> str:
    parts: list[str] = []
    negation = ""
    for kind, value in items:
        if kind is op.NEGATE:
            negation = f"^{_MARKS}"
        elif kind is op.CATEGORY:
            parts.append(_category(_CATEGORIES[value], bool(flags & re.ASCII)))
        else:
            low, high = value if kind is op.RANGE else (value, value)
            parts.append(_range(low, min(high, _LAST)))
            if flags & re.IGNORECASE and any(low <= ord(char) <= high for char in _DOTTED):
                parts.append(_DOTTED)
    return f"[{negation}{''.join(parts)}]"


def _range(low: int, high: int) -> str:
    first, last = max(low, _SURROGATES[0]), min(high, _SURROGATES[-1])
    stand_ins = _range(first + _STAND_IN, last + _STAND_IN) if first <= last else ""
    return f"\\x{{{low:x}}}-\\x{{{high:x}}}{stand_ins}"


@cache
def _category(letter: str, is_ascii: bool) -> str:
    r"""Return the characters of an escape such as `\w`, as a part of a class."""
    known = {"d": r"\p{Nd}", "s": _SPACE, "w": r"\p{L}\p{N}_"}
    if letter in known and not is_ascii:
        return known[letter]
    chars = "".join(map(chr, range(0x40000)))  # above it, there are neither letters nor blanks
    runs = re.finditer(f"\\{letter}+", chars, re.ASCII if is_ascii else 0)
    ranges = "".join([_range(found.start(), found.end() - 1) for found in runs])
    return ranges + (_range(0x40000, _LAST) if letter.isupper() else "")
