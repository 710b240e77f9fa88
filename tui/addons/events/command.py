"""`mcptui events`: lists the event types of a server, or prints its events as they happen."""

import argparse
import asyncio
import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from tui.addons.events.addon import USAGE
from tui.addons.events.delivery import Delivery
from tui.addons.events.server_events import RunningServer, validated
from tui.addons.events.subscription import Position, State, Subscription
from tui.addons.events.wire import EventType, Occurrence
from tui.commands.call.arguments import Arguments
from tui.commands.call.one_server import NOT_STARTED, OK, REFUSED, OneServer
from tui.commands.call.output import write_json
from tui.commands.call.request import given_json, server_and_words, unconfigured
from tui.commands.flag_answers import FlagAnswers
from tui.commands.headless import Interrupt, headless, say_printed, say_unrecorded
from tui.commands.streams import on_terminal, width
from tui.commands.table import table
from tui.core.background import cancel_all, first_of
from tui.core.errors import UsageError
from tui.core.jsonrpc.extensions import EVENTS, why_unused
from tui.core.ports import MonotonicClock, hand_call
from tui.core.servers import ServerState
from tui.core.text import clean_line, compact, quoted_name
from tui.core.units import plural
from tui.runtime.options import Options
from tui.runtime.runtime import Runtime
from tui.settings.problems import hinted

LOOK_SECONDS = 0.5
_SHOWN_NAMES = 40
_BY = "command mcptui events"


def events(args: argparse.Namespace) -> int:
    """Run the command and return its exit code."""
    named, rest = server_and_words(args, USAGE, 0, None)
    if args.since is not None and not (args.follow and rest):
        raise UsageError("--since requires NAME and --follow.")
    given = given_json(args)
    if given is not None and (not rest or len(rest) > 1):
        raise UsageError("--args requires NAME, and no ARGUMENT=VALUE.")
    options, spec = Options.from_args(args), unconfigured(args, named)
    if spec is not None:
        options = options.with_server(*spec)

    async def work(runtime: Runtime, _: Interrupt) -> int:
        try:
            return await _Command(args, runtime, OneServer(args, named, runtime), rest, given).run()
        finally:
            say_printed(runtime)

    return headless(options, work, questioner=FlagAnswers.of(args), ended=say_unrecorded)


class _Command:
    def __init__(
        self,
        args: argparse.Namespace,
        runtime: Runtime,
        one: OneServer,
        words: Sequence[str],
        given: str | None,
    ) -> None:
        self._args, self._runtime, self._one = args, runtime, one
        self._words, self._given = words, given
        self._name = ""

    async def run(self) -> int:
        if (status := await self._one.start()) is None:
            return NOT_STARTED
        self._name = status.name
        if self._runtime.workbench.extension(self._name, EVENTS) is None:
            uses = (await self._runtime.workbench.identity(self._name)).extensions
            self._one.refuse(why_unused(uses, EVENTS) or "The server does not offer events.")
            return REFUSED
        types, problem = await RunningServer(self._runtime, self._name).types()
        if problem:
            _note(problem)
        if self._words:
            types = [self._chosen(types, self._words[0])]
        if self._args.follow:
            return await self._follow(types)
        if self._args.json:
            write_json([_as_json(one) for one in types])
        else:
            if self._words:
                print("\n".join(_lines(types[0])))
            elif types:
                head = ("event type", "delivery", "arguments", "description") if on_terminal() else ()
                print(table([*map(_row, types)], range(4), width(), head=head))
            if not types and not problem:
                _note("no event types")
        return REFUSED if problem else OK

    def _chosen(self, types: Sequence[EventType], name: str) -> EventType:
        names = [one.name for one in types]
        if name in names:
            return types[names.index(name)]
        known = ", ".join(clean_line(one, 60) for one in names[:_SHOWN_NAMES]) or "none"
        raise UsageError(
            hinted(f"event type {quoted_name(name, 80)} not found", name, names),
            next_step=f"Its event types: {known}",
        )

    # ---- follow ------------------------------------------------------------------------------------------

    async def _follow(self, types: Sequence[EventType]) -> int:
        followed: list[tuple[EventType, Subscription, Mapping[str, Any]]] = []
        for kind in types:
            takes = Arguments(kind.name, kind.input_schema)
            try:
                if not kind.modes:
                    raise UsageError(kind.why_not)
                if self._args.mode and self._args.mode not in kind.modes:
                    raise UsageError(f"it does not support {self._args.mode}.")
                arguments = self._arguments(takes)
                takes.require(arguments)
            except UsageError as error:
                if self._words:
                    raise
                _note(f"{clean_line(kind.name, 80)} is not followed: {error}")
                continue
            mode = self._args.mode or kind.modes[0]
            followed.append((kind, Subscription(kind.name, mode, Position(self._args.since)), arguments))
        if not followed:
            return REFUSED
        runs = [asyncio.create_task(self._deliver(*one)) for one in followed]
        stopped = asyncio.create_task(self._until_stopped())
        try:
            await first_of(asyncio.gather(*runs), asyncio.wait({stopped}))
            for run in runs:
                if run.done() and not run.cancelled():
                    run.result()
            if stopped.done():
                _note("the server has stopped")
            return REFUSED
        finally:
            await cancel_all([*runs, stopped])
            for _, state, _ in followed:
                _end_note(state)

    def _arguments(self, takes: Arguments) -> Mapping[str, Any]:
        return takes.from_pairs(self._words[1:]) if self._given is None else takes.from_json(self._given)

    async def _deliver(self, kind: EventType, state: Subscription, arguments: Mapping[str, Any]) -> None:
        self._runtime.decisions.add(hand_call(self._name, f"subscribe {kind.name}", arguments, by=_BY))
        notes = _Notes(state)

        async def accept(event: Occurrence) -> None:
            self._print(await validated(self._runtime, event, kind), state)

        server = RunningServer(self._runtime, self._name)
        await Delivery(server, state, arguments, accept, MonotonicClock(), notes.look).run()

    async def _until_stopped(self) -> None:
        while True:
            if self._runtime.host.status(self._name).state is not ServerState.RUNNING:
                return
            await asyncio.sleep(LOOK_SECONDS)

    def _print(self, event: Occurrence, state: Subscription) -> None:
        if self._args.json:
            said: dict[str, Any] = {"server": self._name, "name": state.name, "eventId": event.id}
            said |= {"timestamp": event.timestamp, "data": event.data}
            said |= {"problem": event.problem} if event.problem else {}
            print(json.dumps(said, ensure_ascii=True, default=str), flush=True)
            return
        shown = "" if event.data is None else compact(event.data, 2_000)
        told = " ".join(filter(None, (event.timestamp, state.name, shown)))
        print(clean_line(told, 2_400), flush=True)
        if event.problem:
            _note(event.problem)


