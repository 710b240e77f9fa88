"""`mcptui up`: keeps servers up in the foreground, lists what is up, and stops it."""

import argparse
import asyncio
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tui.addons.up.peer import Peer
from tui.addons.up.running import Door, doors
from tui.commands.call.request import unconfigured
from tui.commands.flag_answers import FlagAnswers
from tui.commands.headless import Interrupt, headless, log_step, say_unrecorded
from tui.commands.run_output import print_error
from tui.commands.servers import lines
from tui.commands.table import json_line
from tui.core.errors import McptuiError, UsageError
from tui.core.servers import ServerState, ServerStatus
from tui.core.text import cells_of, clean, clean_line, quoted_name
from tui.core.units import clock, clock_time, plural
from tui.runtime.options import Options
from tui.runtime.runtime import Runtime

OK, NOT_STARTED = 0, 5
NAME_CELLS = 40
LOOK_SECONDS = 0.5


def up(args: argparse.Namespace) -> int:
    """Run `mcptui up` and return its exit code."""
    if args.list and args.stop:
        raise UsageError("--list and --stop cannot be combined.")
    if args.list:
        return _list(args)
    if args.stop:
        return asyncio.run(_stop(args.words))
    if args.json:
        raise UsageError("--json requires --list.")

    options, named = Options.from_args(args), args.words[0] if len(args.words) == 1 else None
    if args.words and args.live_command:
        raise UsageError("a server and a command after -- cannot be combined.")
    if (spec := unconfigured(args, named)) is not None:
        options = options.with_server(*spec)

    async def work(runtime: Runtime, interrupt: Interrupt) -> int:
        return await _Holder(args, runtime).hold(interrupt)

    return headless(options, work, questioner=FlagAnswers.of(args), ended=say_unrecorded)


@dataclass(slots=True)
class _Holder:
    _args: argparse.Namespace
    _runtime: Runtime
    _told: dict[str, ServerState] = field(default_factory=dict)

    async def hold(self, interrupt: Interrupt) -> int:
        runtime, door = self._runtime, self._runtime.door
        door.begin("up")
        await runtime.ready(start=False, model=False, taps=False, session=False)
        runtime.require_usable()
        names = self._names()
        runtime.consent.require([runtime.host.status(name).spec for name in names])
        width = max(cells_of(clean_line(name, NAME_CELLS)) for name in names)

        def settled(name: str) -> None:
            status = runtime.host.status(name)
            self._told[name] = status.state
            self._say("\n".join(lines(status, width, see_log=log_step(name, self._args))))

        await runtime.host.start_all(names, settled)
        await runtime.host.changes_answered()
        if not any(state is ServerState.RUNNING for state in self._told.values()):
            return NOT_STARTED
        if door.problem:
            raise McptuiError(f"other commands cannot reach the servers: {door.problem}")
        interrupt.on_signal = door.ending.set
        door.listeners.append(self._attached)
        idle: float | None = self._args.idle
        ends = f", or {clock(idle)} without a command" if idle else ""
        self._say(f"· mcptui call, list, read, prompt and skill use them. Ctrl+C stops them{ends}")
        await self._wait(idle)
        self._say("· stopping the servers")
        return OK

    def _names(self) -> Sequence[str]:
        host = self._runtime.host
        if self._runtime.is_unconfigured:
            return [one.name for one in host.statuses()]
        for name in self._args.words:
            if problems := self._runtime.configuration.left_out.get(name):
                raise UsageError(problems[0], where=clean_line(name, 80))
        if names := list(dict.fromkeys(self._args.words)):
            return [host.status(name).name for name in names]
        if names := [one.name for one in host.statuses() if one.spec.autostart]:
            return names
        raise UsageError("no server starts automatically.", next_step="Name one: mcptui up SERVER")

    async def _wait(self, idle: float | None) -> None:
        door = self._runtime.door
        door.idle_since = time.monotonic()
        while not door.ending.is_set():
            for status in self._runtime.host.statuses():
                self._look(status)
            if idle is not None and not door.peers and time.monotonic() - door.idle_since >= idle:
                self._say(f"· no command for {clock(idle)}")
                return
            try:
                async with asyncio.timeout(LOOK_SECONDS):
                    await door.ending.wait()
            except TimeoutError:
                continue

    def _look(self, status: ServerStatus) -> None:
        before = self._told.get(status.name)
        if before is None or before is status.state:
            return
        self._told[status.name] = status.state
        if status.state in (ServerState.RUNNING, ServerState.STOPPED):
            self._say("\n".join(lines(status, see_log=log_step(status.name, self._args))))

    def _attached(self, peer: Peer, is_there: bool) -> None:
        self._say(f"· {peer.words} {'attached' if is_there else 'left'}")

    def _say(self, text: str) -> None:
        print(text, file=sys.stderr, flush=True)


def _list(args: argparse.Namespace) -> int:
    found = list(doors())
    if not found and not args.json:
        print("Nothing is up. Keep servers up with mcptui up, or in the app.")
    for door in found:
        print(json_line(dict(door.about)) if args.json else "\n".join(_door_lines(door)))
    return OK


def _door_lines(door: Door) -> list[str]:
    if door.refused:
        return [f"a running mcptui refuses commands: {clean_line(door.refused, 200)}"]
    about = door.about
    since = about.get("since")
    shown = clock_time(since if isinstance(since, int | float) else 0, time.time())
    head = f"{door.words}  since {shown}  {clean_line(str(about.get('config') or ''), 200)}"
    names = [clean_line(str(name), NAME_CELLS) for name in about.get("servers") or ()]
    attached = [clean_line(str(one), 160) for one in about.get("attached") or ()]
    return [
        head,
        f"    up: {', '.join(names) or 'no server'}",
        *(f"    attached: {one}" for one in attached),
    ]


async def _stop(names: Sequence[str]) -> int:
    """Ask each `mcptui up` to end, or to stop the named servers."""
    up = [door for door in doors() if door.about.get("kind") == "up"]
    if not up:
        raise UsageError("no mcptui up is running.", next_step="Servers of the app are stopped there.")
    code = OK
    for name in names or (None,):
        holders = [door for door in up if name is None or name in (door.about.get("servers") or ())]
        if not holders:
            print_error(UsageError(f"{quoted_name(str(name), 80)} is not up in any mcptui up."))
            code = 1
        for door in holders:
            params: dict[str, Any] = {} if name is None else {"server": name}
            said = await door.request("up.stop", params, command="mcptui up --stop")
            stopped = [clean(str(one)) for one in said.get("stopped") or ()]
            print(f"Stopped {', '.join(stopped) or plural(0, 'server')} in {door.words}.")
    return code
