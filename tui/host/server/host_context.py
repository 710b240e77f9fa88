"""The objects that all servers of one host share."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from tui.core.eras import KnownEras
from tui.core.jsonrpc.client_profile import ClientProfile
from tui.core.permission.consent import ConsentGate
from tui.core.permission.definitions import KnownDefinitions
from tui.core.ports import BY_KEY, Clock, DecisionLog, MonotonicClock, Undecided
from tui.core.questions import Questioner, Sampler
from tui.core.secrets.redact import Redactor
from tui.core.servers import ServerSpec, StopReason
from tui.core.tasks import KnownTasks
from tui.core.traffic import TrafficSink
from tui.host.frames.stage import Stage
from tui.host.process.watchdog import Watchdog
from tui.host.redaction import ResultRedactor
from tui.host.server.offers import ServerOffer
from tui.host.session.server_requests import ServerRequests
from tui.host.session.subscriptions import Subscriptions
from tui.host.sign_in.sign_ins import SignIns
from tui.host.sign_in.token_store import TokenStore
from tui.host.transports import ServerTransport, open_transport


@dataclass(frozen=True, slots=True)
class Answerers:
    """Answers requests in a run: the user, the model, the rules.

    `questioner` answers what servers ask; without one everything is declined. `sampler` gets replies of the
    model for them. `consent` decides which servers may be started or connected to; without it, all may.
    `decisions` records what was decided about requests of servers and about changed definitions. `hand` is
    recorded as what decided when the user reads resources and prompts.
    """

    questioner: Questioner = field(default_factory=Questioner)
    sampler: Sampler | None = None
    consent: ConsentGate = field(default_factory=ConsentGate)
    decisions: DecisionLog = field(default_factory=Undecided)
    hand: str = BY_KEY


@dataclass(frozen=True, slots=True)
class Remembered:
    """Facts about servers from earlier runs.

    `eras` are the protocol eras that they negotiated, `tasks` their tasks, `definitions` the accepted ones.
    `tokens` keeps the tokens of remote servers, which are not signed in to without it; `client_metadata_url`
    is the address of a document about mcptui for authorization servers.
    """

    eras: KnownEras = field(default_factory=KnownEras)
    tasks: KnownTasks = field(default_factory=KnownTasks)
    definitions: KnownDefinitions = field(default_factory=KnownDefinitions)
    tokens: TokenStore | None = None
    client_metadata_url: str = ""


@dataclass(slots=True)
class HostContext:
    """The objects that all servers of one host share.

    `sink` gets the traffic. `redactor` removes configured secrets. The questioner of `answerers` shows none.
    `traceparent` returns what is added to the `_meta` of the request that is being sent, or "". `open_with`
    opens transports; tests pass their own. `stages` returns what the messages of a connection pass, `profile`
    the host as which mcptui introduces itself to a server. The host sets `changed`, which is called with a
    server's name when anything shown about it has changed, and `sign_ins`.
    """

    sink: TrafficSink
    clock: Clock = field(default_factory=MonotonicClock)
    redactor: Redactor = field(default_factory=Redactor)
    answerers: Answerers = field(default_factory=Answerers)
    remembered: Remembered = field(default_factory=Remembered)
    traceparent: Callable[[], str] = lambda: ""
    open_with: Callable[..., ServerTransport] = open_transport
    stages: Callable[[ServerSpec], Sequence[Stage]] = lambda spec: ()
    profile: Callable[[ServerSpec], ClientProfile | None] = lambda spec: None
    changed: Callable[[str], None] = field(init=False, default=lambda name: None)
    sign_ins: SignIns | None = field(init=False, default=None)
    redaction: ResultRedactor = field(init=False)
    watchdog: Watchdog = field(init=False, default_factory=Watchdog)

    def __post_init__(self) -> None:
        self.redaction = ResultRedactor(self.redactor)

    def open(self, spec: ServerSpec, **of_server: Any) -> ServerTransport:
        """Return an unused transport; `of_server` are the other parameters of `open_transport`."""
        return self.open_with(
            spec,
            sink=self.sink,
            watchdog=self.watchdog,
            sign_ins=self.sign_ins,
            redactor=self.redactor,
            stages=self.stages(spec),
            **of_server,
        )


class Connected(Protocol):
    """The server of a connection, which is told about it; no method may raise or wait.

    `ready`, `leaving` (before the process is ended) and `changed` tell of the connection, which `reconnect`
    ends and begins again. `requests` answers
    what the server asks, `subscriptions` are renewed. `stopped_as` is what calls are told if it is stopped.
    """

    spec: ServerSpec
    stopped_as: str
    requests: ServerRequests
    subscriptions: Subscriptions
    offer: ServerOffer

    def ready(self, connection: Any) -> None: ...

    def leaving(self, reason: StopReason) -> None: ...

    def changed(self) -> None: ...

    def reconnect(self) -> None: ...
