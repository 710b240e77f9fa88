"""A result as it might be some days later, or on another computer. Pure.

A few calls in a row do not show that a result contains the date, or a folder. Compared with these, they do.
"""

import json
import re
from calendar import monthrange
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

MAX_DEPTH = 60
MAX_TEXT = 64 * 1024
MOVED = timedelta(days=400, hours=3, minutes=17)
"""To another year, month, week, day, weekday, hour and minute."""

LEAST_CHARS = 5
"""Shorter texts of a computer occur in others by chance, so that they only count as a whole value."""

_UUID = re.compile(r"(?i)\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b(?:/[0-9a-f]{12}\b)?")
"""A UUID, perhaps with what mcptui adds to the environment of a server."""

ANOTHER = "00000000-0000-4000-8000-000000000000/000000000000"

LEAST_NUMBERS = 3
_NUMBER = re.compile(r"(?<![\w.-])\d{1,18}(?:\.\d{1,18})?(?![\w.-])")

HOURS, MINUTES = 14, 3
"""How far a date may be from now, for time zones, and a clock time in any of them that has whole hours."""

SECONDS = 2 * 24 * 3600
_FORMS = ("%Y", "%A", "%a", "%B", "%b", "%B %d", "%b %d", "%d %B", "%d %b")
_DATES = ("%Y{0}%m{0}%d", "%d{0}%m{0}%Y", "%m{0}%d{0}%Y")
_TIMES = (
    re.compile(r"(?<![\d:.])\d{1,2}:\d\d(?!\d)"),
    re.compile(r"\b20\d\d([-/.])\d{1,2}\1\d{1,2}(?!\d)"),
    re.compile(r"\b\d{1,2}([-/.])\d{1,2}\1(?:20\d\d)\b"),
    re.compile(r"\b[A-Z][a-z]{2,8}\.? \d{1,2}(?![\d.:/%-]|,\d)"),
    re.compile(r"(?<![\d.,:/-])\d{1,2}(?:st|nd|rd|th)?\.? (?:of )?[A-Z][a-z]{2,8}\b"),
    re.compile(r"\b[A-Z][a-z]{2,8}\b"),
    re.compile(r"(?<![\w.-])20\d\d(?![\w-]|\.\d)"),
)
_STEP = re.compile(r"\d+|[A-Z][a-z]+")
_NAMED = re.compile(
    r"(?i)(?P<unit>week|month|day|hour)[^\d\n]{0,24}?(?<![\d.:/-])(?P<number>\d{1,3})(?![\d:/-]|\.\d)"
)
_UNITS = {
    "year": "%Y",
    "month": "%m",
    "day": "%d",
    "hour": "%H",
    "minute": "%M",
    "week": "%V",
    "weekday": "%u",
    "dayofyear": "%j",
    "weeknumber": "%V",
    "isoweek": "%V",
}


def as_if_later(value: Any, now: datetime) -> Any:
    """Return a JSON value in which what looks like the time `now` is moved; equal if there is none."""
    return _mover(now.replace(second=0, microsecond=0)).moved(value, "", 0)


def as_if_by_another(value: Any, given: str = "") -> Any:
    """Return a JSON value with other UUIDs, except those in the text of the request."""
    return replaced(value, _UUID, lambda found: found[0] if found[0] in given else ANOTHER[: len(found[0])])


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
    known = [re.escape(one) for one in sorted({*places}, key=len, reverse=True) if len(one) > 1]
    inner = "|".join(one for one in known if len(one) >= LEAST_CHARS) or r"(?!)"
    pattern = rf"(?:(?<!\w)|(?<=\\[nrt]))(?:{inner})(?!\w)|\A(?:{'|'.join(known)})\Z"
    return replaced(expected, re.compile(pattern), lambda _: "<text>") if known else expected


def replaced(
    value: Any, pattern: re.Pattern[str], text: Callable[[re.Match[str]], str], depth: int = 0
) -> Any:
    """Return a JSON value with another text in place of each match in its strings."""
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
        self._around = [now + timedelta(hours=hours) for hours in range(-HOURS, HOURS + 1)]
        forms = [*_FORMS, *(form.format(mark) for form in _DATES for mark in "-/.")]
        near = [timedelta(minutes=minutes) for minutes in range(-MINUTES, MINUTES + 1)]
        times = [(one, form) for one in self._around for form in forms]
        times += [(one + minutes, "%H:%M") for one in self._around for minutes in near]
        self._later = {
            tuple(_steps(one.strftime(form))): _steps((one + MOVED).strftime(form)) for one, form in times
        }

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
        return value + 1 if value in self._numbers(name.lower().replace("_", "")) else value

    def _numbers(self, unit: str) -> set[int]:
        form = _UNITS.get(unit)
        return {int(one.strftime(form)) for one in self._around} if form is not None else set()

    def _text(self, text: str) -> str:
        text = _NAMED.sub(self._named, text)
        for pattern in _TIMES:
            text = pattern.sub(self._time, text)
        return text

    def _time(self, found: re.Match[str]) -> str:
        later = iter(self._later.get(tuple(_steps(found[0])), ()))
        return _STEP.sub(lambda step: next(later, step[0]), found[0])

    def _named(self, found: re.Match[str]) -> str:
        """Return "week 48" with another number, if that is one of now."""
        number, unit = int(found["number"]), found["unit"].lower()
        known = self._numbers(unit)
        if unit == "week":
            known |= {one + 1 for one in known}  # weeks that begin on Sundays, or are counted from 0
        elif unit in ("month", "day"):
            known |= {monthrange(one.year, one.month)[1] for one in self._around}
        if unit == "day":
            known |= self._numbers("dayofyear")
        if number not in known:
            return found[0]
        return f"{found[0][: found.start('number') - found.start()]}{number + 1}"


_mover = lru_cache(maxsize=8)(_Mover)  # a run tries many requests in a minute


def _steps(text: str) -> list[str]:
    """Return the numbers and names of a time, which tell it from others however they are written."""
    return [step.lstrip("0") for step in _STEP.findall(text)]
