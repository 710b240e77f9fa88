"""Trying a request three times, in two processes, and the case that it gives, or why it gives none.

A case must pass every time. What varies between the results, or would at another time, becomes a placeholder.
If that is not enough, there is no case.
"""

import asyncio
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from tui.addons.tests.keep.draft import Draft, names_of
from tui.addons.tests.keep.exchange import Exchange
from tui.addons.tests.keep.keeping import without_secrets_of
from tui.addons.tests.keep.variation import LEFT_OUT
from tui.addons.tests.python.later import (
    as_if_by_another,
    as_if_later,
    as_if_measured,
    is_measured,
    without_places,
)
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
