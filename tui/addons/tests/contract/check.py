"""Checks the contract of a suite: the definitions of its running server against its lock and token budget."""

import asyncio
from collections.abc import Iterator, Sequence

from tui.addons.tests.contract.listing import ServerListing
from tui.addons.tests.contract.live import live_listing
from tui.addons.tests.contract.lock import SHAPE, Lock, lock_path, read_lock
from tui.addons.tests.contract.tokens import TokenTable, tokens_of
from tui.addons.tests.contract.verdicts import DefinitionDifference, ListingComparison, compare_listings
from tui.addons.tests.run.outcome import ABSENT, Mismatch, Outcome, State
from tui.addons.tests.run.plan import PartContext
from tui.addons.tests.suite.case import Contract, Suite
from tui.addons.tests.suite.find import shown_path
from tui.core.errors import ConfigError
from tui.core.permission import change_effects
from tui.core.permission.change_effects import ORDER
from tui.core.text import clean_line
from tui.core.units import plural

NAME = "contract"
MAX_NOTES = 50


async def check_contract(suite: Suite, context: PartContext) -> Outcome:
    """Compare the definitions of a running server with the lock of its suite; return what came of it."""
    contract = suite.contract
    assert contract is not None
    try:
        lock = read_lock(lock_path(suite.path, contract.lock))
    except ConfigError as error:
        return _error(contract, context, str(error))
    if lock is None:
        why = f"the lock {clean_line(contract.lock, 200)} does not exist. Create it: {lock_command(suite)}"
        return _error(contract, context, why)
    listing, problem = await live_listing(context.runtime, context.server)
    if problem:
        return _error(contract, context, problem)
    return await asyncio.to_thread(judged, suite, contract, lock, listing, context.server)


def lock_command(suite: Suite) -> str:
    """Return the command that writes the lock of a suite."""
    return f"mcptui test --lock {shown_path(suite.path)}"


def judged(suite: Suite, contract: Contract, lock: Lock, listing: ServerListing, server: str = "") -> Outcome:
    """Return the outcome for a server that lists this."""
    shape = SHAPE in (lock.strength, contract.strength)
    found = compare_listings(lock.listing, listing, shape=shape)
    fatal = [one for one in found.differences if one.effect.value in contract.fail]
    mismatches = [mismatch_of(one) for one in fatal]
    problems = [f"{_counts(fatal)} since {clean_line(contract.lock, 100)} was written"] if fatal else []
    notes = list(_notes(found, fatal))
    if lock.strength == SHAPE and contract.strength != SHAPE:
        update = f"Update it: {lock_command(suite)}"
        notes.append(f"descriptions are not compared, because the lock has none. {update}")
    if contract.tokens is not None:
        before = None if lock.strength == SHAPE else tokens_of(lock.listing)
        tokens = TokenTable(tokens_of(listing), before)
        if tokens.total > contract.tokens:
            over = tokens.total - contract.tokens
            why = f"{over:,} more than the budget"
            mismatches.append(Mismatch("tokens", contract.tokens, tokens.total, why))
            problems.append("\n".join(("the definitions take too many tokens", *tokens.lines())))
        else:
            change = f" ({tokens.change:+,} since the lock)" if tokens.change else ""
            notes.append(f"{tokens.total:,} of {contract.tokens:,} tokens{change}")
    if fatal:
        problems.append(f"If this is intended, update the lock: {lock_command(suite)}")
    state = State.FAILED if mismatches else State.PASSED
    return Outcome(
        NAME, contract.line, state, "\n".join(problems), tuple(mismatches), tuple(notes), server=server
    )


def mismatch_of(one: DefinitionDifference) -> Mismatch:
    """Return a difference of definitions as one of an outcome."""
    was, now = (
        ABSENT if value is change_effects.ABSENT else value
        for value in (one.difference.before, one.difference.after)
    )
    return Mismatch(one.place, was, now, f"{one.effect}: {one.why}" if one.why else str(one.effect))


def _counts(found: Sequence[DefinitionDifference]) -> str:
    """Return the number of differences by verdict: "2 breaking changes, 1 suspicious change"."""
    numbers = {effect: sum(one.effect is effect for one in found) for effect in reversed(ORDER)}
    return ", ".join(plural(number, f"{effect} change") for effect, number in numbers.items() if number)


def _notes(found: ListingComparison, fatal: Sequence[DefinitionDifference]) -> Iterator[str]:
    rest = [one for one in found.differences if one not in fatal]
    for one in rest[:MAX_NOTES]:
        yield f"{one.effect}: {one.place}" + (f", {one.why}" if one.why else "")
    if (more := len(rest) - MAX_NOTES) > 0:
        yield f"and {plural(more, 'more change')}"
    yield from found.notes


def _error(contract: Contract, context: PartContext, why: str) -> Outcome:
    return Outcome(NAME, contract.line, State.ERROR, why, server=context.server)
