"""Restarts a server whose files have changed: the new process answers before the old one ends.

So a start that fails by itself costs nothing. One that fails because the old process has a port or a file is
tried again without it. So is one that does not say why, until that was of no use.
"""

import asyncio
import copy
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tui.addons.watch.ports import restarted_itself
from tui.core.background import Tasks, completed
from tui.core.permission.definitions import Accepted, DefinitionChange, digests_of, shown_name
from tui.core.permission.differences import Definition, digest_of
from tui.core.servers import ServerState
from tui.core.text import clean_line
from tui.core.traffic import Captured, Kind, TrafficSink
from tui.host.frames.tap import WireTap
from tui.host.host import Host
from tui.host.server.offers import definitions_of
from tui.host.server.supervisor import Supervisor
from tui.traffic.explain.crash import last_crash, may_be_in_use, says_in_use, says_no_place

RESTARTED, NOT_STARTED = "restarted", "restart failed"
"""Words of the events that mark a restart in the traffic."""

STOPPED_AS = "was restarted during the call because its files changed"

PROBLEM_CHARS = 300
CLOSE_SECONDS = 2.0
LONGEST_TRY_NS = 10_000_000_000
"""Nanoseconds after which a start that has failed is not tried again."""


@dataclass(frozen=True, slots=True)
class HandoverResult:
    """What became of a restart.

    Attributes:
        is_new: whether a new process runs.
        is_running: whether any does, possibly the old one.
        seconds: until the new process answered, or failed.
        stopped_first: whether the old process was stopped before the new one started; of a failed restart,
            whether it was stopped after a start beside it had failed.
        problem: why no new process runs, in a line, or "".
        place: the file and line of the problem, or "".
        may_need_stop: whether the old process may be the problem, which still runs.
        changes: the definitions that are new or differ; `removed` are the names of those that are gone.
    """

    is_new: bool
    is_running: bool
    seconds: float
    stopped_first: bool = False
    problem: str = ""
    place: str = ""
    may_need_stop: bool = False
    changes: Sequence[DefinitionChange] = ()
    removed: Sequence[str] = ()


class HeldTraffic:
    """Keeps the traffic of a new process until the old one has ended.

    So the recording has one process after the other, each with its own ids.
    """

    def __init__(self, sink: TrafficSink) -> None:
        self._sink = sink
        self._held: list[Captured] | None = []

    def __call__(self, captured: Captured) -> None:
        self.take_all((captured,))

    def take_all(self, several: Sequence[Captured]) -> None:
        if self._held is not None:
            self._held += several
            return
        for captured in several:
            self._sink(captured)

    def crowded(self) -> bool:
        return bool(getattr(self._sink, "crowded", bool)())

    def release(self) -> None:
        """Pass on what is held, and from now on everything at once."""
        getattr(self._sink, "divide", object)()  # what is held is older than the end of the old process
        held, self._held = self._held or [], None
        self.take_all(held)

    def give_up(self, source: str) -> None:
        """Pass on what is held, of a process that is not used: its log, and the rest under another name.

        Otherwise its messages would be taken for those of the process that still runs.
        """
        held, self._held = self._held or [], None
        said = any(one.kind is None for one in held)
        for one in held:
            if one.kind is Kind.STDERR:
                self._sink(one)
            elif said:
                self._sink(one._replace(source=f"{source} (not started)"))


