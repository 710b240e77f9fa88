"""Runs cases from the app: with a runtime of their own, so that the servers of the user are not touched."""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tui.addons.tests.review.catalog import CONTRACT
from tui.addons.tests.review.failures import Failure, failures_of
from tui.addons.tests.review.last_runs import last_runs_reporter, name_of
from tui.addons.tests.run.answers import CaseAnswers, ScriptedSampler
from tui.addons.tests.run.launch import suite_server
from tui.addons.tests.run.outcome import Outcome, RunOutcome, SuiteOutcome
from tui.addons.tests.run.reporter import Reporter, RunStart
from tui.addons.tests.run.runner import PlannedSuite, RunOptions, SuiteRunner
from tui.addons.tests.screens.case_list import Key
from tui.addons.tests.screens.case_rows import Doing
from tui.addons.tests.suite.case import Suite
from tui.core.background import Tasks
from tui.core.errors import McptuiError
from tui.core.servers import ServerSpec
from tui.runtime.runtime import Runtime

if TYPE_CHECKING:
    from tui.runtime.options import Options

NO_CONSENT = "not run, its server needs consent"


class CaseRuns:
    """One run at a time. `changed` is called when something has changed.

    Attributes:
        doing: what happens to the cases of the run.
        failures: the failures of the last runs, by case.
        problems: why suites were not run, by file.
    """

    def __init__(self, runtime: Runtime, changed: Callable[[], object]) -> None:
        self._app = runtime
        self._changed = changed
        self._tasks = Tasks()
        self._runner: SuiteRunner | None = None
        self.doing: dict[Key, Doing] = {}
        self.failures: dict[Key, Failure] = {}
        self.problems: dict[Path, str] = {}
        self.done = self.total = 0

    @property
    def is_running(self) -> bool:
        return bool(self._tasks.running)

    @property
    def can_interrupt(self) -> bool:
        """Whether cases run, after consent."""
        return self._runner is not None

    def start(self, suites: Sequence[Suite], *, run_empty: bool = False) -> None:
        """Run all cases of suites, unless a run is in progress. `run_empty`: also those without a result."""
        if self.is_running:
            return
        self.doing = {key: Doing(waits=True) for suite in suites for key in _keys(suite)}
        self.done, self.total = 0, len(self.doing)
        for suite in suites:
            self.problems.pop(suite.path, None)
        options = RunOptions(run_empty=run_empty)
        self._tasks.start(self._run(suites, options), "run tests")
        self._changed()

    def cancel(self) -> bool:
        """Interrupt the run; return whether there is one."""
        if not self.is_running:
            return False
        if self._runner is not None:
            self._runner.interrupt()
        else:
            for task in self._tasks.running:
                task.cancel()
        return True

    async def close(self) -> None:
        """Interrupt the run, and wait until its servers have stopped."""
        await self._tasks.cancel()

    async def _run(self, suites: Sequence[Suite], options: RunOptions) -> None:
        answers = CaseAnswers(self._app.questioner.ask)
        runtime = Runtime(_options(self._app.options), os.environ)
        runtime.questioner, runtime.sampler = answers, ScriptedSampler()
        at = time.time()
        try:
            has_turns = any(suite.turns for suite in suites)
            await runtime.ready(start=False, model=has_turns, taps=False, session=False)
            planned = await self._planned(runtime, suites)
            reporters: list[Reporter] = [_Progress(self), last_runs_reporter(runtime)]
            self._runner = SuiteRunner(runtime, answers, options, reporters)
            outcome = await self._runner.run(planned, at=at)
            self._runner.reports.tell(lambda one: one.ended(outcome))
            self._take(outcome, at)
        except McptuiError as error:
            self.problems |= {suite.path: str(error) for suite in suites}
        finally:
            self._runner = None
            self.doing = {}
            self._changed()
            await runtime.shutdown()

    async def _planned(self, runtime: Runtime, suites: Sequence[Suite]) -> list[PlannedSuite]:
        """Return the suites with their servers, after consent, which the questions of the app ask for."""
        configured = {status.name: status.spec for status in runtime.host.statuses()}
        for name in configured:
            await runtime.host.remove(name)
        return [await self._with_server(runtime, suite, configured) for suite in suites]

    async def _with_server(
        self, runtime: Runtime, suite: Suite, configured: Mapping[str, ServerSpec]
    ) -> PlannedSuite:
        try:
            server = suite_server(suite, configured)
        except McptuiError as error:
            return PlannedSuite(suite, problem=str(error))
        runtime.redactor.add(server.secrets)
        if not await runtime.consent.ask(server.spec):
            return PlannedSuite(suite, problem=NO_CONSENT)
        return PlannedSuite(suite, server.spec)

    def _take(self, outcome: RunOutcome, at: float) -> None:
        """Take the failures of a run in place of those of the same cases."""
        for ended in outcome.suites:
            for key in _keys(ended.suite):
                self.failures.pop(key, None)
            if ended.problem and not ended.outcomes:
                self.problems[ended.path] = ended.problem
        for failure in failures_of(outcome, at):
            self.failures[key_of(failure)] = failure

    # ---- what the reporter says ----

    def began(self, suite: Suite) -> None:
        """The cases of a suite run from now on."""
        self._next(suite)

    def ended(self, suite: Suite, outcome: Outcome) -> None:
        """One case of a suite has ended."""
        ended = suite.path, name_of(outcome)
        found = next((key for key in self.doing if (key[0], key[2]) == ended), None)
        if found is not None:
            del self.doing[found]
            self.done += 1
        self._next(suite)

    def _next(self, suite: Suite) -> None:
        following = next((key for key in _keys(suite) if key in self.doing), None)
        if following is not None:
            self.doing[following] = Doing(runs=True)
        self._changed()


class _Progress:
    """The reporter of a run."""

    def __init__(self, runs: CaseRuns) -> None:
        self._runs = runs

    def began(self, run: RunStart) -> None:
        pass

    def suite_began(self, suite: Suite) -> None:
        self._runs.began(suite)

    def case_ended(self, suite: Suite, outcome: Outcome) -> None:
        self._runs.ended(suite, outcome)

    def suite_ended(self, outcome: SuiteOutcome) -> None:
        pass

    def ended(self, run: RunOutcome) -> None:
        pass


def _options(app: "Options") -> "Options":
    """Return the options of a run: those of `mcptui test`, with the configuration of the app."""
    return replace(
        app, command="test", save=False, accept_all=True, server=None, secrets={}, session=None, resume=False
    )


def _keys(suite: Suite) -> list[Key]:
    """Return the keys of what a suite checks, in the order of its run."""
    contract = [(suite.path, "Contract", CONTRACT)] if suite.contract is not None else []
    cases = [(suite.path, "Case", case.name) for case in suite.cases]
    return [*contract, *cases, *((suite.path, "TurnCase", turn.title) for turn in suite.turns)]


def key_of(failure: Failure) -> Key:
    """Return the key of the case of a failure."""
    kind = "Contract" if failure.outcome.case is None else type(failure.outcome.case).__name__
    return failure.path, kind, name_of(failure.outcome)
