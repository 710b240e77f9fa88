"""What to run for one case: the case itself, and the earlier ones whose saved values it needs. Pure."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tui.addons.tests.review.catalog import Listed
from tui.addons.tests.suite.case import UNSET, Case, Contract, Suite, TurnCase
from tui.addons.tests.suite.references import names_in, texts_of


def only(suite: Suite, one: Listed) -> Suite:
    """Return a suite with one of its cases, and what that needs."""
    match one.what:
        case Contract():
            return replace(suite, cases=(), turns=())
        case TurnCase() as turn:
            return replace(suite, cases=(), turns=(turn,), contract=None)
        case Case() as case:
            return replace(suite, cases=tuple(_with_needed(suite, case)), turns=(), contract=None)


def _with_needed(suite: Suite, case: Case) -> Iterator[Case]:
    """Yield a case after the earlier ones that save the values which it, or one of those, uses."""
    needed, kept = _used(case), [case]
    earlier = suite.cases[: suite.cases.index(case)] if case in suite.cases else ()
    for one in reversed(earlier):
        saved = {name for step in (one, *one.then) for name in step.save}
        if saved & needed:
            needed |= _used(one)
            kept.append(one)
    yield from reversed(kept)


def _used(case: Case) -> set[str]:
    """Return the names of the saved values that a case refers to."""
    found: set[str] = set()
    for step in (case, *case.then):
        result = None if step.expected.result is UNSET else step.expected.result
        values: Any = [step.request.name, dict(step.request.arguments), step.expected.text, result]
        for text in texts_of(values):
            found |= set(names_in(text)[0])
    return found
