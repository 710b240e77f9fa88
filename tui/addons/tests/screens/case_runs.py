"""The run of the screen of all cases: what happens to each case, and what failed."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tui.addons.tests.review.catalog import cases_of
from tui.addons.tests.review.last_runs import name_of
from tui.addons.tests.run.outcome import Outcome, RunOutcome
from tui.addons.tests.run.reporter import Reporter
from tui.addons.tests.screens.case_rows import Doing, Key
from tui.addons.tests.suite.case import Suite
from tui.core.background import Tasks
from tui.core.errors import McptuiError

if TYPE_CHECKING:  # loaded with the first run
    from tui.addons.tests.review.failures import Failure
    from tui.addons.tests.run.runner import SuiteRunner
    from tui.runtime.runtime import Runtime


class CaseRuns(Reporter):
    """One run at a time. `changed` is called when something has changed.

    Attributes:
        doing: what happens to the cases of the run.
        failures: the failures of the last runs, by case.
        problems: why suites were not run, by file.
    """

    def __init__(self, runtime: "Runtime", changed: Callable[[], object]) -> None:
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
        self._tasks.start(self._run(suites, run_empty=run_empty), "run tests")
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

    async def _run(self, suites: Sequence[Suite], *, run_empty: bool) -> None:
        from tui.addons.tests.screens.app_run import run_suites

        def begins(runner: "SuiteRunner") -> None:
            self._runner = runner

        at = time.time()
        try:
            outcome = await run_suites(self._app, suites, self, begins, at=at, run_empty=run_empty)
            self._take(outcome, at)
        except McptuiError as error:
            self.problems |= {suite.path: str(error) for suite in suites}
        finally:
            self._runner = None
            self.doing = {}
            self._changed()

    def _take(self, outcome: RunOutcome, at: float) -> None:
        """Take the failures of a run in place of those of the same cases."""
        from tui.addons.tests.review.failures import failures_of

        for ended in outcome.suites:
            for key in _keys(ended.suite):
                self.failures.pop(key, None)
            if ended.problem and not ended.outcomes:
                self.problems[ended.path] = ended.problem
        for failure in failures_of(outcome, at):
            self.failures[key_of(failure)] = failure

    # ---- what the reporter says ----

    def suite_began(self, suite: Suite) -> None:
        self._next(suite)

    def case_ended(self, suite: Suite, outcome: Outcome) -> None:
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


def _keys(suite: Suite) -> list[Key]:
    return [one.key for one in cases_of(suite)]


def key_of(failure: "Failure") -> Key:
    """Return the key of the case of a failure."""
    kind = "Contract" if failure.outcome.case is None else type(failure.outcome.case).__name__
    return failure.path, kind, name_of(failure.outcome)
