"""`mcptui run`: one question without a screen. The answer goes to stdout, the steps to stderr."""

import argparse
import json
import os
import sys
from collections.abc import Collection
from functools import partial
from pathlib import Path

from tui.commands.flag_answers import FlagAnswers
from tui.commands.headless import (
    Interrupt,
    headless,
    log_step,
    say_printed,
    say_unsaved,
    step_in_shell,
    write_problem,
)
from tui.commands.permission.terminal_approver import TerminalApprover
from tui.commands.run_input import AnswerSchema, attachments, question, system_text
from tui.commands.run_output import EXIT_CODES, as_object, error_object, print_object, trace_line
from tui.core.context.instructions import FILE
from tui.core.conversation.conversation import Attachment
from tui.core.errors import UsageError, reason_of, sentences
from tui.core.events import EndReason, Event, Notice, StepEnded, TurnEnded, TurnError
from tui.core.files import atomic_write
from tui.core.ports import TextPart
from tui.core.servers import ServerState, ServerStatus
from tui.core.text import Cleaner, clean, clean_line, quoted_name
from tui.core.units import noun
from tui.runtime.options import Options
from tui.runtime.runtime import Runtime
from tui.runtime.turn import PendingTurn

NO_SERVER = 5
NO_MATCH = 6
"""Exit code if the answer does not match `--schema`."""


def run(args: argparse.Namespace) -> int:
    """Run `mcptui run` and return its exit code."""
    answers = FlagAnswers.of(args, print_object) if args.json else FlagAnswers.of(args)
    return headless(Options.from_args(args), partial(_ask, args), questioner=answers, ended=say_unsaved)


async def _ask(args: argparse.Namespace, runtime: Runtime, interrupt: Interrupt) -> int:
    await runtime.ready(start=False, taps=False, session=False)
    runtime.require_usable(key=True)
    for problem in runtime.problems:
        print(f"mcptui: {clean(problem)}", file=sys.stderr)
    if args.project_instructions and runtime.request.project.found is None:
        why = runtime.request.project.problem or "not found in this directory"
        raise UsageError(f"{FILE} {why}", where="--project-instructions")
    for name in args.trust:
        runtime.host.status(name)  # raises an error for an unknown name
    wanted: list[str] = args.server or []
    given = args.prompt
    if wanted and given is None and wanted[-1] not in {one.name for one in runtime.host.statuses()}:
        # `--server NAME ...` takes all words after it: in `run --server weather "how is it?"`, also this.
        wanted, given = wanted[:-1], wanted[-1]
    prompt = question(given, wait=args.stdin)
    files = attachments(args.file)
    schema = await AnswerSchema.read(args.schema) if args.schema else None
    try:
        return await _turn(args, runtime, interrupt, prompt, files, wanted, schema)
    finally:
        if schema is not None:
            await schema.close()
        say_printed(runtime)


async def _turn(
    args: argparse.Namespace,
    runtime: Runtime,
    interrupt: Interrupt,
    prompt: str,
    files: tuple[Attachment, ...],
    wanted: list[str],
    schema: AnswerSchema | None,
) -> int:
    await runtime.open_session()
    if (info := runtime.conversations.info) is not None and info.problem:
        print(f"mcptui: {clean(info.problem)}.", file=sys.stderr)
    if (system := system_text(args.system)) is not None:
        await runtime.conversations.set_system(system)
    answer = AnswerFile(args.output)
    started = _to_start(args, wanted, runtime.host.statuses())
    specs = [runtime.host.status(name).spec for name in started]  # raises an error for an unknown name
    if started and runtime.configuration.uses_samples:
        names = clean(", ".join(started))
        print(f"· no servers configured, using the {noun(len(started), 'sample')} {names}", file=sys.stderr)
    runtime.consent.require(specs)
    await runtime.host.start_all(started)
    await runtime.host.changes_answered()
    found = [runtime.host.status(name) for name in started]
    failed = [status for status in found if status.state is not ServerState.RUNNING]
    for problem in filter(None, (_server_problem(status, args) for status in found)):
        if args.json:
            _print_json(Notice(problem))
        print(f"mcptui: {clean(problem)}", file=sys.stderr)
    if found and len(failed) == len(found):
        if args.json:
            print_object(error_object("no requested server could be started", "servers"))
        return NO_SERVER
    turn = runtime.conversations.ask(
        prompt, TerminalApprover(), files, schema.format if schema is not None else None
    )
    interrupt.on_signal = turn.cancel
    ended, matches = await _show(turn, args.json, answer, schema)
    if runtime.model_notice:
        print(f"· {runtime.model_notice}", file=sys.stderr)
    if ended is EndReason.ANSWERED and not matches:
        return NO_MATCH
    return EXIT_CODES[ended] if ended is not EndReason.CANCELLED else interrupt.exit_code


