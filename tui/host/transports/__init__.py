"""Transports: the `ServerTransport` protocol, and the choice of a transport for a server."""

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from tui.core.addons import brought
from tui.core.servers import ServerSpec, Transport
from tui.core.time_limits import TimeLimits
from tui.core.traffic import TrafficSink
from tui.host.frames.stage import Stage
from tui.host.process.watchdog import Watchdog
from tui.host.sign_in.sign_ins import SignIns

if TYPE_CHECKING:
    from tui.core.secrets.redact import Redactor
    from tui.host.frames.stage import Stage
    from tui.host.transports.remote import RemoteTransport, Wire
    from tui.host.transports.stdio import StdioTransport


ServerTransport: TypeAlias = "StdioTransport | RemoteTransport"
"""One connection to one server, used once: an async context manager that returns its `Link`.

Leaving it always ends the server and everything that it started, in bounded time. Every transport shows each
raw line to a `TrafficSink` first.

`pid` is that of the leader, None while there is no process, and `exit` how it ended, once it has; `exited` is
set as soon as the server has ended. `stderr` has its last log lines, `leftovers` are processes that had left
the group and were ended anyway. `messages` counts incoming lines that were not messages, `noise_hint` is the
kind of those of a local server, if it is known. `incomplete` is the number of bytes of an unfinished line,
`gate.stray` a response that belongs to no request. `fatal` says why the stream is unusable, `next_step` what
the user can do, "" for the default advice, and `is_final` whether that would be the same in the other era.
`reach` is the address of a remote server and whether it responds, None for others. Messages pass `stages`.
"""


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
    stages: Sequence[Stage] = (),
) -> ServerTransport:
    """Return an unused transport for the server that `spec` describes.

    Import that of a remote server off the event loop first (`tui.host.server.server_start`). `watchdog`
    ends a local server that outlives this host, and has the mark for its environment. `on_change`, called
    when stderr, noise or the process changed, must not raise. `clocks` are the time limits of the
    connection. Without `sign_ins`, there is no sign-in to remote servers. `redactor` learns the
    credentials of a remote server as they are sent. A server that `is_modern` supports `server/discover`,
    so its answer is awaited, however long it takes to start. Its messages pass the `stages`, and those for
    the faults of its configuration.
    """
    if spec.faults:
        faults = brought("service", "fault stages")(spec.faults, transport=spec.transport.value)
        stages = (*stages, *faults)
    if spec.transport not in (Transport.STDIO, Transport.LINES):
        from tui.host.passthrough.learned_secrets import LearnedSecrets
        from tui.host.transports.http_sse import HttpSse
        from tui.host.transports.remote import RemoteTransport
        from tui.host.transports.streamable_http import StreamableHttp

        is_sse = spec.transport is Transport.SSE
        wire: Callable[[RemoteTransport], Wire] = HttpSse if is_sse else StreamableHttp
        if spec.transport is Transport.WEBSOCKET:
            wire = brought("transport", spec.transport.value)
        learned = None if redactor is None else LearnedSecrets(sink, redactor)
        remote = RemoteTransport(
            spec,
            wire,
            sink=learned or sink,
            on_change=on_change,
            clocks=clocks,
            sign_ins=sign_ins,
            is_modern=is_modern,
            stages=stages,
        )
        if learned is not None:
            learned.on_full = remote.cut_off
        return remote
    from tui.host.transports.stdio import StdioTransport

    return StdioTransport(
        spec,
        sink=sink,
        owner=watchdog.owner,
        is_modern=is_modern,
        on_change=on_change,
        grace=grace,
        watchdog=None if sys.platform == "win32" else watchdog,
        stages=stages,
    )
