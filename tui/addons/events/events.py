"""The subscriptions of a run: who delivers them, when they start and stop, and the inbox that they fill."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tui.addons.events import wire
from tui.addons.events.actor import Actor
from tui.addons.events.delivery import Delivery
from tui.addons.events.inbox import Inbox
from tui.addons.events.rules import EventRule
from tui.addons.events.server_events import RunningServer, validated
from tui.addons.events.store import MAX_SUBSCRIPTIONS, EventStore, KeptSubscription
from tui.addons.events.subscription import State, Subscription
from tui.addons.events.wire import EventType, Occurrence
from tui.core.background import Tasks, cancel_all
from tui.core.errors import StorageError, UsageError
from tui.core.jsonrpc.extensions import EVENTS
from tui.core.language.translate import N_, message
from tui.core.ports import hand_call
from tui.core.servers import ServerState, ServerStatus, StopReason
from tui.core.text import quoted_name
from tui.host.server.supervisor import NEXT_CALL
from tui.host.sign_in.sign_ins import NOT_SIGNED_IN
from tui.storage.files.live_lock import LiveLock

if TYPE_CHECKING:
    from tui.runtime.runtime import Runtime

LOOK_SECONDS = 0.5
"""Seconds between two looks at which servers run."""

OWNER_SECONDS = 5.0
"""Seconds between two tries to deliver in place of another mcptui, which does so until it ends."""

SAVE_SECONDS, MOVE_SECONDS = 0.5, 10.0
"""How soon an event is saved with the position after it, and a position that moved without one."""

MAX_STREAMS = 8
"""Streams per server: over HTTP/1.1, each takes a connection. Further subscriptions poll if they can."""

DIED = (StopReason.CRASHED, StopReason.EXITED, StopReason.FAILED_TO_START)
"""Why a server stopped without the user."""

OTHER = N_("Another mcptui delivers events. Close it, or use it there.")
OTHER_PROGRAM = N_("Another program or URL has this name now. It gets nothing of this subscription.")
TURNED_OFF = N_("Events is turned off for this server.")
NO_SERVER = N_("No server has this name now.")
NOT_OFFERED = N_("The server does not offer events now.")
SIGNED_OUT = N_("It belonged to a sign-in that has ended.")


@dataclass(eq=False, slots=True)
class Subscribed:
    """A subscription of this run: what is kept of it, its state, and the task that delivers its events."""

    kept: KeptSubscription
    state: Subscription
    task: asyncio.Task[None] | None = None

    @property
    def server(self) -> str:
        return self.kept.server

    @property
    def key(self) -> str:
        """What rules name it by: "github/push"."""
        return f"{self.kept.server}/{self.kept.name}"


class Events:
    """The subscriptions and the inbox. Reads and changes the file only as its owner: one mcptui delivers.

    Attributes:
        subscriptions: those of all servers, also of ones that are not configured now.
        inbox: the events that arrived.
        actor: asks the model about them, if the user wants it.
        problem: why nothing is delivered, or the file is damaged; or "".
        revision: grows when anything shown has changed.
    """

    def __init__(self, runtime: "Runtime", store: EventStore | None = None) -> None:
        self._runtime = runtime
        self._store = store or EventStore()
        self.subscriptions: list[Subscribed] = []
        self.inbox = Inbox()
        self.actor = Actor(runtime, self._keep)
        self.problem = ""
        self.revision = 0
        self._lock: LiveLock | None = None
        self._seen: set[str] = set()
        self._tasks = Tasks()
        self._types: dict[str, Mapping[str, EventType]] = {}
        self._save_at = 0.0
        self.is_read = asyncio.Event()

    def begin(self) -> None:
        """Read the file and deliver, from now on. Only the first call does something."""
        if not self._tasks.running:
            self._tasks.start(self._follow(), "deliver events")

    @property
    def delivers(self) -> bool:
        """Whether this mcptui delivers the events, and not another one."""
        return self._lock is not None

    def _own_or_raise(self) -> None:
        """Raise UsageError if another mcptui delivers: what is changed here would change nothing."""
        if not self.delivers:
            raise UsageError(self.problem or OTHER)

    def of(self, server: str) -> Sequence[Subscribed]:
        return [one for one in self.subscriptions if one.server == server]

    # ---- what the user does ------------------------------------------------------------------------------

    def offers(self, server: str) -> bool:
        """Whether a running server declares events."""
        return self._runtime.workbench.extension(server, EVENTS) is not None

    async def types(self, server: str) -> tuple[Sequence[EventType], str]:
        """Ask a server for its event types; return them and a problem, or ""."""
        found, problem = await RunningServer(self._runtime, server).types()
        self._types[server] = {one.name: one for one in found}
        return found, problem

    def mode_of(self, server: str, kind: EventType) -> str:
        """Return the mode of a new subscription. Raises UsageError if there is none."""
        modes = kind.modes
        if not modes:
            raise UsageError(kind.why_not)
        streams = sum(one.state.mode == wire.PUSH_MODE and not one.state.is_over for one in self.of(server))
        many = streams >= MAX_STREAMS and wire.POLL_MODE in modes
        return wire.POLL_MODE if many else modes[0]

    async def subscribe(
        self, server: str, kind: EventType, arguments: Mapping[str, Any], *, by: str
    ) -> Subscribed:
        """Subscribe, as the user has agreed. Raises UsageError if that is not possible."""
        self.begin()
        await self.is_read.wait()
        status = self._runtime.host.find(server)
        self._own_or_raise()
        if status is None or not self.offers(server):
            name = quoted_name(server)
            raise UsageError(message("The server {name} does not offer events.", name=name))
        mode = self.mode_of(server, kind)
        same = (kind.name, dict(arguments))
        for one in list(self.of(server)):
            if (one.kept.name, one.kept.arguments) == same:
                if not one.state.is_over and one.kept.origin == status.spec.origin:
                    name = quoted_name(kind.name)
                    raise UsageError(message("You are already subscribed to {name} with this.", name=name))
                await self.unsubscribe(one)
        if len(self.subscriptions) >= MAX_SUBSCRIPTIONS:
            raise UsageError(message("At most {n} subscriptions.", n=MAX_SUBSCRIPTIONS))
        kept = KeptSubscription(
            server, status.spec.origin, kind.name, dict(arguments), mode, time.time(),
            await self._account(server),
        )  # fmt: skip
        subscribed = Subscribed(kept, Subscription(kind.name, mode))
        self.subscriptions.append(subscribed)
        subject = f"subscribe {kind.name}"
        self._runtime.decisions.add(hand_call(server, subject, arguments, by=by))
        self._look()
        self._keep()
        return subscribed

    async def unsubscribe(self, one: Subscribed) -> None:
        """Remove a subscription; the server hears of it. Its events stay in the inbox. Raises UsageError."""
        self._own_or_raise()
        if one in self.subscriptions:
            self.subscriptions.remove(one)
        await self._stop(one)
        self._keep()

    async def pause(self, one: Subscribed, *, is_paused: bool = True) -> None:
        """Stop the delivery of a subscription, or continue it from where it was. Raises UsageError."""
        self._own_or_raise()
        one.kept.is_paused = is_paused
        if not is_paused and self.actor.is_stopped:
            self.actor.resume()
        if is_paused:
            await self._stop(one)
        self._look()
        self._keep()

    async def stop_all(self) -> None:
        """Stop every delivery, and every turn that events have started. Raises UsageError."""
        self._own_or_raise()
        await self.actor.stop()
        for one in [one for one in self.subscriptions if not one.state.is_over]:
            await self.pause(one)

    async def confirm(self, rule: EventRule, *, is_confirmed: bool = True) -> None:
        """Record that the user agrees to a rule as it is, or does not any more. Raises UsageError."""
        self._own_or_raise()
        (self.actor.state.confirm if is_confirmed else self.actor.state.withdraw)(rule)
        self.actor.look()
        self._keep()

    def read(self, numbers: Sequence[int]) -> None:
        """Mark items of the inbox as read; those of another mcptui are only shown."""
        self.inbox.read(numbers)
        self._changed(saves=SAVE_SECONDS)

    # ---- delivery ----------------------------------------------------------------------------------------

    async def _follow(self) -> None:
        try:
            await self._own()
            revision: object = None
            while True:
                host = self._runtime.host
                if (now := (host, host.revision)) != revision:
                    revision = now
                    await self._drop_signed_out()
                    self._look()
                self.actor.look()
                if self._save_at and time.monotonic() >= self._save_at:
                    self._save()
                await asyncio.sleep(LOOK_SECONDS)
        finally:
            self.is_read.set()

    async def _own(self) -> None:
        """Become the one mcptui that delivers, and read the file. Until then, show what is in it."""
        while self._lock is None:
            kept, self.inbox, self.actor.state, self.problem = await asyncio.to_thread(self._store.read)
            try:
                self._lock = await asyncio.to_thread(LiveLock, self._store.path)
            except (StorageError, OSError):
                self.problem = OTHER
            else:
                kept, self.inbox, self.actor.state, self.problem = await asyncio.to_thread(self._store.read)
            self.subscriptions = [self._made(one) for one in kept]
            self.is_read.set()
            self._changed()
            if self._lock is None:
                await asyncio.sleep(OWNER_SECONDS)

    def _look(self) -> None:
        """Start the delivery of what can be delivered now, and stop the others."""
        host = self._runtime.host
        servers = {one.name: one for one in host.statuses()}
        for name in self._seen - servers.keys():
            if not self._is_left_out(name):  # removed
                self._forget(name)
        self._seen = {*servers}
        for one in self.subscriptions:
            if one.state.is_over or one.kept.ended:
                continue
            status = servers.get(one.server)
            hindrance = self._hindrance(one, status)
            if self.delivers and hindrance is None and not one.kept.is_paused:
                if one.task is None:
                    one.state.problem = ""
                    one.task = self._tasks.start(self._deliver(one), f"events of {one.server}")
            else:
                if one.task is not None:
                    self._types.pop(one.server, None)
                    self._tasks.start(self._stop(one), f"stop events of {one.server}")
                one.state.problem = hindrance or ""
                if self.delivers and status is not None and status.reason in DIED and not one.kept.is_paused:
                    self._revive(one.server)

    def _revive(self, server: str) -> None:
        """Start a server that died again, as a call would: nobody calls it while it has to deliver."""
        name = f"start {server} again for its events"
        if name not in {task.get_name() for task in self._tasks.running}:
            self._tasks.start(self._runtime.host.revive(server), name)

    def _is_left_out(self, server: str) -> bool:
        """Whether a server is configured, but not in this run."""
        return server in self._runtime.configuration.left_out or self._runtime.is_disabled(server)

    def _hindrance(self, one: Subscribed, status: ServerStatus | None) -> str | None:
        """Return why the server of a subscription delivers nothing now, "" while it does not run; or None."""
        if status is None:
            is_known = one.server in self._runtime.configuration.left_out or self._runtime.is_disabled(
                one.server
            )
            return "" if is_known else NO_SERVER
        if status.spec.origin != one.kept.origin:
            return OTHER_PROGRAM
        if status.spec.extensions.get(EVENTS) is False:
            return TURNED_OFF
        if status.state is not ServerState.RUNNING:
            return "" if status.state is not ServerState.STOPPED else status.detail.removesuffix(NEXT_CALL)
        return None if self.offers(one.server) else NOT_OFFERED

    async def _stop(self, one: Subscribed) -> None:
        if (task := one.task) is not None:
            await cancel_all((task,))
        if not one.state.is_over:
            one.state.state = State.PAUSED if one.kept.is_paused else State.WAITING

    async def _deliver(self, one: Subscribed) -> None:
        """Deliver the events of one subscription until it ends or is stopped."""
        server = RunningServer(self._runtime, one.server)

        async def accept(event: Occurrence) -> None:
            await self._accept(one, event)

        try:
            if await self._account(one.server) != one.kept.account:
                self._end(one, SIGNED_OUT)
                return
            delivery = Delivery(
                server, one.state, one.kept.arguments, accept, self._runtime.turn_context.clock, self._moved
            )
            await delivery.run()
            self._end(one, one.state.problem)
        finally:
            one.task = None
            self._changed(saves=SAVE_SECONDS)

    async def _accept(self, one: Subscribed, event: Occurrence) -> None:
        kind = await self._type(one)
        event = await validated(self._runtime, event, kind)
        item = self.inbox.add(
            one.server,
            one.kept.name,
            at=time.time(),
            known=event.id,
            timestamp=event.timestamp,
            data=event.data,
            problem=event.problem,
        )
        self._changed(saves=SAVE_SECONDS)
        self.actor.arrived(item)

    async def _type(self, one: Subscribed) -> EventType | None:
        """Return the event type of a subscription; it is listed once while the server runs."""
        if one.server not in self._types:
            await self.types(one.server)
        return self._types.get(one.server, {}).get(one.kept.name)

    def _end(self, one: Subscribed, why: str) -> None:
        one.kept.ended = why or N_("It has ended.")
        self._types.pop(one.server, None)  # they may be what has changed
        one.state.state, one.state.problem = State.ENDED, one.kept.ended

    def _forget(self, server: str) -> None:
        for one in self.of(server):
            self.subscriptions.remove(one)
            self._tasks.start(self._stop(one), f"stop events of {server}")
        self.inbox.forget(server)
        self._types.pop(server, None)
        self._changed(saves=SAVE_SECONDS)

    async def _account(self, server: str) -> str:
        """Return what identifies the sign-in to a server, "" without one."""
        status, sign_ins = self._runtime.host.find(server), self._runtime.host.sign_ins
        if sign_ins is None or status is None or not status.spec.url:
            return ""
        for found in await sign_ins.store.listed():
            if (found.server, found.url) == (server, status.spec.url):
                return f"{found.key} {found.client.get('client_id', '')}"
        return ""

    async def _drop_signed_out(self) -> None:
        """Remove the subscriptions of accounts that were signed out."""
        sign_ins = self._runtime.host.sign_ins
        for one in [one for one in self.subscriptions if one.kept.account]:
            if sign_ins is not None and sign_ins.state(one.server) == NOT_SIGNED_IN:
                self._forget(one.server)

    # ---- the file ----------------------------------------------------------------------------------------

    def _moved(self) -> None:
        self._changed(saves=MOVE_SECONDS)

    def _changed(self, saves: float = 0.0) -> None:
        """Record a change, to be saved in `saves` seconds at the latest."""
        self.revision += 1
        if saves:
            at = time.monotonic() + saves
            self._save_at = min(self._save_at or at, at)

    def _keep(self) -> None:
        """Record a change, and save it at once."""
        self._changed()
        self._save()

    def _save(self) -> None:
        self._save_at = 0.0
        if self.delivers:
            kept = [replace(one.kept, position=one.state.position) for one in self.subscriptions]
            self._store.write_later(kept, self.inbox, self.actor.state)

    async def close(self) -> None:
        """Stop every delivery, save, and let another mcptui deliver."""
        await self.actor.close()
        await self._tasks.cancel()
        if self._save_at:
            self._save()
        await asyncio.to_thread(self._store.close)
        if self._lock is not None:
            with suppress(OSError):
                self._lock.close()
            self._lock = None

    def _made(self, kept: KeptSubscription) -> Subscribed:
        state = Subscription(kept.name, kept.mode, kept.position)
        if kept.ended:
            state.state, state.problem = State.ENDED, kept.ended
        elif kept.is_paused:
            state.state = State.PAUSED
        elif not self.delivers:
            state.state = State.ELSEWHERE
        return Subscribed(kept, state)
