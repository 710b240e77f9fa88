"""`mcptui doctor`: examines servers and prints the checklist, progress on stderr, the report at its end."""

import argparse
import asyncio
import json
import os
import shlex
import sys
import time
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tui.addons.doctor.examination import LAST, LOCAL, Examination, disabled, unusable
from tui.addons.doctor.report import checklist_report
from tui.addons.doctor.steps import Checklist, Step, ending, heading, short_lines, step_lines
from tui.addons.doctor.wire import Observed
from tui.commands.call.arguments import unconfigured
from tui.commands.headless import Interrupt, headless, write_problem
from tui.commands.run_output import print_error
from tui.core.errors import ConfigError, StorageError, UsageError, reason_of
from tui.core.files import atomic_write
from tui.core.programs import is_command
from tui.core.questions import Questioner
from tui.core.secrets.redact import Redactor
from tui.core.text import clean_line, quoted_name
from tui.core.traffic import Captured
from tui.runtime.crash_report import save_report
from tui.runtime.options import Options
from tui.runtime.runtime import Runtime
from tui.settings.new_server import is_address
from tui.settings.problems import did_you_mean

OK, FAILED = 0, 1
REFRESH_SECONDS = 0.2

Work = Callable[[Runtime, Interrupt], Coroutine[Any, Any, int]]
Also = Callable[[Checklist], Iterable[Step]]


def doctor(args: argparse.Namespace) -> int:
    """Run the command and return its exit code."""
    if len(args.words) > (0 if args.live_command else 1):
        raise UsageError("one server at most.", next_step="Usage: mcptui doctor [SERVER|URL], or -- COMMAND.")
    if args.report and (why := write_problem(Path(os.path.expanduser(args.report)))):
        raise UsageError(f"cannot write the report: {why}.", where=clean_line(args.report, 400))
    if args.host:
        from tui.addons.doctor.other_host import examine_host

        return examine_host(args)
    named = args.words[0] if args.words else None
    options = doctor_options(Options.from_args(args))
    if args.live_command and is_not_found(args.live_command[0]):
        return _without_command(args)
    given = unconfigured(args, named) if named is not None or args.live_command else None
    if given is not None:
        options = options.with_server(*given)
    found: list[Checklist] = []
    redactors: list[Redactor] = []

    async def work(runtime: Runtime, _: Interrupt) -> int:
        redactors.append(runtime.redactor)
        single = named is not None or given is not None
        several = Examinations(runtime, args, short=not single)
        found.extend(await several.run(named if given is None else None))
        return FAILED if any(one.failure for one in found) else OK

    code = run(options, work)
    if code in (OK, FAILED):
        end(args, found, redactors[0], single=bool(args.words or args.live_command))
    return code


def _without_command(args: argparse.Namespace) -> int:
    """Print that the command of the command line does not exist; return the exit code."""
    command = args.live_command[0]
    name, launch = clean_line(os.path.basename(command), 64), clean_line(shlex.join(args.live_command), 200)
    fix = "check the spelling, install it, or use its path"
    step = Step.failed("command", f"{clean_line(command, 80)} not found on PATH", fix)
    found = Checklist(name, launch, [step], (*LOCAL[1:], *LAST))
    if not args.json:
        print("\n".join((heading(found), *step_lines(step), *ending(found))))
    end(args, [found], Redactor(), single=True)
    return FAILED


def is_not_found(command: str) -> bool:
    """Return whether a typed command is neither on PATH nor a file, nor a URL."""
    return not (is_address(command) or is_command(command))


def run(options: Options, work: Work, questioner: Questioner | None = None) -> int:
    """Run with a runtime. At a signal, the servers are killed, so that nothing runs on."""

    async def at_once(runtime: Runtime, interrupt: Interrupt) -> int:
        try:
            return await work(runtime, interrupt)
        except asyncio.CancelledError:
            closing = asyncio.ensure_future(runtime.host.shutdown())
            await asyncio.sleep(0)
            await runtime.host.shutdown()  # the second one kills
            await closing
            raise

    return headless(options, at_once, questioner=questioner)


def doctor_options(options: Options) -> Options:
    """Return the options of an examination: definitions that changed are no fault, and nothing is kept."""
    return replace(options, command="doctor", save=False, accept_all=True, project=False)


