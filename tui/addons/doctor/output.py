"""How `mcptui doctor` runs and prints: steps, progress on stderr, JSON, and the report at the end."""

import argparse
import asyncio
import json
import os
import shlex
import sys
import time
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

from tui.addons.doctor.examinations import Examinations, kill_servers
from tui.addons.doctor.report import checklist_report
from tui.addons.doctor.steps import Checklist, Step, ending, heading, short_lines, step_lines
from tui.commands.headless import Interrupt, headless
from tui.commands.run_output import print_error
from tui.core.errors import ConfigError, StorageError, reason_of
from tui.core.files import atomic_write
from tui.core.questions import Questioner
from tui.core.secrets.redact import Redactor
from tui.core.text import cells_of, clean_line
from tui.runtime.crash_report import save_report
from tui.runtime.options import Options
from tui.runtime.runtime import Runtime

OK, FAILED = 0, 1
REFRESH_SECONDS = 0.2

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

    On a terminal, a line of stderr shows which steps run, and for how long.
    """

    def __init__(self, *, short: bool, quiet: bool) -> None:
        self._short, self._quiet = short, quiet
        self._has_line = not quiet and sys.stderr.isatty()
        self._running: dict[str, tuple[str, float]] = {}
        self._width = 0

    def begun(self, found: Checklist) -> None:
        self._width = max(self._width, cells_of(clean_line(found.server, 64)))
        if not (self._short or self._quiet):
            print(heading(found), flush=True)

    def told(self, server: str, step: Step | str) -> None:
        if isinstance(step, str):
            self._running[server] = step, time.monotonic()
        elif not (self._short or self._quiet):
            self._over(server)
            print("\n".join(step_lines(step)), flush=True)

    def ended(self, found: Checklist) -> None:
        self._over(found.server)
        if not self._quiet:
            lines = short_lines(found, self._width) if self._short else ending(found)
            print("\n".join(lines), flush=True)

    def _over(self, server: str) -> None:
        self._running.pop(server, None)
        self.clear()

    def clear(self) -> None:
        if self._has_line:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    async def tick(self) -> None:
        """Show how long the running steps take, until cancelled."""
        while self._has_line:
            await asyncio.sleep(REFRESH_SECONDS)
            now = time.monotonic()
            several = len(self._running) > 1
            told = [
                f"{f'{clean_line(server, 20)} ' if several else ''}{name} {now - began:.0f} s"
                for server, (name, began) in self._running.items()
            ]
            if told:
                sys.stderr.write(f"\r\x1b[K  ◌ {', '.join(told)[:70]}")
                sys.stderr.flush()


async def examine(
    runtime: Runtime, named: str | None, args: argparse.Namespace, *, short: bool, **how: Any
) -> Sequence[Checklist]:
    """Examine a server of a runtime, or all, and print what is found; `how` as `Examinations` takes it.

    Raises McptuiError.
    """
    printer = Printer(short=short, quiet=args.json)
    ticking = asyncio.create_task(printer.tick())
    try:
        several = Examinations(runtime, printer, one_by_one=not short, seconds=args.seconds, **how)
        return await several.run(named)
    finally:
        ticking.cancel()
        printer.clear()


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
