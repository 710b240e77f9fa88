"""The configuration and status of a server, for all other packages."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Self

from tui.core.jsonrpc.client_profile import ClientProfile
from tui.core.jsonrpc.extensions import CLIENT_CREDENTIALS, ENTERPRISE, OurSide
from tui.core.language.translate import N_, _, message, n_message
from tui.core.secrets.commands_and_urls import masked, masked_arguments
from tui.core.secrets.identity_provider import IdentityProvider
from tui.core.text import clean_line, quoted_name
from tui.core.units import and_more

if TYPE_CHECKING:  # not needed for the first frame
    from tui.core.web import Reach

START_PATIENCE_NS = 8_000_000_000
"""How long a question or a call waits for servers that are starting."""

MOST_WAITED_FOR = 5
"""Maximum servers that a wait names."""


class Transport(StrEnum):
    """The transport between host and server."""

    STDIO = "stdio"
    HTTP = "http"
    SSE = "sse"
    WEBSOCKET = "websocket"
    LINES = "lines"

    @property
    def remark(self) -> str:
        """A warning to show next to the protocol version: "non-standard", "unofficial", or ""."""
        return {"lines": N_("non-standard"), "websocket": N_("unofficial")}.get(self.value, "")


class ServerState(StrEnum):
    """The states of a server. `StopReason` says why it is stopped."""

    STOPPED = "STOPPED"
    STARTING = "STARTING"
    RUNNING = "RUNNING"
    STOPPING = "STOPPING"

    @property
    def in_words(self) -> str:
        """The word of the protocol, beside it the one of the user's language."""
        said = _(self.value)
        return said if said == self else f"{self} {said}"


class StopReason(StrEnum):
    """Why a server is STOPPED."""

    NOT_STARTED = "not started"
    REQUESTED = "requested"
    EXITED = "exited"
    CRASHED = "crashed"
    FAILED_TO_START = "failed to start"
    CRASH_LOOP = "crash loop"
    DISABLED = "disabled"
    NEEDS_CONSENT = "needs consent"
    NEEDS_SIGN_IN = "needs sign-in"


class Grant(StrEnum):
    """How to get tokens from an authorization server: the user signs in, or credentials are enough."""

    USER = "authorization_code"
    CREDENTIALS = "client_credentials"


class EraChoice(StrEnum):
    """The protocol era that a server is started in: found out, with a handshake, or without."""

    AUTO = "auto"
    LEGACY = "legacy"
    MODERN = "modern"


@dataclass(frozen=True, slots=True)
class OAuthSpec:
    """The sign-in settings of one server; all are optional. The settings of the same names explain them.

    `client_secret` and `private_key` are secrets, or `keyring:SERVICE/NAME`. A `callback_port` of 0 is any.
    With an `identity_provider`, tokens of `issuer` are obtained through it, without asking the server.
    """

    grant: Grant = Grant.USER
    client_id: str = ""
    client_secret: str = field(default="", repr=False)
    scopes: tuple[str, ...] = ()
    client_metadata_url: str = ""
    issuer: str = ""
    private_key: str = field(default="", repr=False)
    private_key_algorithm: str = "RS256"
    callback_port: int = 0
    identity_provider: IdentityProvider | None = None

    @property
    def extension(self) -> str:
        """The id of the extension by which mcptui signs in, or ""."""
        if self.identity_provider is not None:
            return ENTERPRISE
        return CLIENT_CREDENTIALS if self.grant is Grant.CREDENTIALS else ""


LOG_LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
"""Levels of a server's log, the least severe first."""


class SamplingRule(StrEnum):
    """Whether a server may send requests to the active model."""

    NEVER = "never"
    ASK = "ask"
    ALLOW = "allow"


@dataclass(frozen=True, slots=True)
class Reference:
    """A text in the configuration that uses values from the environment: the variables `names`.

    `text` is as written, with `${NAME}` for each value. Defaults that apply are filled in.
    """

    text: str
    names: tuple[str, ...]

    @property
    def is_plain(self) -> bool:
        """Whether it is one variable, perhaps after a scheme: it has no text that could be secret."""
        return (
            re.fullmatch(r"(?:(?:Bearer|Basic|Token) )?\$\{[A-Za-z_]\w{0,200}\}", self.text, re.ASCII)
            is not None
        )

    @property
    def in_words(self) -> str:
        names = ", ".join(dict.fromkeys(self.names))
        if self.text == f"${{{names}}}":
            return message("value of {names}", names=names)
        return message("text with the value of {names}", names=names)


