"""The cases of a test file as items of pytest."""

import os
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from operator import methodcaller
from pathlib import Path
from typing import Any

import pytest
from _pytest._code.code import ReprExceptionInfo, ReprFileLocation, ReprTracebackNative

from tui.addons.tests.python.engine import Engine
from tui.addons.tests.python.server import Server, Servers
from tui.addons.tests.reports.ci_log import inert_in_ci
from tui.addons.tests.run.case_run import CaseRunner, why_skipped, with_late
from tui.addons.tests.run.failure_text import failure_lines
from tui.addons.tests.run.instance import ServerInstance
from tui.addons.tests.run.outcome import Outcome, State
from tui.addons.tests.run.plan import PartContext
from tui.addons.tests.run.repeat import RepeatCommand
from tui.addons.tests.suite.case import Case, Suite, TurnCase
from tui.addons.tests.suite.read import read_suite
from tui.addons.tests.suite.references import with_needed
from tui.core.errors import McptuiError
from tui.core.language.translate import plain
from tui.core.text import clean_line

_ENGINE = pytest.StashKey[Engine]()
CONTRACT = "contract"


@dataclass(slots=True)
class SuiteSession:
    """Runs the cases of a suite in any order and selection, all on one process of its server.

    A case that needs a value which an earlier one saves runs that one first, if it has not run yet.
    """

    suite: Suite
    engine: Engine
    instance: ServerInstance
    runner: CaseRunner
    _done: set[str] = field(default_factory=set)
    _ran: dict[int, Outcome] = field(default_factory=dict)  # those that passed, by the number of the case

    @classmethod
    async def started(cls, suite: Suite, engine: Engine) -> "SuiteSession":
        """Return the session of a suite. Raises SuiteError if it names no server that can be used."""
        instance = await engine.instance(suite)
        return cls(suite, engine, instance, CaseRunner(suite, engine.answers))

    async def run(self, case: Case) -> Outcome:
        """Run a case."""
        for one in with_needed(self.suite.cases, [case])[:-1]:
            if one.name not in self._done:
                await self._run(one)
        outcome = await self._run(case)
        if outcome.state.is_bad:
            named = self.suite.server.name if self.suite.server is not None else ""
            repeat = RepeatCommand(server=named).of(
                self.suite, self.instance.spec, case, self.instance.traffic.redact
            )
            outcome = replace(outcome, repeat=repeat)
        return outcome

    async def contract(self) -> Outcome:
        """Compare the definitions of the server with the lock."""
        contract = self.suite.contract
        assert contract is not None
        if not await self.instance.running():
            return Outcome("contract", contract.line, State.ERROR, self.instance.problem)
        from tui.addons.tests.contract.check import check_contract

        return await check_contract(self.suite, self._context)

    async def turn(self, turn: TurnCase) -> Outcome:
        """Run a turn case."""
        if not await self.instance.running():
            return Outcome(turn.title, turn.line, State.ERROR, self.instance.problem, case=turn)
        from tui.addons.tests.turns.run import run_turns

        outcomes = [one async for one in run_turns(self.suite, [turn], self._context)]
        return next((one for one in outcomes if one.state is not State.PASSED), outcomes[0])

    @property
    def _context(self) -> PartContext:
        return PartContext(self.engine.runtime, self.instance.name)

    async def close(self) -> Outcome | None:
        """Stop the server. Return that of a case that passed, but whose response came again later."""
        await self.instance.catch_up()
        traffic = self.instance.traffic
        late = [(self._ran[number], finding) for number, finding in traffic.late if number in self._ran]
        await self.instance.close()
        failed = (with_late(outcome, [finding], traffic.redact) for outcome, finding in late)
        return next((one for one in failed if one.state is State.FAILED), None)

    async def _run(self, case: Case) -> Outcome:
        self._done.add(case.name)
        if not case.fresh or why_skipped(case):
            outcome = await self.runner.run(case, self.instance)
            if outcome.state is State.PASSED and outcome.call:
                self._ran[self.instance.traffic.case] = outcome
            return outcome
        own = self.engine.another(self.instance)
        try:
            return await self.runner.run(case, own)
        finally:
            await own.close()


Run = Callable[[SuiteSession], Coroutine[Any, Any, Outcome]]
"""Runs a case in the session of its file."""


class NotPassed(Exception):
    """A case did not pass. The message is what `mcptui test` prints about it, `problem` is that in a line."""

    def __init__(self, said: str, state: State, problem: str) -> None:
        super().__init__(said)
        self.state = state
        self.problem = problem


