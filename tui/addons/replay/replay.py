"""`mcptui traffic FILE --replay`: sends the recorded requests to a live server and prints differences."""

import argparse
import asyncio
import json
import os
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import AsyncExitStack, closing
from dataclasses import replace

from tui.addons.replay.approval import BY_APPROVE, BY_FLAG, LiveServer, ReplayApproval, listed_server
from tui.addons.replay.live import (
    HANDSHAKE,
    Command,
    LiveConnection,
    NotStartedError,
    Replay,
    ReplayItem,
    ReplayResult,
    plan,
    tally,
)
from tui.addons.replay.mock import server_of
from tui.commands.headless import Interrupt
from tui.commands.traffic_selection import RecordingChoice, Selection, say
from tui.core.comparison.values import text_lines
from tui.core.errors import ConfigError, UsageError
from tui.core.text import clean_line
from tui.core.traffic import ANSWERS, Direction, Kind
from tui.core.units import duration, plural
from tui.settings.load import Loaded, load
from tui.settings.locations import config_path
from tui.settings.specs import approval_rules, server_specs
from tui.settings.state.permission.stored_decisions import StoredDecisions

SAME, DIFFERENT, INCOMPLETE, NOT_STARTED = 0, 1, 2, 5

MAX_REASONS = 3
"""Maximum different reasons to name why requests were omitted."""


def replay(args: argparse.Namespace, choice: RecordingChoice) -> int:
    """Replay and return the exit code.

    Raises UsageError if the server is not in the recording or not configured, StorageError if the recording
    cannot be read.
    """
    items, server = list[ReplayItem](), ""
    with closing(choice.selections()) as selections:
        for selection in selections:
            items, passing, server = _items(args, selection)
    if choice.query.root is not None and not any(item.seq in passing for item in items):
        choice.report_no_match()
        return _nothing_compared(args.json, "no request to the server matches the filter")

    async def replayed() -> int:
        with Interrupt() as interrupt:
            return await interrupt.during(_confirmed(args, items, server, passing))

    try:
        code = asyncio.run(replayed())
    except NotStartedError as error:
        shown = args.live_command[0] if args.live_command else args.replay
        say(f"cannot start {clean_line(shown, 200)}: {error}")
        return NOT_STARTED
    return INCOMPLETE if choice.is_incomplete and code in (SAME, DIFFERENT) else code


async def _confirmed(
    args: argparse.Namespace, items: Sequence[ReplayItem], recorded: str, wanted: Collection[int]
) -> int:
    """Show what would be sent, ask, and send it.

    A configured server first lists its tools. The tools of a command are unknown, so it is started only after
    confirmation, and gets the recorded name.
    """
    starting = LiveConnection.started(_command(args))
    async with AsyncExitStack() as stack:
        if args.live_command:
            known = LiveServer(recorded, approval_rules(_loaded(args, "approvals").settings.approvals))
        else:
            live = await stack.enter_async_context(starting)
            known = await listed_server(
                args.replay,
                vars(args).get("config"),
                *await live.listed(items),
                trust=bool(vars(args).get("trust_config")),
            )
        flag = BY_APPROVE if args.approve == "all" else BY_FLAG if args.yes else ""
        approval = ReplayApproval(items, known, flag)
        with closing(StoredDecisions()) as decisions:
            agreed = await approval.agreed(decisions)
        if not agreed:
            say("nothing was sent")
            return INCOMPLETE
        if args.live_command:
            live = await stack.enter_async_context(starting)
        return await _carry_out(Replay(approval.items, args.mask or ()), live, wanted, as_json=args.json)


def _items(args: argparse.Namespace, selection: Selection) -> tuple[list[ReplayItem], frozenset[int], str]:
    """Return the messages for the server, the seqs that match the filter, and the server's recorded name.

    An exchange matches if its request or its response matches. The handshake is always sent.
    """
    recording = selection.recording
    asked = (entry for entry in recording.entries() if entry.kind is Kind.REQUEST)
    same = any(entry.source == args.replay and entry.direction is Direction.OUT for entry in asked)
    wanted = args.server or (args.replay if same else None)
    server = server_of(recording.entries(), wanted, recording.path)
    items = plan((entry for entry in recording.whole_entries() if entry.source == server), recording.body)
    passing = frozenset(_matching_requests(selection)) & {
        item.seq for item in items if item.kind in (Kind.REQUEST, Kind.NOTIFICATION)
    }
    goes_along = (item.kind in ANSWERS or item.method in HANDSHAKE for item in items)
    kept = [item for item, goes in zip(items, goes_along, strict=True) if goes or item.seq in passing]
    return kept, passing, server


