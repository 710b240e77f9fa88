"""`mcptui test --fuzz`: finds arguments that break the tools of a server, and keeps them as cases."""

import argparse
import asyncio
import hashlib
import os
import random
import shutil
import sys
import time
from collections.abc import Awaitable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from importlib.util import find_spec
from pathlib import Path

from tui.addons.tests.fuzz.edges import argument_groups, plain_schema, simplest
from tui.addons.tests.fuzz.processes import Generator, Processes
from tui.addons.tests.fuzz.report import WORDS, JsonReport, TextReport
from tui.addons.tests.fuzz.tool_fuzz import Finding, Limits, ToolFuzz
from tui.addons.tests.keep.draft import name_for
from tui.addons.tests.keep.keeping import after_keeping
from tui.addons.tests.keep.target import Target, target_for, write
from tui.addons.tests.python.examples import example_arguments
from tui.addons.tests.run.answers import CaseAnswers
from tui.addons.tests.run.one_server import OneServer, file_and_words, with_one_server
from tui.addons.tests.run.terminal import colored_for
from tui.addons.tests.suite.case import Case, Expectation, Request, RequestKind
from tui.addons.tests.suite.find import shown_path
from tui.commands.headless import Interrupt, starting
from tui.commands.permission.terminal_approver import confirm, is_terminal
from tui.commands.progress import progress
from tui.core.errors import McptuiError, UsageError
from tui.core.files import atomic_write, make_folder
from tui.core.text import clean, clean_line
from tui.core.tools import Tool
from tui.core.units import and_more, plural
from tui.runtime.copies.origin import Origin
from tui.settings.locations import state_dir

OK, FOUND, WRONG, NOT_STARTED = 0, 1, 2, 5
USUAL_MS = 60_000.0
MOST_INLINE = 500
"""Characters of arguments in a command. Longer ones are written to a file, which it names."""

LEAST_SHARE = 5.0
"""Seconds of each tool, as long as the run has them. Most tools need less."""

TAG = "fuzz"


def fuzz(args: argparse.Namespace) -> int:
    """Run the command and return its exit code."""
    if find_spec("hypothesis") is None:
        raise UsageError(
            "--fuzz needs Hypothesis, which is not installed.",
            next_step="Install mcptui with its extra: pip install 'mcptui-host[fuzz]'",
        )
    file, names = file_and_words(args.words)

    async def work(server: OneServer, answers: CaseAnswers, interrupt: Interrupt) -> int:
        run = _Run(args, server, answers, names, file)
        interrupt.on_signal = run.stop
        code = await run.run()
        return interrupt.exit_code if run.interrupted else code

    return with_one_server(args, "--fuzz", work, file=file)


