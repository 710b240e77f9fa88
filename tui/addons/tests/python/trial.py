"""Trying a request three times, in two processes, and the case that it gives, or why it gives none.

A case must pass every time. What varies between the results, or would at another time, becomes a placeholder.
If that is not enough, there is no case. A few calls in a row do not show that a result contains the date, or
a folder: compared with the result as it might be some days later, or on another computer, they do.
"""

import asyncio
import json
import os
import re
from calendar import monthrange
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

from tui.addons.tests.keep.draft import Draft, names_of
from tui.addons.tests.keep.exchange import Exchange
from tui.addons.tests.keep.keeping import without_secrets_of
from tui.addons.tests.keep.variation import LEFT_OUT
from tui.addons.tests.run.answers import CaseAnswers
from tui.addons.tests.run.instance import ServerInstance
from tui.addons.tests.run.judge import Response, judge
from tui.addons.tests.suite.case import UNSET, Case, Request, RequestKind
from tui.addons.tests.suite.change import with_case
from tui.addons.tests.suite.references import filled_expectation
from tui.core.comparison.placeholders import same
from tui.core.errors import ConfigError, UsageError
from tui.core.text import clean_line, mapping
from tui.core.traffic import Severity
from tui.core.units import size

MOST_CHARS = 16 * 1024
"""Maximum characters of a case. A larger one is not read by anybody."""

MOST_MS = 5_000.0
"""Milliseconds of a request that is worth a case for which nobody asked."""

PAUSE_SECONDS = 1.0
"""Seconds between the second and the third request: what counts seconds differs then."""

PLACEHOLDERS = ("<any>", "<text>", "<number>", "<time>", "<id>")


_OWN_PROCESS = re.compile(rf"(?<!\d){os.getpid()}(?!\d)")
"""mcptui's own process: what names it names others, too, which come and go."""


@dataclass(slots=True)
class Trial:
    """A request with its responses so far. `problem` is why it gives no case, or ""."""

    name: str
    request: Request
    responses: list[Response] = field(default_factory=list)
    problem: str = ""
    moment: datetime | None = None

    async def send(self, instance: ServerInstance, answers: CaseAnswers) -> None:
        """Send the request once more, unless it already gives no case."""
        if self.problem:
            return
        if not await instance.running():
            self.problem = instance.problem
            return
        request = self.request
        self.moment = self.moment or datetime.now(UTC)
        with answers.during(instance.name, {}) as script:
            exchange = await instance.send(request, seconds=MOST_MS / 1000)
        answer = exchange.answer
        result = names_of(answer.result) if request.kind is RequestKind.LIST else answer.result
        response = Response(request.kind, result, answer.error, exchange.ms, exchange.findings)
        if script.notes:
            self.problem = "it asks for input"
        elif answer.problem:
            self.problem = clean_line(answer.problem, 200)
        elif response.is_error:
            self.problem = f"the call failed: {clean_line(response.text, 200)}"
        elif (chars := len(response.text)) > MOST_CHARS:
            self.problem = f"its result is large: {size(chars)}"
        self.responses.append(response)

    def case(self, redact: Callable[[str], str], places: Sequence[str] = ()) -> Case | None:
        """Return the case that these responses give, or None and set `problem`.

        `places` are texts of this computer, such as its folders, which vary.
        """
        if any(_OWN_PROCESS.search(json.dumps(one.result, default=str)) for one in self.responses):
            self.problem = self.problem or "its result lists the processes of this computer"
        if self.problem:
            return None
        try:
            case = self._drafted(redact, places)
            chars = len(with_case("", case))
        except (UsageError, ConfigError) as error:
            self.problem = clean_line(str(error), 200)
            return None
        expected = filled_expectation(case.expected, {})
        judgements = [judge(expected, one) for one in self.responses]
        if differing := next((one.mismatches[0] for one in judgements if one.mismatches), None):
            self.problem = f"its result varies: {clean_line(differing.path, 80)} {differing.why}".rstrip()
        elif _says_nothing(case):
            self.problem = "nothing of its result is the same each time"
        elif chars > MOST_CHARS:
            self.problem = f"its result is large: {size(chars)}"
        return None if self.problem else case

    def _drafted(self, redact: Callable[[str], str], places: Sequence[str]) -> Case:
        first, *others = [mapping(one.result) for one in self.responses]
        now = self.moment or datetime.now(UTC)
        given = json.dumps([self.request.name, self.request.arguments], default=str, ensure_ascii=False)
        places = [one for one in places if one not in given]
        zones = (now, now.astimezone())  # two dates and weekdays
        found = [*(as_if_later(first, one) for one in zones), as_if_by_another(first, given)]
        if is_measured([_compared(one) for one in self.responses]):
            found.append(as_if_measured(first))
        others += [one for one in found if not same(one, first)]
        exchange = Exchange("", self.request, first, at=now.timestamp(), others=tuple(others))
        draft = Draft.of(without_secrets_of(exchange, redact), self.name)
        missing = frozenset(one for one in draft.variations if one.placeholder == LEFT_OUT)
        case = replace(draft, timed=False, switched=missing - {*draft.chosen}).case()
        findings = [one for response in self.responses for one in response.findings]
        expected = case.expected
        codes = {*expected.findings, *(one.code for one in findings if one.severity > Severity.HINT)}
        expected = replace(
            expected,
            text=without_places(expected.text, places),
            result=without_places(expected.result, places),
            content=without_places(expected.content, places),
            findings=tuple(sorted(codes)),
        )
        return replace(case, expected=expected)


def _compared(response: Response) -> Any:
    """Return the part of a response that is compared, without what every response has."""
    return response.text if response.structured is None else response.structured


def _says_nothing(case: Case) -> bool:
    expected = case.expected
    values = [one for one in (expected.text, expected.result) if one is not None and one is not UNSET]
    return not expected.content and all(_is_open(one) for one in values)


def _is_open(value: Any) -> bool:
    """Return whether an expectation fits nearly everything."""
    if isinstance(value, Mapping):
        return bool(value) and all(map(_is_open, value.values()))
    return isinstance(value, str) and value.strip() in PLACEHOLDERS


async def tried(
    trials: Sequence[Trial], instance: ServerInstance, another: ServerInstance, answers: CaseAnswers
) -> None:
    """Send each request twice in one process, and later once in another one, there in reverse order."""
    for _ in range(2):
        for trial in trials:
            await trial.send(instance, answers)
    await asyncio.gather(another.running(), asyncio.sleep(PAUSE_SECONDS))
    for trial in reversed(trials):
        await trial.send(another, answers)


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
