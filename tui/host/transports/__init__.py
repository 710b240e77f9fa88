"""Transports: the `ServerTransport` protocol, and the choice of a transport for a server."""

import sys
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol

from tui.core.addons import brought
from tui.core.errors import ServerError
from tui.core.servers import Reach, ServerSpec, Transport
from tui.core.time_limits import TimeLimits
from tui.core.traffic import TrafficSink
from tui.host.process.watchdog import Watchdog
from tui.host.sign_in.sign_ins import SignIns

if TYPE_CHECKING:
    import asyncio

    from tui.core.secrets.redact import Redactor
    from tui.host.process.process import ProcessExit
    from tui.host.process.stderr import StderrTail
    from tui.host.transports.remote import RemoteTransport, Wire


class ServerTransport(Protocol):
    """One connection to one server, used once: an async context manager that returns the SDK's two streams.

    Leaving it always ends the server and everything that it started, in bounded time. Every transport shows
    each raw line to a `TrafficSink` first.
    """

    @property
    def pid(self) -> int | None:
        """The process id of the leader, None while there is no process."""

    @property
    def exited(self) -> "asyncio.Event":
        """Set as soon as the server has ended."""

    @property
    def exit(self) -> "ProcessExit | None":
        """How it ended, once it has."""

    @property
    def stderr(self) -> "StderrTail":
        """Its last log lines."""

    @property
    def noise(self) -> int:
        """Number of incoming lines that were not messages."""

    @property
    def first_noise(self) -> str:
        """The first such line, cleaned and truncated, or ""."""

    @property
    def noise_hint(self) -> str:
        """The kind of noise, if it is known, or ""."""

    @property
    def fatal(self) -> str:
        """Why the stream is unusable, or ""."""

    @property
    def is_final(self) -> bool:
        """Whether `fatal` would be the same in the other protocol era."""

    @property
    def next_step(self) -> str:
        """The next step for the user, or "" for the default advice."""

    @property
    def reach(self) -> Reach | None:
        """The address of a remote server and whether it responds; None for one with a process."""

    @property
    def incomplete(self) -> int:
        """Number of bytes received of an unfinished line."""

    @property
    def stray(self) -> str:
        """A response that belongs to no request, in words, or ""."""

    @property
    def leftovers(self) -> tuple[int, ...]:
        """Ids of the processes that had left the group and were ended anyway."""

    def begin(self) -> bool:
        """Before entering, start what does not need the SDK; errors are raised on entering.

        Return whether anything was started. If so, the context must be left, even if it was not entered.
        """

    async def __aenter__(self) -> tuple[Any, Any]:
        """Start, unless `begin` did, and return the read and the write stream."""

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        """Stop the server; see the class."""

    def negotiated(self, version: str) -> None:
        """Record the negotiated protocol version."""

    async def kill_now(self) -> None:
        """Kill the server."""


def open_transport(
    spec: ServerSpec,
    *,
    sink: TrafficSink,
    watchdog: Watchdog,
    on_change: Callable[[], None],
    grace: Any = None,
    clocks: TimeLimits | None = None,
    sign_ins: SignIns | None = None,
    redactor: "Redactor | None" = None,
    is_modern: bool = False,
) -> ServerTransport:
    """Return an unused transport for the server that `spec` describes.

    Import its module off the event loop first (`tui.host.server_start`). `watchdog` ends a local server that
    outlives this host, and has the mark for its environment. `on_change`, called when stderr, noise or the
    process changed, must not raise. `clocks` are the time limits of the connection. Without `sign_ins`, there
    is no sign-in to remote servers. `redactor` learns the credentials of a remote server as they are sent. A
    server that `is_modern` supports `server/discover`, so its answer is awaited, however long it takes to
    start. Raises ServerError if this machine does not support the transport.
    """
    if spec.transport not in (Transport.STDIO, Transport.LINES):
        from tui.host.passthrough.learned_secrets import LearnedSecrets
        from tui.host.transports.remote import RemoteTransport

        learned = None if redactor is None else LearnedSecrets(sink, redactor)
        remote = RemoteTransport(
            spec,
            _wire(spec.transport),
            sink=learned or sink,
            on_change=on_change,
            clocks=clocks,
            sign_ins=sign_ins,
            is_modern=is_modern,
        )
        if learned is not None:
            learned.on_full = remote.cut_off
        return remote
    if sys.platform == "win32":
        if spec.transport is Transport.LINES:
            raise ServerError('transport = "lines" is not supported on Windows.', where=spec.name)
        from tui.host.transports.stdio_windows import WindowsStdioTransport

        return WindowsStdioTransport(spec, sink=sink, owner=watchdog.owner, on_change=on_change)
    from tui.host.transports.stdio import PROBE_SECONDS, StdioTransport

    return StdioTransport(
        spec,
        sink=sink,
        owner=watchdog.owner,
        probe_seconds=None if is_modern else PROBE_SECONDS,
        on_change=on_change,
        grace=grace,
        watchdog=watchdog,
    )


def _wire(transport: Transport) -> "Callable[[RemoteTransport], Wire]":
    if transport is Transport.WEBSOCKET:
        wire: Callable[[RemoteTransport], Wire] = brought("transport", transport.value)
        return wire
    from tui.host.transports.http_sse import HttpSse
    from tui.host.transports.streamable_http import StreamableHttp

    return HttpSse if transport is Transport.SSE else StreamableHttp