def _server_problem(status: ServerStatus, args: argparse.Namespace) -> str:
    """Return why a server, or some of its tools, cannot be used in this run; or ""."""
    name = quoted_name(status.name)
    if status.state is not ServerState.RUNNING:
        problem = f"the server {name} failed to start: {status.detail or 'no reason is known.'}"
        return sentences(problem, step_in_shell(status, log_step(status.name, args)))
    if status.listing_problem:
        some = "some tools" if status.tools else "the tools"
        why = clean_line(status.listing_problem, 300)
        return sentences(
            f"{some} of the server {name} could not be listed: {why}",
            f"The model cannot call them. {log_step(status.name, args)}",
        )
    return ""


async def _show(
    turn: PendingTurn, as_json: bool, answer: "AnswerFile", schema: AnswerSchema | None
) -> tuple[EndReason, bool]:
    """Print the events of a turn and write its answer.

    Return why it ended, and whether the answer matches the schema.
    """
    show = _print_json if as_json else Printed(hidden=answer.wanted or schema is not None).show
    reason = EndReason.MODEL_ERROR
    matches = True
    async for event in turn.events():
        if isinstance(event, TurnEnded):
            reason = event.reason
            if schema is not None and event.text:
                matches = await _show_answer(event, as_json, answer, schema)
                continue
            answer.write(event.text)
        show(event)
    return reason, matches


async def _show_answer(event: TurnEnded, as_json: bool, answer: "AnswerFile", schema: AnswerSchema) -> bool:
    """Print an answer as JSON if it matches the schema, otherwise the problem; return whether it matches."""
    value, problem = await schema.answer(event.text)
    written = json.dumps(value, ensure_ascii=False)
    written = written if clean(written) == written else json.dumps(value)
    if as_json:
        found = {"schema_error": problem} if problem else {"answer": value}
        print_object((as_object(event) or {}) | found)
    elif told := trace_line(event):
        print(told, file=sys.stderr)
    if schema.unchecked:
        print(f"mcptui: the answer was not checked: {schema.unchecked}", file=sys.stderr)
    if problem:
        print(f"mcptui: the answer does not match the schema: {problem}", file=sys.stderr)
        print(f"The model answered: {clean(event.text)}", file=sys.stderr)
    elif answer.wanted:
        answer.write(written)
    elif not as_json:
        print(written, flush=True)
    return not problem


def _to_start(args: argparse.Namespace, wanted: list[str], known: Collection[ServerStatus]) -> list[str]:
    if args.no_servers and wanted:
        raise UsageError("--no-servers cannot be combined with --server")
    if args.no_servers or (args.no_start and not wanted):
        return []
    return wanted or [status.name for status in known if status.spec.autostart]


def _print_json(event: Event) -> None:
    if (value := as_object(event)) is not None:
        print_object(value)


class Printed:
    """Streams the answer to stdout, unless `hidden`, and prints a line per event on stderr."""

    def __init__(self, *, hidden: bool) -> None:
        self._open = False
        self._hidden = hidden
        self._cleaner = Cleaner()

    def show(self, event: Event) -> None:
        match event:
            case TextPart() if self._hidden:
                return
            case TextPart(text):
                self._write(self._cleaner.feed(text))
                return
            case StepEnded() | TurnError() | TurnEnded():
                self._write(self._cleaner.end())
                if self._open:
                    self._write("\n")
        if told := trace_line(event):
            print(told, file=sys.stderr, flush=True)

    def _write(self, shown: str) -> None:
        if shown:
            sys.stdout.write(shown)
            sys.stdout.flush()
            self._open = not shown.endswith("\n")


class AnswerFile:
    """Writes the complete answer to a file, if `wanted`. Until then, the file is unchanged."""

    def __init__(self, path: str | None) -> None:
        """Check that the file is writable before the model is asked. Raises UsageError if it is not."""
        self.wanted = path is not None
        self._path = Path(os.path.expanduser(path or "."))
        if self.wanted and (why := write_problem(self._path)):
            raise UsageError(f"cannot write the answer: {why}", where=str(path))

    def write(self, text: str) -> None:
        """Write the answer, if an output file was given. Raises UsageError if it cannot be written."""
        if not self.wanted:
            return
        body = text if text.endswith("\n") or not text else text + "\n"
        try:
            atomic_write(self._path, [body], errors="replace")
        except OSError as error:
            raise UsageError(f"cannot write the answer: {reason_of(error)}", where=str(self._path)) from None
