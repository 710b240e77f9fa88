"""`mcptui test`: reads the files, asks for consent, runs the cases, and returns the exit code."""

import argparse
import os
import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from tui.addons.tests.reports.ci_log import protect_log
from tui.addons.tests.run.answers import CaseAnswers, ScriptedSampler
from tui.addons.tests.run.launch import name_of, require_consents, suite_server
from tui.addons.tests.run.outcome import RunOutcome, State
from tui.addons.tests.run.output import INDENT, TerminalReport
from tui.addons.tests.run.parts import Coverage, part
from tui.addons.tests.run.recording import RecordedCopy
from tui.addons.tests.run.repeat import RepeatCommand
from tui.addons.tests.run.reporter import Reporter
from tui.addons.tests.run.runner import PlannedSuite, RunOptions, SuiteRunner
from tui.addons.tests.run.terminal import colored_for, wrapped
from tui.addons.tests.run.written_files import require_own_files
from tui.addons.tests.suite.case import ENDING, Suite
from tui.addons.tests.suite.find import found
from tui.addons.tests.suite.read import read_suite
from tui.commands.headless import Interrupt, headless, say_unsaved, write_problem
from tui.commands.permission.terminal_approver import YES_OR_NO, asked_line, is_terminal, yes_or_no
from tui.commands.recordings import recordings
from tui.core.addons import load
from tui.core.errors import ConfigError, UsageError
from tui.core.permission.consent import ConsentQuestion
from tui.core.questions import Action, QuestionAnswer
from tui.core.servers import ServerSpec
from tui.core.text import clean, clean_line, quoted_name
from tui.core.units import and_more
from tui.runtime.options import Options
from tui.runtime.runtime import Runtime
from tui.settings.new_server import unconfigured_server
from tui.settings.problems import did_you_mean

if TYPE_CHECKING:
    from tui.addons.tests.turns.recorded_turns import RecordedTurns

PASSED, FAILED, WRONG, NOT_STARTED = 0, 1, 2, 5
FLUSH_SECONDS = 0.2


def test(args: argparse.Namespace) -> int:
    """Run the command and return its exit code."""
    protect_log(os.environ)
    for name in ("schema", "init", "pytest", "review", "lock"):
        if getattr(args, "to" if name == "pytest" else name):
            return int(part(name)() if name == "schema" else part(name)(args))
    return run(args)


def run(args: argparse.Namespace) -> int:
    """Run the cases of all files that the arguments name."""
    request = TestRun(args, read_suites(args.words))
    request.require_cases()
    return request.run()


def read_suites(names: Sequence[str]) -> list[PlannedSuite]:
    """Return the suites of files and folders; an invalid one has a problem.

    Raises UsageError if there are none.
    """
    paths = found(names)
    if not paths:
        where = ", ".join(clean_line(name, 200) for name in names) or "the current directory"
        raise UsageError(
            f"no test file (*{ENDING}) in {where}.",
            next_step="mcptui keep makes one of a call, mcptui test --init one of a server.",
        )
    suites = list[PlannedSuite]()
    for path in paths:
        try:
            suites.append(PlannedSuite(read_suite(path)))
        except ConfigError as error:
            suites.append(PlannedSuite(Suite(path), problem=str(error)))
    return suites


def test_options(args: argparse.Namespace) -> Options:
    """Return the options of a runtime that runs cases: test files decide what is called, nothing is saved."""
    return replace(Options.from_args(args), command="test", save=False, accept_all=True)


def _recorded_models(args: argparse.Namespace) -> "RecordedTurns | None":
    """Return the replies of models in the recording to replay, if there is one. Raises StorageError."""
    if not args.replay_models:
        return None
    if vars(args).get("demo"):
        raise UsageError("--demo cannot be combined with --replay-models.")
    from tui.addons.tests.turns.recorded_endpoint import read_turns

    turns = read_turns(recordings().find(args.replay_models))
    if not turns.models:
        raise UsageError(
            f"{turns.why_none('')}.",
            where=clean_line(args.replay_models, 200),
            next_step="The demo model is not recorded and needs no replay: run the cases with --demo.",
        )
    return turns