@dataclass(slots=True)
class _Run:
    _args: argparse.Namespace
    _server: OneServer
    _answers: CaseAnswers
    _names: Sequence[str]
    _file: str
    interrupted: bool = False
    _work: asyncio.Task[None] | None = None
    _limits: Limits = field(init=False)
    _findings: list[Finding] = field(default_factory=list)
    _calls: int = 0

    def stop(self) -> None:
        """End the run, with a report about what was found."""
        self.interrupted = True
        if self._work is not None:
            self._work.cancel()

    async def run(self) -> int:
        args, server = self._args, self._server
        began = time.monotonic()
        self._limits = Limits(
            args.seconds, args.max_answer * 1_000_000, began + (args.duration or USUAL_MS) / 1000
        )
        seed = random.SystemRandom().randrange(1_000_000) if args.seed is None else args.seed
        if server.spec.url is None:
            server.env = {"PYTHONUNBUFFERED": "1"}  # what a server prints comes before its response
        server.repeat = replace(server.repeat, file_of=_arguments_file)
        processes = Processes(server)
        generator = Generator()
        generator.start()
        try:
            with starting(clean_line(server.spec.name, 80)):
                instance = await processes.running()
            if instance.problem:
                name = clean_line(server.spec.name, 80)
                print(f"mcptui: {name}: {clean(instance.problem)}", file=sys.stderr)
                return NOT_STARTED
            tools = self._chosen(processes.workbench.tools(instance.name))
            if not tools:
                print("Nothing was called.")
                return OK
            report = self._report()
            self._work = asyncio.create_task(self._all(tools, processes, generator, seed, report))
            with progress("calling the tools", quiet=args.json):
                await asyncio.wait([self._work])
            if not self.interrupted:
                await self._work
        finally:
            await generator.close()
            await processes.close()
        kept = self._kept()
        summary = {
            "seed": seed,
            "tools": len(tools),
            "calls": self._calls,
            "findings": len(self._findings),
            "seconds": round(time.monotonic() - began, 3),
            "interrupted": self.interrupted,
        }
        report.end({**summary, "kept": kept})
        return FOUND if self._findings else OK

    def _report(self) -> TextReport | JsonReport:
        if self._args.json:
            return JsonReport(sys.stdout.write)
        width = shutil.get_terminal_size((100, 24)).columns - 1 if sys.stdout.isatty() else None
        return TextReport(sys.stdout.write, colored=colored_for(sys.stdout, os.environ), width=width)

    # ---- which tools ---------------------------------------------------------------------------------

    def _chosen(self, tools: Sequence[Tool]) -> list[Tool]:
        """Return the tools to call, none if the user says no. Raises UsageError."""
        for name in self._names:
            if not any(fnmatchcase(tool.name, name) for tool in tools):
                known = and_more([clean_line(tool.name, 60) for tool in tools], 20) or "none"
                raise UsageError(f"no tool matches {clean_line(name, 80)}.", next_step=f"Tools: {known}.")
        wanted = [
            one
            for one in tools
            if not self._names or any(fnmatchcase(one.name, name) for name in self._names)
        ]
        reading = [tool for tool in wanted if tool.read_only]
        others = [tool for tool in wanted if not tool.read_only]
        listed = and_more([clean_line(tool.name, 60) for tool in others], 30)
        if others and self._args.all:
            question = f"Not marked as read-only: {listed}.\nCall them with generated arguments?"
            is_agreed = confirm(question, yes=self._args.yes, otherwise="not called")
            return wanted if is_agreed else reading
        if not reading:
            raise UsageError(
                f"no tool is marked as read-only: {listed}." if others else "the server has no tools.",
                next_step="Use --all to call them, which may change things." if others else "",
            )
        if others:
            print(f"· not called, because not marked as read-only: {listed} (--all)", file=sys.stderr)
        return reading

    async def _all(
        self,
        tools: Sequence[Tool],
        processes: Processes,
        generator: Generator,
        seed: int,
        report: TextReport | JsonReport,
    ) -> None:
        for number, tool in enumerate(tools):
            made = generator.arguments(plain_schema(tool.schema), self._args.runs, seed)
            await self._fuzz(tool, processes, asyncio.create_task(made), report, len(tools) - number)

    # ---- one tool ------------------------------------------------------------------------------------

    async def _fuzz(
        self,
        tool: Tool,
        processes: Processes,
        generated: Awaitable[Sequence[dict[str, object]]],
        report: TextReport | JsonReport,
        left: int,
    ) -> None:
        began = time.monotonic()
        share = max(LEAST_SHARE, (self._limits.ends - began) / left)
        limits = replace(self._limits, ends=min(self._limits.ends, began + share))
        base = await self._base(tool, processes)
        one = ToolFuzz(tool, processes, self._answers, limits, base)
        (await processes.running()).record(tool.name, base)
        try:
            await one.run(argument_groups(plain_schema(tool.schema), base))
            await one.run([arguments] for arguments in await generated)
            await one.confirm()
        except asyncio.CancelledError:
            one.unfinished = "interrupted"
            self._tell(one, report, began)
            raise
        self._tell(one, report, began)

    def _tell(self, one: ToolFuzz, report: TextReport | JsonReport, began: float) -> None:
        for finding in one.findings:
            report.finding(finding, self._command(finding))
        report.tool(one, time.monotonic() - began)
        sys.stdout.flush()
        self._findings += one.findings
        self._calls += one.calls

    async def _base(self, tool: Tool, processes: Processes) -> dict[str, object]:
        """Return valid arguments: those of a kept call, of examples, or the simplest ones."""
        kept = [case.request.arguments for case in self._server.suite.cases if case.request.name == tool.name]
        example, missing = example_arguments(tool.schema, tool.description)
        plain: dict[str, object] = simplest(plain_schema(tool.schema))
        # An example of a number may be its smallest possible value.
        numbers = {name: one for name, one in plain.items() if isinstance(one, int | float)}
        for found in (*kept, *(() if missing else ({**example, **numbers},))):
            if not await processes.workbench.check(tool, found):
                return dict(found)
        return plain

    def _case(self, finding: Finding) -> Case:
        """Return a finding as a case: invalid arguments must give an error, others a result in time."""
        expected = (
            Expectation(error=True) if finding.problem else Expectation(within_ms=self._limits.seconds * 1e3)
        )
        return Case("", 0, Request(RequestKind.TOOL, finding.tool, finding.arguments), expected, tags=(TAG,))

    def _command(self, finding: Finding) -> str:
        server = self._server
        return server.repeat.of(
            server.suite, server.spec, self._case(finding), server.runtime.redactor.redact
        )

    # ---- keeping -------------------------------------------------------------------------------------

    def _kept(self) -> str | None:
        """Keep the findings as cases, if the user wants that; return the path of the file, or None."""
        can_ask = is_terminal() and not self._args.json and not self.interrupted
        if not self._findings or not (self._args.keep or can_ask):
            return None
        server = self._server
        origin = Origin.of_spec(server.spec, os.getcwd(), configured=bool(server.configured))
        try:
            target = target_for(self._file, origin, Path.cwd(), server.runtime.redactor.redact)
            shown = shown_path(target.path)
            question = f"Keep {plural(len(self._findings), 'finding')} in {shown}?"
            if not confirm(question, yes=self._args.keep):
                return None
            cases = [*self._cases(target)]
            write(target, cases)
            said = after_keeping(target, origin, shown, is_own=True) if cases else f"Already kept in {shown}."
        except McptuiError as error:
            print(f"mcptui: not kept: {clean(str(error))}", file=sys.stderr)
            return None
        print(clean(said), file=sys.stderr)
        return str(target.path)

    def _cases(self, target: Target) -> Iterator[Case]:
        """Yield the cases that the file does not have yet, with free names."""
        there = target.suite.cases if target.suite is not None else ()
        requests, names = [one.request for one in there], {*target.names}
        for finding in self._findings:
            case = self._case(finding)
            if case.request not in requests:
                name = name_for(
                    Request(RequestKind.TOOL, f"{WORDS[finding.found.fault]}: {finding.tool}"), names
                )
                names.add(name)
                requests.append(case.request)
                yield replace(case, name=name)


def _arguments_file(text: str) -> str:
    """Return the text for a command: itself, or a file of the state folder with it if it is long."""
    if len(text) <= MOST_INLINE:
        return text
    folder = state_dir() / TAG
    path = folder / f"{hashlib.sha256(text.encode()).hexdigest()[:12]}.json"
    make_folder(folder)
    atomic_write(path, [text])
    return f"@{path}"