@lru_cache(256)
def _shown_words(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(masked_arguments(words))  # kept, because screens ask for it at each repaint


_shown_address = lru_cache(256)(masked)


@dataclass(frozen=True, slots=True)
class ServerSpec:
    """One server's configuration, with every `${VAR}` replaced. Values of `env` and `headers` may be secret.

    What is not explained here is the setting of the same name.

    Attributes:
        env: variables added to the small allow-listed environment.
        folder: its own folder, in which it starts without `cwd`, created on start; "" for the current folder.
        tool_seconds, tool_max_seconds: the limits of a call, without and with progress; None for the host's.
        trusted: whether the user trusts its read-only marks and its results; None if they were not asked.
        pins: the patterns of the setting `pin`.
        disabled: it is only listed, and cannot be started.
        problem: why its configuration is invalid, so that it is only listed; or "".
        source: its origin in words if it is not the user's own and needs consent to run; or "".
        era: the protocol era to use; a configured one is never doubted or remembered.
        sse_fallback: try HTTP+SSE if it does not support Streamable HTTP, because only a URL is configured.
        roots: absolute paths of the directories to report as its roots.
        references: settings that use values from the environment, by place: `env.NAME`, `args.0`, `url`.
        used_by: the file that consent to run it is limited to, or "" for any.
        calls: what that file calls, in words, which consent is limited to as well; empty for anything.
        watch: patterns of files; when one of them changes, the server is restarted.
        stop_first: the old process is stopped before a changed one starts.
        extensions: the extensions that are turned on or off for it, by id; the others are on.
        act_as: the host that mcptui acts as, or "".
        is_own: the user is developing it, so its definitions are accepted as they change.
        process_of: the name of the server that this is one of several processes of, or "".
    """

    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str | None = None
    folder: str = ""
    transport: Transport = Transport.STDIO
    url: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    autostart: bool = True
    restart: bool = False
    start_seconds: float = 60.0
    tool_seconds: float | None = None
    tool_max_seconds: float | None = None
    trusted: bool | None = None
    pins: tuple[str, ...] = ()
    off: tuple[str, ...] = ()
    oauth: OAuthSpec = OAuthSpec()
    era: EraChoice = EraChoice.AUTO
    sse_fallback: bool = False
    instructions: bool = False
    offer_resources: bool = False
    accept_changes: bool = False
    send_as_is: bool = False
    log_level: str = ""
    roots: tuple[str, ...] = ()
    sampling: SamplingRule = SamplingRule.NEVER
    sampling_tokens: int = 100_000
    sampling_per_minute: int = 10
    disabled: bool = False
    problem: str = ""
    source: str = ""
    card: str = ""
    references: Mapping[str, Reference] = field(default_factory=dict)
    used_by: str = ""
    calls: Sequence[str] = ()
    process_of: str = ""
    faults: tuple[str, ...] = ()
    watch: tuple[str, ...] = ()
    stop_first: bool = False
    is_own: bool = False
    extensions: Mapping[str, bool] = field(default_factory=dict)
    act_as: str = ""

    def our_side(self, version: str, profile: ClientProfile | None = None) -> OurSide:
        """Return what decides which extensions are declared to the server and used with it."""
        return OurSide(version, self.extensions, self.oauth.extension, profile)

    @property
    def shown_command(self) -> tuple[str, ...]:
        return _shown_words((self.command, *self.args))

    @property
    def starts_in(self) -> str | None:
        """The folder in which it starts; None for the current one."""
        return self.cwd or self.folder or None

    @property
    def shown_url(self) -> str:
        return _shown_address(self.url or "")

    @property
    def origin(self) -> str:
        """A hash of its program or address, independent of its environment, headers and options."""
        where = json.dumps([self.command, self.args, self.url])
        return hashlib.sha256(where.encode("utf-8", "replace")).hexdigest()[:16]

    def digest(self) -> str:
        """Return a hash of everything that decides what runs when this server is started.

        It is part of the key of approvals: one must not survive a changed command (MCPoison, CVE-2025-54136).
        Its own folder is not part of the hash, because it follows from the name and starts empty.
        """
        facts = [
            self.command,
            self.args,
            sorted(self.env.items()),
            self.cwd,
            self.transport.value,
            self.url,
            sorted(self.headers.items()),
        ]
        return hashlib.sha256(json.dumps(facts).encode("utf-8", "replace")).hexdigest()[:16]

    def runs_like(self, other: "ServerSpec") -> bool:
        """Whether a server started from `other` runs the same, so that no restart is needed."""

        def runs(spec: ServerSpec) -> tuple[object, ...]:
            how = (spec.oauth, spec.era, spec.sse_fallback, spec.faults, spec.act_as)
            return (spec.digest(), *how, spec.disabled, spec.problem)

        return runs(self) == runs(other)


PRINT_STEP = N_("Only messages belong there: its author should print to stderr.")
"""The advice about lines on stdout."""


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """A snapshot of one server. All strings from the server are cleaned, "" if unknown.

    Attributes:
        reason: why it is STOPPED or STOPPING; None while it is STARTING or RUNNING.
        launch: its address, or its command with its arguments, without secrets.
        detail: one sentence on how it stopped or failed ("exited with code 1 after 0.3 s"), or "".
        pid: process id of the leader while a process runs.
        signal: name of the signal that ended it ("SIGKILL"), or "".
        since_ns: monotonic nanoseconds when it entered this state.
        start_ms: how long the last successful start took.
        quarantined: omitted tools, each as (name, reason).
        hidden: tools with hidden text, or "instructions", each as (name, where and what).
        listing_problem: why its tools could not be listed, or not all of them; or "".
        resources, prompts: their number; None if not requested or not supported.
        resources_revision, prompts_revision: count their changes since it started.
        announces: the kinds of lists whose changes it says that it announces: tools, resources, prompts.
        noise: number of stdout lines that were not messages; printed: the first of them.
        invalid: how many of its messages are invalid, and why; or "". Responses fail their call instead.
        restarts: how often it was restarted after an unexpected exit.
        reach: how a remote server is reached; None for a server with a process.
        withheld: number of its tools that the model is not offered; the user turned `tools_off` of them off.
        not_offered: those of them that no decision of the user could offer, and why not.
        stderr_last: last line of its stderr; once it is STOPPED, the line that says why.
        tasks: number of its tasks whose results wait to be fetched.
        changes: number of its definitions that changed since they were accepted.
        sign_in: the state of its sign-in ("signed in until 14:30"), or "" if it requires none.
        fault_rules: the rules for faults that are injected into its messages on purpose.
        injected: how many were injected since it started.
    """

    name: str
    spec: ServerSpec
    state: ServerState = ServerState.STOPPED
    reason: StopReason | None = StopReason.NOT_STARTED
    launch: str = ""
    detail: str = ""
    next_step: str = ""
    pid: int | None = None
    exit_code: int | None = None
    signal: str = ""
    since_ns: int = 0
    start_ms: float | None = None
    protocol: str = ""
    title: str = ""
    version: str = ""
    tools: int = 0
    quarantined: tuple[tuple[str, str], ...] = ()
    hidden: tuple[tuple[str, str], ...] = ()
    listing_problem: str = ""
    resources: int | None = None
    prompts: int | None = None
    resources_revision: int = 0
    prompts_revision: int = 0
    announces: frozenset[str] = frozenset()
    stderr_last: str = ""
    noise: int = 0
    invalid: str = ""
    printed: str = ""
    restarts: int = 0
    reach: "Reach | None" = None
    withheld: int = 0
    not_offered: tuple[tuple[str, str], ...] = ()
    tools_off: int = 0
    tasks: int = 0
    changes: int = 0
    sign_in: str = ""
    fault_rules: tuple[str, ...] = ()
    injected: int = 0

    @classmethod
    def before_any_start(cls, spec: ServerSpec, now_ns: int) -> Self:
        """Return the status of a server that was not started, or cannot be."""
        if spec.problem:
            failed, step = StopReason.FAILED_TO_START, message("Press E to edit the configuration.")
            return cls(spec.name, spec, reason=failed, detail=spec.problem, next_step=step, since_ns=now_ns)
        reason = StopReason.DISABLED if spec.disabled else StopReason.NOT_STARTED
        return cls(spec.name, spec, reason=reason, since_ns=now_ns)

    @property
    def printed_words(self) -> str:
        """How many lines it printed to stdout, where only messages belong: "2 lines on stdout", or ""."""
        if not self.noise or self.reach is not None:
            return ""
        return n_message("{n} line on stdout", "{n} lines on stdout", self.noise)

    @property
    def change_words(self) -> str:
        return n_message(
            "{n} definition not accepted yet, not offered",
            "{n} definitions not accepted yet, not offered",
            self.changes,
        )

    @property
    def failed(self) -> bool:
        return self.state is ServerState.STOPPED and self.reason in (
            StopReason.EXITED,
            StopReason.CRASHED,
            StopReason.FAILED_TO_START,
            StopReason.CRASH_LOOP,
        )

    @property
    def unquoted_line(self) -> str:
        """`stderr_last`, or "" if the `detail` quotes it."""
        return "" if self.stderr_last[:80] in self.detail else self.stderr_last


def not_configured(name: str) -> str:
    """Return that a server was removed from the configuration, as a sentence."""
    return f"The server {quoted_name(name)} is no longer configured."


def waiting_for(names: Sequence[str]) -> str:
    """Return that a question or a call waits for servers to start: "Waiting for 1 server to start: a"."""
    return n_message(
        "Waiting for {n} server to start: {names}",
        "Waiting for {n} servers to start: {names}",
        len(names),
        names=listed_servers(names),
    )


def listed_servers(names: Sequence[str]) -> str:
    """Return the names of servers that a question or a call waits for."""
    return and_more([clean_line(name, 60) for name in names], MOST_WAITED_FOR)


def fault_words(statuses: Sequence[ServerStatus]) -> str:
    """Return what is injected into running or failed servers: "faults: 2 rules, 5 injected", or ""."""
    counts = fault_counts(statuses)
    return message("faults: {counts}", counts=counts) if counts else ""


def fault_counts(statuses: Sequence[ServerStatus]) -> str:
    """Return `fault_words` without their heading."""
    up = ServerState.RUNNING
    struck = [one for one in statuses if one.fault_rules and (one.state is up or one.failed)]
    if not struck:
        return ""
    rules = n_message("{n} rule", "{n} rules", len({rule for one in struck for rule in one.fault_rules}))
    injected = f"{sum(one.injected for one in struck):,}"
    return message("{rules}, {injected} injected", rules=rules, injected=injected)
