"""`mcptui test --init`: a first test file for a server, with a case for each read-only tool.

Arguments come from the examples and defaults of the schemas. Each request is sent several times, so that a
case passes every time. What gives no case becomes a comment with the reason.
"""

import argparse
import os
import platform
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from tui.addons.tests.keep.draft import name_for
from tui.addons.tests.keep.home import file_name, folder_for, named, written
from tui.addons.tests.python.examples import described_examples, example_arguments
from tui.addons.tests.python.trial import MOST_MS, Trial, tried
from tui.addons.tests.run.answers import CaseAnswers
from tui.addons.tests.run.case_run import CaseRunner
from tui.addons.tests.run.instance import ServerInstance
from tui.addons.tests.run.launch import record_consent
from tui.addons.tests.run.one_server import OneServer, with_one_server
from tui.addons.tests.run.outcome import State
from tui.addons.tests.suite.case import ENDING, Case, Expectation, Request, RequestKind, SuiteServer
from tui.addons.tests.suite.case_text import case_toml
from tui.addons.tests.suite.change import with_server
from tui.addons.tests.suite.find import shown_path
from tui.addons.tests.suite.read import suite_of
from tui.commands.headless import Interrupt, write_problem
from tui.commands.permission.terminal_approver import confirm
from tui.core.errors import McptuiError, UsageError, reason_of
from tui.core.files import atomic_write
from tui.core.forms.schema import SchemaReader
from tui.core.forms.spec import FieldKind, FieldSpec
from tui.core.secrets.secret_names import names_a_secret_argument
from tui.core.servers import ServerSpec
from tui.core.text import clean, clean_line, compact
from tui.core.tools import Tool
from tui.core.units import plural
from tui.host.process.process import INHERITED
from tui.runtime.copies.origin import Origin
from tui.runtime.runtime import Runtime

MOST_COMMENTED = 100
HEAD = (
    "Not cases yet. Remove the #, write the arguments, and run mcptui test --review,",
    "which calls them and asks whether to accept their results.",
)


@dataclass(frozen=True, slots=True)
class Omitted:
    """A request that gave no case, and why."""

    request: Request
    why: str


def first_suite(server: SuiteServer, cases: Sequence[Case], omitted: Sequence[Omitted]) -> str:
    """Return the text of the file, of cases that can be written."""
    text = "\n".join([with_server("", server), *map(case_toml, cases)])
    comment = "".join(f"# {line}".rstrip() + "\n" for line in _comments(omitted))
    return f"{text.rstrip()}\n" + (f"\n{comment}" if comment else "")


def _comments(omitted: Sequence[Omitted]) -> Iterator[str]:
    if omitted:
        yield from HEAD
    for one in omitted[:MOST_COMMENTED]:
        yield ""
        yield f"{clean_line(one.request.name, 200)}: {clean_line(one.why, 400)}"
        case = Case(clean_line(one.request.name, 80), 0, one.request, Expectation())
        yield from (clean(line) for line in case_toml(case).strip().splitlines())
    if (more := len(omitted) - MOST_COMMENTED) > 0:
        yield ""
        yield f"and {plural(more, 'more request')}"


def sketched(name: str, schema: Mapping[str, Any]) -> Request:
    """Return a call of a tool with its required arguments still to be written."""
    reader = SchemaReader(schema)
    required = [one for one, needed in reader.properties(reader.spec(schema)).items() if needed]
    return Request(RequestKind.TOOL, name, dict.fromkeys(required, "…"))


DONE, NOT_STARTED = 0, 5
MOST_TOOLS, MOST_OTHERS = 200, 20
"""Maximum tools, and resources and prompts of each kind, that are tried."""

ROUNDS = 3
"""Maximum runs of the finished cases, after which those that failed are comments."""

NOT_READ_ONLY = "the server does not mark it as read-only"


def init(args: argparse.Namespace) -> int:
    """Run the command and return its exit code."""
    if len(args.words) > 1:
        raise UsageError(f"--init takes one file, not {len(args.words)}.")

    async def work(server: OneServer, answers: CaseAnswers, _: Interrupt) -> int:
        return await _Init(args, server, answers).run()

    return with_one_server(args, "--init", work)


