"""Matches a whole text with literal parts, numbers, times, ids and gaps, in linear time. Pure.

All positions where a part can end are one integer with a bit for each, so that a part moves all of them at
once, and nothing is tried twice (R. Cameron et al., "Bitwise Data Parallelism in Regular Expression
Matching", 2014). Python's `re` would take exponential time for several parts that vary, and RE2 the product
of both sizes: 100 s for 1 MB with 100 gaps (measured).
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import Final


class _Bits(dict[int, str]):
    """For `str.translate`: "1" for the characters of a class, "0" for all others."""

    def __init__(self, chars: str) -> None:
        super().__init__()
        self._matching = re.compile(chars).match

    def __missing__(self, code: int) -> str:
        bit = "1" if self._matching(chr(code)) else "0"
        if code < 0x3000:  # a hostile text may have every character
            self[code] = bit
        return bit


_table = lru_cache(maxsize=64)(_Bits)


class _Subject:
    """A text with a mask for each class of characters: bit i is set if character i belongs to it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._masks: dict[str, int] = {}

    def mask(self, chars: str) -> int:
        if chars not in self._masks:
            self._masks[chars] = int(self.text.translate(_table(chars))[::-1] or "0", 2)
        return self._masks[chars]


_Step = Callable[[_Subject, int], int]
"""Returns the positions after a part, from those before it."""


@dataclass(frozen=True, slots=True)
class TextPart:
    """A part that varies: as a regular expression, and as a step of all positions."""

    regex: str
    step: _Step


class Gap:
    """The type of `GAP`."""


GAP: Final = Gap()
"""Any text, also none."""


def _one(chars: str) -> TextPart:
    return TextPart(chars, lambda subject, at: (at & subject.mask(chars)) << 1)


def _many(chars: str) -> TextPart:
    def step(subject: _Subject, at: int) -> int:
        mask = subject.mask(chars)
        after = (at & mask) << 1
        return (((after & mask) + mask) ^ mask) | after  # a carry runs to the end of each run of characters

    return TextPart(f"{chars}+", step)


def _row(*parts: TextPart) -> TextPart:
    def step(subject: _Subject, at: int) -> int:
        return reduce(lambda found, part: part.step(subject, found), parts, at)

    return TextPart("".join(part.regex for part in parts), step)


def _either(*parts: TextPart) -> TextPart:
    def step(subject: _Subject, at: int) -> int:
        return reduce(lambda found, part: found | part.step(subject, at), parts, 0)

    return TextPart(f"(?:{'|'.join(part.regex for part in parts)})", step)


def _maybe(*parts: TextPart) -> TextPart:
    inner = _row(*parts)
    return TextPart(f"(?:{inner.regex})?", lambda subject, at: at | inner.step(subject, at))


def _grouped(part: TextPart, most: int) -> TextPart:
    """Return a part that is there once or more, at most `most` times."""
    return _row(part, _maybe(_grouped(part, most - 1))) if most > 1 else part


def _digits(least: int, most: int = 0) -> TextPart:
    return _row(*[_DIGIT] * least, *[_maybe(_DIGIT)] * max(0, most - least))


_DIGIT = _one("[0-9]")
_SIGN = _one("[-+]")
_BLANK = _one("[ ]")
_COLON = _one("[:]")
_LETTERS = _row(*[_one("[A-Za-z]")] * 3)

NUMBER = _row(
    _maybe(_one("[-+\u2212]")),
    _either(_many("[0-9]"), _row(_digits(1, 3), _grouped(_row(_one("[,]"), _digits(3)), 6))),
    _maybe(_one("[.]"), _many("[0-9]")),
    _maybe(_one("[eE]"), _maybe(_SIGN), _many("[0-9]")),
)
ID = _many(r"[\w.:+/=~-]")

_ZONE = _row(
    _maybe(_BLANK),
    _either(_one("[Zz]"), _row(_SIGN, _digits(2), _maybe(_COLON), _digits(2)), _LETTERS),
)
_CLOCK = _row(
    _digits(1, 2),
    _COLON,
    _digits(2),
    _maybe(_COLON, _digits(2), _maybe(_one("[.,]"), _digits(1, 9))),
    _maybe(_maybe(_BLANK), _one("[AaPp]"), _one("[Mm]")),
    _maybe(_ZONE),
)
_DATE = _row(_digits(4), _one("[-/.]"), _digits(2), _one("[-/.]"), _digits(2))
TIME = _either(
    _row(_DATE, _maybe(_one("[Tt ]"), _CLOCK)),
    _CLOCK,
    _row(_digits(8), _one("[Tt]"), _digits(4, 6), _maybe(_ZONE)),
    _row(
        _maybe(_LETTERS, _one("[,]"), _BLANK),
        _digits(1, 2),
        _BLANK,
        _LETTERS,
        _BLANK,
        _digits(4),
        _BLANK,
        _CLOCK,
    ),
    _row(
        _LETTERS, _BLANK, _LETTERS, _BLANK, _maybe(_BLANK), _digits(1, 2), _BLANK, _CLOCK, _BLANK, _digits(4)
    ),
)

FEW = 32
"""So many positions are checked one by one."""

Piece = str | TextPart | Gap


def fits_whole(pieces: Sequence[Piece], text: str) -> bool:
    """Return whether a text consists of these pieces, one after the other, in any way."""
    rows = _rows(pieces)
    subject = _Subject(text)
    size = len(text)
    if len(rows) == 1:
        return bool(_after(rows[0], subject, 1) >> size & 1)
    first, *inner, last = rows
    if not (found := _after(first, subject, 1)):
        return False
    at = _lowest(found)
    for row in inner:
        # Any text may come after it, so only the first place where it can end counts.
        if len(row) == 1 and isinstance(row[0], str):
            start = text.find(row[0], at)
            found = 1 << (start + len(row[0])) if start >= 0 else 0
        else:
            found = _after(row, subject, _from(at, size)) if row else 1 << at
        if not found:
            return False
        at = _lowest(found)
    if len(last) == 1 and isinstance(last[0], str):
        return text.endswith(last[0]) and size - len(last[0]) >= at
    return bool(_after(last, subject, _from(at, size)) >> size & 1)


def _rows(pieces: Iterable[Piece]) -> list[list[str | TextPart]]:
    """Return the pieces between the gaps."""
    rows: list[list[str | TextPart]] = [[]]
    for piece in pieces:
        if isinstance(piece, Gap):
            rows.append([])
        elif piece:
            rows[-1].append(piece)
    return rows


def _after(row: Sequence[str | TextPart], subject: _Subject, at: int) -> int:
    """Return all positions where the pieces can end if they begin at one of `at`."""
    for piece in row:
        at = _literal(piece, subject, at) if isinstance(piece, str) else piece.step(subject, at)
        if not at:
            break
    return at


def _literal(piece: str, subject: _Subject, at: int) -> int:
    for offset, char in enumerate(piece):
        if at.bit_count() <= FEW:
            break
        at &= subject.mask(re.escape(char)) >> offset
    else:
        return at << len(piece)
    found = 0
    while at:
        place = _lowest(at)
        at &= at - 1
        if subject.text.startswith(piece, place):
            found |= 1 << (place + len(piece))
    return found


def _from(at: int, size: int) -> int:
    return (1 << (size + 1)) - (1 << at)


def _lowest(bits: int) -> int:
    return (bits & -bits).bit_length() - 1