@dataclass(slots=True)
class TestRun:
    """A run of `mcptui test` with its arguments. Servers come from the files, or from the command line."""

    __test__: ClassVar[bool] = False  # for pytest

    args: argparse.Namespace
    suites: list[PlannedSuite]
    options: RunOptions = field(init=False)
    _live: ServerSpec | None = field(init=False, default=None)
    _secrets: Mapping[str, str] = field(init=False, default_factory=dict)
    outcome: RunOutcome = field(init=False, default_factory=RunOutcome)
    _problems: list[str] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        args = self.args
        if args.server and args.live_command:
            raise UsageError("--server cannot be combined with a command after --.")
        if args.live_command:
            self._live, self._secrets = unconfigured_server(args.live_command)
        more = ["--config", str(args.config)] if vars(args).get("config") else []
        more += ["--trust-config"] if vars(args).get("trust_config") else []
        self.options = RunOptions(
            matching=args.matching or "",
            tags=tuple(args.tag),
            era=args.era or "",
            fresh=args.fresh,
            stop=args.x,
            jobs=args.jobs,
            strict_time=args.strict_time,
            coverage=args.coverage or args.min_coverage is not None,
            replay_models=_recorded_models(args),
            repeat=RepeatCommand(tuple(args.live_command), args.server or "", more),
        )

    def require_cases(self) -> None:
        """Raise UsageError if the files are valid and none of their cases is selected."""
        if any(plan.problem for plan in self.suites):
            return
        options = self.options
        suites = [plan.suite for plan in self.suites]
        names = [(case.name, case.tags) for suite in suites for case in suite.cases]
        names += [(turn.title, turn.tags) for suite in suites for turn in suite.turns]
        contracts = [("contract", ()) for plan in self.suites if plan.suite.contract is not None]
        if any(options.selects(name, tags) for name, tags in (*names, *contracts)):
            return
        if options.matching or options.tags:
            known = sorted({tag for _, tags in names for tag in tags})
            step = f"Tags: {', '.join(clean_line(tag, 60) for tag in known[:20])}." if options.tags else ""
            raise UsageError(f"none of {len(names)} cases matches -k and --tag.", next_step=step)
        files = and_more([clean_line(str(plan.suite.path), 200) for plan in self.suites], 5)
        raise UsageError(
            f"{files} {'has' if len(self.suites) == 1 else 'have'} no cases.",
            next_step="Add [[call]], or use mcptui test --init.",
        )

    def run(self) -> int:
        """Run everything and return the exit code. Reports are written before servers stop."""
        args = self.args
        copy = RecordedCopy(args.record) if args.record else None
        reporters = _reporters(args)
        written = [("--report", file) for _, file in args.report]
        written += [("--record", args.record)] if args.record else []
        require_own_files(written, (plan.suite.path for plan in self.suites))
        answers = CaseAnswers(_asked_on_terminal if is_terminal() else None)

        async def work(runtime: Runtime, interrupt: Interrupt) -> int:
            runtime.sampler = ScriptedSampler()
            await runtime.ready(start=False, model=False, lint=False, taps=False, session=False)
            if vars(args).get("config"):
                runtime.require_usable()
            if any(
                self.options.selects(turn.title, turn.tags) for one in self.suites for turn in one.suite.turns
            ):
                await part("model")(runtime, self.options.replay_models)
            planned = await self._planned(runtime)
            reporters.append(part("last runs")(runtime))
            runner = SuiteRunner(runtime, answers, self.options, reporters)
            interrupt.on_signal = runner.interrupt
            outcome = self.outcome = await runner.run(planned, at=time.time())
            if copy is not None:
                copy.source = outcome.recording
                loaded = runtime.configuration.loaded
                copy.is_off = loaded is not None and not loaded.settings.traffic.record
                outcome = replace(outcome, recording=copy.path)
            coverage: Coverage | None = None
            if self.options.coverage:
                coverage = part("coverage")(outcome, runner.listings)
                outcome = replace(outcome, extra={**outcome.extra, "coverage": coverage.as_json()})
            runner.reports.tell(lambda one: one.ended(outcome))
            if runner.reports.error is not None:
                raise runner.reports.error
            code = PASSED if coverage is None else self._say_coverage(coverage)
            sys.stdout.flush()
            self._problems += runner.reports.problems
            interrupted = interrupt.exit_code if outcome.interrupted else 0
            return interrupted or max(code, exit_code(outcome), key=_RANK.index)

        code = headless(test_options(args), work, questioner=answers, ended=say_unsaved)
        if copy is not None and (self.outcome.suites or copy.source) and (problem := copy.write()):
            self._problems.append(problem)
        if code == WRONG and not self._problems and not any(one.problem for one in self.outcome.suites):
            self._problems.append("nothing was run: all cases are skipped.")
        for problem in self._problems:
            print(f"mcptui: {clean(problem)}", file=sys.stderr)
        return WRONG if self._problems and code in _RANK else code

    async def _planned(self, runtime: Runtime) -> list[PlannedSuite]:
        """Return the suites with their servers, after consent. Raises UsageError if that cannot be asked."""
        host = runtime.host
        configured = {status.name: status.spec for status in host.statuses()}
        for name in configured:
            await host.remove(name)
        planned = list[PlannedSuite]()
        for plan in self.suites:
            try:
                planned.append(plan if plan.problem else self._with_server(plan, runtime, configured))
            except ConfigError as error:
                planned.append(replace(plan, problem=str(error)))
        specs = {plan.suite.path: plan.spec for plan in planned if plan.spec is not None}
        if not is_terminal():
            require_consents(runtime.consent, list(specs.values()))
        for number, plan in enumerate(planned):
            if plan.spec is not None and not await runtime.consent.ask(plan.spec):
                planned[number] = PlannedSuite(plan.suite, problem="not run: its server needs consent.")
        return planned

    def _with_server(
        self, plan: PlannedSuite, runtime: Runtime, configured: Mapping[str, ServerSpec]
    ) -> PlannedSuite:
        if self._live is not None:
            runtime.redactor.add(self._secrets)
            return replace(plan, spec=replace(self._live, name=name_of(plan.suite.path)))
        named = plan.suite.server.name if plan.suite.server is not None else ""
        if (wanted := self.args.server or named) and wanted not in configured:
            _require_usable(runtime, wanted)
        if name := self.args.server:
            if name not in configured:
                hint = did_you_mean(name, configured)
                known = ", ".join(clean_line(one, 60) for one in list(configured)[:20]) or "none"
                raise UsageError(
                    f"server {quoted_name(name)} not found{f', {hint}' if hint else '.'}",
                    where="--server",
                    next_step=f"Configured servers: {known}.",
                )
            return replace(plan, spec=configured[name], is_configured=True)
        server = suite_server(plan.suite, configured)
        runtime.redactor.add(server.secrets)
        return replace(plan, spec=server.spec, is_configured=bool(named))

    def _say_coverage(self, coverage: Coverage) -> int:
        """Print the coverage that the arguments ask for, and return the exit code."""
        least = self.args.min_coverage
        is_low = least is not None and coverage.percent < least
        stream = sys.stderr if self.args.json else sys.stdout
        for line in coverage.lines() if self.args.coverage else coverage.missing_lines() if is_low else ():
            print(line, file=stream)
        if is_low:
            print(f"coverage is {coverage.percent:.0f} %, less than --min-coverage {least:g}", file=stream)
        return FAILED if is_low else PASSED


