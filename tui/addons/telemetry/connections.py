"""What is known of the connections to servers, and how long their sessions last. Pure."""

from collections import OrderedDict
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from tui.addons.telemetry.content import name
from tui.addons.telemetry.span import Attributes, Session
from tui.core.traffic import Entry

MAX_SERVERS = 1_000
"""Maximum servers to remember. The oldest are forgotten."""


@dataclass(slots=True)
class Connection:
    """The connection to a server.

    Attributes:
        network: how it is reached, as attributes of spans.
        version: the revision of MCP, or "".
        began_ns: monotonic nanoseconds, None before its start and after its end.
    """

    network: Attributes = field(default_factory=dict)
    version: str = ""
    began_ns: int | None = None

    @property
    def attributes(self) -> Attributes:
        return self.network | ({"mcp.protocol.version": self.version} if self.version else {})


class Connections:
    """The connections, by source. `sessions` collects those that have ended."""

    def __init__(self) -> None:
        self.sessions: list[Session] = []
        self._known: OrderedDict[str, Connection] = OrderedDict()

    def of(self, source: str) -> Connection:
        found = self._known.setdefault(source, Connection())
        if len(self._known) > MAX_SERVERS:
            self._known.popitem(last=False)
        return found

    def see(self, entry: Entry) -> bool:
        """Apply an event; return whether it is the end of a connection."""
        known = self.of(entry.source)
        match entry.method:
            case "spawn":
                self._known[entry.source] = Connection({"network.transport": "pipe"}, began_ns=entry.mono_ns)
            case "connect":
                self._known[entry.source] = Connection(_remote(entry), began_ns=entry.mono_ns)
            case "stop" | "exit":
                if known.began_ns is not None:
                    is_crash = entry.method == "exit" and entry.detail.get("code") != 0
                    error: Attributes = {"error.type": "exit"} if is_crash else {}
                    seconds = max(0, entry.mono_ns - known.began_ns) / 1e9
                    self.sessions.append((seconds, known.attributes | error))
                    known.began_ns = None
                # A local server that is stopped still answers, until it exits.
                return entry.method == "exit" or "network.protocol.name" in known.network
        return False


def place(url: str) -> Attributes:
    """Return host and port of an address as attributes, none if it is not one."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return {}
    usual = 443 if parts.scheme in ("https", "wss") else 80
    return {"server.address": name(host), "server.port": port or usual} if host else {}


def _remote(entry: Entry) -> Attributes:
    url = str(entry.detail.get("url", ""))
    protocol = "websocket" if url.startswith(("ws:", "wss:")) else "http"
    return {"network.transport": "tcp", "network.protocol.name": protocol, **place(url)}
