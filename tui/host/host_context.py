"""The objects that all servers of one host share."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tui.core.permission.consent import AllOwn, ConsentGate
from tui.core.permission.definitions import KnownDefinitions
from tui.core.ports import Clock
from tui.core.questions import Refuser, Sampler
from tui.core.secrets.redact import Redactor
from tui.core.servers import KnownEras
from tui.core.tasks import KnownTasks
from tui.core.tools import Tool
from tui.core.traffic import TrafficSink
from tui.host.process.watchdog import Watchdog
from tui.host.server_requests import PatientQuestioner
from tui.host.sign_in.sign_ins import SignIns
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
