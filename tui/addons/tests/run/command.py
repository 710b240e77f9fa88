"""`mcptui test`: reads the files, asks for consent, runs the cases, and returns the exit code."""

import argparse
import os
import shutil
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from tui.addons.tests.reports import AUTOMATIC, REPORTS
from tui.addons.tests.reports.ci_log import protect_log
from tui.addons.tests.review.last_runs import last_runs_reporter
from tui.addons.tests.run.answers import CaseAnswers, ScriptedSampler
from tui.addons.tests.run.outcome import RunOutcome, State
from tui.addons.tests.run.output import INDENT, TerminalReport
from tui.addons.tests.run.plan import PlannedSuite, RunOptions, read_suites, with_servers
from tui.addons.tests.run.repeat import RepeatCommand
from tui.addons.tests.run.reporter import Reporter
from tui.addons.tests.run.runner import SuiteRunner, report_not_run
from tui.addons.tests.run.terminal import colored_for, wrapped
from tui.addons.tests.run.written_files import copy_recording, require_own_files
from tui.addons.tests.suite.case import Suite
from tui.addons.tests.suite.find import shown_path
from tui.commands import streams
from tui.commands.headless import Interrupt, config_words, headless, say_unsaved
from tui.commands.permission.terminal_approver import YES_OR_NO, asked_line, is_terminal, yes_or_no
from tui.commands.progress import Progress, progress
from tui.commands.recordings import recordings
from tui.core.addons import brought, load
from tui.core.errors import UsageError
from tui.core.permission.consent import ConsentQuestion
from tui.core.questions import Action, QuestionAnswer
from tui.core.servers import ServerSpec
from tui.core.text import clean, clean_line, quoted_name
from tui.core.units import and_more, plural
from tui.runtime.options import Options
from tui.runtime.runtime import Runtime
from tui.settings.new_server import unconfigured_server
from tui.settings.problems import hinted

if TYPE_CHECKING:
    from tui.addons.tests.contract.coverage import RunCoverage
    from tui.addons.tests.turns.recorded_turns import RecordedTurns

PASSED, FAILED, WRONG, NOT_STARTED = 0, 1, 2, 5
FLUSH_SECONDS = 0.2
_INSTEAD = {
    "schema": "suite.schema:print_schema",
    "init": "python.init:init",
    "to": "python.pytest_file:write",
    "review": "review.review:review",
    "lock": "contract.update:lock",
    "fuzz": "fuzz.command:fuzz",
    "load": "load.command:load",
}
"""What the options do instead of a run."""

_NEEDED = {
    "yes": ("init", "to", "lock", "fuzz"),
    "read_only": ("init",),
    "all": ("fuzz",),
    "seed": ("fuzz",),
    "keep": ("fuzz",),
    "duration": ("fuzz", "load"),
    "remote": ("load",),
}
"""The options that others have no effect without."""

_WRITTEN = {"read_only": "read-only", "duration": "for"}


def test(args: argparse.Namespace, interrupts: Callable[[], int] = int) -> int:
    """Run the command and return its exit code. `interrupts` returns how many ctrl+c came before."""
    protect_log(os.environ)
    _refuse_unused(args)
    for option, place in _INSTEAD.items():
        if getattr(args, option):
            return int(load(f"tui.addons.tests.{place}")(args))
    request = TestRun(args, read_suites(args.words), interrupts)
    request.require_cases()
    return request.run()


def _refuse_unused(args: argparse.Namespace) -> None:
    """Raise UsageError for an option or a file that would have no effect."""
    for name, needed in _NEEDED.items():
        if getattr(args, name) and not any(getattr(args, one) for one in needed):
            *others, last = (f"--{one}" for one in needed)
            options = f"{', '.join(others)} or {last}" if others else last
            raise UsageError(f"--{_WRITTEN.get(name, name)} requires {options}.")
    if args.schema and (args.words or args.live_command):
        raise UsageError("--schema takes no files and no command.")


def test_options(args: argparse.Namespace) -> Options:
    """Return the options of a runtime that runs cases: test files decide what is called, nothing is saved."""
    return replace(Options.from_args(args), command="test", save=False, accept_all=True)


