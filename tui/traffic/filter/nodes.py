"""The syntax tree of a filter, and the notation of its values. Pure."""

import re
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import NamedTuple

from tui.core.text import clean_line
from tui.core.traffic import BodyTerm

LARGEST = 2**63 - 1
DAY_NS = 86_400_000_000_000

_PREFIXES = {"": 1, "k": 1000, "m": 1000**2, "g": 1000**3, "ki": 1 << 10, "mi": 1 << 20, "gi": 1 << 30}
_SIZES = {f"{prefix}{unit}": number for prefix, number in _PREFIXES.items() for unit in ("", "b")}
_SECOND = 1_000_000_000
_SHORT_TIMES = {"ns": 1, "us": 1000, "µs": 1000, "μs": 1000, "ms": 1_000_000, "s": _SECOND}
_TIMES = _SHORT_TIMES | {"m": 60 * _SECOND, "min": 60 * _SECOND, "h": 3600 * _SECOND, "d": DAY_NS}
_PART = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,9})?)([^\W\d_]*)")
_CLOCK = re.compile(
    r"(?:([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[tT]|$))?(?:([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,9}))?)?)?"
)


class BadValue(ValueError):
    """A value that cannot be read; the text says why, `instead` is a replacement."""

    def __init__(self, sentence: str, instead: str = "") -> None:
        super().__init__(sentence)
        self.instead = instead


def shown(text: str) -> str:
    """Return a part of the filter as a message quotes it: cleaned, and not too long."""
    return clean_line(text, 40)


def count(text: str) -> int:
    """Return an integer."""
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise BadValue(f"“{shown(text)}” is not an integer.")
    return int(text)


def size(text: str) -> int:
    """Return bytes: "132", "10k", "1.5MB", "4KiB"."""
    found = _PART.fullmatch(text)
    unit = found[2].lower() if found else ""
    if not found or unit not in _SIZES:
        raise BadValue(f"“{shown(text)}” is not a size. Examples: 132, 10k, 1.5M, 4KiB.")
    return _whole_number(Fraction(found[1]) * _SIZES[unit], text)


def duration(text: str) -> int:
    """Return nanoseconds: "200ms", "1.5s", "1h30m"."""
    total, place = Fraction(0), 0
    for found in _PART.finditer(text):
        if found.start() != place or not found[2]:
            break
        if found[2].lower() not in _TIMES:
            break
        total += Fraction(found[1]) * _TIMES[found[2].lower()]
        place = found.end()
    if not text or place != len(text):
        number = _PART.fullmatch(text)
        if number and not number[2]:
            raise BadValue(f"“{shown(text)}” has no unit. Add us, ms, s, m or h.", f"{text}ms")
        raise BadValue(f"“{shown(text)}” is not a duration. Examples: 200ms, 1.5s, 5m.")
    return _whole_number(total, text)


def clock(text: str) -> tuple[str, int]:
    """Return the day ("" for none) and nanoseconds since midnight: "14:05:30.2", "2026-11-20T14:05"."""
    found = _CLOCK.fullmatch(text)
    wrong = BadValue(f"“{shown(text)}” is not a time. Use an age (5m, 2h) or a time of day (14:05).")
    if not text or not found:
        raise wrong
    day, hours, minutes, seconds = found[1] or "", int(found[2] or 0), int(found[3] or 0), int(found[4] or 0)
    try:
        if day:
            date.fromisoformat(day)
    except ValueError:
        raise BadValue(f"“{day}” is not a valid date.") from None
    if hours > 23 or minutes > 59 or seconds > 59:
        raise wrong
    fraction = int((found[5] or "0").ljust(9, "0"))
    return day, ((hours * 60 + minutes) * 60 + seconds) * 1_000_000_000 + fraction


def _whole_number(number: Fraction, text: str) -> int:
    if number > LARGEST:
        raise BadValue(f"“{shown(text)}” is too large.")
    return round(number)


@dataclass(frozen=True, slots=True)
class Name:
    """A name or word; with `glob`, `*` stands for anything and `?` for one character."""

    text: str
    glob: bool = False


class Between(NamedTuple):
    """A number from `low` to `high`, both included; None for no limit."""

    low: int = 0
    high: int | None = None


@dataclass(frozen=True, slots=True)
class Ago:
    """A moment before now, in nanoseconds."""

    ns: int


@dataclass(frozen=True, slots=True)
class ClockTime:
    """A time of day: nanoseconds since midnight on `day` ("2026-11-20"; "" if none is given)."""

    day: str
    ns: int


Value = Name | Between | Ago | ClockTime


@dataclass(frozen=True, slots=True)
class Term:
    """A field that has one of several values."""

    field: str
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Text:
    """Words in a body, or in the name of a server, method or tool; case is ignored."""

    text: str


@dataclass(frozen=True, slots=True)
class Not:
    """Matches everything that `part` does not match."""

    part: "Node"


@dataclass(frozen=True, slots=True)
class And:
    """Matches what all parts match."""

    parts: "tuple[Node, ...]"


@dataclass(frozen=True, slots=True)
class Or:
    """Matches what any part matches."""

    parts: "tuple[Node, ...]"


Node = Term | Text | BodyTerm | Not | And | Or

_BARE = re.compile(r'[^\s"(),]+')


def quoted(text: str) -> str:
    """Return a text in quotes."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def written(text: str, glob: bool = False) -> str:
    """Return a name in the notation of a value: bare if possible, else in quotes."""
    bare = _BARE.fullmatch(text) and (glob or not ("*" in text or "?" in text))
    return text if bare else quoted(text)