class Handovers:
    """Restarts the servers of a host."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._around = host.around
        self._listed: dict[str, Mapping[str, Definition]] = {}
        self._need_stop: set[str] = set()
        self._fail_alone: set[str] = set()
        self._closing = Tasks()
        self._last: dict[str, asyncio.Task[None]] = {}
        self._starting: set[Supervisor] = set()

    async def hand_over(self, name: str) -> HandoverResult:
        """Restart a server, and return what became of it. Cancelling this leaves the old process.

        A server that is stopped is started. One that starts is started again.
        """
        began, server = self._around.clock.now_ns(), self._host.servers[name]
        before = self._definitions(server) or self._listed.get(name, {})
        stopped_first = is_beside = False
        tap = WireTap(name, self._around.sink)
        if server.state is not ServerState.RUNNING:
            await _restart(server)
        elif server.spec.stop_first or name in self._need_stop:
            stopped_first = True
            await _restart(server)
        else:
            is_beside = True
            server, stopped_first = await self._beside(server)
        seconds = (self._around.clock.now_ns() - began) / 1e9
        if server.state is not ServerState.RUNNING:
            problem, place = self.problem_of(server)
            tap.event(NOT_STARTED, why=problem, at=place)
            kept = self._host.servers.get(name)
            is_running = kept is not None and kept.state is ServerState.RUNNING
            return HandoverResult(
                False,
                is_running,
                seconds,
                stopped_first=is_beside and stopped_first,
                problem=problem,
                place=place,
                may_need_stop=is_beside
                and is_running
                and not server.spec.url
                and says_no_place(server.stderr()),
            )
        if stopped_first and not server.spec.stop_first:
            self._need_stop.add(name)
        after = self._listed[name] = self._definitions(server)
        changes = await asyncio.to_thread(self._changes, name, before, after) if before else []
        redact = self._around.redactor.redact
        removed = [clean_line(redact(shown_name(one)), 80) for one in before if one not in after]
        return HandoverResult(True, True, seconds, stopped_first, changes=changes, removed=removed)

    async def _beside(self, old: Supervisor) -> tuple[Supervisor, bool]:
        """Start a process beside the old one; return its server, and whether the old one was stopped.

        If they cannot run side by side, the old server is restarted instead.
        """
        name, held, around = old.spec.name, HeldTraffic(self._around.sink), copy.copy(self._around)
        around.sink = held
        new = Supervisor(old.spec, around, after=old)
        self._starting.add(new)
        is_used = False
        try:
            await self._start(new)
            in_use = says_in_use(new.stderr()) or says_in_use((new.status.detail,))
            is_used = new.state is ServerState.RUNNING and self._is_wanted(old) and not in_use
            if is_used:
                self._adopt(old, new, held)
                return new, False
        finally:
            if not is_used:
                await completed(_end_now(new))
                self._starting.discard(new)
                held.give_up(name)
        is_unclear = may_be_in_use(new.status.exit_code, new.stderr()) and name not in self._fail_alone
        if (in_use or is_unclear) and self._is_wanted(old):
            await _restart(old)
            if old.state is not ServerState.RUNNING and not in_use:
                self._fail_alone.add(name)
            return old, True
        return new, False

    async def _start(self, new: Supervisor) -> None:
        """Start a process, and again if it answers but no longer speaks the era of the old one."""
        began, clock = self._around.clock.now_ns(), self._around.clock
        if new.spec.url:
            await restarted_itself(new.spec.url)
        await new.start()
        has_ended = new.status.exit_code is not None or bool(new.status.signal)
        if new.state is ServerState.RUNNING or has_ended or clock.now_ns() - began > LONGEST_TRY_NS:
            return
        await new.start()

    def _is_wanted(self, old: Supervisor) -> bool:
        """Return whether the server is still to run: nobody has stopped or replaced it meanwhile."""
        is_present = self._host.servers.get(old.spec.name) is old and not old.closed.is_set()
        return is_present and (old.state is ServerState.RUNNING or old.status.failed)

    def _adopt(self, old: Supervisor, new: Supervisor, held: HeldTraffic) -> None:
        name = old.spec.name
        self._starting.discard(new)
        if new.spec != old.spec:
            new.reconfigure(old.spec)
        old.stopped_as = STOPPED_AS
        self._host.supersede(old, new)
        self._last[name] = self._closing.start(self._retire(old, held, self._last.get(name)), "end a process")

    async def _retire(self, old: Supervisor, held: HeldTraffic, before: asyncio.Task[None] | None) -> None:
        """End a process that another one has replaced, then pass on the traffic of that one."""
        try:
            await old.close()
            if before is not None:
                await asyncio.wait((before,))
        finally:
            self._host.leaving.discard(old)
            held.release()
            WireTap(old.spec.name, self._around.sink).event(RESTARTED)

    async def close(self) -> None:
        """End the processes that were never used, and give those that were replaced a moment to end."""
        await asyncio.gather(*map(_end_now, self._starting))
        await self._closing.settled(CLOSE_SECONDS)

    def problem_of(self, server: Supervisor) -> tuple[str, str]:
        """Return why a server did not start, in a line, with the place in its code if it says so."""
        status, place = server.status, ""
        problem = status.detail or "it did not start"
        if problem[0].islower() and not problem.startswith("it "):
            problem = f"the server {problem}"  # it is a clause after a name
        if (crash := last_crash(server.stderr())) is not None:
            problem = crash.words
            if (own := crash.own) is not None:
                here = f"{status.spec.starts_in or os.getcwd()}{os.sep}"
                place = f"{own.file.removeprefix(here)}:{own.line}"
        return clean_line(problem, PROBLEM_CHARS), clean_line(place, PROBLEM_CHARS)

    def _definitions(self, server: Supervisor) -> Mapping[str, Definition]:
        """Return what a running server offers: its tools and its instructions."""
        if (connection := server.running_connection) is None:
            return {}
        return definitions_of(connection.lists.catalog, connection.introduction.said)

    def _changes(
        self, name: str, before: Mapping[str, Definition], after: Mapping[str, Definition]
    ) -> Sequence[DefinitionChange]:
        """Return what is new or differs, without secrets, compared already. May take a second."""
        redact, found = self._around.redaction.value, list[DefinitionChange]()
        for one, digest in digests_of(after).items():
            was = before.get(one)
            if was is None or digest_of(was) != digest:
                accepted = None if was is None else Accepted(digest_of(was), redact(was))
                found.append(DefinitionChange(name, one, digest, accepted, redact(after[one])))
                _ = found[-1].effect
        return found


async def _restart(server: Supervisor) -> None:
    before, server.stopped_as = server.stopped_as, STOPPED_AS
    try:
        await server.restart()
    finally:
        server.stopped_as = before


async def _end_now(server: Supervisor) -> None:
    """End a process that was never used: it has nothing to finish, and another one waits to start."""
    await server.kill_now()
    await server.close()
