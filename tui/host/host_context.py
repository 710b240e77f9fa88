"""What all servers of one host share, and what follows from a spec alone."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tui.core.ports import Clock
from tui.core.secrets.redact import Redactor
from tui.core.servers import ServerSpec
from tui.core.traffic import TrafficSink
from tui.host.process.watchdog import Watchdog
from tui.host.transports import ServerTransport, open_transport

LAUNCHERS = frozenset({"npx", "uvx", "uv", "docker", "podman", "pipx", "bunx", "pnpm", "deno"})
LAUNCHER_SECONDS = 180.0
USUAL_SECONDS = 60.0

Open = Callable[..., ServerTransport]


@dataclass(slots=True)
class HostContext:
    """What all servers of one host share.

    Attributes:
        sink: told of everything that travels, and of what happens to processes.
        clock: time.
        redactor: what takes configured secrets out of what is shown.
        owner: mark of this host in the environment of its servers.
        grace: times of the stop ladder, or None for the usual ones.
        changed: called with a server's name when something shown of it changed.
        watchdog: ends the servers if this program is killed.
        open: how a transport is made.
        legacy: digests of specs known to speak only the older era; kept as long as the host lives.
    """

    sink: TrafficSink
    clock: Clock
    redactor: Redactor
    owner: str
    grace: Any
    changed: Callable[[str], None]
    watchdog: Watchdog | None = None
    open: Open = open_transport
    legacy: set[str] = field(default_factory=set)


def start_seconds(spec: ServerSpec) -> float:
    """Return how long a start may take: longer than usual where a launcher may have to download first."""
    launcher = os.path.basename(spec.command).removesuffix(".cmd").removesuffix(".exe") in LAUNCHERS
    return LAUNCHER_SECONDS if launcher and spec.start_seconds == USUAL_SECONDS else spec.start_seconds


def is_modern(version: str) -> bool:
    """Whether a protocol version belongs to the era without a handshake (2026-07-28 and later)."""
    return version >= "2026-07-28"
