"""What the rest of the program knows of a server: how to start it, and how it is doing."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from tui.core.secrets.places import masked, masked_arguments


class Transport(StrEnum):
    """How bytes travel. Only stdio works so far; the others are read and refused with a sentence."""

    STDIO = "stdio"
    HTTP = "http"
    SSE = "sse"
    WEBSOCKET = "websocket"


class ServerState(StrEnum):
    """The four states of a server. Why it is stopped is a separate word: `StopReason`."""

    STOPPED = "STOPPED"
    STARTING = "STARTING"
    RUNNING = "RUNNING"
    STOPPING = "STOPPING"


class StopReason(StrEnum):
    """Why a server is STOPPED."""

    NOT_STARTED = "not started"
    REQUESTED = "requested"
    EXITED = "exited"
    CRASHED = "crashed"
    FAILED_TO_START = "failed to start"
    CRASH_LOOP = "crash loop"


@dataclass(frozen=True, slots=True)
class ServerSpec:
    """How to start one server. Resolved: no `${VAR}` left in it.

    Attributes:
        name: the key of `[servers.NAME]`; unique among the servers of a host.
        command: the program; resolved on PATH, never given to a shell.
        args: its arguments, without the program.
        env: variables added to the small allow-listed environment. Values may be secret.
        cwd: working directory, or None for ours.
        transport: how to talk to it.
        url: where an HTTP, SSE or WebSocket server is.
        headers: HTTP headers to send. Values may be secret.
        autostart: start it with the app.
        restart: start it again, with growing delay, when it dies by itself.
        start_seconds: how long a start may take; longer for launchers that download.
        tool_seconds: how long one call may take, or None for the limit of the host.
        trust_hints: whether its readOnlyHint may spare the person a question; true for servers that
            the person configured.
        pins: patterns of names of its tools that are offered where a model takes fewer than there are.
    """

    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str | None = None
    transport: Transport = Transport.STDIO
    url: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    autostart: bool = True
    restart: bool = False
    start_seconds: float = 60.0
    tool_seconds: float | None = None
    trust_hints: bool = True
    pins: tuple[str, ...] = ()

    @property
    def shown_command(self) -> tuple[str, ...]:
        """The program and its arguments, with a mark in place of each secret."""
        return tuple(masked_arguments((self.command, *self.args)))

    @property
    def shown_url(self) -> str:
        """The URL with a mark in place of each secret, or ""."""
        return masked(self.url or "")

    def digest(self) -> str:
        """Return a hash of everything that decides what runs when this server is started.

        Approvals are keyed by it: one must not survive a changed command (MCPoison, CVE-2025-54136).
        """
        what = [
            self.command,
            self.args,
            sorted(self.env.items()),
            self.cwd,
            self.transport.value,
            self.url,
            sorted(self.headers.items()),
        ]
        return hashlib.sha256(json.dumps(what).encode("utf-8", "replace")).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """A snapshot of one server. All strings that came from the server are already cleaned.

    Attributes:
        name: the configured name.
        state: one of the four states.
        reason: why it is STOPPED or STOPPING; None while it is STARTING or RUNNING.
        detail: one sentence on how it stopped or failed ("exited with code 1 after 0.3 s"), or "".
        next_step: what the person can do about it, or "".
        pid: process id of the leader while a process lives.
        exit_code: exit code of the last process, if it ended by itself with one.
        signal: name of the signal that ended it ("SIGKILL"), or "".
        since_ns: monotonic nanoseconds when the present state was entered.
        start_ms: how long the last successful start took, in milliseconds.
        protocol: negotiated protocol version ("2026-07-28"), or "".
        title: the server's own name, or "".
        version: the server's own version, or "".
        tools: how many tools can be called.
        quarantined: tools left out, each as (name, why).
        listing_problem: why its tools could not be listed, or not all of them; or "".
        resources: how many resources it lists; None if not asked or not offered.
        prompts: how many prompts it lists; None if not asked or not offered.
        resources_revision: grows when its resources have changed since it started.
        prompts_revision: grows when its prompts have changed since it started.
        stderr_last: the last line of stderr, or "".
        noise: how many stdout lines were not protocol frames.
        restarts: how often it was started again after dying by itself.
        spec: how it is started.
    """

    name: str
    spec: ServerSpec
    state: ServerState = ServerState.STOPPED
    reason: StopReason | None = StopReason.NOT_STARTED
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
    listing_problem: str = ""
    resources: int | None = None
    prompts: int | None = None
    resources_revision: int = 0
    prompts_revision: int = 0
    stderr_last: str = ""
    noise: int = 0
    restarts: int = 0

    @property
    def failed(self) -> bool:
        """Whether it is stopped for a reason that nobody asked for."""
        return self.state is ServerState.STOPPED and self.reason in (
            StopReason.EXITED,
            StopReason.CRASHED,
            StopReason.FAILED_TO_START,
            StopReason.CRASH_LOOP,
        )
