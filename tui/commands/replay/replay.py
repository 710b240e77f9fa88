"""`mcptui traffic FILE --replay`: sends the recorded requests to a live server and prints what differs."""

import argparse
import asyncio
import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from tui.commands.interrupt import Interrupt
from tui.commands.mock import server_of
from tui.commands.replay.approval import LiveServer, NotStartedError, ReplayApproval, live_server
from tui.commands.traffic_choice import RecordingChoice, Source, say
from tui.core.errors import ConfigError, UsageError
from tui.core.text import clean_line
from tui.core.traffic import ANSWERS, Direction, Kind
from tui.core.units import duration, plural
from tui.settings.locations import decisions_file
from tui.settings.state.stored_decisions import StoredDecisions
from tui.traffic.diff import text_lines
from tui.traffic.replay.replay_plan import Replay, ReplayItem, ReplayResult, plan, tally

ANSWER_SECONDS = 60.0
"""How long an answer is waited for."""

STOP_SECONDS = 2.0
CHUNK = 256 * 1024
SAME, DIFFERENT, INCOMPLETE, NOT_STARTED = 0, 1, 2, 5
HANDSHAKE = frozenset({"initialize", "notifications/initialized"})
"""Servers up to 2025-11-25 answer nothing before them."""


def replay(args: argparse.Namespace, choice: RecordingChoice) -> int:
    """Replay and return the exit code.

    Raises UsageError if there is no such server in the recording or in the configuration, StorageError if the
    recording cannot be read.
    """
    items, server = list[ReplayItem](), ""
    with closing(choice.sources()) as sources:
        for source in sources:
            items, passing, server = _items(args, source)
    if choice.query.root is not None and not any(item.seq in passing for item in items):
        if not choice.say_if_nothing():
            say("no request to its server matches")
        return SAME
    command, environment, folder = _command(args)
    try:
        approval = ReplayApproval(items, _live_server(args, server))
    except NotStartedError as error:
        say(f"cannot start {clean_line(args.replay, 80)}: {error}")
        return NOT_STARTED
    with closing(StoredDecisions(decisions_file())) as decisions:
        if not approval.agreed(decisions, yes=args.yes):
            say("nothing was sent")
            return INCOMPLETE
    session = Replay(approval.items, args.mask or ())
    code = asyncio.run(_run(session, command, environment, folder, _Telling(args.json, passing)))
    return INCOMPLETE if choice.is_incomplete and code in (SAME, DIFFERENT) else code


def _items(args: argparse.Namespace, source: Source) -> tuple[list[ReplayItem], frozenset[int], str]:
    """Return the messages for the server, the seqs of those that the filter asks for, and its recorded name.

    An exchange is asked for if its request or its answer passes; the handshake goes before it unasked.
    """
    recording = source.recording
    asked = (entry for entry in recording.entries() if entry.kind is Kind.REQUEST)
    same = any(entry.source == args.replay and entry.direction is Direction.OUT for entry in asked)
    wanted = args.server or (args.replay if same else None)
    server = server_of(recording.entries(), wanted, recording.path)
    items = plan((entry for entry in recording.whole_entries() if entry.source == server), recording.body)
    passing = frozenset(_asked_by(source)) & {
        item.seq for item in items if item.kind in (Kind.REQUEST, Kind.NOTIFICATION)
    }
    goes_along = (item.kind in ANSWERS or item.method in HANDSHAKE for item in items)
    kept = [item for item, goes in zip(items, goes_along, strict=True) if goes or item.seq in passing]
    return kept, passing, server


def _asked_by(source: Source) -> Iterator[int]:
    """Yield the seqs of the requests that pass: of an answer its request, of a batch its messages."""
    batches: set[int] = set()
    for entry in source.selection.entries():
        yield entry.pair if entry.kind in ANSWERS else entry.seq
        if entry.kind is Kind.BATCH:
            batches.add(entry.seq)
    for entry in source.recording.entries() if batches else ():
        line = entry.detail.get("batch")
        if isinstance(line, int) and line in batches:
            yield entry.pair if entry.kind in ANSWERS else entry.seq


def _command(args: argparse.Namespace) -> tuple[Sequence[str], Mapping[str, str], str | None]:
    """Return what starts the live server: the given command, or that of a configured server."""
    if args.live_command:
        return args.live_command, os.environ, None
    from tui.host.process.process import server_environment, starting_folder
    from tui.runtime.servers.consent import require_consent
    from tui.settings.config_file import ConfigFile
    from tui.settings.load import load
    from tui.settings.locations import config_path
    from tui.settings.specs import server_specs

    path, named = config_path(getattr(args, "config", None), os.environ)
    loaded = load(path, os.environ, required=named)
    for problem in loaded.errors:
        if not problem.path or problem.path.startswith(f"servers.{args.replay}"):
            raise ConfigError(str(problem))
    specs = {spec.name: spec for spec in server_specs(loaded) if spec.command}
    spec = specs.get(args.replay)
    if spec is None:
        raise UsageError(
            f"requires a configured stdio server: {', '.join(specs) or 'none'}",
            where=clean_line(args.replay, 80) or "--replay",
            next_step="Or give a command after --: mcptui traffic FILE --replay -- COMMAND ARG ...",
        )
    source = ConfigFile(getattr(args, "config", None), os.environ).source if loaded.names_servers else ""
    require_consent(replace(spec, source=source), trust=bool(vars(args).get("trust_config")))
    environment = server_environment(spec.env, f"replay/{os.getpid()}", os.environ)
    return [spec.command, *spec.args], environment, starting_folder(spec)


