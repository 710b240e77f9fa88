"""Judges a finished turn: the calls that the model made, its answer, and what it cost. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from tui.addons.tests.run.outcome import ABSENT, Mismatch
from tui.addons.tests.suite.case import TurnCase
from tui.addons.tests.turns.call_pattern import CallPattern, as_pattern, pattern_of
from tui.core.comparison.placeholders import (
    Placeholder,
    fits_text,
    has_placeholder,
    parts_of,
    written,
)
from tui.core.events import NEVER_RUN, EndReason, LimitName
from tui.core.text import fold
from tui.core.units import plural

MAX_CALLS = 20
"""Maximum calls to name."""


@dataclass(frozen=True, slots=True)
class MadeCall:
    """A call of the model. `why` is why it did not run or finish, as in `ToolCallEnded`, or ""."""

    tool: str
    arguments: Mapping[str, Any]
    why: str = ""

    @property
    def was_made(self) -> bool:
        """Whether the tool exists and the arguments match its schema, so that it was sent or denied."""
        return self.why not in NEVER_RUN

    def __str__(self) -> str:
        return as_pattern(self.tool, self.arguments)


@dataclass(frozen=True, slots=True)
class FinishedTurn:
    """What came of a turn.

    Attributes:
        answer: the last text of the model.
        limit: the limit that ended it, or None.
        cost: None if the model has no prices.
    """

    calls: Sequence[MadeCall] = ()
    answer: str = ""
    steps: int = 0
    end: EndReason = EndReason.ANSWERED
    limit: LimitName | None = None
    tokens: int = 0
    cost: float | None = None
    ms: float = 0.0


def mismatches_of(case: TurnCase, turn: FinishedTurn) -> tuple[Mismatch, ...]:
    """Return what is not as the case expects; calls first, then the answer, then limits and cost."""
    return tuple(
        one
        for found in (_forbidden(case, turn), _calls(case, turn), _answer(case, turn), _limits(case, turn))
        for one in found
    )


def is_forbidden(case: TurnCase, tool: str) -> bool:
    """Return whether the case says that this tool must never be called."""
    return any(fnmatchcase(tool, pattern) for pattern in case.never)


def _forbidden(case: TurnCase, turn: FinishedTurn) -> Iterator[Mismatch]:
    for at, pattern in enumerate(case.never):
        called = [one for one in turn.calls if fnmatchcase(one.tool, pattern)]
        if called:
            times = f" {len(called)} times" if len(called) > 1 else ""
            why = f"{called[0].tool} was called{times}, and must never be"
            yield Mismatch(f"never[{at}]", pattern, str(called[0]), why)


def _calls(case: TurnCase, turn: FinishedTurn) -> Iterator[Mismatch]:
    """Yield the calls that are missing or wrong; other calls may come between those that are expected."""
    made, place = [one for one in turn.calls if one.was_made], 0
    for at, text in enumerate(case.calls):
        pattern = pattern_of(text)
        rest = made[place:]
        found = next((i for i, one in enumerate(rest) if pattern.matches(one.tool, one.arguments)), None)
        if found is not None:
            place += found + 1
            continue
        yield _missing(f"calls[{at}]", pattern, turn, made, place)


def _missing(
    path: str, pattern: CallPattern, turn: FinishedTurn, made: Sequence[MadeCall], place: int
) -> Mismatch:
    """Return why an expected call is not among those made after `place`."""
    near = [one for one in made[place:] if pattern.names(one.tool)]
    if near:
        closest = min(near, key=lambda one: len(pattern.problems(one.tool, one.arguments)))
        problems = pattern.problems(closest.tool, closest.arguments)
        return Mismatch(path, str(pattern), str(closest), ", ".join(problems))
    if any(pattern.matches(one.tool, one.arguments) for one in made[:place]):
        return Mismatch(path, str(pattern), _listed(made), "called in another order")
    refused = next((one for one in turn.calls if not one.was_made and pattern.names(one.tool)), None)
    if refused is not None:
        why = "" if refused.why == "not run" else f": {refused.why}"
        return Mismatch(path, str(pattern), str(refused), f"the call did not run{why}")
    return Mismatch(path, str(pattern), _listed(turn.calls) if turn.calls else ABSENT, "not called")


def _listed(calls: Sequence[MadeCall]) -> list[str]:
    more = len(calls) - MAX_CALLS
    return [*map(str, calls[:MAX_CALLS]), *([f"and {plural(more, 'more call')}"] if more > 0 else ())]


def _answer(case: TurnCase, turn: FinishedTurn) -> Iterator[Mismatch]:
    for at, text in enumerate(case.answer):
        if not contains(turn.answer, text):
            path = "answer" if len(case.answer) == 1 else f"answer[{at}]"
            yield Mismatch(path, text, turn.answer, "not in the answer" if turn.answer else "no answer")


def contains(answer: str, text: str) -> bool:
    """Return whether an answer contains a text, without regard to case unless it has placeholders."""
    parts = parts_of(text)
    if not has_placeholder(text):
        return fold("".join(map(str, parts))) in fold(answer)
    return fits_text(written([Placeholder.TEXT, *parts, Placeholder.TEXT]), answer)


_SAID = {
    EndReason.LIMIT: "the turn reached its limit",
    EndReason.EMPTY: "the model returned nothing",
    EndReason.CANCELLED: "the turn was cancelled",
    EndReason.MODEL_ERROR: "the model failed",
}


def _limits(case: TurnCase, turn: FinishedTurn) -> Iterator[Mismatch]:
    if turn.limit is LimitName.MAX_STEPS and case.max_steps is not None and turn.steps >= case.max_steps:
        yield Mismatch("max_steps", case.max_steps, turn.steps, "more steps were needed")
    elif turn.limit is LimitName.TURN_COST and case.cost is not None:
        yield Mismatch("cost", case.cost, turn.cost, "the run was stopped at this cost")
    elif turn.end in _SAID:
        limit = f" {turn.limit}" if turn.limit is not None else ""
        yield Mismatch("turn", ABSENT, turn.end.value, f"{_SAID[turn.end]}{limit}")
    elif case.max_steps is not None and turn.steps > case.max_steps:
        yield Mismatch("max_steps", case.max_steps, turn.steps)
    elif case.cost is not None and turn.cost is None:
        yield Mismatch("cost", case.cost, ABSENT, "the profile of the model has no prices")
    elif case.cost is not None and turn.cost is not None and turn.cost > case.cost:
        yield Mismatch("cost", case.cost, turn.cost)
