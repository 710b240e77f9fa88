"""`mcptui keep`: keeps what `mcptui call`, `read`, `prompt` or `list` recorded last as a test."""

import argparse
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from tui.addons.tests.keep.draft import Draft, described
from tui.addons.tests.keep.exchange import Exchange, Other
from tui.addons.tests.keep.home import file_name, last_change, written
from tui.addons.tests.keep.keeping import Keeping, require_name, without_moved
from tui.addons.tests.keep.recorded import exchange_at, newest_lists, newest_request, similar_results
from tui.addons.tests.keep.repeat import compared_words, question, results_again, why_not_repeated
from tui.addons.tests.keep.target import Target
from tui.addons.tests.keep.variation import LEFT_OUT
from tui.addons.tests.run.launch import suite_server
from tui.addons.tests.suite.case import Case, RequestKind, Suite
from tui.commands.headless import Interrupt, headless, say_unrecorded, started
from tui.commands.permission.terminal_approver import confirm, is_terminal
from tui.commands.recordings import about, open_entries, recordings
from tui.core.errors import ConfigError, McptuiError, StorageError, UsageError
from tui.core.files import short_path
from tui.core.secrets.redact import Redactor
from tui.core.servers import ServerState
from tui.core.text import clean, clean_line, compact, mapping, quoted_name
from tui.core.units import clock_time, duration
from tui.runtime.copies.origin import origin_of
from tui.runtime.options import Options
from tui.runtime.runtime import Runtime
from tui.settings.config_file import ConfigFile
from tui.settings.load import Loaded
from tui.settings.locations import data_dir
from tui.settings.specs import server_specs
from tui.settings.state.stored_calls import StoredCalls
from tui.storage.recordings.folder import KeptRecording

COMMANDS = ("call", "read", "prompt", "list")
"""The commands whose newest result is kept."""

MOST_RECORDINGS = 20
"""Maximum earlier recordings in which equal calls are searched."""

RECENT_SECONDS = 600
"""Maximum time between equal calls of different runs that are compared: later, the server may be another."""

VALUE_CHARS = 40
IGNORED = "record = false of this configuration has no effect: it is not your own. Use --trust-config."
FROM_ELSEWHERE = "Its server is not called again to find what varies: the recording is not one of yours."


@dataclass(frozen=True, slots=True)
class _Found:
    """What is kept of a recording: a call, or the lists of `mcptui list`, and the command that made it.

    `is_own`: it is in the user's folder.
    """

    exchanges: Sequence[Exchange]
    path: Path
    command: str
    is_own: bool


def keep(args: argparse.Namespace) -> int:
    """Keep a call, and return the exit code. Raises UsageError, ConfigError or StorageError."""
    if args.name is not None:
        require_name(args.name)
    trust = bool(getattr(args, "trust_config", False))
    loaded = ConfigFile(getattr(args, "config", None), os.environ, trust=trust).read()
    if args.entry and not args.recording:
        raise UsageError("--entry requires the name of a recording.")
    found = _found(args.recording, args.entry) if args.recording else _newest(loaded)
    if args.name and len(found.exchanges) > 1:
        step = "Leave out --name, or list one kind: mcptui list … tools"
        raise UsageError(f"--name names one case, and there are {len(found.exchanges)}.", next_step=step)
    if mapping(loaded.raw.get("traffic")).get("record") is False and loaded.settings.traffic.record:
        print(IGNORED)
    for exchange in found.exchanges:
        _keep(exchange, found, loaded, args)
    return 0