def _matching_requests(selection: Selection) -> Iterator[int]:
    """Yield the seqs of the matching requests: for a response, its request; for a batch, its messages."""
    batches: set[int] = set()
    for entry in selection.entries():
        yield entry.pair if entry.kind in ANSWERS else entry.seq
        if entry.kind is Kind.BATCH:
            batches.add(entry.seq)
    for entry in selection.recording.entries() if batches else ():
        line = entry.detail.get("batch")
        if isinstance(line, int) and line in batches:
            yield entry.pair if entry.kind in ANSWERS else entry.seq


def _command(args: argparse.Namespace) -> Command:
    """Return the command of the live server, given after `--` or configured."""
    if args.live_command:
        return Command(args.live_command, os.environ)
    from tui.host.process.process import server_environment, starting_folder
    from tui.host.server_start import start_seconds
    from tui.runtime.permission.consent import require_consent
    from tui.settings.config_file import ConfigFile

    loaded = _loaded(args, f"servers.{args.replay}")
    specs = {spec.name: spec for spec in server_specs(loaded) if spec.command}
    spec = specs.get(args.replay)
    if spec is None:
        raise UsageError(
            f"stdio server not found. Configured: {', '.join(specs) or 'none'}",
            where=clean_line(args.replay, 80) or "--replay",
            next_step="Use one of them, or a command: mcptui traffic FILE --replay -- COMMAND ARG ...",
        )
    source = ConfigFile(getattr(args, "config", None), os.environ).source if loaded.names_servers else ""
    require_consent(replace(spec, source=source), trust=bool(vars(args).get("trust_config")))
    environment = server_environment(spec.env, f"replay/{os.getpid()}", os.environ)
    folder = starting_folder(spec)
    return Command([spec.command, *spec.args], environment, folder, start_seconds(spec))


def _loaded(args: argparse.Namespace, needed: str) -> Loaded:
    """Return the configuration. Raises ConfigError if it, or the part that is needed, has an error."""
    path, named = config_path(vars(args).get("config"), os.environ)
    loaded = load(path, os.environ, required=named)
    for problem in loaded.errors:
        if not problem.path or problem.path.startswith(needed):
            raise ConfigError(str(problem))
    return loaded


async def _carry_out(replay: Replay, live: LiveConnection, wanted: Collection[int], *, as_json: bool) -> int:
    """Send everything, and print the results of the `wanted` requests, and of others only if they fail."""
    results: list[ReplayResult] = []
    await live.begin(replay)
    for item in replay.items():
        result = await live.send(item)
        if result.item.kind is Kind.REQUEST and (result.item.seq in wanted or result.problem):
            results.append(result)
            sys.stdout.write(_result_text(result, as_json))
            sys.stdout.flush()
    found = tally(results)
    if not as_json:
        asked = plural(sum(found.values()), "request")
        sys.stdout.write(f"{asked}: {', '.join(f'{number} {word}' for word, number in found.items())}\n")
    if found["differ"]:
        return DIFFERENT
    if why := _why_nothing(results):
        return _nothing_compared(as_json, why)
    return SAME


def _why_nothing(results: Sequence[ReplayResult]) -> str:
    """Return why no response was compared, or "". A handshake counts only if nothing else was recorded."""
    if not results:
        return "no request was sent"
    calls = [one for one in results if one.item.method not in HANDSHAKE] or results
    if any(one.comparison is not None for one in calls):
        return ""
    left_out = Counter(one.item.left_out for one in calls if one.item.left_out)
    reasons = ", ".join(f"{reason} ({number})" for reason, number in left_out.most_common(MAX_REASONS))
    omitted = f"{plural(left_out.total(), 'request')} omitted"
    return f"{omitted}: {reasons}" if reasons else "no response was recorded"


def _nothing_compared(as_json: bool, why: str) -> int:
    """Say that nothing was compared, which is no success, and return the exit code."""
    say(f"nothing was compared: {why}")
    if as_json:
        sys.stdout.write(json.dumps({"compared": 0, "problem": f"nothing was compared: {why}"}) + "\n")
    return INCOMPLETE


def _result_text(result: ReplayResult, as_json: bool) -> str:
    item = result.item
    lines = text_lines(result.comparison) if result.comparison is not None else []
    if as_json:
        told = {"seq": item.seq, "method": item.method, "tool": item.tool, "differs": result.differs}
        told |= {"left_out": item.left_out, "problem": result.problem, "differences": lines}
        told |= {"took_ns": result.took_ns, "recorded_ns": item.took_ns}
        return json.dumps(told) + "\n"
    name = clean_line(f"{item.method} {item.tool}".strip(), 80)
    if item.left_out:
        return f"· {name}: omitted, {item.left_out}\n"
    if result.problem:
        return f"✗ {name}: {result.problem}\n"
    times = f"{duration(result.took_ns / 1e6)}, was {duration(item.took_ns / 1e6)}"
    if not result.differs:
        return f"✓ {name}  {times}\n"
    return f"✗ {name}  {times}\n" + "".join(f"    {line}\n" for line in lines)
