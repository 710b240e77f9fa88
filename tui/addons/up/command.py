"""`mcptui up`: keeps servers up in the foreground, lists what is up, and stops it."""

import argparse
import asyncio
import sys
import time
from collections.abc import Sequence
from typing import Any

from tui.addons.up.running import Door, doors
from tui.commands.call.one_server import chosen
from tui.commands.call.request import unconfigured
from tui.commands.flag_answers import FlagAnswers
from tui.commands.headless import Interrupt, headless, log_step, say_unrecorded
from tui.commands.progress import progress
from tui.commands.run_output import print_error
from tui.commands.servers import columns_for, lines, still_starting
from tui.commands.streams import width
from tui.commands.table import json_line, table
from tui.core.background import set_within
from tui.core.errors import McptuiError, UsageError
from tui.core.servers import ServerState
from tui.core.text import clean_line, quoted_name
from tui.core.units import clock, clock_time, plural
from tui.runtime.options import Options
from tui.runtime.runtime import Runtime

OK, NOT_STARTED = 0, 5
LOOK_SECONDS = 0.5
SHOWN = (ServerState.RUNNING, ServerState.STOPPED)


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
        return await _hold(args, runtime, interrupt)

    return headless(options, work, questioner=FlagAnswers.of(args), ended=say_unrecorded)


async def _hold(args: argparse.Namespace, runtime: Runtime, interrupt: Interrupt) -> int:
    door, shown = runtime.door, dict[str, ServerState]()
    door.begin("up")
    await runtime.ready(start=False, model=False, taps=False, session=False)
    runtime.require_usable()
    names, host = _names(args, runtime), runtime.host
    runtime.consent.require([host.status(name).spec for name in names])
    columns = columns_for(names, width(sys.stderr))
    if sys.stderr.isatty():
        _say("\n".join(columns.heading()))

    def show(name: str) -> None:
        status = host.status(name)
        shown[name] = status.state
        doing.text = still_starting(names, shown)
        _say("\n".join(lines(status, columns, see_log=log_step(name, args))))

    with progress(still_starting(names, shown)) as doing:
        await host.start_all(names, show)
    await host.changes_answered()
    if ServerState.RUNNING not in shown.values():
        return NOT_STARTED
    if door.problem:
        raise McptuiError(f"other commands cannot reach the servers: {door.problem}")
    interrupt.on_signal = door.ending.set
    door.listeners.append(lambda peer, here: _say(f"· {peer.words} {'attached' if here else 'left'}"))
    ends = f", or {clock(args.idle)} without a command" if args.idle else ""
    _say(f"· mcptui call, list, read, prompt and skill use them. Ctrl+C stops them{ends}")
    door.idle_since = time.monotonic()
    while not door.ending.is_set():
        for name in names:
            if (state := host.status(name).state) is not shown[name] and state in SHOWN:
                show(name)
        if args.idle and not door.peers and time.monotonic() - door.idle_since >= args.idle:
            _say(f"· no command for {clock(args.idle)}")
            break
        await set_within(door.ending, LOOK_SECONDS)
    _say("· stopping the servers")
    return OK


def _names(args: argparse.Namespace, runtime: Runtime) -> Sequence[str]:
    if args.words or args.live_command:
        return [chosen(runtime, name, "up") for name in dict.fromkeys(args.words or (None,))]
    if names := [one.name for one in runtime.host.statuses() if one.spec.autostart]:
        return names
    raise UsageError("no server starts automatically.", next_step="Name one: mcptui up SERVER")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _list(args: argparse.Namespace) -> int:
    found = list(doors())
    if not found and not args.json:
        print("Nothing is up. Keep servers up with mcptui up, or in the app.")
    if args.json:
        print("".join(f"{json_line(dict(door.about))}\n" for door in found), end="")
    elif found:
        print(table([_row(door) for door in found], range(len(_HEAD)), width(), head=_HEAD))
    return OK


_HEAD = ("where", "since", "up", "attached", "configuration")


def _row(door: Door) -> tuple[str, ...]:
    if door.refused:
        return (door.words, "", f"refuses commands: {clean_line(door.refused, 200)}", "", "")
    about = door.about
    up, attached = (
        ", ".join(clean_line(one, 160) for one in about[part]) for part in ("servers", "attached")
    )
    since = clock_time(about["since"], time.time())
    return (door.words, since, up or "no server", attached, clean_line(about["config"], 200))


async def _stop(names: Sequence[str]) -> int:
    """Ask each `mcptui up` to end, or to stop the named servers."""
    up = [door for door in doors() if door.about.get("kind") == "up" and not door.refused]
    if not up:
        raise UsageError("no mcptui up is running.", next_step="Servers of the app are stopped there.")
    code = OK
    for name in names or (None,):
        holders = [door for door in up if name is None or name in door.about["servers"]]
        if not holders:
            print_error(UsageError(f"{quoted_name(str(name), 80)} is not up in any mcptui up."))
            code = 1
        for door in holders:
            params: dict[str, Any] = {} if name is None else {"server": name}
            said = await door.request("up.stop", params, command="mcptui up --stop")
            print(f"Stopped {clean_line(', '.join(said['stopped'])) or plural(0, 'server')} in {door.words}.")
    return code