def _require_usable(runtime: Runtime, name: str) -> None:
    """Raise the reason why a server that is configured cannot be used: UsageError or ConfigError."""
    if problems := runtime.configuration.left_out.get(name):
        raise ConfigError(problems[0], where=clean_line(name, 80))
    runtime.require_usable()
    if runtime.is_disabled(name):
        raise UsageError(
            f"the server {quoted_name(name)} is disabled in the configuration.",
            next_step="Remove `disabled = true` from its section.",
        )


_RANK = (PASSED, FAILED, NOT_STARTED, WRONG)
"""Exit codes; of several, the last one counts."""


def exit_code(outcome: RunOutcome) -> int:
    """Return the exit code of a run that was not interrupted."""
    codes = [PASSED]
    for suite in outcome.suites:
        if suite.problem:
            codes.append(NOT_STARTED if suite.not_started else WRONG)
        codes += (FAILED for one in suite.outcomes if one.state.is_bad)
    if len(codes) == 1 and not outcome.count(State.PASSED):
        return WRONG
    return max(codes, key=_RANK.index)


def _reporters(args: argparse.Namespace) -> list[Reporter]:
    """Return the reporters that the arguments and the environment ask for. Raises UsageError."""
    output = _Output()
    if args.json:
        made: list[Reporter] = [part("json")(output.write)]
    else:
        width = shutil.get_terminal_size((100, 24)).columns
        colored, is_tty = colored_for(sys.stdout, os.environ), sys.stdout.isatty()
        made = [TerminalReport(output.write, colored=colored, width=width, is_terminal=is_tty)]
    kinds: Mapping[str, Any] = part("reports") if args.report else {}
    for kind, file in args.report:
        if kind not in kinds:
            hint = did_you_mean(kind, kinds)
            step = f"Kinds: {', '.join(kinds)}."
            raise UsageError(
                f"unknown kind of report {quoted_name(kind)}{f', {hint}' if hint else '.'}",
                where="--report",
                next_step=step,
            )
        path = Path(os.path.expanduser(file))
        if why := write_problem(path):
            raise UsageError(f"cannot write the report: {why}.", where=clean_line(file, 400))
        made.append(load(kinds[kind])(path))
    for one in part("automatic"):
        reporter = load(one)(os.environ)
        made += [reporter] if reporter is not None else []
    return made


class _Output:
    """Standard output. On a terminal, each line appears at once, elsewhere those of a moment together."""

    def __init__(self) -> None:
        self._at_once = sys.stdout.isatty()
        self._flushed = 0.0

    def write(self, text: str) -> None:
        sys.stdout.write(text)
        now = time.monotonic()
        if not self._at_once and now - self._flushed > FLUSH_SECONDS:
            sys.stdout.flush()
            self._flushed = now


async def _asked_on_terminal(question: ConsentQuestion) -> QuestionAnswer:
    """Show what would run, and ask for consent."""
    cells = shutil.get_terminal_size().columns - 1
    lines = wrapped(clean("\n".join((*question.lines(), *question.outcomes))), cells, INDENT)
    answer = yes_or_no(await asked_line("\n".join((*lines, YES_OR_NO))) or "")
    if answer is None:
        return QuestionAnswer(Action.CANCEL)
    return QuestionAnswer(Action.ACCEPT if answer else Action.DECLINE)
