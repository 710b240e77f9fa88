"""`mcptui test --lock`: creates the locks of test files, or updates them after showing what changed."""

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from tui.addons.tests.contract.check import NAME, judged, lock_command
from tui.addons.tests.contract.listing import ServerListing
from tui.addons.tests.contract.live import live_listing
from tui.addons.tests.contract.lock import SHAPE, DamagedLock, Lock, lock_path, read_lock, write_lock
from tui.addons.tests.contract.report import change_lines, summary_line
from tui.addons.tests.contract.verdicts import ListingComparison, compare_listings, suspicious_in
from tui.addons.tests.run.command import TestRun
from tui.addons.tests.run.outcome import Outcome, State
from tui.addons.tests.run.plan import PartContext, read_suites
from tui.addons.tests.suite.case import Suite
from tui.addons.tests.suite.find import shown_path
from tui.commands.permission.terminal_approver import asked_line, is_terminal, yes_or_no
from tui.core.errors import ConfigError, UsageError

EXAMPLE = 'Add this, for example: [contract] and, below it, lock = "weather.lock.json".'


def lock(args: argparse.Namespace) -> int:
    """Run the command and return its exit code: 0 if all locks are up to date now."""
    plans = read_suites(args.words)
    if not any(plan.problem or plan.suite.contract is not None for plan in plans):
        names = ", ".join(shown_path(plan.suite.path) for plan in plans[:5])
        raise UsageError(f"{names}: no [contract] with a lock.", next_step=EXAMPLE)
    chosen = [
        replace(plan, suite=replace(plan.suite, cases=(), turns=()))
        for plan in plans
        if plan.problem or plan.suite.contract is not None
    ]
    run = TestRun(args, chosen)
    ask = _asked if is_terminal() else None
    write = partial(print, file=sys.stderr) if args.json else print
    run.options = replace(
        run.options,
        era=run.options.era.replace("both", ""),
        matching="",
        tags=(),
        jobs=1,
        check=LockUpdate(args.yes, ask, write),
    )
    return run.run()


def _changes(before: Lock, after: Lock) -> list[str]:
    """Return what a new lock changes, as lines; none if it says the same."""
    found = compare_listings(before.listing, after.listing, shape=SHAPE in (before.strength, after.strength))
    is_same = not found.differences and before.strength == after.strength
    is_same = is_same and before.listing.protocol == after.listing.protocol
    return [] if is_same else [*change_lines(found), summary_line(found)]


def _suspicious(listing: ServerListing) -> list[str]:
    """Return the suspicious texts that a first lock would accept, as lines."""
    return list(change_lines(ListingComparison(suspicious_in(listing))))


async def _asked(question: str) -> bool:
    return yes_or_no(await asked_line(question) or "") is True


@dataclass(frozen=True, slots=True)
class LockUpdate:
    """Writes the lock of a suite.

    An existing one is only replaced, and suspicious text only accepted, if `agreed`, or if `ask` says so.
    """

    agreed: bool
    ask: Callable[[str], Awaitable[bool]] | None = None
    write: Callable[[str], object] = print
    _own: dict[Path, tuple[Suite, str]] = field(default_factory=dict)
    """The test file and text of each lock of this run, by its path."""

    async def __call__(self, suite: Suite, context: PartContext) -> Outcome:
        """Show what changed, and write the lock; return what came of it."""
        contract = suite.contract
        assert contract is not None
        line = contract.line
        damage = ""
        before: Lock | None = None
        try:
            path = lock_path(suite.path, contract.lock)
            before = read_lock(path)
        except DamagedLock as error:
            damage = str(error)
        except ConfigError as error:
            return Outcome(NAME, line, State.ERROR, str(error))
        listing, problem = await live_listing(context.runtime, context.server)
        if problem:
            return Outcome(NAME, line, State.ERROR, f"not written: {problem}", server=context.server)
        after = Lock(listing, contract.strength)
        other, text = self._own.setdefault(path, (suite, after.text()))
        if text != after.text() and other.path != suite.path:
            why = f"{contract.lock} is also the lock of {shown_path(other.path)}, which lists something else"
            step = "Give each file a lock of its own"
            return Outcome(NAME, line, State.ERROR, f"not written: {why}. {step}.", server=context.server)
        if before is not None and before.text() == after.text():
            return self._written(suite, after, context, "is up to date")
        if before is not None:
            said = await asyncio.to_thread(_changes, before, after)
        else:
            said = [*filter(None, [damage]), *await asyncio.to_thread(_suspicious, listing)]
        for text in said:
            self.write(text)
        is_first = before is None and not damage
        if said and not await self._agrees(shown_path(path), "Write" if is_first else "Update"):
            step = "" if self.ask is not None else f" Without a terminal: {lock_command(suite)} --yes"
            why = "written, because it would accept suspicious text" if is_first else "changed"
            return Outcome(NAME, line, State.FAILED, f"the lock was not {why}.{step}")
        try:
            await asyncio.to_thread(write_lock, path, after)
        except ConfigError as error:
            return Outcome(NAME, line, State.ERROR, str(error))
        return self._written(suite, after, context, "updated" if before or damage else "written")

    async def _agrees(self, name: str, what: str) -> bool:
        return self.agreed or (self.ask is not None and await self.ask(f"{what} {name}? [y/N] "))

    def _written(self, suite: Suite, after: Lock, context: PartContext, how: str) -> Outcome:
        """Return the outcome with a token budget judged, which a new lock does not change."""
        contract = suite.contract
        assert contract is not None
        self.write(f"{contract.lock} {how}")
        return judged(suite, contract, after, after.listing, context.server)