class _Notes:
    """Prints on stderr what happens to a subscription besides its events."""

    def __init__(self, state: Subscription) -> None:
        self._state = state
        self._told = State.WAITING
        self._gaps = self._duplicates = 0
        self._problem = ""

    def look(self) -> None:
        one = self._state
        if one.gaps > self._gaps:
            _note(f"{clean_line(one.name, 80)}: the server skipped events")
        if one.duplicates > self._duplicates:
            _note(f"{clean_line(one.name, 80)}: a duplicate was left out")
        self._gaps, self._duplicates = one.gaps, one.duplicates
        if one.state is State.LOST:
            _note(f"{clean_line(one.name, 80)}: {one.problem} Retrying in {one.wait:g} s.")
        elif (one.state, one.problem) != (self._told, self._problem):
            _note(f"{clean_line(one.name, 80)}: {one.problem or one.state.value}")
        self._told, self._problem = one.state, one.problem


def _end_note(state: Subscription) -> None:
    counted = f"{clean_line(state.name, 80)}: {state.received} received"
    if state.duplicates:
        counted += f", {plural(state.duplicates, 'duplicate')}"
    if state.cursor is not None and state.cursor == clean_line(state.cursor, 200):  # can be typed
        counted += f", to continue: --since={shlex.quote(state.cursor)}"
    _note(counted)


def _note(text: str) -> None:
    print(f"· {clean_line(text, 600)}", file=sys.stderr, flush=True)


def _row(one: EventType) -> tuple[str, ...]:
    about = " ".join(filter(None, (clean_line(one.description, 200), one.why_not)))
    return (clean_line(one.name, 200), _modes(one), Arguments(one.name, one.input_schema).signature, about)


def _modes(one: EventType) -> str:
    return ", ".join(one.delivery) or "no delivery mode"


def _lines(one: EventType) -> list[str]:
    lines = [f"{clean_line(one.name, 200)}  {_modes(one)}"]
    if description := clean_line(one.description, 2_000):
        lines.append(f"    {description}")
    if signature := Arguments(one.name, one.input_schema).signature:
        lines.append(f"    arguments: {signature}")
    if one.why_not:
        lines.append(f"    {one.why_not}")
    for what, schema in (("input schema", one.input_schema), ("payload schema", one.payload_schema)):
        shown = json.dumps(schema, indent=2, ensure_ascii=True) if schema else "none"
        lines += [f"    {what}:", *(f"      {line}" for line in shown.splitlines())]
    return lines


def _as_json(one: EventType) -> dict[str, Any]:
    return {
        "name": one.name,
        "description": one.description,
        "delivery": list(one.delivery),
        "inputSchema": one.input_schema,
        "payloadSchema": one.payload_schema,
    }