def places_of(spec: ServerSpec) -> list[str]:
    """Return texts of this computer that a test file should not have, if the command does not have them."""
    inherited = [value for name, value in os.environ.items() if name in INHERITED or name.startswith("LC_")]
    known = [os.getcwd(), os.path.expanduser("~"), platform.node(), *inherited]
    known.append(os.path.basename(os.environ.get("SHELL", "")))
    words = " ".join((spec.command, *spec.args))
    return [one for one in known if one and one != "/" and one not in words]


@dataclass(slots=True)
class _Plan:
    """What is tried, and what is not."""

    trials: list[Trial] = field(default_factory=list)
    omitted: list[Omitted] = field(default_factory=list)
    names: set[str] = field(default_factory=set)

    @property
    def left(self) -> list[Omitted]:
        """What became no case."""
        failed = [Omitted(trial.request, trial.problem) for trial in self.trials if trial.problem]
        return [*failed, *self.omitted]

    def omit(self, kind: RequestKind, name: str, why: str) -> None:
        self.omitted.append(Omitted(Request(kind, name), why))

    def add(self, request: Request) -> None:
        name = name_for(request, self.names)
        self.names.add(name)
        self.trials.append(Trial(name, request))


@dataclass(slots=True)
class _Init:
    _args: argparse.Namespace
    _server: OneServer
    _answers: CaseAnswers

    @property
    def _runtime(self) -> Runtime:
        return self._server.runtime

    @property
    def _spec(self) -> ServerSpec:
        return self._server.spec

    async def run(self) -> int:
        runtime = self._runtime
        origin = Origin.of_spec(self._spec, os.getcwd(), configured=not runtime.is_unconfigured)
        path = self._path(origin)
        redact = runtime.redactor.redact
        server = named(origin) if origin.configured else written(origin, path.parent, redact)
        if (instance := await self._server.started()) is None:
            return NOT_STARTED
        plan = await self._planned(instance)
        if not self._confirmed(plan):
            print("Nothing was called, and nothing was written.")
            return DONE
        await tried(plan.trials, instance, self._server.process(), self._answers)
        places = places_of(self._spec)
        cases = [case for trial in plan.trials if (case := trial.case(redact, places)) is not None]
        text, cases = await self._verified(path, server.server, cases, plan)
        self._write(path, text)
        _tell(path, cases, plan)
        return DONE

    # ---- the file to write -----------------------------------------------------------------------------

    def _path(self, origin: Origin) -> Path:
        if self._args.words:
            path = Path(os.path.abspath(os.path.expanduser(self._args.words[0])))
            if path.is_dir():
                path = path / file_name(origin.name)
            elif not path.name.endswith(ENDING):
                path = path.with_name(f"{path.name.removesuffix('.toml')}{ENDING}")
        else:
            path = folder_for(origin, Path.cwd()) / file_name(origin.name)
        if os.path.lexists(path):
            step = "Name another file: mcptui test --init FILE"
            raise UsageError(f"{shown_path(path)} exists already.", next_step=step)
        if why := write_problem(path):
            raise UsageError(f"cannot write it: {why}.", where=shown_path(path))
        return path

    # ---- what is tried -------------------------------------------------------------------------------

    async def _planned(self, instance: ServerInstance) -> _Plan:
        plan = _Plan()
        workbench, name = self._runtime.workbench, instance.name
        tools = workbench.tools(name)
        if tools:
            plan.add(Request(RequestKind.LIST, "tools"))
        for tool in tools[:MOST_TOOLS]:
            self._plan_tool(tool, plan)
        resources, _ = await workbench.resources(name)
        plain = [one.uri for one in resources if not one.template]
        for uri in plain[:MOST_OTHERS]:
            plan.add(Request(RequestKind.READ, uri))
        for template in [one for one in resources if one.template]:
            plan.omit(RequestKind.READ, template.uri, "its URI has no example")
        prompts, _ = await workbench.prompts(name)
        not_tried = [
            *((RequestKind.TOOL, tool.name, MOST_TOOLS) for tool in tools[MOST_TOOLS:]),
            *((RequestKind.READ, uri, MOST_OTHERS) for uri in plain[MOST_OTHERS:]),
            *((RequestKind.PROMPT, prompt.name, MOST_OTHERS) for prompt in prompts[MOST_OTHERS:]),
        ]
        for kind, missed, most in not_tried:
            plan.omit(kind, missed, f"only the first {most} are tried")
        for prompt in prompts[:MOST_OTHERS]:
            given: dict[str, Any] = {}
            for argument in prompt.arguments:
                found = described_examples(FieldSpec(FieldKind.TEXT), argument.description)
                if argument.required:
                    given[argument.name] = found[0] if found else "…"
            request = Request(RequestKind.PROMPT, prompt.name, given)
            if missing := next((one for one, value in given.items() if value == "…"), ""):
                plan.omitted.append(Omitted(request, f"{clean_line(missing, 80)} has no example"))
            else:
                plan.add(request)
        return plan

    def _plan_tool(self, tool: Tool, plan: _Plan) -> None:
        patterns: Sequence[str] = self._args.read_only
        arguments, missing = example_arguments(tool.schema, tool.description)
        request = Request(RequestKind.TOOL, tool.name, arguments)
        request = sketched(tool.name, tool.schema) if missing else request
        if not tool.read_only and not any(fnmatchcase(tool.name, one) for one in patterns):
            plan.omitted.append(Omitted(request, NOT_READ_ONLY))
        elif missing:
            plan.omitted.append(Omitted(request, f"{missing} has no example and no default in its schema"))
        elif any(names_a_secret_argument(name) for name in arguments):
            plan.omitted.append(Omitted(sketched(tool.name, tool.schema), "it takes a secret"))
        else:
            plan.add(request)

    def _confirmed(self, plan: _Plan) -> bool:
        if not plan.trials:
            return True
        server = clean_line(self._spec.name, 80)
        print(f"{server} is asked for this, each several times, in several processes:")
        for trial in plan.trials:
            request = trial.request
            given = compact(dict(request.arguments), 200) if request.arguments else ""
            verb = "call" if request.kind is RequestKind.TOOL else str(request.kind)
            print(f"  {verb:6} {clean_line(request.name, 120)} {given}".rstrip())
        return confirm("Go on?", yes=self._args.yes)

    # ---- the file ------------------------------------------------------------------------------------

    async def _verified(
        self, path: Path, server: SuiteServer, cases: list[Case], plan: _Plan
    ) -> tuple[str, list[Case]]:
        """Return the text of the file with the cases that pass when they are run, each in a new process."""
        trials: Mapping[str, Trial] = {trial.name: trial for trial in plan.trials}
        for _ in range(ROUNDS):
            text = first_suite(server, cases, plan.left)
            suite = suite_of(text, path)
            hasty = replace(suite.server or server, timeout_ms=MOST_MS)
            runner = CaseRunner(replace(suite, server=hasty), self._answers)
            instance = self._server.process()
            failed = dict[str, str]()
            for case in suite.cases:
                outcome = await runner.run(case, instance)
                if outcome.state is not State.PASSED:
                    failed[case.name] = f"it did not pass when it was run again: {outcome.problem}"
            await instance.close()
            if not failed:
                return text, cases
            for name, why in failed.items():
                trials[name].problem = why
            cases = [case for case in cases if case.name not in failed]
        return first_suite(server, [], plan.left), []

    def _write(self, path: Path, text: str) -> None:
        try:
            with open(path, "x", encoding="utf-8"):
                pass
            atomic_write(path, [text], mode=0o644)
        except OSError as error:
            raise UsageError(f"cannot write it: {reason_of(error)}.", where=shown_path(path)) from None
        try:
            problem = record_consent(path, self._spec) if self._runtime.is_unconfigured else ""
        except (McptuiError, OSError) as error:
            problem = str(error)
        if problem:
            said = f"your consent to this file was not saved: {clean_line(problem, 300)}"
            print(f"mcptui: {said}", file=sys.stderr)


def _tell(path: Path, cases: Sequence[Case], plan: _Plan) -> None:
    for omitted in plan.left:
        if omitted.why != NOT_READ_ONLY:
            print(f"  no case: {clean_line(omitted.request.name, 80)}: {clean_line(omitted.why, 200)}")
    if marked := sum(omitted.why == NOT_READ_ONLY for omitted in plan.omitted):
        print(f"  no case: {plural(marked, 'tool')} not marked as read-only (--read-only NAME tries one)")
    for case in cases:
        if case.expected.findings:
            codes = clean_line(", ".join(case.expected.findings), 200)
            print(f"  {clean_line(case.name, 80)}: accepted lint findings: {codes}")
    step = (
        f"Run it with: mcptui test {shown_path(path)}"
        if cases
        else "Write arguments there, then run --review."
    )
    print(f"Wrote {shown_path(path)} with {plural(len(cases), 'case')}. {step}")
