"""A result as it might be some days later, or on another computer. Pure.

A few calls in a row do not show that a result contains the date, or a folder. Compared with these, they do.
"""

import json
import re
from calendar import monthrange
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

MAX_DEPTH = 60
MAX_TEXT = 64 * 1024
MOVED = timedelta(days=40, hours=3, minutes=17)
"""Another weekday, day, month, hour and minute; with that, often another year."""

LEAST_CHARS = 5
"""Shorter texts of a computer occur in others by chance."""

_OWNER = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/[0-9a-f]{12}")
"""What mcptui adds to the environment of a server."""

ANOTHER = "00000000-0000-4000-8000-000000000000/000000000000"

LEAST_NUMBERS = 3
_NUMBER = re.compile(r"(?<![\w.-])\d{1,18}(?:\.\d{1,18})?(?![\w.-])")

MINUTES = 3
"""How far a clock time may be from now, in any time zone with whole hours."""

SECONDS = 2 * 24 * 3600
_YEAR = r"(?<![\w.-])(?P<year>20\d\d)(?![\w-]|\.\d)"
_DATE = r"\b(?P<y>20\d\d)(?P<dash>[-/.])(?P<m>\d{1,2})(?P=dash)(?P<d>\d{1,2})(?!\d)"
_OTHER_DATE = r"\b(?P<a>\d{1,2})(?P<mark>[-/.])(?P<b>\d{1,2})(?P=mark)(?P<yy>20\d\d)\b"
_CLOCK = r"(?<![\d:.])(?P<hour>\d{1,2}):(?P<minute>\d\d)(?![\d])"
_WORD = r"\b(?P<word>[A-Z][a-z]{2,8})\b"
_DAY = r"(?<![\d.,:/-])(?P<day>\d{1,2})(?:st|nd|rd|th)?(?![\d.:/%-]|,\d)"
_TIMES = re.compile("|".join((_DATE, _OTHER_DATE, _CLOCK, _YEAR, _WORD)))
_MONTH_DAY = re.compile(rf"\b[A-Z][a-z]{{2,8}}\.? {_DAY}")
_DAY_MONTH = re.compile(rf"{_DAY}\.? (?:of )?[A-Z][a-z]{{2,8}}\b")
_NAMED = re.compile(
    r"(?i)(?P<unit>week|month|day|hour)[^\d\n]{0,24}?(?<![\d.:/-])(?P<number>\d{1,3})(?![\d:/-]|\.\d)"
)
_PARTS = {
    "year": "%Y",
    "month": "%m",
    "day": "%d",
    "hour": "%H",
    "minute": "%M",
    "week": "%V",
    "weekday": "%u",
    "day_of_year": "%j",
    "dayofyear": "%j",
    "week_number": "%V",
    "weeknumber": "%V",
    "iso_week": "%V",
    "isoweek": "%V",
}


def as_if_later(value: Any, now: datetime) -> Any:
    """Return a JSON value in which what looks like the time `now` is moved; equal if there is none."""
    return _Mover(now).moved(value, "", 0)


def as_if_by_another(value: Any) -> Any:
    """Return a JSON value with another mark of the process that started the server."""
    return replaced(value, _OWNER, ANOTHER)


def as_if_measured(value: Any) -> Any:
    """Return a JSON value in which each number is another."""
    if isinstance(value, Mapping):
        return {key: as_if_measured(one) for key, one in value.items()}
    if isinstance(value, list):
        return [as_if_measured(one) for one in value]
    if isinstance(value, str) and len(value) <= MAX_TEXT:
        return _NUMBER.sub(lambda found: f"{float(found[0]) + 1:g}", value)
    return value + 1 if isinstance(value, int | float) and not isinstance(value, bool) else value


def is_measured(values: Sequence[Any]) -> bool:
    """Return whether most numbers of several results differ, so that the others will one day, too."""
    lists = [_NUMBER.findall(json.dumps(one, ensure_ascii=False)[:MAX_TEXT]) for one in values]
    if len({len(one) for one in lists}) != 1 or len(lists[0]) < LEAST_NUMBERS:
        return False
    varying = sum(len({*column}) > 1 for column in zip(*lists, strict=True))
    return 2 * varying >= len(lists[0])


def without_places(expected: Any, places: Iterable[str]) -> Any:
    """Return an expectation with `<text>` in place of texts of this computer, such as its folders."""
    known = sorted({one for one in places if len(one) >= LEAST_CHARS}, key=len, reverse=True)
    return replaced(expected, re.compile("|".join(map(re.escape, known))), "<text>") if known else expected