def _recorded_models(args: argparse.Namespace) -> "RecordedTurns | None":
    """Return the replies of models in the recording to replay, if there is one. Raises StorageError."""
    if not args.replay_models:
        return None
    if vars(args).get("demo"):
        raise UsageError("--demo cannot be combined with --replay-models.")
    from tui.addons.tests.turns.recorded_endpoint import RECORD_AGAIN, read_turns

    turns = read_turns(recordings().find(args.replay_models))
    if not turns.models:
        no_demo = "The demo model is not recorded and needs no replay: run the cases with --demo."
        raise UsageError(
            f"{turns.why_none('')}.",
            where=clean_line(args.replay_models, 200),
            next_step=RECORD_AGAIN if turns.problem else no_demo,
        )
    return turns


@dataclass(slots=True)
class TestRun:
    """A run of `mcptui test` with its arguments. Servers come from the files, or from the command line."""

    __test__: ClassVar[bool] = False  # for pytest

    args: argparse.Namespace
    suites: list[PlannedSuite]
    interrupts: Callable[[], int] = int
    options: RunOptions = field(init=False)
    _live: ServerSpec | None = field(init=False, default=None)
    _secrets: Mapping[str, str] = field(init=False, default_factory=dict)
    outcome: RunOutcome = field(init=False, default_factory=RunOutcome)
    _problems: list[str] = field(init=False, default_factory=list)
    _is_off: bool = field(init=False, default=False)  # recording, by the settings

    def __post_init__(self) -> None:
        args = self.args
        if args.server and args.live_command:
            raise UsageError("--server cannot be combined with a command after --.")
        if args.live_command:
            self._live, self._secrets = unconfigured_server(args.live_command)
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
            repeat=RepeatCommand(tuple(args.live_command), args.server or "", config_words(args)),
            faults=tuple(vars(args).get("fault") or ()),
        )
        if self.options.faults:
            try:
                brought("service", "fault rules")(self.options.faults)
            except ValueError as error:
                raise UsageError(str(error), where="--fault") from error

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
            given = ["-k"] * bool(options.matching) + ["--tag"] * bool(options.tags)
            known = sorted({tag for _, tags in names for tag in tags})
            tags = (
                f"Tags: {', '.join(clean_line(tag, 60) for tag in known[:20])}."
                if known
                else "No case has tags."
            )
            raise UsageError(
                f"none of {plural(len(names), 'case')} matches {' and '.join(given)}.",
                next_step=tags if options.tags else "",
            )
        files = and_more([clean_line(str(plan.suite.path), 200) for plan in self.suites], 5)
        raise UsageError(
            f"{files} {'has' if len(self.suites) == 1 else 'have'} no cases.",
            next_step="Add [[call]], or use mcptui test --init.",
        )

    def _has_turns(self) -> bool:
        turns = (turn for one in self.suites for turn in one.suite.turns)
        return any(self.options.selects(turn.title, turn.tags) for turn in turns)

    def _say_unused(self) -> None:
        """Print which options for models have no effect."""
        given = [name for name in ("model", "demo", "replay_models") if vars(self.args).get(name)]
        if given and not self._has_turns():
            options = " and ".join(f"--{name.replace('_', '-')}" for name in given)
            verb = "has" if len(given) == 1 else "have"
            print(f"mcptui: {options} {verb} no effect: no turn case is selected.", file=sys.stderr)

    def run(self) -> int:
        """Run everything and return the exit code. Reports are written before servers stop."""
        args = self.args
        copy = Path(os.path.expanduser(args.record)) if args.record else None
        written = [("--report", file) for _, file in args.report]
        written += [("--record", args.record)] if args.record else []
        require_own_files(written, (plan.suite.path for plan in self.suites))
        reporters = _reporters(args)
        self._say_unused()
        answers = CaseAnswers(_asked_on_terminal if is_terminal() else None)

        async def work(runtime: Runtime, interrupt: Interrupt) -> int:
            if self.interrupts():
                return interrupt.exit_code
            runtime.sampler = ScriptedSampler()
            await runtime.ready(start=False, model=False, taps=False, session=False)
            if vars(args).get("config"):
                runtime.require_usable()
            if self._has_turns():
                from tui.addons.tests.turns.case_models import require_model

                await require_model(runtime, self.options.replay_models)
            runtime.redactor.add(self._secrets)
            planned = await with_servers(
                self.suites, runtime, name=args.server or "", live=self._live, can_ask=is_terminal()
            )
            reporters.append(last_runs_reporter(runtime))
            with progress(quiet=args.json) as doing:
                reporters.append(_Running(doing))
                runner = SuiteRunner(runtime, answers, self.options, reporters)
                interrupt.on_signal = runner.interrupt
                outcome = self.outcome = await runner.run(planned, at=time.time())
            if copy is not None:
                loaded = runtime.configuration.loaded
                self._is_off = loaded is not None and not loaded.settings.traffic.record
                outcome = replace(outcome, recording=copy)
            covered: RunCoverage | None = None
            if self.options.coverage:
                from tui.addons.tests.contract.coverage import coverage

                covered = coverage(outcome, runner.listings)
                outcome = replace(outcome, extra={**outcome.extra, "coverage": covered.as_json()})
            runner.reports.tell(lambda one: one.ended(outcome))
            if runner.reports.error is not None:
                raise runner.reports.error
            code = PASSED if covered is None else self._say_coverage(covered)
            sys.stdout.flush()
            self._problems += runner.reports.problems
            interrupted = interrupt.exit_code if outcome.interrupted else 0
            return interrupted or max(code, exit_code(outcome), key=_RANK.index)

        try:
            code = headless(test_options(args), work, questioner=answers, ended=say_unsaved)
            if code not in _RANK and not self.outcome.suites:
                self._problems += report_not_run(self.suites, self.options, reporters)
        finally:  # also if the reader of the output is gone
            if copy is not None and self.outcome.suites:
                problem = copy_recording(self.outcome.recording, copy, is_off=self._is_off)
                self._problems += [problem] if problem else []
        if code == WRONG and not self._problems and not any(one.problem for one in self.outcome.suites):
            self._problems.append("nothing was run: all cases are skipped.")
        for problem in self._problems:
            print(f"mcptui: {clean(problem)}", file=sys.stderr)
        return WRONG if self._problems and code in _RANK else code

    def _say_coverage(self, coverage: "RunCoverage") -> int:
        """Print the coverage that the arguments ask for, and return the exit code."""
        least = self.args.min_coverage
        is_low = least is not None and coverage.percent < least
        stream = sys.stderr if self.args.json else sys.stdout
        for line in coverage.lines() if self.args.coverage else coverage.missing_lines() if is_low else ():
            print(line, file=stream)
        if is_low:
            print(f"coverage is {coverage.percent:.0f} %, less than --min-coverage {least:g}", file=stream)
        return FAILED if is_low else PASSED


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
        from tui.addons.tests.reports.json_lines import JsonLines

        made: list[Reporter] = [JsonLines(output.write)]
    else:
        width = shutil.get_terminal_size((100, 24)).columns
        colored, is_tty = colored_for(sys.stdout, os.environ), streams.width() > 0
        made = [TerminalReport(output.write, colored=colored, width=width, is_terminal=is_tty)]
    for kind, file in args.report:
        if kind not in REPORTS:
            step = f"Kinds: {', '.join(REPORTS)}."
            raise UsageError(
                hinted(f"unknown kind of report {quoted_name(kind)}", kind, REPORTS),
                where="--report",
                next_step=step,
            )
        made.append(load(REPORTS[kind])(Path(os.path.expanduser(file))))
    for one in AUTOMATIC:
        reporter = load(one)(os.environ)
        made += [reporter] if reporter is not None else []
    return made


class _Running(Reporter):
    """Shows which file runs, and for how long."""

    def __init__(self, doing: Progress) -> None:
        self._doing = doing

    def suite_began(self, suite: Suite) -> None:
        self._doing.step(f"running {shown_path(suite.path)}")


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
