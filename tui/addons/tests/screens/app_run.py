"""A run of suites from the app, with a runtime of its own: the servers of the user are not touched."""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace

from tui.addons.tests.review.last_runs import last_runs_reporter
from tui.addons.tests.run.answers import CaseAnswers, ScriptedSampler
from tui.addons.tests.run.outcome import RunOutcome
from tui.addons.tests.run.plan import PlannedSuite, RunOptions, with_servers
from tui.addons.tests.run.reporter import Reporter
from tui.addons.tests.run.runner import SuiteRunner
from tui.addons.tests.suite.case import Suite
from tui.runtime.options import Options
from tui.runtime.runtime import Runtime


async def run_suites(
    app: Runtime,
    suites: Sequence[Suite],
    follower: Reporter,
    begins: Callable[[SuiteRunner], object],
    *,
    at: float,
    run_empty: bool,
) -> RunOutcome:
    """Run suites, after consent, which the questions of the app ask for.

    `begins` gets the runner before the first case. `at` is now, in seconds since the epoch, by which the
    run is known. Cancelling this stops the servers. Raises McptuiError.
    """
    answers = CaseAnswers(app.questioner.ask)
    runtime = Runtime(_options(app.options), os.environ)
    runtime.questioner, runtime.sampler = answers, ScriptedSampler()
    try:
        has_turns = any(suite.turns for suite in suites)
        await runtime.ready(start=False, model=has_turns, taps=False, session=False)
        planned = await with_servers([PlannedSuite(suite) for suite in suites], runtime)
        options = RunOptions(run_empty=run_empty)
        runner = SuiteRunner(runtime, answers, options, [follower, last_runs_reporter(runtime)])
        begins(runner)
        outcome = await runner.run(planned, at=at)
        runner.reports.tell(lambda one: one.ended(outcome))
        return outcome
    finally:
        await runtime.shutdown()


def _options(app: Options) -> Options:
    """Return the options of a run: those of `mcptui test`, with the configuration of the app."""
    return replace(
        app, command="test", save=False, accept_all=True, server=None, secrets={}, session=None, resume=False
    )