def replaced(value: Any, pattern: re.Pattern[str], text: str, depth: int = 0) -> Any:
    """Return a JSON value with `text` in place of each match in its strings."""
    if depth > MAX_DEPTH:
        return value
    if isinstance(value, Mapping):
        return {key: replaced(one, pattern, text, depth + 1) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [replaced(one, pattern, text, depth + 1) for one in value]
    return pattern.sub(text, value) if isinstance(value, str) and len(value) <= MAX_TEXT else value


class _Mover:
    def __init__(self, now: datetime) -> None:
        self._now = now
        days = [now + timedelta(days=number) for number in (-1, 0, 1)]
        self._dates = {(one.year, one.month, one.day) for one in days}
        self._days = {one.day for one in days}
        self._years = {one.year for one in days}
        forms = ("%A", "%a", "%B", "%b")
        self._words = {one.strftime(form): (one + MOVED).strftime(form) for one in days for form in forms}

    def moved(self, value: Any, name: str, depth: int) -> Any:
        if depth > MAX_DEPTH or isinstance(value, bool):
            return value
        if isinstance(value, Mapping):
            return {key: self.moved(one, str(key), depth + 1) for key, one in value.items()}
        if isinstance(value, list):
            return [self.moved(one, name, depth + 1) for one in value]
        if isinstance(value, str):
            return self._text(value) if len(value) <= MAX_TEXT else value
        return self._number(value, name) if isinstance(value, int | float) else value

    def _number(self, value: float, name: str) -> float:
        for unit in (1, 1_000, 1_000_000, 1_000_000_000):
            if abs(value / unit - self._now.timestamp()) < SECONDS:
                return value + MOVED.total_seconds() * unit
        form = _PARTS.get(name.lower())
        if form is not None and value in {int(one.strftime(form)) for one in self._around()}:
            return int((self._now + MOVED).strftime(form))
        return value

    def _around(self) -> Iterator[datetime]:
        for hours in range(-14, 15):
            yield self._now + timedelta(hours=hours)

    def _text(self, text: str) -> str:
        for pattern in (_MONTH_DAY, _DAY_MONTH):
            text = pattern.sub(self._day, text)
        text = _NAMED.sub(self._named, text)
        return _TIMES.sub(self._part, text)

    def _day(self, found: re.Match[str]) -> str:
        """Return "Nov 29" with another day, if that is a month and a day of now."""
        words = re.findall(r"[A-Z][a-z]{2,8}", found[0])
        months = {one.strftime(form) for one in self._around() for form in ("%B", "%b")}
        if int(found["day"]) not in self._days or months.isdisjoint(words):
            return found[0]
        start, end = (place - found.start() for place in found.span("day"))
        return f"{found[0][:start]}{(self._now + MOVED).day}{found[0][end:]}"

    def _named(self, found: re.Match[str]) -> str:
        """Return "week 48" with another number, if that is one of now."""
        days = list(self._around())
        forms = {"week": "%V", "month": "%m", "day": "%d", "hour": "%H"}
        number, unit = int(found["number"]), found["unit"].lower()
        known = {int(one.strftime(forms[unit])) for one in days}
        if unit == "week":
            known |= {one + 1 for one in known}  # weeks that begin on Sundays, or are counted from 0
        elif unit in ("month", "day"):
            known |= {monthrange(one.year, one.month)[1] for one in days}
        if unit == "day":
            known |= {int(one.strftime("%j")) for one in days}
        if number not in known:
            return found[0]
        return f"{found[0][: found.start('number') - found.start()]}{number + 1}"

    def _part(self, found: re.Match[str]) -> str:
        kinds: Mapping[str, Callable[[re.Match[str]], str]] = {
            "d": self._date,
            "yy": self._other_date,
            "minute": self._clock,
            "year": self._year,
            "word": self._word,
        }
        return kinds[found.lastgroup or ""](found)

    def _date(self, found: re.Match[str]) -> str:
        if (int(found["y"]), int(found["m"]), int(found["d"])) not in self._dates:
            return found[0]
        return (self._now + MOVED).strftime(f"%Y{found['dash']}%m{found['dash']}%d")

    def _other_date(self, found: re.Match[str]) -> str:
        year, one, other = int(found["yy"]), int(found["a"]), int(found["b"])
        if {(year, one, other), (year, other, one)}.isdisjoint(self._dates):
            return found[0]
        later = self._now + MOVED
        parts = (later.day, later.month) if (year, other, one) in self._dates else (later.month, later.day)
        return found["mark"].join(f"{part:02}" for part in (*parts, later.year))

    def _clock(self, found: re.Match[str]) -> str:
        hour, minute = int(found["hour"]), int(found["minute"])
        apart = (minute - self._now.minute) % 60
        if hour > 23 or MINUTES < apart < 60 - MINUTES:
            return found[0]
        return f"{(hour + 3) % 24:02}:{(minute + 17) % 60:02}"

    def _year(self, found: re.Match[str]) -> str:
        year = int(found["year"])
        return str(year + 1) if year in self._years else found[0]

    def _word(self, found: re.Match[str]) -> str:
        return self._words.get(found["word"], found["word"])
