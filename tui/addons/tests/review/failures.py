"""What is reviewed: failures of a run, and cases that expect nothing yet, each with its response. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from tui.addons.tests.review.compared import ComparedLine, Part, compared, sections
from tui.addons.tests.run.failure_text import Line, mismatch_line, other_lines
from tui.addons.tests.run.judge import Response, judge
from tui.addons.tests.run.outcome import ABSENT, Outcome, RunOutcome, State
from tui.addons.tests.suite.case import UNSET, Case, Expectation, RequestKind, Suite, TurnCase
from tui.addons.tests.suite.json_path import NotFound, value_at
from tui.addons.tests.suite.references import NotSaved, expected_with_saved
from tui.core.language.translate import message
from tui.core.traffic import Finding, Severity

OTHERS = ("args", "answers", "save")
"""Heads of mismatches that no result settles."""


@dataclass(frozen=True)
class Failure:
    """A case that failed, or that expects nothing yet.

    Attributes:
        place: the number of the case in its file, and that of the one of its `then` that failed, or -1.
        case: that case, or that one of `then`, as it is in the file; None for a contract or a turn case.
        response: its response, None if there was none.
        saved: the values that earlier cases saved.
        at: when it ran, in seconds since the epoch.
    """

    path: Path
    outcome: Outcome
    place: tuple[int, int] = (0, -1)
    case: Case | None = None
    response: Response | None = None
    saved: Mapping[str, Any] = field(default_factory=dict)
    at: float = 0.0

    @property
    def name(self) -> str:
        return self.outcome.name + (f", then[{self.place[1]}]" if self.place[1] >= 0 else "")

    @property
    def is_new(self) -> bool:
        """Whether nothing is expected yet."""
        return self.case is not None and self.case.expected.is_empty

    def fill(self, value: Any) -> Any:
        """Return an expected value with saved values filled in, if they are known."""
        try:
            return expected_with_saved(value, self.saved)
        except NotSaved:
            return value

    @property
    def expected(self) -> Expectation:
        """The expectation with saved values filled in."""
        found = self.case.expected if self.case is not None else Expectation()
        result = found.result if found.result is UNSET else self.fill(found.result)
        return replace(found, text=self.fill(found.text), result=result)

    @property
    def findings(self) -> Sequence[str]:
        """The codes of the findings that it fails by."""
        return [str(one.got) for one in self._mismatches("findings")]

    @property
    def is_slow(self) -> bool:
        return any(True for _ in self._mismatches("within"))

    def _mismatches(self, head: str) -> Iterator[Any]:
        inside = f"then[{self.place[1]}]." if self.place[1] >= 0 else ""
        for one in self.outcome.mismatches:
            path = one.path.removeprefix(inside) if one.path.startswith(inside) else ""
            if path == head or path.startswith((f"{head}.", f"{head}[")):
                yield one

    @cached_property
    def differs(self) -> bool:
        """Whether the response is not as the file expects now."""
        if self.response is None or self.case is None or self.is_new:
            return True
        judgement = judge(self.expected, self.response, strict_time=self.is_slow)
        return bool(judgement.mismatches)

    @property
    def why_not_accepted(self) -> str:
        """Why the result cannot become the expectation, as a sentence, or ""."""
        match self.outcome.case:
            case TurnCase():
                return message("A turn case has no result to accept. Edit the file.")
            case None:
                return message("To accept a contract, write its lock again with mcptui test --lock.")
            case Case() if self.case is None:
                return message("The case is not in its file any more.")
        if self.response is None:
            return message("There is no response to accept.")
        if self.is_outdated:
            return message("The case was changed after its run. Run it again.")
        other = next((one for head in OTHERS for one in self._mismatches(head)), None)
        if other is None:
            return ""
        return message("Nothing to accept: {path} does not fit. Edit the file.", path=other.path)

    @property
    def is_outdated(self) -> bool:
        """Whether the file has another request now than the one that was sent."""
        ran = self.outcome.case
        if not isinstance(ran, Case) or self.case is None:
            return False
        step = ran if self.place[1] < 0 else ran.then[self.place[1]]
        return step.request != self.case.request

    def why_not_varied(self, part: Part) -> str:
        """Why a part cannot be a placeholder, as a sentence, or ""."""
        if why := self.why_not_accepted:
            return why
        if self.is_new:
            return message("Nothing is expected yet. Accept the result first.")
        head = part.steps[0] if part.steps else ""
        return "" if head in ("text", "result", "content") else message("Select a value that differs.")

    def other_lines(self) -> Iterator[Line]:
        """Yield what is known besides the two sides: findings, the time, notes, last words, the command."""
        for one in self.outcome.mismatches:
            if one.path.rpartition(".")[2] in ("findings", "within"):
                yield Line(mismatch_line(one))
        yield from other_lines(self.outcome)

    @cached_property
    def lines(self) -> Sequence[ComparedLine]:
        """What is expected and what came, line by line."""
        return [] if self.response is None else compared(sections(self.expected, self.response))

    def with_case(self, suite: Suite) -> "Failure":
        """Return this with its case, found by its name, as it is in a suite now."""
        if self.case is None:
            return self
        named = (number for number, case in enumerate(suite.cases) if case.name == self.outcome.name)
        number, inside = next(named, -1), self.place[1]
        if number < 0 or inside >= len(suite.cases[number].then):
            return replace(self, case=None)
        case = suite.cases[number]
        return replace(self, case=case if inside < 0 else case.then[inside], place=(number, inside))


def has_same_members(before: Failure, after: Failure) -> bool:
    """Return whether what a case expects has the same members, where it has objects."""
    one, other = ((each.expected.result, list(each.expected.content or ())) for each in (before, after))
    return _same_members(list(one), list(other))


def _same_members(one: Any, other: Any) -> bool:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same_members(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return all(map(_same_members, one, other))
    return True


def failures_of(run: RunOutcome, at: float = 0.0) -> list[Failure]:
    """Return what is to be reviewed of a run, in its order."""
    found: list[Failure] = []
    for suite in run.suites:
        saved: dict[str, Any] = {}
        for outcome in suite.outcomes:
            if _is_reviewed(outcome):
                found.append(failure_of(suite.suite, outcome, dict(saved), at))
            saved |= saved_by(outcome)
    return found


def _is_reviewed(outcome: Outcome) -> bool:
    is_recorded = outcome.state is State.SKIPPED and outcome.got is not None
    return outcome.state.is_bad or is_recorded


def failure_of(suite: Suite, outcome: Outcome, saved: Mapping[str, Any] = {}, at: float = 0.0) -> Failure:
    """Return the failure of one case of a suite."""
    case = outcome.case
    if not isinstance(case, Case):
        return Failure(suite.path, outcome, saved=saved, at=at)
    number = next((number for number, one in enumerate(suite.cases) if one.name == case.name), 0)
    inside = _failed_step(case, outcome)
    step = case if inside < 0 else case.then[inside]
    got = outcome.got if inside < 0 else outcome.then_got[inside]
    response = response_of(step.request.kind, got, outcome)
    return Failure(suite.path, outcome, (number, inside), step, response, saved, at)


def _failed_step(case: Case, outcome: Outcome) -> int:
    """Return the number of the one of `then` that failed, or that expects nothing, or -1 for the case."""
    if outcome.state is State.SKIPPED:
        steps = (case, *case.then[: len(outcome.then_got)])
        return next((number for number, one in enumerate(steps) if one.expected.is_empty), 0) - 1
    return min(len(outcome.then_got), len(case.then)) - 1


def response_of(kind: RequestKind, got: Any, outcome: Outcome) -> Response | None:
    """Return the response of an outcome, None if there was none."""
    if got is None:
        return None
    ms = outcome.ms or 0.0
    codes = [one for one in outcome.mismatches if one.path.rpartition(".")[2] == "findings"]
    findings = [Finding(0, str(one.got), Severity.ERROR, one.why) for one in codes]
    if _is_error(got):
        return Response(kind, error=got, ms=ms, findings=findings)
    return Response(kind, got, ms=ms, findings=findings)


def _is_error(got: Any) -> bool:
    """Return whether this is the error of a response: its code is a number, which no result has."""
    return isinstance(got, Mapping) and isinstance(got.get("code"), int) and "message" in got


def saved_by(outcome: Outcome) -> dict[str, Any]:
    """Return the values that a case saved."""
    found: dict[str, Any] = {}
    case = outcome.case
    if isinstance(case, Case) and outcome.got is not None:
        for step, got in zip((case, *case.then), (outcome.got, *outcome.then_got), strict=False):
            response = response_of(step.request.kind, got, outcome)
            value = ABSENT if response is None else response.value
            for name, path in step.save.items():
                try:
                    if value is not ABSENT:
                        found[name] = value_at(path, value)
                except NotFound:
                    continue
    return found
