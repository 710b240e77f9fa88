"""How `mcptui doctor` runs and prints: steps, progress on stderr, JSON, and the report at the end."""

import argparse
import asyncio
import json
import os
import shlex
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

from tui.addons.doctor.examinations import Examinations, kill_servers
from tui.addons.doctor.report import checklist_report
from tui.addons.doctor.steps import Checklist, Step, ending, heading, short_columns, short_lines, step_lines
from tui.commands.headless import Interrupt, headless
from tui.commands.progress import Progress, progress
from tui.commands.run_output import print_error
from tui.commands.streams import on_terminal, width
from tui.core.errors import ConfigError, StorageError, reason_of
from tui.core.files import atomic_write
from tui.core.questions import Questioner
from tui.core.secrets.redact import Redactor
from tui.core.text import cells_of, clean_line
from tui.runtime.crash_report import save_report
from tui.runtime.options import Options
from tui.runtime.runtime import Runtime

OK, FAILED = 0, 1

Work = Callable[[Runtime, Interrupt], Coroutine[Any, Any, int]]


def run(options: Options, work: Work, questioner: Questioner | None = None) -> int:
    """Run with a runtime. At a signal, the servers are killed, so that nothing runs on."""

    async def at_once(runtime: Runtime, interrupt: Interrupt) -> int:
        try:
            return await work(runtime, interrupt)
        except asyncio.CancelledError:
            await kill_servers(runtime)
            raise

    return headless(options, at_once, questioner=questioner)


class Printer:
    """Prints each step as it ends, or if `short` a line for each server; nothing if `quiet`.

    The steps that run are the `doing` of the command.
    """

    def __init__(self, doing: Progress, *, short: bool, quiet: bool) -> None:
        self._short, self._quiet, self._doing = short, quiet, doing
        self._running: dict[str, str] = {}
        self._width, self._is_headed = 0, False

    def begun(self, found: Checklist) -> None:
        self._width = max(self._width, cells_of(clean_line(found.server, 64)))
        if not (self._short or self._quiet):
            print(heading(found), flush=True)

    def told(self, server: str, step: Step | str) -> None:
        if isinstance(step, str):
            self._running[server] = step
            self._say_running()
        elif not (self._short or self._quiet):
            self._over(server)
            print("\n".join(step_lines(step, width())), flush=True)

    def ended(self, found: Checklist) -> None:
        self._over(found.server)
        if self._quiet:
            return
        lines = [*ending(found, width())]
        if self._short:
            columns = short_columns(self._width, width())
            head = columns.heading() if on_terminal() and not self._is_headed else ()
            lines, self._is_headed = [*head, *short_lines(found, columns)], True
        print("\n".join(lines), flush=True)

    def _over(self, server: str) -> None:
        self._running.pop(server, None)
        self._say_running()

    def _say_running(self) -> None:
        several = len(self._running) > 1
        told = (f"{clean_line(at, 20)} {step}" if several else step for at, step in self._running.items())
        self._doing.step(", ".join(told))


async def examine(
    runtime: Runtime, named: str | None, args: argparse.Namespace, *, short: bool, **how: Any
) -> Sequence[Checklist]:
    """Examine a server of a runtime, or all, and print what is found; `how` as `Examinations` takes it.

    Raises McptuiError.
    """
    with progress("reading the configuration", quiet=args.json) as doing:
        printer = Printer(doing, short=short, quiet=args.json)
        several = Examinations(runtime, printer, one_by_one=not short, seconds=args.seconds, **how)
        return await several.run(named)


def end(args: argparse.Namespace, found: Sequence[Checklist], redactor: Redactor, *, single: bool) -> None:
    """Print the JSON, and write the report if something failed or it was asked for."""
    path = ""
    if found and (args.report or any(one.failure for one in found)):
        shown = "mcptui doctor" + (f" --host {shlex.quote(args.host)}" if args.host else "")
        text = checklist_report(found, during=shown, env=os.environ, redactor=redactor)
        try:
            if args.report:
                asked = os.path.expanduser(args.report)
                atomic_write(Path(asked), [text], errors="replace", wait=False)
                path = asked
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
