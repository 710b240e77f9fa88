"""A remote server: the common part of all transports over HTTP.

There is no process, only a connection that can end. A `Wire` sends and receives messages.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from tui.core.background import Tasks, completed
from tui.core.jsonrpc.messages import Id, Notification, write_line
from tui.core.jsonrpc.protocol import is_modern
from tui.core.servers import Reach, ServerSpec
from tui.core.time_limits import TimeLimit, TimeLimits
from tui.core.traffic import TrafficSink
from tui.core.units import size as shown_size
from tui.host.frames import reconnection
from tui.host.frames.id_gate import (
    CANCELLED,
    CONNECTION_CLOSED,
    NEVER_SENT,
    NO_RESPONSE,
    PROBE,
    RESULT_TOO_LARGE,
    Gate,
)
from tui.host.frames.inbox import MISSED, SESSION_REOPENED, Inbox
from tui.host.frames.link import Link, MakeHeaders
from tui.host.frames.stage import Stage
from tui.host.frames.tap import WireTap
from tui.host.process.process import ProcessExit
from tui.host.process.stderr import StderrTail
from tui.host.sign_in.sign_ins import SignIns
from tui.host.transports.http_client import RoutedTransport, Sending, open_client
from tui.host.transports.http_faults import LATER, HttpFault
from tui.host.transports.http_link import HttpLink

if TYPE_CHECKING:
    from tui.host.sign_in.authenticator import Authenticator
    from tui.host.sign_in.token_store import StoredSignIn

CLOSE_SECONDS = 2.0
ACCEPT_SECONDS = 30.0
"""How long a server may take to accept a notification or a response."""

LINGER_SECONDS = 10.0
"""How long a server may take to accept a message that is answered already, or to answer a cancelled one."""

WAITING_LIMIT = 32 * 1024 * 1024
"""Maximum bytes that wait to be sent in order, as for a local server."""

OVERHEAD = 1024
"""Bytes of memory that a waiting message takes besides its text."""

T = TypeVar("T")
OPENING = (PROBE, "initialize")
_log = logging.getLogger(__name__)
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def authenticator_of(
    spec: ServerSpec, sign_ins: SignIns, tap: WireTap, clocks: TimeLimits
) -> "Authenticator":
    """Return an authenticator for a server; its requests are recorded as events, without their secrets."""
    from tui.host.sign_in.authenticator import Authenticator

    return Authenticator(spec, sign_ins, tap, clocks, open_client=lambda: open_client(RoutedTransport(), {}))


async def sign_in(spec: ServerSpec, sign_ins: SignIns, sink: TrafficSink) -> "StoredSignIn":
    """Sign in to a server, whether or not it runs. Raises SignInFailed."""
    return await authenticator_of(spec, sign_ins, WireTap(spec.name, sink), TimeLimits()).sign_in()


async def revoke(
    server: str,
    sign_ins: "Sequence[StoredSignIn]",
    spec: ServerSpec | None,
    around: SignIns,
    sink: TrafficSink,
) -> str:
    """Revoke the tokens of sign-ins, recorded without secrets; return why one was not revoked, or "".

    The configured credentials of `spec` are used for its own sign-ins; without it only stored ones.
    """
    from tui.host.sign_in.authorization_server import revoke

    async with open_client(RoutedTransport(), {}) as client:
        return await revoke(sign_ins, client, spec, WireTap(server, sink), around.remember)


Ordered = tuple[dict[str, Any], bytes, Mapping[str, str]]
"""A message, its JSON, and the headers from the session."""

Deliver = Callable[[dict[str, Any], bytes, Mapping[str, str]], Awaitable[None]]


class SendQueue(Generic[T]):
    """What waits to be sent in order: a server that asks without reading answers must not fill the memory.

    `on_full` is called with why the connection cannot continue, if more would wait than `WAITING_LIMIT`.
    """

    def __init__(self, on_full: Callable[[HttpFault], None]) -> None:
        self._on_full = on_full
        self._waiting: asyncio.Queue[tuple[T, int]] = asyncio.Queue()
        self._size = 0

    def put(self, item: T, size: int) -> None:
        """Add an item with a text of `size` bytes; never waits."""
        if self._size + size > WAITING_LIMIT:
            text = f"the server does not read its input: {shown_size(WAITING_LIMIT)} are waiting."
            self._on_full(HttpFault(text, next_step="Restart it."))
            return
        self._size += size + OVERHEAD
        self._waiting.put_nowait((item, size))

    async def get(self) -> T:
        """Return the first item, once there is one."""
        item, size = await self._waiting.get()
        self._size -= size + OVERHEAD
        return item

    def clear(self) -> None:
        """Drop what waits."""
        while not self._waiting.empty():
            self._waiting.get_nowait()
        self._size = 0


class Wire(Protocol):
    """Sends messages to one remote server and receives its answers. Used once.

    `kind` is its name on screen. After `probe_seconds`, the session gets the answer that the server does not
    support `server/discover`.
    """

    kind: str
    probe_seconds: float

    def open(self) -> None:
        """Start; never waits."""

    def send(self, message: dict[str, Any], body: bytes, headers: Mapping[str, str]) -> None:
        """Send a message, whose JSON is `body`, with the headers from the session; never waits."""

    async def close(self) -> None:
        """Close the connection cleanly, in bounded time; call it once all tasks have ended."""


class RemoteTransport:
    """One connection to one remote server: a `ServerTransport`, opened as by `open_transport`.

    `clocks` are paused while the user signs in. `handshake` is the last `initialize`, `sending` are the
    requests on their way.
    """

    pid: int | None = None
    exit: ProcessExit | None = None
    noise_hint = ""

    def __init__(
        self,
        spec: ServerSpec,
        wire: Callable[["RemoteTransport"], Wire],
        *,
        sink: TrafficSink,
        on_change: Callable[[], None] = lambda: None,
        clocks: TimeLimits | None = None,
        sign_ins: SignIns | None = None,
        is_modern: bool = False,
        stages: Sequence[Stage] = (),
    ) -> None:
        self.stages = stages
        self.stderr = StderrTail()
        self.fatal = self.next_step = ""
        self.is_final = False
        self.leftovers: tuple[int, ...] = ()
        self.exited = asyncio.Event()
        self.spec = spec
        self.incomplete = 0
        self.handshake: dict[str, Any] = {}
        self.sending: dict[Id, Sending] = {}
        self.stopping = False
        self.tap = WireTap(spec.name, sink)
        self.inbox = Inbox()
        self.clocks = clocks or TimeLimits()
        self.gate = Gate(self.inbox, self._reply, given_up=self.tap.gave_up)
        has_credentials = any(name.lower() == "authorization" for name in spec.headers)
        auth = None
        if sign_ins is not None and not has_credentials:
            auth = authenticator_of(spec, sign_ins, self.tap, self.clocks)
        self.link = HttpLink(
            spec,
            sink=sink,
            tap=self.tap,
            gate=self.gate,
            inbox=self.inbox,
            on_change=on_change,
            auth=auth,
            remember=sign_ins.remember if sign_ins is not None else lambda secrets: None,
            stages=stages,
        )
        self.messages = self.link.messages
        self._is_modern = is_modern
        self._tasks = Tasks()
        self._wire = self._made(wire)

    def _made(self, wire: Callable[["RemoteTransport"], Wire]) -> Wire:
        made = wire(self)
        self.link.reach = replace(self.link.reach, kind=made.kind)
        return made

    @property
    def reach(self) -> Reach:
        return self.link.reach

    async def __aenter__(self) -> Link:
        self.tap.connected(self.spec, self.reach.where)
        self._wire.open()
        return Link(self.inbox, self._send, self.gate.new_id)

    async def __aexit__(self, *_: object) -> None:
        await completed(self._stop())

    async def kill_now(self) -> None:
        """Drop everything in progress, even a stop."""
        for task in self._tasks.running:
            task.cancel()

    async def _stop(self) -> None:
        self.stopping = True
        self.tap.event("stop")
        self.inbox.close()
        await self._drop_tasks()
        if not self.fatal:
            closing = self.start(self._wire.close(), "leave")
            await asyncio.wait({closing}, timeout=CLOSE_SECONDS)
            await self._drop_tasks()
        with contextlib.suppress(Exception):
            async with asyncio.timeout(CLOSE_SECONDS):
                await self.link.close()
        self.exited.set()

    async def _drop_tasks(self) -> None:
        while self._tasks.running:
            await self._tasks.cancel()

    def _send(self, message: dict[str, Any], headers: MakeHeaders) -> bool:
        if self.exited.is_set() or self.stopping:
            return False
        body, made = write_line(message), headers()  # first: what cannot be written must not be pending
        if not self.gate.outgoing(message):
            return True
        if message.get("method") == "initialize":
            self.handshake = message
        if message.get("method") == PROBE and not self._is_modern:
            self.start(self._give_up_probe(message["id"], self._wire.probe_seconds), "probe")
        self._wire.send(message, body, made)
        return True

    async def _give_up_probe(self, wire_id: Id, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with self.limit(seconds):
                await asyncio.Event().wait()
        self.gate.give_up_probe(wire_id, seconds)

    def _reply(self, message: dict[str, Any]) -> None:
        self._wire.send(message, write_line(message), {})

    # ---- for the wire ------------------------------------------------------------------------------------

    def start(self, work: Coroutine[Any, Any, None], what: str) -> asyncio.Task[None]:
        """Run `work` in a task that ends with the connection."""
        return self._tasks.start(work, f"{what} of {self.spec.name}")

    def request(
        self,
        message: dict[str, Any],
        body: bytes,
        headers: Mapping[str, str],
        deliver: Callable[[Sending], Awaitable[None]],
        done: Callable[[Sending, HttpFault | None], Awaitable[None]],
        *,
        closes: bool = False,
    ) -> None:
        """Begin to `deliver` a request, which is not written once it is cancelled or has failed.

        `done` gets why it failed, or None.
        """
        wanted = partial(self.gate.is_wanted, message["id"])
        sending = Sending(message, body, headers, wanted, closes=closes)
        self.sending[sending.id] = sending

        async def run() -> None:
            fault: HttpFault | None = None
            try:
                await deliver(sending)
            except HttpFault as found:
                fault = found
            except Exception:  # a bug must not leave a call pending forever
                _log.exception("a request to %s failed with an internal error", self.spec.name)
                step = "See mcptui.log for the cause."
                fault = HttpFault("internal error: the response was lost.", next_step=step)
            finally:
                del self.sending[sending.id]
            await done(sending, fault)

        sending.task = self.start(run(), sending.method)

    def take_back(self, message: Mapping[str, Any]) -> bool:
        """Stop sending the request that a message cancels; return False if the server must get it."""
        wire_id = message["params"]["requestId"] if message.get("method") == CANCELLED else None
        if wire_id is None or (sending := self.sending.get(wire_id)) is None:
            return False
        if sending.closes:
            sending.cancel()
            self.tap.withdrew(wire_id, "cancelled: the request was closed")
        elif sending.take_back():
            self.tap.withdrew(wire_id, NEVER_SENT)
        else:
            self.let_go(wire_id)
            return False
        return True

    def let_go(self, wire_id: Id) -> None:
        """End an HTTP request that nothing is expected of: each one that is never answered holds a socket."""
        if (sending := self.sending.get(wire_id)) is not None:
            asyncio.get_running_loop().call_later(LINGER_SECONDS, sending.cancel)

    async def send_in_order(self, waiting: SendQueue[Ordered], deliver: Deliver) -> None:
        """Deliver notifications and responses, one after the other, whether or not they are accepted."""
        while True:
            message, body, headers = await waiting.get()
            try:
                async with self.limit(ACCEPT_SECONDS):
                    await deliver(message, body, headers)
            except Exception as error:  # the rest must still be sent
                what, kind = message.get("method", "a response"), type(error).__name__
                _log.warning("%s did not accept %s (%s)", self.spec.name, what, kind)

    @contextlib.asynccontextmanager
    async def limit(self, seconds: float) -> AsyncIterator[TimeLimit]:
        """Raise TimeoutError after `seconds`, paused while the user signs in."""
        limit = TimeLimit(seconds)
        with self.clocks.holding(limit):
            async with limit:
                yield limit

    def switch(self, wire: Callable[["RemoteTransport"], Wire]) -> Wire:
        """Continue over another wire, because the server does not support the first one."""
        self._wire = self._made(wire)
        self._wire.open()
        return self._wire

    async def shake_hands(self, send: Callable[[dict[str, Any]], Awaitable[None]]) -> None:
        """Repeat the handshake with `send`, unseen by the session. Raises HttpFault if it is not accepted.

        Nothing else may be sent in the new session until this returns. Since 2026-07-28 there is no session.
        """
        if is_modern(self.gate.version):
            return self.missed()
        try:
            async with self.limit(reconnection.HANDSHAKE_SECONDS):
                with self.gate.asking(self.handshake) as (opening, answer):
                    await send(opening)
                    result = await answer
                if result is None:
                    raise HttpFault("the server refused a new session.", next_step=LATER)
                if result.get("protocolVersion") != self.gate.version:  # needs a new connection
                    text = "the server lost the session and now speaks another protocol version."
                    self.end(fault := HttpFault(text, next_step="Restart it."))
                    raise fault
                self.missed(SESSION_REOPENED)
                await send(INITIALIZED)
        except TimeoutError:
            text = "the server lost the session and did not answer a new handshake."
            raise HttpFault(text, next_step=LATER, lost=True) from None

    def missed(self, gap: str = MISSED) -> None:
        """Report a gap, in which messages of the server may have been lost: anything may have changed."""
        self.tap.event("stream opened again" if gap == MISSED else "session opened again")
        self.inbox.put(Notification(gap))

    def fail(self, wire_id: Id, fault: HttpFault) -> None:
        """Fail a request that will get no answer, unless it has been answered."""
        code = RESULT_TOO_LARGE if fault.message.startswith("result too large") else NO_RESPONSE
        self.gate.fail((wire_id,), code, str(fault))

    def cut_off(self, why: str) -> None:
        """End the connection before anything else that the server says is passed on."""
        fault = HttpFault(f"{why}.", next_step="Restart mcptui to use this server again.")
        self.gate.fail_all(CONNECTION_CLOSED, str(fault))
        self.end(fault)

    def end(self, fault: HttpFault, *, final: bool = True) -> None:
        """End the connection: fail pending calls first, then set `exited`.

        It is not `final` if the server may have rejected the protocol era.
        """
        if not self.fatal and not self.stopping:
            self.fatal, self.next_step, self.is_final = fault.message, fault.next_step, final
            self.start(self._end(fault), "end")

    async def _end(self, fault: HttpFault) -> None:
        self.gate.fail_all(CONNECTION_CLOSED, str(fault))
        await self.inbox.hand_over()
        self.exited.set()
        self.link.changed()
