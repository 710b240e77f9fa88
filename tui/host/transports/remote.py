"""A remote server: the common part of all transports over HTTP.

There is no process, only a connection that can end. A `Wire` sends and receives messages.
"""

import asyncio
import contextlib
import math
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from tui.core.background import Tasks, completed
from tui.core.errors import with_stop
from tui.core.jsonrpc.messages import Failure, Id, Notification, write_line
from tui.core.jsonrpc.protocol import is_modern
from tui.core.language.translate import message
from tui.core.servers import ServerSpec
from tui.core.text import quoted_name
from tui.core.time_limits import TimeLimit, TimeLimits
from tui.core.traffic import Direction, TrafficSink
from tui.core.web import Reach
from tui.host.frames import reconnection
from tui.host.frames.id_gate import CONNECTION_CLOSED, NO_RESPONSE, PROBE, RESULT_TOO_LARGE, Gate
from tui.host.frames.inbox import MISSED, SESSION_REOPENED, Inbox
from tui.host.frames.link import Link, MakeHeaders
from tui.host.frames.stage import Stage, all_idle, release
from tui.host.frames.tap import WireTap
from tui.host.process.process import ProcessExit
from tui.host.process.stderr import StderrTail
from tui.host.sign_in.sign_ins import SignIns
from tui.host.transports.http_client import RoutedTransport, open_client
from tui.host.transports.http_faults import LATER, NOT_SENT, QUOTED, HttpFault, ended
from tui.host.transports.http_link import HttpLink

if TYPE_CHECKING:
    from tui.core.secrets.stored_sign_in import StoredSignIn
    from tui.host.sign_in.authenticator import Authenticator

CLOSE_SECONDS = 2.0
RELEASE_SECONDS = 0.1
"""How long what stages have released may take to be sent, before its requests are cancelled."""

READY_SECONDS = 12.0
"""How long a message waits for another stream: longer than opening one may take, whose failure says more."""

OPENING = (PROBE, "initialize")
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

    `clocks` are paused while the user signs in. `handshake` is the last `initialize`. For a wire with one
    stream, `again` says when that is opened again, and `ready` is set while messages may pass.
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
        self.stopping = False
        self.tap = WireTap(spec.name, sink)
        self.inbox = Inbox()
        self.clocks = clocks or TimeLimits()
        self.again = reconnection.Reconnection(gives_up=True)
        self.ready = asyncio.Event()
        self.is_reopening = False
        self.gate = Gate(self.inbox, self._reply, given_up=self.tap.gave_up)
        has_credentials = any(name.lower() == "authorization" for name in spec.headers)
        auth = None
        if sign_ins is not None and not has_credentials:
            auth = authenticator_of(spec, sign_ins, self.tap, self.clocks)
        self.link = HttpLink(
            spec,
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
        probe_seconds = math.inf if self._is_modern else self._wire.probe_seconds
        return Link(self.inbox, self._send, self.gate.new_id, probe_seconds, self.gate.give_up_probe)

    async def __aexit__(self, *_: object) -> None:
        await completed(self._stop())

    async def kill_now(self) -> None:
        """Drop everything in progress, even a stop."""
        for task in self._tasks.running:
            task.cancel()

    async def _stop(self) -> None:
        self.stopping = True
        for direction in (Direction.OUT, Direction.IN):
            release(self.stages, direction)
        if not all_idle(self.stages):
            await asyncio.sleep(RELEASE_SECONDS)
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
        self._wire.send(message, body, made)
        return True

    def _reply(self, message: dict[str, Any]) -> None:
        self._wire.send(message, write_line(message), {})

    # ---- for the wire ------------------------------------------------------------------------------------

    def start(self, work: Coroutine[Any, Any, None], what: str) -> asyncio.Task[None]:
        """Run `work` in a task that ends with the connection."""
        return self._tasks.start(work, f"{what} of {self.spec.name}")

    def limit(self, seconds: float) -> contextlib.AbstractAsyncContextManager[TimeLimit]:
        """Raise TimeoutError after `seconds`, paused while the user signs in."""
        return self.clocks.within(TimeLimit(seconds))

    def switch(self, wire: Callable[["RemoteTransport"], Wire]) -> Wire:
        """Continue over another wire, because the server does not support the first one."""
        self._wire = self._made(wire)
        self._wire.open()
        return self._wire

    async def keep_open(
        self, stream: Callable[[], Awaitable[None]], lost: Callable[[HttpFault], None]
    ) -> None:
        """Open the stream of a wire and read it to its end with `stream`, and again after each loss.

        `stream` raises HttpFault, and calls `end` first if the server must not be asked again. A rejection
        counts like any other loss, because a gateway rejects everything while its server restarts. `lost`
        fails the requests that were sent on the stream.
        """
        fault = ended(200)

        async def once() -> bool:
            nonlocal fault
            try:
                await stream()
            except HttpFault as found:
                fault = found
            self.ready.clear()
            if self.fatal or not self.gate.version:
                return False
            self.is_reopening = True
            lost(fault)
            return True

        await self.again.keep_open(once)
        self.end(fault, final=bool(self.gate.version) or not self.again.is_open)

    async def let_pass(
        self, send: Callable[[dict[str, Any]], Awaitable[None]], lose: Callable[[HttpFault], None]
    ) -> None:
        """Let messages pass on a new stream; in place of another one, only after its handshake.

        If the server does not accept that, `lose` ends the stream.
        """
        try:
            if self.gate.version:
                await self.shake_hands(send)
        except HttpFault as fault:
            lose(fault)
        else:
            self.again.opened()
            self.is_reopening = False
            self.ready.set()

    async def until_ready(self) -> None:
        """Wait until messages may pass. Raises HttpFault if that takes long, so that a message is not sent.

        The first stream is limited by its own opening, and by the start.
        """
        with contextlib.suppress(TimeoutError):
            async with self.limit(READY_SECONDS if self.gate.version else math.inf):
                await self.ready.wait()
        if not self.ready.is_set():
            reach = self.reach
            why = reach.problem or message("the connection to {where} is being reopened.", where=reach.where)
            raise HttpFault(why, next_step=NOT_SENT)

    def delivered(self) -> None:
        """Record that the stream has brought a message; the answer to a handshake proves nothing."""
        if self.ready.is_set():
            self.again.delivered()

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
                    answered = await answer
                if isinstance(answered, Failure):
                    text = message(
                        "the server refused a new session: {message}.",
                        message=quoted_name(answered.message, QUOTED),
                    )
                    raise HttpFault(text, next_step=LATER)
                if answered.result.get("protocolVersion") != self.gate.version:  # needs a new connection
                    text = message("the server lost the session and now speaks another protocol version.")
                    self.end(fault := HttpFault(text, next_step=message("Restart it.")))
                    raise fault
                self.missed(SESSION_REOPENED)
                await send(INITIALIZED)
        except TimeoutError:
            text = message("the server lost the session and did not answer a new handshake.")
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
        fault = HttpFault(with_stop(why), next_step=message("Restart mcptui to use this server again."))
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