def _live_server(args: argparse.Namespace, recorded: str) -> LiveServer:
    """Return what is known of the live server. A command that is given has the name in the recording."""
    from tui.settings.load import load
    from tui.settings.locations import config_path
    from tui.settings.specs import approval_rules

    config = getattr(args, "config", None)
    if not args.live_command:
        trust = bool(vars(args).get("trust_config"))
        return asyncio.run(live_server(args.replay, config, trust_config=trust))
    path, named = config_path(config, os.environ)
    loaded = load(path, os.environ, required=named)
    if wrong := next(
        (one for one in loaded.errors if one.path.startswith("approvals") or not one.path), None
    ):
        raise ConfigError(str(wrong))
    return LiveServer(recorded, approval_rules(loaded.settings.approvals))


async def _run(
    session: Replay,
    command: Sequence[str],
    environment: Mapping[str, str],
    folder: str | None,
    telling: "_Telling",
) -> int:
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            env=dict(environment),
            cwd=folder,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        shown = clean_line(command[0], 200)
        print(f"mcptui traffic: cannot start {shown}: {error.strerror}", file=sys.stderr)
        return NOT_STARTED
    with Interrupt() as interrupt:
        try:
            return await interrupt.during(_carry_out(session, _Live(process, session), telling))
        finally:
            await _stop(process)


@dataclass(frozen=True, slots=True)
class _Telling:
    """Which results are printed: those asked for, and a handshake only if it fails."""

    as_json: bool
    asked_for: frozenset[int]

    def tells(self, result: ReplayResult) -> bool:
        is_told = result.item.seq in self.asked_for or bool(result.problem)
        return result.item.kind is Kind.REQUEST and is_told


async def _carry_out(session: Replay, live: "_Live", telling: "_Telling") -> int:
    results: list[ReplayResult] = []
    reading = asyncio.create_task(live.read())
    try:
        for item in session.items():
            result = await live.send(item)
            if telling.tells(result):
                results.append(result)
                sys.stdout.write(_told(result, telling.as_json))
                sys.stdout.flush()
    finally:
        reading.cancel()
        await asyncio.wait({reading})
    found = tally(results)
    if not telling.as_json:
        asked = plural(sum(found.values()), "request")
        sys.stdout.write(f"{asked}: {', '.join(f'{number} {word}' for word, number in found.items())}\n")
    return DIFFERENT if found["differ"] else SAME


def _told(result: ReplayResult, as_json: bool) -> str:
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


class _Live:
    def __init__(self, process: asyncio.subprocess.Process, session: Replay) -> None:
        self._process = process
        self._session = session
        self._wanted = ""
        self._answer: asyncio.Future[bytes] | None = None
        self._ended = False

    async def send(self, item: ReplayItem) -> ReplayResult:
        """Send an item. For a request, wait for the answer."""
        if item.left_out:
            return ReplayResult(item)
        if item.refusal:
            return ReplayResult(item, problem=item.refusal)
        if self._ended:
            return ReplayResult(item, problem="the server exited")
        began = time.monotonic_ns()
        self._wanted, self._answer = item.ident, asyncio.get_running_loop().create_future()
        if not await self._write(self._session.bytes_of(item)):
            return ReplayResult(item, problem="the server closed its stdin")
        if item.kind is not Kind.REQUEST:
            return ReplayResult(item)
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                got = await self._answer
        except TimeoutError:
            return ReplayResult(item, problem=f"no response within {ANSWER_SECONDS:g} s")
        if not got:
            return ReplayResult(item, problem="the server exited before it responded")
        return self._session.answer(item, got, time.monotonic_ns() - began)

    async def _write(self, raw: bytes) -> bool:
        stdin = self._process.stdin
        assert stdin is not None
        try:
            stdin.write(raw + b"\n")
            await stdin.drain()
        except (BrokenPipeError, ConnectionResetError):
            return False
        return True

    async def read(self) -> None:
        from tui.core.jsonrpc.framing import Framer

        stdout = self._process.stdout
        assert stdout is not None
        framer = Framer(512 * 1024 * 1024)
        while chunk := await stdout.read(CHUNK):
            for line in framer.feed(chunk):
                if isinstance(line, bytes):
                    await self._take(line)
        self._ended = True
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(b"")

    async def _take(self, line: bytes) -> None:
        try:
            message: Any = json.loads(line.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            return
        if isinstance(message, list):
            for each in message:
                await self._take_message(each, json.dumps(each).encode())
        else:
            await self._take_message(message, line)

    async def _take_message(self, message: Any, raw: bytes) -> None:
        if not isinstance(message, dict) or "id" not in message:
            return
        if isinstance(message.get("method"), str):
            await self._write(self._session.reply_to(message["method"], message["id"]))
        elif json.dumps(message["id"]) == self._wanted and self._answer is not None:
            if not self._answer.done():
                self._answer.set_result(raw)


async def _stop(process: asyncio.subprocess.Process) -> None:
    """Stop the server and its process group: close its input, then send signals."""
    if process.stdin is not None:
        process.stdin.close()
    for number in (0, signal.SIGTERM, signal.SIGKILL):
        if number:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, number)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(STOP_SECONDS):
                await process.wait()
                break