def _keep(exchange: Exchange, found: _Found, loaded: Loaded, args: argparse.Namespace) -> None:
    """Keep one call, and print what is kept, unless it is kept already."""
    current = Path.cwd()
    origin = origin_of(exchange.server, exchange.launched, server_specs(loaded), current)
    redact = Redactor(loaded.secrets).redact
    keeping = Keeping.of(exchange, origin, current, redact, is_own=found.is_own)
    print(_line(keeping.draft.exchange, found.command))
    target = keeping.target(args.output or "")
    keeping = _compared(keeping.since_kept(target), target, found, args)
    keeping = keeping.named(args.name) if args.name else keeping.proposed_for(target)
    for line in _varies(keeping.draft):
        print(line)
    if codes := keeping.draft.exchange.findings:
        print(f"  accepted lint findings: {', '.join(codes)}")
    beside = keeping.same_case(target)
    if beside is not None and args.name and beside.name != args.name:
        print(f"  also kept as {quoted_name(beside.name, 120)}")
    if (there := keeping.same_case(target, args.name or "")) is not None:
        if keeping.is_kept_by(there):
            print(f"\n{keeping.named(there.name).keep(target)}")
            return
        confirm_replacing(keeping, target, there, yes=args.yes)
    said = _kept(keeping, target)
    print(clean(f"\n{keeping.preview(target)}\n{said}"))


def confirm_replacing(keeping: Keeping, target: Target, there: Case, *, yes: bool) -> None:
    """Ask whether a case gets another expectation. Raises UsageError if it does not."""
    name, path = quoted_name(there.name, 120), keeping.shown_path(target.path)
    if there.expected.is_empty or yes:
        return
    step = "Use --yes to replace what it expects, or --name to keep this call beside it."
    if not is_terminal():
        raise UsageError(f"{path} already has this call: {name}.", next_step=step)
    if not confirm(f"{path} already has this call: {name}. Replace what it expects?", yes=False):
        raise UsageError("Not kept.", next_step=step)


def _kept(keeping: Keeping, target: Target) -> str:
    """Write the case, with the calls of its server that were saved before test files."""
    if not keeping.origin.configured:
        return keeping.keep(target)
    calls = StoredCalls(data_dir() / "calls.json")
    moved = keeping.moved(calls.read(), target)
    said = keeping.keep(target, moved)
    if moved:
        calls.write(partial(without_moved, moved))
    return said


def _line(exchange: Exchange, command: str) -> str:
    request = exchange.request
    given = " ".join(f"{clean_line(name, 40)}={compact(one, 80)}" for name, one in request.arguments.items())
    when = clock_time(exchange.at, exchange.at) if exchange.at else ""
    by = f" with mcptui {clean_line(command, 20)}" if command else ""
    words = f"{clean_line(exchange.server, 60)} › {clean_line(described(request), 200)} {given}".rstrip()
    return f"{words}   {duration(exchange.ms)}, called {when}{by}"


def _varies(draft: Draft) -> Iterator[str]:
    for one in draft.chosen:
        instead = one.placeholder or "not expected"
        value = clean_line(one.value, VALUE_CHARS)
        yield f"  varies: {clean_line(one.where, 80)}: {value} → {instead} ({one.why})"
    for one in draft.variations:
        if one.placeholder == LEFT_OUT and not draft.is_on(one):
            step = "Remove it from the file if it varies."
            yield f"  expected, but {one.why}: {clean_line(one.where, 80)}. {step}"


# ---- the recording -----------------------------------------------------------------------------------------


def _newest(loaded: Loaded) -> _Found:
    if loaded.readable and not loaded.settings.traffic.record:
        raise UsageError(
            "calls are not recorded: record = false is set under [traffic].",
            next_step="Remove it and call again, or name a recording: mcptui keep RECORDING",
        )
    for one in _single_requests():
        if found := _in_recording(one.path, is_own=True):
            return found
    raise UsageError(
        "no recorded call yet.", next_step="Make one, for example: mcptui call TOOL -- python server.py"
    )


def _single_requests() -> Iterator[KeptRecording]:
    """Yield the recordings of commands with a single request, the newest first."""
    kept = sorted(recordings().list(), key=lambda one: one.changed_ns, reverse=True)
    return (one for one in kept if about(one).command.partition(" ")[0] in COMMANDS)


def _found(name: str, entry: int | None) -> _Found:
    path = recordings().find(name)
    folder = os.path.realpath(recordings().folder)
    found = _in_recording(path, entry, is_own=os.path.dirname(os.path.realpath(path)) == folder)
    if found is None:
        what = f"entry {entry} is not part of a finished call." if entry else "it has no finished call."
        raise UsageError(what, where=short_path(str(path)))
    return found


