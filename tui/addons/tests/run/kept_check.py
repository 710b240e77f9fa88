"""The service "kept check": runs the kept calls of a server on its running process, as after a restart.

Cases that need a process of their own, answers to questions, or a destructive tool are not run here.
"""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from tui.addons.tests.review.catalog import Catalog
from tui.addons.tests.review.last_runs import LastRuns
from tui.addons.tests.run.answers import CaseAnswers
from tui.addons.tests.run.case_run import CaseRunner
from tui.addons.tests.run.findings import ServerTraffic
from tui.addons.tests.run.instance import ServerInstance
from tui.addons.tests.run.outcome import Outcome, SuiteOutcome
from tui.addons.tests.screens.kept_calls import is_server_of
from tui.addons.tests.suite.case import Case, Lose, RequestKind, Suite
from tui.core.servers import ServerSpec
from tui.host.schemas.judge import ModelJudge
from tui.ui.workbench.kept_calls import KeptCheck

if TYPE_CHECKING:
    from tui.runtime.runtime import Runtime


class RunningInstance(ServerInstance):
    """A server of the user that runs already, and is neither started nor stopped here."""

    def __init__(self, runtime: "Runtime", spec: ServerSpec) -> None:
        traffic = ServerTraffic(ModelJudge(), runtime.redactor.redact)
        super().__init__(runtime, spec, traffic, configured=spec.name, is_present=True)

    async def running(self) -> bool:
        is_running = self.workbench.is_running(self.name)
        self.problem = "" if is_running else "The server is not running."
        return is_running

    def use_roots(self, roots: tuple[str, ...]) -> None:
        """Keep those of the user."""


async def kept_check(runtime: "Runtime", server: str) -> KeptCheck:
    """Run the kept calls of a server, store how they ended, and return the numbers."""
    if (status := runtime.host.find(server)) is None:
        return KeptCheck()
    runs = LastRuns()
    try:
        passed, differing, not_run = 0, list[str](), 0
        for suite in await asyncio.to_thread(lambda: list(_suites(runs, status.spec))):
            began, outcomes = time.time(), list[Outcome]()
            instance, runner = RunningInstance(runtime, status.spec), CaseRunner(suite, CaseAnswers())
            for case in suite.cases:
                if case.expects_nothing or case.skip:
                    continue
                if not _can_run(case, runtime, server):
                    not_run += 1
                    continue
                outcomes.append(await runner.run(case, instance))
                if outcomes[-1].state.is_bad:
                    differing.append(case.name)
                else:
                    passed += 1
            ended = SuiteOutcome(suite, outcomes, "", False, time.time() - began)
            path = runtime.traffic.path
            runs.put_later(ended, None if path == Path() else path, began, runtime.redactor.redact)
        return KeptCheck(passed, differing, not_run)
    finally:
        await asyncio.to_thread(runs.close)


def _suites(runs: LastRuns, spec: ServerSpec) -> Iterator[Suite]:
    """Yield the suites of a server. Blocks."""
    kept = [path for path, file in runs.read().items() if file.kept]
    for file in Catalog().files(Path(), kept):
        if file.suite is not None and is_server_of(file.suite, spec):
            yield file.suite


def _can_run(case: Case, runtime: "Runtime", server: str) -> bool:
    destructive = {tool.name for tool in runtime.workbench.tools(server) if tool.destructive}
    return all(
        not one.answers
        and not one.fresh
        and one.lose is not Lose.CONNECTION
        and not (one.request.kind is RequestKind.TOOL and one.request.name in destructive)
        for one in (case, *case.then)
    )
