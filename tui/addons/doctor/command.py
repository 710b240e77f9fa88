"""`mcptui doctor`: examines servers of the configuration, a URL, a command, or another host."""

import argparse
import os
import shlex
from pathlib import Path

from tui.addons.doctor.examination import LAST, LOCAL
from tui.addons.doctor.examinations import doctor_options
from tui.addons.doctor.local import missing
from tui.addons.doctor.other_host import examine_host
from tui.addons.doctor.output import FAILED, OK, end, examine, run
from tui.addons.doctor.steps import Checklist, Step, cleaned, ending, heading, step_lines
from tui.commands.call.request import unconfigured
from tui.commands.headless import Interrupt, write_problem
from tui.core.errors import UsageError
from tui.core.programs import is_command, is_command_line
from tui.core.secrets.redact import Redactor
from tui.core.text import clean_line, quoted_name
from tui.runtime.options import Options
from tui.runtime.runtime import Runtime
from tui.settings.new_server import is_address


def doctor(args: argparse.Namespace) -> int:
    """Run the command and return its exit code."""
    if len(args.words) > (0 if args.live_command else 1):
        raise UsageError("one server at most.", next_step="Usage: mcptui doctor [SERVER|URL], or -- COMMAND.")
    if args.report and (why := write_problem(Path(os.path.expanduser(args.report)))):
        raise UsageError(f"cannot write the report: {why}.", where=clean_line(args.report, 400))
    if args.host:
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
        found.extend(await examine(runtime, named if given is None else None, args, short=not single))
        return FAILED if any(one.failure for one in found) else OK

    code = run(options, work)
    if code in (OK, FAILED):
        end(args, found, redactors[0], single=bool(args.words or args.live_command))
    return code


def _without_command(args: argparse.Namespace) -> int:
    """Print that the command of the command line does not exist; return the exit code."""
    command = args.live_command[0]
    name, launch = clean_line(os.path.basename(command), 64), clean_line(shlex.join(args.live_command), 200)
    if len(args.live_command) == 1 and is_command_line(command):
        seen = f"{quoted_name(command, 120)} is one word, so no arguments follow the command"
        step = Step.failed("command", seen, f"split it: -- {clean_line(command, 200)}")
    else:
        step = missing(command, "check the spelling, install it, or use its path")
    step = cleaned(step)
    found = Checklist(name, launch, [step], (*LOCAL[1:], *LAST))
    if not args.json:
        print("\n".join((heading(found), *step_lines(step), *ending(found))))
    end(args, [found], Redactor(), single=True)
    return FAILED


def is_not_found(command: str) -> bool:
    """Return whether a typed command is neither on PATH nor a file, nor a URL."""
    return not (is_address(command) or is_command(command))