def _in_recording(path: Path, entry: int | None = None, *, is_own: bool) -> _Found | None:
    with open_entries(path) as recording:
        reader, last = recording.reader, recording.reader.span()[1]
        meta = reader.meta()
        command, *kinds = meta.get("command", "").split() or ("",)
        if entry:
            found = [exchange_at(reader, entry, meta)]
        elif command == "list":
            found = newest_lists(reader, last, meta, kinds)
        else:
            seq = newest_request(reader, last)
            found = [exchange_at(reader, seq, meta)] if seq else []
        return _Found(found, path, command, is_own) if found else None


def _similar(keeping: Keeping, target: Target, found: _Found) -> Keeping:
    """Return this with the results of recent equal calls in other recordings."""
    exchange = keeping.draft.exchange
    others = []
    for number, one in enumerate(_single_requests()):
        if number > MOST_RECORDINGS:
            break
        if one.path != found.path and not one.live:
            try:
                with open_entries(one.path) as recording:
                    others += similar_results(recording.reader, recording.reader.span()[1], exchange)
            except StorageError:
                continue
    recent = (one for one in others if abs(one[2] - exchange.at) <= RECENT_SECONDS)
    return keeping.compared_with([*exchange.compared, *recent]).since_kept(target)


def _compared(keeping: Keeping, target: Target, found: _Found, args: argparse.Namespace) -> Keeping:
    """Return this with the results of equal calls: new ones after a yes, otherwise recorded ones."""
    fresh = _fresh(keeping, found, args)
    keeping = keeping.compared_with(fresh) if fresh else _similar(keeping, target, found)
    if said := compared_words(keeping.draft):
        print(f"  {said}")
    return keeping


def _fresh(keeping: Keeping, found: _Found, args: argparse.Namespace) -> Sequence[Other]:
    """Return the results of two more calls, after a yes; nothing if there are none, and say why."""
    exchange = keeping.draft.exchange
    changed = last_change(keeping.origin)
    if why := why_not_repeated(exchange, changed) if found.is_own else FROM_ELSEWHERE:
        if exchange.request.kind is not RequestKind.LIST:
            print(f"  {why}")
        return ()
    head, about_it = question(exchange)
    if not args.yes and not is_terminal():
        print("  Not called again to find what varies: there is no terminal to ask on. Use --yes to do so.")
        return ()
    if not confirm(f"{head}\n  {clean(about_it)}", yes=args.yes):
        return ()
    try:
        return _called_again(keeping, args)
    except McptuiError as error:
        print(f"  Not called again: {clean(str(error))}")
        return ()


# ---- the server --------------------------------------------------------------------------------------------


def _called_again(keeping: Keeping, args: argparse.Namespace) -> list[Other]:
    """Start the server as its file does, and call it again. Raises McptuiError."""
    origin, exchange = keeping.origin, keeping.draft.exchange
    options = replace(Options.from_args(args), save=False)
    if not origin.configured:
        server = written(origin, keeping.current, keeping.redact).server
        try:
            made = suite_server(Suite(keeping.current / file_name(origin.name), server), {})
        except ConfigError as error:  # such as a variable that is not set; the file is not there yet
            raise UsageError(error.message, next_step=error.next_step) from None
        options = options.with_server(replace(made.spec, source="", used_by=""), made.secrets)
    results: list[Other] = []
    numbers = iter(range(1, 100))

    async def work(runtime: Runtime, _: Interrupt) -> int:
        await runtime.ready(start=False, model=False, taps=False, session=False)
        names = [one.name for one in runtime.host.statuses()]
        name = origin.name if origin.name in names else names[0]
        status = await started(runtime, name)
        if status.state is not ServerState.RUNNING:
            raise UsageError(f"{clean_line(name, 80)} did not start: {status.detail}")
        results.extend(await results_again(runtime, name, exchange.request, lambda: f"hand-{next(numbers)}"))
        return 0

    headless(options, work, ended=say_unrecorded)
    return results