class Examinations:
    """Examines one server of a runtime, or all, and prints what is found as it is.

    `short` prints a line for each server. `also` are more steps for each server that has been examined.
    """

    def __init__(
        self, runtime: Runtime, args: argparse.Namespace, *, short: bool, also: Also = lambda one: ()
    ) -> None:
        self._runtime, self._short, self._also = runtime, short, also
        self._quiet, self._seconds = bool(args.json), args.seconds
        self._progress = Progress(quiet=self._quiet or not sys.stderr.isatty())
        self._seen: dict[str, Observed] = {}
        self._width = 0

    async def run(self, named: str | None) -> Sequence[Checklist]:
        """Examine a server, or all. Raises McptuiError."""
        runtime = self._runtime
        await runtime.ready(start=False, model=False, lint=False, taps=False, session=False)
        host = runtime.host
        if host.sign_ins is not None:
            host.sign_ins.questioner = Questioner()  # never signs in
        names = [status.name for status in host.statuses()]
        chosen = [*names, *runtime.configuration.left_out]
        if named is not None:
            chosen = [_known(runtime, named, chosen)]
        elif not chosen:
            runtime.require_usable()
        for name in set(chosen) & set(names) if self._seconds else ():
            host.reconfigure(name, start_seconds=self._seconds)
        self._seen = {name: Observed(name) for name in names}
        self._width = max((len(clean_line(name, 64)) for name in chosen), default=0)
        runtime.traffic.listener = self._listen
        ticking = asyncio.create_task(self._progress.run())
        try:
            if self._short:
                return await asyncio.gather(*map(self._one, chosen))
            return [await self._one(name) for name in chosen]
        finally:
            ticking.cancel()
            self._progress.clear()

    def _listen(self, captured: Captured) -> None:
        if (wire := self._seen.get(captured.source)) is not None:
            wire.take(captured)

    async def _one(self, name: str) -> Checklist:
        if (wire := self._seen.get(name)) is not None:
            examination = Examination(self._runtime, name, wire, lambda told: self._tell(name, told))
            self._head(examination.found)
            found = await examination.run()
        else:
            left_out = self._runtime.configuration.left_out.get(name)
            found = disabled(name) if left_out is None else unusable(name, left_out)
            self._head(found)
            for step in found.steps:
                self._tell(name, step)
        for step in self._also(found):
            found.steps.append(step)
            self._tell(name, step)
        self._progress.end(name)
        if not self._quiet:
            print("\n".join(short_lines(found, self._width) if self._short else ending(found)), flush=True)
        return found

    def _head(self, found: Checklist) -> None:
        if not (self._short or self._quiet):
            print(heading(found), flush=True)

    def _tell(self, name: str, told: Step | str) -> None:
        if isinstance(told, str):
            self._progress.begin(name, told)
        elif not (self._short or self._quiet):
            self._progress.end(name)
            print("\n".join(step_lines(told)), flush=True)


def _known(runtime: Runtime, named: str, chosen: Sequence[str]) -> str:
    if runtime.is_unconfigured:
        return chosen[0]
    if named in chosen or runtime.is_disabled(named):
        return named
    runtime.require_usable()
    known = ", ".join(clean_line(name, 60) for name in chosen) or "none"
    hint = did_you_mean(named, chosen)
    raise UsageError(
        f"server {quoted_name(named, 80)} not found{f', {hint}' if hint else '.'}",
        next_step=f"Configured servers: {known}. A URL starts with https://, a command follows --.",
    )


class Progress:
    """Shows on one line of stderr, if that is a terminal, which steps run, and for how long."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._running: dict[str, tuple[str, float]] = {}

    def begin(self, server: str, step: str) -> None:
        self._running[server] = step, time.monotonic()

    def end(self, server: str) -> None:
        self._running.pop(server, None)
        self.clear()

    def clear(self) -> None:
        if not self._quiet:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    async def run(self) -> None:
        """Show how long the running steps take, until cancelled."""
        while not self._quiet:
            await asyncio.sleep(REFRESH_SECONDS)
            now = time.monotonic()
            several = len(self._running) > 1
            told = [
                f"{f'{clean_line(server, 20)} ' if several else ''}{name} {now - began:.0f} s"
                for server, (name, began) in self._running.items()
            ]
            if told:
                sys.stderr.write(f"\r\x1b[K  ◌ {', '.join(told)[:100]}")
                sys.stderr.flush()


def end(args: argparse.Namespace, found: Sequence[Checklist], redactor: Redactor, *, single: bool) -> None:
    """Print the JSON, and write the report if something failed or it was asked for."""
    path = ""
    if found and (args.report or any(one.failure for one in found)):
        shown = "mcptui doctor" + (f" --host {shlex.quote(args.host)}" if args.host else "")
        text = checklist_report(found, during=shown, env=os.environ, redactor=redactor)
        try:
            if args.report:
                path = os.path.expanduser(args.report)
                atomic_write(Path(path), [text], errors="replace", wait=False)
            else:
                path = str(save_report(text, "doctor"))
        except OSError as error:
            why = StorageError(f"the report was not written: {reason_of(error)}.")
            print_error(why)
    if args.json:
        objects = [one.as_object() | {"report": path or None} for one in found]
        print(json.dumps(objects[0] if single and objects else objects, ensure_ascii=False, indent=2))
    elif path:
        print(f"Report for an issue, without secrets: {clean_line(path, 400)}")
    if not found and not args.json:
        raise ConfigError("no servers are configured.", next_step="Add one with `mcptui add`, or name a URL.")
