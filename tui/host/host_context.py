"""The objects that all servers of one host share."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from tui.core.permission.consent import AllOwn, ConsentGate
from tui.core.permission.definitions import KnownDefinitions
from tui.core.ports import Clock
from tui.core.questions import Refuser, Sampler
from tui.core.secrets.redact import Redactor
from tui.core.servers import KnownEras, ServerSpec, StopReason
from tui.core.tasks import KnownTasks
from tui.core.tools import Tool
from tui.core.traffic import TrafficSink
from tui.host.process.watchdog import Watchdog
from tui.host.server_requests import PatientQuestioner, ServerRequests
from tui.host.sign_in.sign_ins import SignIns
from tui.host.subscriptions import Subscriptions
from tui.host.transports import ServerTransport, open_transport

Open = Callable[..., ServerTransport]


@dataclass(slots=True)
class HostContext:
    """The objects that all servers of one host share.

    `owner` is the mark of this host in the environment of its servers. `changed` is called with a server's
    name when anything shown about it has changed. `eras` remembers what earlier starts negotiated.
    `redacted_tools` caches tools without their secrets.
    """

    sink: TrafficSink
    clock: Clock
    redactor: Redactor
    owner: str
    grace: Any
    changed: Callable[[str], None]
    watchdog: Watchdog | None = None
    open: Open = open_transport
    questioner: PatientQuestioner = field(default_factory=lambda: PatientQuestioner(Refuser()))
    sign_ins: SignIns | None = None
    sampler: Sampler | None = None
    eras: KnownEras = field(default_factory=KnownEras)
    traceparent: Callable[[], str] = lambda: ""
    tasks: KnownTasks = field(default_factory=KnownTasks)
    definitions: KnownDefinitions = field(default_factory=KnownDefinitions)
    consent: ConsentGate = field(default_factory=AllOwn)
    redacted_tools: Callable[[Sequence[Tool]], object] = len


class Connected(Protocol):
    """The server of a connection, which is told about it; no method may raise or wait.

    `redact` removes configured secrets from texts that are shown. `ready`, `leaving` (before the process is
    ended) and `changed` tell of the connection. `learn` is called in a thread with the tools of each list
    before anything else uses them. `requests` answers what the server asks, `subscriptions` are renewed.
    """

    spec: ServerSpec
    requests: ServerRequests
    subscriptions: Subscriptions
    redact: Callable[[str], str]

    def ready(self, connection: Any) -> None: ...

    def leaving(self, reason: StopReason) -> None: ...

    def changed(self) -> None: ...

    def learn(self, tools: Sequence[Tool]) -> None: ...
