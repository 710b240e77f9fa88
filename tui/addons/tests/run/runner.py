"""Runs suites: one server process a file, its cases in order, files side by side.

Reports are in the order of the files. One runtime has all servers, so that one recording has all messages.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from operator import methodcaller
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tui.addons.tests.run.answers import CaseAnswers
from tui.addons.tests.run.case_run import CaseRunner, why_skipped, with_late
from tui.addons.tests.run.findings import TrafficByServer
from tui.addons.tests.run.instance import ServerInstance
from tui.addons.tests.run.launch import for_cases, place_of
from tui.addons.tests.run.outcome import Outcome, RunOutcome, State, SuiteOutcome
from tui.addons.tests.run.output import NOT_RUN
from tui.addons.tests.run.plan import PartContext, PlannedSuite, RunOptions
from tui.addons.tests.run.reporter import Reporter, RunStart
from tui.addons.tests.suite.case import Case, Suite, TurnCase
from tui.core.addons import brought
from tui.core.background import Tasks
from tui.core.errors import McptuiError
from tui.core.library_imports import load_wire_models
from tui.core.servers import ServerSpec
from tui.core.text import clean, clean_line

if TYPE_CHECKING:
    from tui.addons.tests.contract.listing import ServerListing
    from tui.runtime.runtime import Runtime

ERAS = {"": ("",), "legacy": ("legacy",), "modern": ("modern",), "both": ("legacy", "modern")}
INTERRUPTED = "interrupted"
STOPPED = f"{NOT_RUN}an earlier case failed (-x)"
MAX_NOTE = 500
AGAIN_SECONDS = 30.0
"""Seconds after which no more cases are run again without faults."""

NOT_REACHED = f"{NOT_RUN}interrupted"


class OrderedReports:
    """Passes what happens in several suites to reporters, in the order of the suites.

    A reporter that fails gets nothing more. `problems` are the sentences of those that cannot be written,
    `error` is that of the standard output. `closed` is called once its reader is gone.
    """

    def __init__(self, reporters: Sequence[Reporter], closed: Callable[[], object] = lambda: None) -> None:
        self.problems: list[str] = []
        self.error: OSError | None = None
        self._closed = closed
        self._reporters = list(reporters)
        self._current = 0
        self._ended: set[int] = set()
        self._waiting: dict[int, list[Callable[[Reporter], object]]] = {}

    def tell(self, what: Callable[[Reporter], object]) -> None:
        """Tell each reporter at once."""
        for reporter in [*self._reporters]:
            try:
                what(reporter)
            except McptuiError as error:
                self._reporters.remove(reporter)
                self.problems.append(str(error))
            except OSError as error:
                self._reporters.remove(reporter)
                self.error = error
                if isinstance(error, BrokenPipeError):
                    self._closed()

    def of_suite(self, number: int, what: Callable[[Reporter], object]) -> None:
        """Tell each reporter once it is the turn of a suite, counted from 0."""
        if number == self._current:
            self.tell(what)
        else:
            self._waiting.setdefault(number, []).append(what)

    def suite_ended(self, number: int) -> None:
        """Note that a suite has ended; the next one is told."""
        self._ended.add(number)
        while self._current in self._ended:
            self._current += 1
            for what in self._waiting.pop(self._current, ()):
                self.tell(what)


@dataclass(slots=True)
class _SuiteRun:
    """The state of a suite that runs."""

    number: int
    suite: Suite
    configured: str = ""
    outcomes: list[Outcome] = field(default_factory=list)
    problem: str = ""
    not_started: bool = False
    lines: list[str] = field(default_factory=list)
    start_faults: list[tuple[str, str]] = field(default_factory=list)
    left: deque[Case | TurnCase] = field(default_factory=deque)
    era: str = ""


class SuiteRunner:
    """Runs suites on the servers of a runtime, which is ready and has no servers yet.

    `listings` are what each suite's server lists, for coverage.
    """

    def __init__(
        self, runtime: "Runtime", answers: CaseAnswers, options: RunOptions, reporters: Sequence[Reporter]
    ) -> None:
        """`answers` is the questioner of the runtime."""
        self.reports = OrderedReports(reporters, self.interrupt)
        self.listings: dict[Path, ServerListing] = {}
        self._runtime = runtime
        self._answers = answers
        self._options = options
        self._traffic = TrafficByServer(runtime.redactor.redact)
        self._names: dict[str, asyncio.Lock] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._stopping = Tasks()
        self._failed_calls: dict[str, str] = {}
        self._is_stopped = self._is_interrupted = False
        runtime.traffic.listener = self._traffic

    def interrupt(self) -> None:
        """End the run: cases that run are interrupted, the others are not run, and reports are written."""
        self._is_interrupted = True
        for task in self._tasks:
            task.cancel()

    async def run(self, planned: Sequence[PlannedSuite], *, at: float = 0.0) -> RunOutcome:
        """Run suites; return what came of them, which the reporters have been told."""
        began = time.perf_counter()
        self.reports.tell(lambda one: one.began(RunStart([each.suite for each in planned], None, at)))
        # While the first server starts: the first response must not wait for them.
        loading = asyncio.create_task(asyncio.to_thread(load_wire_models))
        places = asyncio.Semaphore(max(1, self._options.jobs))
        runs = [_SuiteRun(number, one.suite, one.configured) for number, one in enumerate(planned)]
        ended = list[SuiteOutcome | None]([None] * len(planned))

        async def one(run: _SuiteRun, plan: PlannedSuite) -> None:
            since = time.perf_counter()
            try:
                async with places:
                    since = time.perf_counter()
                    self._report(run, lambda to: to.suite_began(run.suite))
                    await self._suite(run, plan)
            except asyncio.CancelledError:
                if not self._is_interrupted:
                    raise
                self._name_unfinished(run)
            finish(run, time.perf_counter() - since)

        def finish(run: _SuiteRun, seconds: float) -> None:
            outcome = SuiteOutcome(
                run.suite,
                run.outcomes,
                run.problem,
                run.not_started,
                seconds,
                tuple(run.lines),
                tuple(run.start_faults),
            )
            ended[run.number] = outcome
            self._report(run, lambda to: to.suite_ended(outcome))
            self.reports.suite_ended(run.number)

        self._tasks = [asyncio.create_task(one(run, plan)) for run, plan in zip(runs, planned, strict=True)]
        try:
            await asyncio.gather(*self._tasks, return_exceptions=True)
        except asyncio.CancelledError:
            if not self._is_interrupted:
                raise  # otherwise it is the second signal, after which there are still reports
        finally:
            for task in self._tasks:
                task.cancel()
            await self._until_loaded(loading)
        for run, task in zip(runs, self._tasks, strict=True):
            # A task that was interrupted in its last step is cancelled at its end.
            if not task.cancelled() and (error := task.exception()) is not None:
                raise error
            if ended[run.number] is None:  # it was interrupted before its first step
                self._name_unfinished(run)
                finish(run, 0.0)
        traffic = self._runtime.traffic
        traffic.mark_calls(self._failed_calls)
        suites = [outcome for outcome in ended if outcome is not None]
        seconds = time.perf_counter() - began
        recording = None if traffic.path == Path() else traffic.path
        extra = {"faults": list(self._options.faults)} if self._options.faults else {}
        return RunOutcome(suites, seconds, self._is_interrupted, recording, extra)

    async def _until_loaded(self, task: asyncio.Task[Any]) -> None:
        """Wait for a task that goes on. After the first signal, another one changes nothing any more."""
        while not task.done():
            try:
                await asyncio.wait((task,))
            except asyncio.CancelledError:
                if not self._is_interrupted:
                    raise

    def _report(self, run: _SuiteRun, what: Callable[[Reporter], object]) -> None:
        self.reports.of_suite(run.number, what)

    def _add(self, run: _SuiteRun, outcome: Outcome) -> None:
        """Report the outcome of a case."""
        run.outcomes.append(outcome)
        if run.left and outcome.case is run.left[0] and isinstance(outcome.case, Case):
            run.left.popleft()
        self._ended(run, outcome)

    def _ended(self, run: _SuiteRun, outcome: Outcome) -> None:
        if outcome.state.is_bad:
            self._is_stopped = self._options.stop
            if outcome.call:
                note = f"{outcome.state}: {self._runtime.redactor.redact(outcome.problem)} ({outcome.name})"
                self._failed_calls[outcome.call] = clean_line(note, MAX_NOTE)
        self._report(run, lambda to: to.case_ended(run.suite, outcome))

    # ---- one suite -----------------------------------------------------------------------------------

    async def _suite(self, run: _SuiteRun, plan: PlannedSuite) -> None:
        if plan.spec is None:
            run.problem = plan.problem
            return
        spec = plan.spec
        if faults := self._options.faults:
            try:
                brought("service", "fault rules")(faults, transport=spec.transport.value)
            except ValueError as error:
                run.problem = f"--fault: {error}"
                return
            spec = replace(spec, faults=(*spec.faults, *faults))
        is_used = plan.spec.name in self._names
        lock = self._names.setdefault(plan.spec.name, asyncio.Lock())
        async with lock:  # a configured server, which several files use, has one name
            if is_used:  # that of the last file may still be stopping
                await self._stopping.settled()
            for era in ERAS[self._options.era]:
                await self._in_era(run, spec, era)

    async def _in_era(self, run: _SuiteRun, spec: ServerSpec, era: str) -> None:
        options, suite = self._options, run.suite
        shown = era if options.era == "both" else ""
        chosen = options.chosen(suite)
        contract = suite.contract if options.selects("contract", ()) else None
        if not (chosen or contract):
            return
        name = f"{spec.name}-{shown}" if shown else spec.name
        runner, first = CaseRunner(suite, self._answers, options, shown), len(run.outcomes)
        with self._instance(run, for_cases(spec, suite, name=name, era=era)) as shared:
            if contract is not None and not self._is_stopped:
                await self._contract(run, shared, shown)
            run.left, run.era = deque(chosen), shown
            numbers = dict[int, int]()
            while run.left and isinstance(case := run.left[0], Case):
                if self._is_stopped:
                    self._add(run, _without_run(case, State.SKIPPED, STOPPED, shown))
                    continue
                outcome = await self._case(run, runner, case, shared)
                if outcome.state.is_bad:
                    redact = self._runtime.redactor.redact
                    outcome = replace(outcome, repeat=options.repeat.of(suite, spec, case, redact, era))
                if outcome.server == shared.name and outcome.call:
                    numbers[shared.traffic.case] = len(run.outcomes)
                self._add(run, outcome)
                self._recheck(run, shared, numbers, era)
            if numbers:
                await shared.catch_up()
                self._recheck(run, shared, numbers, era)
            if not self._is_stopped:
                await self._turns(run, shared, shown)
            while run.left:
                self._add(run, _without_run(run.left.popleft(), State.SKIPPED, STOPPED, shown))
            if options.coverage and not self._is_interrupted:
                await self._list(run.suite.path, shared)

        if options.faults:
            await self._without_faults(run, first, shared.spec, shown)

    async def _without_faults(self, run: _SuiteRun, first: int, spec: ServerSpec, era: str) -> None:
        """Run the cases once more without faults, to the last that faults broke, to note which fail anyway.

        All of them, because a case may need what those before it did.
        """
        cases = [*enumerate(run.outcomes[first:], first)]
        while cases and not (cases[-1][1].faults and cases[-1][1].state.is_bad):
            cases.pop()
        if not cases or run.not_started:
            return
        await self._stopping.settled()
        own = replace(spec, name=f"{spec.name}-again", faults=spec.faults[: -len(self._options.faults)])
        runner, ends = (
            CaseRunner(run.suite, self._answers, self._options, era),
            time.monotonic() + AGAIN_SECONDS,
        )
        with self._instance(run, own) as instance:
            for place, outcome in cases:
                if time.monotonic() < ends and isinstance(case := outcome.case, Case):
                    again = await self._case(run, runner, case, instance)
                    fails = outcome.state.is_bad and again.state.is_bad
                    run.outcomes[place] = replace(outcome, fails_anyway=fails)

    def _recheck(self, run: _SuiteRun, shared: ServerInstance, numbers: Mapping[int, int], era: str) -> None:
        """Fail cases that passed, but whose response came again since. `numbers` are their places."""
        late, traffic = shared.traffic.late, shared.traffic
        while late:
            number, finding = late.popleft()
            if (place := numbers.get(number)) is None:
                continue
            before = run.outcomes[place]
            outcome = with_late(before, [finding], traffic.redact)
            if outcome is not before and isinstance(case := outcome.case, Case):
                redact = self._runtime.redactor.redact
                repeat = self._options.repeat.of(run.suite, shared.spec, case, redact, era)
                run.outcomes[place] = outcome = replace(outcome, repeat=repeat)
                self._ended(run, outcome)

    async def _list(self, suite: Path, shared: ServerInstance) -> None:
        """Keep what the server of a suite lists; with --fresh it may not have been started."""
        from tui.addons.tests.contract.live import live_listing

        if suite not in self.listings and await shared.running():
            listing, problem = await live_listing(self._runtime, shared.name)
            if not problem:
                self.listings[suite] = listing

    @contextmanager
    def _instance(self, run: _SuiteRun, spec: ServerSpec) -> Iterator[ServerInstance]:
        """Add a server to the host, which is stopped at the end, without waiting for that."""
        traffic = self._traffic.of(spec.name)
        where = place_of(run.suite, spec)
        instance = ServerInstance(self._runtime, spec, traffic, configured=run.configured, where=where)
        try:
            yield instance
        finally:
            redact = self._runtime.redactor.redact
            run.lines += (clean(redact(line)) for line in traffic.lines)
            traffic.lines.clear()
            traffic.faults(has_failed=False)  # of a case that was interrupted
            run.start_faults += traffic.start_faults
            traffic.start_faults.clear()
            if instance.problem:
                run.not_started, run.problem = True, run.problem or instance.problem
            self._stopping.start(instance.close(), f"stopping {spec.name}")

    async def _case(self, run: _SuiteRun, runner: CaseRunner, case: Case, shared: ServerInstance) -> Outcome:
        is_alone = (self._options.fresh or case.fresh) and not why_skipped(
            case, run_empty=self._options.run_empty
        )
        if not is_alone:
            return await runner.run(case, shared)
        await self._stopping.settled()
        with self._instance(run, replace(shared.spec, name=f"{shared.name}-fresh")) as own:
            own.problem = run.problem if run.not_started else shared.problem
            outcome = await runner.run(case, own)
            if outcome.state is State.PASSED:
                await own.catch_up()
                late = [finding for number, finding in own.traffic.late if number == own.traffic.case]
                outcome = with_late(outcome, late, own.traffic.redact)
            own.traffic.late.clear()
            return outcome

    async def _contract(self, run: _SuiteRun, shared: ServerInstance, era: str) -> None:
        from tui.addons.tests.contract.check import check_contract

        check, suite = self._options.check or check_contract, run.suite
        assert suite.contract is not None
        if await shared.running():
            outcome = await check(suite, PartContext(self._runtime, shared.name))
        else:
            line = suite.contract.line
            outcome = Outcome("contract", line, State.ERROR, shared.problem, server=shared.name)
        faults = shared.traffic.faults(has_failed=True) if outcome.state.is_bad else ()
        self._add(run, replace(outcome, era=era, spoken=shared.era, faults=faults))

    async def _turns(self, run: _SuiteRun, shared: ServerInstance, era: str) -> None:
        turns = [one for one in run.left if isinstance(one, TurnCase)]
        if not turns or not await shared.running():
            while run.left:
                missing = _without_run(run.left.popleft(), State.ERROR, shared.problem, era)
                self._add(run, replace(missing, server=shared.name))
            return
        from tui.addons.tests.turns.run import run_turns

        context = PartContext(self._runtime, shared.name, self._options.replay_models)
        traffic = shared.traffic
        traffic.begin()
        async for outcome in run_turns(run.suite, turns, context):
            while run.left[0] is not outcome.case:  # each of its models has answered
                run.left.popleft()
            faults = traffic.faults(has_failed=outcome.state.is_bad)
            self._add(run, replace(outcome, era=era, spoken=shared.era, faults=faults))
            if self._is_stopped:
                break
            traffic.begin()
        run.left.popleft()

    def _name_unfinished(self, run: _SuiteRun) -> None:
        """Add the outcomes of the case that was interrupted, and of those that were not run."""
        if not run.outcomes and not run.left:  # it has not begun
            run.left = deque(self._options.chosen(run.suite))
            state, why = State.SKIPPED, NOT_REACHED
        else:
            state, why = State.ERROR, INTERRUPTED
        while run.left:
            self._add(run, _without_run(run.left.popleft(), state, why, run.era))
            state, why = State.SKIPPED, NOT_REACHED


def report_not_run(
    planned: Sequence[PlannedSuite], options: RunOptions, reporters: Sequence[Reporter]
) -> list[str]:
    """Report a run that was interrupted before its first server started.

    Returns the problems of reports. Raises OSError if the output cannot be written.
    """
    reports, ended = OrderedReports(reporters), list[SuiteOutcome]()

    def suite_reported(suite: SuiteOutcome) -> None:
        reports.tell(lambda one: one.suite_began(suite.suite))
        for case in suite.outcomes:
            reports.tell(methodcaller("case_ended", suite.suite, case))
        reports.tell(lambda one: one.suite_ended(suite))

    reports.tell(lambda one: one.began(RunStart([plan.suite for plan in planned], None, time.time())))
    for plan in planned:
        cases = [_without_run(one, State.SKIPPED, NOT_REACHED, "") for one in options.chosen(plan.suite)]
        ended.append(SuiteOutcome(plan.suite, cases, plan.problem))
        suite_reported(ended[-1])
    reports.tell(lambda one: one.ended(RunOutcome(ended, interrupted=True)))
    if reports.error is not None:
        raise reports.error
    return reports.problems


def _without_run(case: Case | TurnCase, state: State, why: str, era: str) -> Outcome:
    """Return the outcome of a case that did not run, or not to its end."""
    name = case.title if isinstance(case, TurnCase) else case.name
    return Outcome(name, case.line, state, why, era=era, case=case)
