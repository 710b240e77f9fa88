"""When one configured server runs: as the user wants it, and again after it died."""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tui.core.background import first_of
from tui.core.language.translate import message, sentences
from tui.core.permission.definitions import DefinitionChange
from tui.core.servers import ServerSpec, ServerState, ServerStatus, StopReason
from tui.core.tasks import Task
from tui.core.text import clean_line
from tui.core.tools import Tool
from tui.host.catalog import NO_TOOLS
from tui.host.error_sentences import Ending
from tui.host.server.connection import Connection
from tui.host.server.connector import Connector
from tui.host.server.host_context import HostContext
from tui.host.server.lifecycle import RestartPolicy
from tui.host.server.offers import ServerOffer
from tui.host.server.server_start import StartConsent
from tui.host.server.status import ShownStatus, StatusBoard
from tui.host.session.server_requests import ServerRequests
from tui.host.session.subscriptions import Subscriptions

NEXT_CALL = message("The next call starts it again.")


class Supervisor:
    """Owns one server: at most one process of it runs at any time.

    All methods belong to the event loop's thread. One plain task, which nobody cancels, runs the
    connections; everything else only sets events for it. `closed` is set once it will never start again;
    `start_is_queued` is then whether a start was requested that is left to its successor.
    """

    def __init__(self, spec: ServerSpec, around: HostContext, *, after: "Supervisor | None" = None) -> None:
        """`after` is the server that this one replaces as it runs: era, budgets, subscriptions go on."""
        self.spec = spec
        answerers = around.answerers
        self.requests = ServerRequests(
            spec,
            answerers.questioner,
            sampler=answerers.sampler,
            decisions=answerers.decisions,
            redact=around.redaction.value,
        )
        self.subscriptions = Subscriptions()
        self._around = around
        self._redactor = around.redactor
        self.offer = ServerOffer(spec, around.remembered.definitions)
        self._shown = ShownStatus(around.redactor)
        self._board = StatusBoard(spec, around.clock, lambda: around.changed(spec.name))
        self._consent = StartConsent(around, self._board)
        self._connector = Connector(self, around)
        self._policy = RestartPolicy()
        self._task: asyncio.Task[None] | None = None
        self._stop = asyncio.Event()
        self._woken = asyncio.Event()
        self._wanted = self._revived = False
        self.stopped_as: str = message("was stopped during the call")
        self._ended_as = ""
        self.closed = asyncio.Event()
        self.start_is_queued = False
        self._lives = self._ready_ns = 0
        if after is not None:
            self.requests, self.subscriptions = after.requests, after.subscriptions
            if (before := after.running_connection) is not None:
                self._connector.only = "modern" if before.introduction.is_modern else "legacy"

    @property
    def state(self) -> ServerState:
        return self._board.now.state

    @property
    def connection(self) -> Connection | None:
        """The present or last connection."""
        return self._connector.connection

    @property
    def status(self) -> ServerStatus:
        """Its status for front ends."""
        connection = self.connection
        status = self._shown.of(self._board.now, None if connection is None else connection.transport)
        return replace(status, tasks=len(self.waiting_tasks), changes=len(self.definition_changes))

    @property
    def running_connection(self) -> Connection | None:
        return self.connection if self.state is ServerState.RUNNING else None

    @property
    def waiting_tasks(self) -> Sequence[Task]:
        """The tasks of the server that no call waits for, including those of earlier runs."""
        connection = self.running_connection
        followed = frozenset() if connection is None else connection.calls.tasks.followed
        found = self._around.remembered.tasks.of(self.spec.name, self.spec.origin)
        return [task for task in found if task.id not in followed]

    @property
    def is_reviving(self) -> bool:
        """Whether it died and is restarted by the next call, or has been."""
        match self.state:
            case ServerState.STOPPED:
                return self._policy.is_due and not self.closed.is_set()
            case ServerState.STARTING:
                return self._revived
            case ServerState.STOPPING:
                return (self._revived or self._ready_ns > 0) and not self._stop.is_set()
        return False

    @property
    def offered(self) -> Sequence[Tool]:
        """The tools for the model, also while the server is to be restarted by the next call."""
        if self.connection is None:
            return ()
        return self.offer.offered(self.offer.kept if self.is_reviving else self.connection.lists.catalog)

    @property
    def definition_changes(self) -> Sequence[DefinitionChange]:
        """The definitions that the running server lists and that are not accepted."""
        return () if self.running_connection is None else self.offer.changes()

    def reconfigure(self, spec: ServerSpec) -> None:
        """Replace settings that need no restart: what the model is offered, not how the server starts."""
        before, self.spec = self.spec, spec
        self.requests.spec = self.offer.spec = spec
        if self.connection is not None:
            self.connection.upkeep.reconfigured(before)
        self._board.set(spec=spec)
        self.changed()

    def stderr(self, *, own: bool = False) -> tuple[str, ...]:
        """The log of this run of the server, or of the last one; if `own`, without the lines of a kill."""
        if self.connection is None:
            return ()
        tail = self.connection.transport.stderr
        return tuple(self._redactor.redact_lines(tail.own_lines if own else tail.lines()))

    @property
    def can_start(self) -> bool:
        """Whether a start would do anything."""
        return not (self.closed.is_set() or self.spec.disabled or self.spec.problem)

    async def start(self) -> None:
        """Start it, and return once it is RUNNING or STOPPED again. While STOPPING, the start is queued."""
        self.start_is_queued = self.closed.is_set()
        if not self.can_start or not await self._consent.is_given() or self.closed.is_set():
            return
        life = self._lives + (self.state in (ServerState.STOPPED, ServerState.STOPPING))
        if self.state is ServerState.STOPPING:
            self._wanted = True
        elif self.state is ServerState.STOPPED:
            self._policy.forget()
            self._revived = False
            self._begin()
        while (self._lives < life and (self.state is not ServerState.STOPPED or self._wanted)) or (
            self._lives == life and self.state not in (ServerState.RUNNING, ServerState.STOPPED)
        ):
            await self._board.changed()

    def stays_refused(self) -> bool:
        """Whether the user declined it in an earlier run; if so, its status is set accordingly."""
        return self.can_start and self._consent.is_refused()

    async def revive(self) -> None:
        """Start it again if it died, once its delay is over; return once it is RUNNING or STOPPED.

        Calls that were running when it died are not repeated. After a failure, another call may try again.
        """
        tried = False
        while self.is_reviving:
            if self.state is not ServerState.STOPPED or self._wanted:
                tried = tried or self.state is ServerState.STARTING
                await self._board.changed()
            elif tried:
                return
            elif left := self._policy.seconds_left(self._around.clock.now_ns()):
                await first_of(self._around.clock.sleep(left), self._board.changed())
            else:
                self._board.set(restarts=self._board.now.restarts + 1)
                self._revived = tried = True
                self._begin()

    def _begin(self) -> None:
        self._wanted = True
        self._woken.set()
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run_loop(), name=f"server {self.spec.name}")

    async def stop(self) -> None:
        """Stop it, its start, or its pending restart; return once it is STOPPED."""
        life = self._lives
        self.start_is_queued = False
        self._ask_to_stop()
        # A queued start may begin the next run before anyone sees STOPPED.
        while self.state is not ServerState.STOPPED and self._lives == life:
            await self._board.changed()

    async def restart(self) -> None:
        """Stop it if it is running, then start it; return as `start` does."""
        if self.state in (ServerState.STARTING, ServerState.RUNNING):
            self._ask_to_stop()
        await self.start()

    def reconnect(self) -> None:
        """Stop it and start it again, soon."""
        self._ask_to_stop()
        self._wanted = True

    async def reoffered(self) -> None:
        """Return once the running server was asked again for all that it offers, if that is due."""
        while (
            self._wanted
            or self.state in (ServerState.STARTING, ServerState.STOPPING)
            or ((connection := self.running_connection) is not None and connection.upkeep.is_switching)
        ):
            await self._board.changed()

    async def close(self) -> None:
        """Stop it permanently: later starts have no effect."""
        self.closed.set()
        self.start_is_queued = self.start_is_queued or self._wanted
        self._consent.withdraw()
        self._ask_to_stop()
        if self._task is not None:
            await asyncio.wait([self._task])

    async def kill_now(self) -> None:
        self.closed.set()
        self._ask_to_stop()
        if self.connection is not None and self.state is not ServerState.STOPPED:
            await self.connection.transport.kill_now()

    def _ask_to_stop(self) -> None:
        self._wanted = False
        self._stop.set()
        self._woken.set()
        if self._policy.is_due:
            self._board.set(detail=self._ended_as)
        self._policy.forget()
        self.offer.kept = NO_TOOLS
        self._board.leave(StopReason.REQUESTED)
        if self.state is ServerState.STOPPED:
            self._board.wake()

    # ---- the task --------------------------------------------------------------------------------------

    async def _run_loop(self) -> None:
        """Run the server again and again, as long as another run is wanted."""
        while self._wanted and not self.closed.is_set():
            ending = await self._run_once()
            died = ending.died or (self._revived and ending.reason is StopReason.FAILED_TO_START)
            if died and self._nobody_asked():
                await self._after_death(ending)

    def _nobody_asked(self) -> bool:
        return not (self._wanted or self.closed.is_set() or self._stop.is_set())

    async def _run_once(self) -> Ending:
        self._wanted = False
        self._stop = asyncio.Event()
        self._lives += 1
        self._ready_ns = 0
        self._board.begin()
        ending = await self._connector.run(self._stop)
        self._board.end(ending)
        return ending

    async def _after_death(self, ending: Ending) -> None:
        """Leave the restart to the next call, or wait for it if an automatic one is configured."""
        now = self._around.clock.now_ns()
        lived = now - self._ready_ns if self._ready_ns else 0
        delay = self._policy.delay_after_death(now, lived, random.uniform(0.8, 1.2))
        if delay is None:
            detail: str = message(
                "keeps crashing, so mcptui stopped restarting it. Last error: {detail}", detail=ending.detail
            )
            self._board.show(reason=StopReason.CRASH_LOOP, detail=detail)
            return
        if not self.spec.restart:
            self._ended_as = self._board.now.detail
            self._board.show(detail=sentences(self._ended_as, NEXT_CALL))
            return
        detail = sentences(ending.detail, message("Restarting in {delay:.0f} s.", delay=delay))
        self._woken.clear()
        self._board.show(detail=detail)
        await first_of(self._around.clock.sleep(delay), self._woken.wait())
        if self._nobody_asked():
            self._board.set(restarts=self._board.now.restarts + 1)
            self._wanted = self._revived = True
        else:
            self._board.set(detail=ending.detail)

    # ---- callbacks of a connection ---------------------------------------------------------------------

    def ready(self, connection: Connection) -> None:
        self._ready_ns = self._around.clock.now_ns()
        self._policy.is_ready()
        said, redact = connection.introduction, self._redactor.redact
        version = clean_line(redact(said.info("version")), 40)
        self._connector.succeeded(version)
        self._board.change(
            ServerState.RUNNING,
            protocol=said.version,
            title=clean_line(redact(said.info("title") or said.info("name")), 80),
            version=version,
            start_ms=connection.start_ms,
            **self._counts(connection),
        )

    def leaving(self, reason: StopReason) -> None:
        self._board.leave(reason)

    def changed(self) -> None:
        connection = self.running_connection
        self._board.show(**({} if connection is None else self._counts(connection)))
        self._board.wake()

    def _counts(self, connection: Connection) -> dict[str, Any]:
        """Return what the status says of a connection's lists, which are compared with the accepted ones."""
        lists, said = connection.lists, connection.introduction.said
        self.offer.keep(lists.catalog, said, probed=connection.start.was_probed)
        if self.spec.is_own and (changes := self.offer.definitions.changes()):
            self.offer.definitions.accept(changes)
        return {**self.offer.counts(lists.catalog, self._redactor), **lists.shown}
