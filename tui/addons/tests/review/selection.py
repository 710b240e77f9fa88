"""What to run for one case: the case itself, and the earlier ones whose saved values it needs. Pure."""

from dataclasses import replace

from tui.addons.tests.review.catalog import Listed
from tui.addons.tests.suite.case import Case, Contract, Suite, TurnCase
from tui.addons.tests.suite.references import with_needed


def only(suite: Suite, one: Listed) -> Suite:
    """Return a suite with one of its cases, and what that needs."""
    match one.what:
        case Contract():
            return replace(suite, cases=(), turns=())
        case TurnCase() as turn:
            return replace(suite, cases=(), turns=(turn,), contract=None)
        case Case() as case:
            return replace(suite, cases=tuple(with_needed(suite.cases, [case])), turns=(), contract=None)