def engine_of(config: pytest.Config) -> Engine:
    """Return the engine of this process, which ends with it."""
    if (found := config.stash.get(_ENGINE, None)) is None:
        found = config.stash[_ENGINE] = Engine()
        config.add_cleanup(found.close)
    return found


@contextmanager
def servers_of(config: pytest.Config, folder: Path) -> Iterator[Callable[..., Server]]:
    """Return `mcp_server` for the tests of a module in `folder`; its servers end with it."""
    servers = Servers(engine_of(config), folder)
    try:
        yield servers.start
    finally:
        servers.close()


class SuiteFile(pytest.File):
    """A test file. Its server starts with the first item that needs it, and stops after the last one."""

    _suite: Suite
    _session: SuiteSession | None = None

    def collect(self) -> Iterator[pytest.Item]:
        try:
            suite = self._suite = read_suite(self.path)
        except McptuiError as error:
            raise self.CollectError(_inert(str(error))) from None
        if suite.turns:
            engine_of(self.config).needs_model = True
        if suite.contract is not None:
            yield self._item(CONTRACT, suite.contract.line, (), SuiteSession.contract)
        for case in suite.cases:
            run = methodcaller("run", case)
            yield self._item(case.name, case.line, case.tags, run, why_skipped(case))
        for turn in suite.turns:
            yield self._item(turn.title, turn.line, turn.tags, methodcaller("turn", turn), turn.skip)

    def _item(self, name: str, line: int, tags: tuple[str, ...], run: Run, skip: str = "") -> "SuiteItem":
        item: SuiteItem = SuiteItem.from_parent(self, name=name)
        item.line, item.work = line, run
        if skip:
            item.add_marker(pytest.mark.skip(reason=_inert(skip)))
        for tag in tags:
            _add_tag(item, tag)
        if self.config.pluginmanager.has_plugin("xdist"):  # with --dist loadgroup, one worker gets the file
            item.add_marker(pytest.mark.xdist_group(self.nodeid))
        return item

    def run(self, work: Run) -> Outcome:
        """Run a case, contract or turn case in the session of this file."""
        engine = engine_of(self.config)
        if self._session is None:
            self._session = engine.run(SuiteSession.started(self._suite, engine))
        return engine.run(work(self._session))

    def teardown(self) -> None:
        session, self._session = self._session, None
        late = engine_of(self.config).run(session.close()) if session is not None else None
        if late is not None:
            head = f"{clean_line(late.name, 400)} ({self.name}:{late.line}) passed, then failed:"
            said = "\n".join((head, *(line for line, _ in failure_lines(late))))
            pytest.fail(_inert(said), pytrace=False)


def _inert(text: str) -> str:
    return plain(inert_in_ci(text, os.environ))  # workers of xdist send it to their parent


def _add_tag(item: pytest.Item, tag: str) -> None:
    """Make a tag a keyword, for -k, and a mark, for -m, unless a mark of that name takes arguments."""
    item.extra_keyword_matches.add(tag)
    known: list[str] = item.config.getini("markers")
    if not tag.isidentifier() or tag.startswith("_") or any(one.startswith(f"{tag}(") for one in known):
        return
    if (line := f"{tag}: tag in *.mcp.toml") not in known:  # --strict-markers
        item.config.addinivalue_line("markers", line)
    item.add_marker(getattr(pytest.mark, tag))


class SuiteItem(pytest.Item):
    """A case, turn case or contract of a test file."""

    line: int
    work: Run

    def runtest(self) -> None:
        assert isinstance(self.parent, SuiteFile)
        try:
            outcome = self.parent.run(self.work)
        except McptuiError as error:
            raise NotPassed(str(error), State.ERROR, str(error)) from None
        for note in outcome.notes:
            self.add_report_section("call", "note", _inert(clean_line(note, 400)))
        if outcome.state is State.SKIPPED:
            raise pytest.skip.Exception(_inert(outcome.problem), _use_item_location=True)
        if outcome.state is not State.PASSED:
            said = "\n".join(line for line, _ in failure_lines(outcome))
            raise NotPassed(said, outcome.state, outcome.problem)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        failed = excinfo.value
        if not isinstance(failed, NotPassed):
            return super().repr_failure(excinfo, style)
        place = self.nodeid.partition("::")[0]
        said = _inert(f"{failed}\n\n{place}:{self.line}: {failed.state.upper()}\n")
        crash = ReprFileLocation(place, self.line, _inert(clean_line(failed.problem, 400)))
        lines = [] if self.config.option.tbstyle == "line" else [said]  # that prints the crash only
        return ReprExceptionInfo(reprtraceback=ReprTracebackNative(lines), reprcrash=crash)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self.line - 1, self.name
