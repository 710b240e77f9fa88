"""The door of a running mcptui: a local socket where commands and agents of the same user ask it for things.

The first line is what the holder says about itself. Then each request `{"id", "method", "params"}` gets
`{"id", "note"}` any number of times and one `{"id", "result"}` or `{"id", "error"}`. A connection that ends
cancels its requests. Methods are those of the kind `door` in the table of add-ons: `async (runtime, params,
peer) -> JSON`.
"""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import tui
from tui.core.addons import every, load
from tui.core.background import Tasks
from tui.core.errors import ConfigError, McptuiError, UsageError, reason_of
from tui.core.text import clean_line, mapping, text_in
from tui.runtime.local_socket import (
    MAX_LINE,
    SUFFIX,
    is_own,
    line_of,
    listening,
    object_of,
    peer_of,
    removed,
    sockets_folder,
)

if TYPE_CHECKING:
    from tui.runtime.runtime import Runtime

KIND = "up"
MOST_PEERS = 64
MOST_REQUESTS = 32
"""Maximum connections, and requests at a time of each."""

Method = Callable[["Runtime", Mapping[str, Any], "Peer"], Awaitable[Any]]

_ERRORS: Mapping[type[McptuiError], str] = {UsageError: "usage", ConfigError: "config"}


@dataclass(slots=True, eq=False)
class Peer:
    """A process that is attached.

    Attributes:
        command: what it is: "mcptui call".
        label: for whom it asks, such as "mcptui agent for claude-code"; or its command.
        since_ns: monotonic nanoseconds when it attached.
        calls: how many requests it has made.
        note: sends it something before the result of the request that is being answered.
    """

    pid: int
    command: str = ""
    label: str = ""
    since_ns: int = field(default_factory=time.monotonic_ns)
    calls: int = 0
    note: Callable[[Any], None] = lambda value: None

    @property
    def words(self) -> str:
        return f"{self.label or self.command or 'unknown'} (pid {self.pid})"

    @property
    def by(self) -> str:
        """How the record of decisions names it."""
        return f"command {self.command or 'unknown'}, pid {self.pid}"


class Door:
    """Listens while it is open, and answers.

    `peers` are the attached processes. `changed` is called when one attaches or leaves. `kind` is "app" or
    "up". While `refuses` is not "", it is what every process is told, before it is disconnected.
    """

    def __init__(self, runtime: "Runtime") -> None:
        self.peers: list[Peer] = []
        self.attached_in_all = 0
        self.refuses = ""
        self.kind = "app"
        self.problem = ""
        self.idle_since = time.monotonic()
        self.listeners: list[Callable[[Peer, bool], None]] = []
        self._runtime = runtime
        self._path = sockets_folder(KIND)
        self._server: asyncio.Server | None = None
        self._talks = Tasks()
        self._writers: dict[Peer, asyncio.StreamWriter] = {}
        self._methods: dict[str, Method] = {}
        self._began = time.time()

    def begin(self, kind: str = "app") -> None:
        """Open the door beside everything else. What servers ask during a request goes to who made it."""
        self._talks.start(self.open(kind), "opening the door")

    async def open(self, kind: str) -> bool:
        """Listen. Returns False if it cannot, and `problem` says why."""
        self.kind = kind
        self._path = sockets_folder(KIND) / f"{kind}-{os.getpid()}{SUFFIX}"
        self._methods = {name: _late(value) for name, value in every("door")}
        try:
            self._server = await asyncio.start_unix_server(
                self._connected, sock=listening(self._path), limit=MAX_LINE
            )
        except (OSError, AttributeError) as error:  # no local sockets on this system
            self.problem = reason_of(error) if isinstance(error, OSError) else "not supported on this system"
            return False
        return True

    @property
    def is_open(self) -> bool:
        return self._server is not None

    async def close(self) -> None:
        """Stop listening, and disconnect everyone."""
        server, self._server = self._server, None
        if server is not None:
            removed(self._path)
            server.close()
        await self._talks.cancel(1.0)

    def refuse(self, why: str) -> None:
        """Disconnect all processes, and refuse every further one, with this reason."""
        self.refuses = why
        for writer in self._writers.values():
            writer.close()

    @property
    def about(self) -> dict[str, Any]:
        """What every process of the user is told."""
        statuses = self._runtime.host.statuses()
        file = self._runtime.configuration.file.path
        return {
            "version": tui.__version__,
            "pid": os.getpid(),
            "kind": self.kind,
            "since": self._began,
            "config": str(file),
            "servers": [status.name for status in statuses if status.state == "RUNNING"],
            "attached": [peer.words for peer in self.peers],
        }

    # ---- one connection ----------------------------------------------------------------------------------

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # Not as the coroutine that asyncio starts: it logs a traceback if that is cancelled at the end.
        self._talks.start(self._talk(reader, writer), "a process at the door")

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there = peer_of(writer.get_extra_info("socket"))
        requests = Tasks()
        peer: Peer | None = None
        try:
            if there is None or not is_own(there):
                return
            why = self.refuses or (
                "too many processes are attached" if len(self._writers) >= MOST_PEERS else ""
            )
            writer.write(line_of({"refused": why} if why else self.about))
            await writer.drain()
            if why:
                return
            while line := await reader.readline():
                said = object_of(line)
                if peer is None:  # one that only reads what is up is not attached
                    peer = Peer(there.pid)
                    peer.command = clean_line(text_in(said, "command"), 60)
                    peer.label = clean_line(text_in(said, "label"), 120)
                    self._has(peer, writer)
                while len(requests.running) >= MOST_REQUESTS:
                    await asyncio.wait(requests.running, return_when=asyncio.FIRST_COMPLETED)
                if "method" in said:
                    peer.calls += 1
                    requests.start(self._answer(said, peer, writer), "a request at the door")
        except (OSError, ValueError):
            pass  # it is gone, or sends too long a line
        finally:
            await requests.cancel(1.0)
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()
            if peer is not None:
                self._lost(peer)

    def _has(self, peer: Peer, writer: asyncio.StreamWriter) -> None:
        self.peers.append(peer)
        self.attached_in_all += 1
        self._writers[peer] = writer
        self._tell(peer, True)

    def _lost(self, peer: Peer) -> None:
        self.peers.remove(peer)
        del self._writers[peer]
        self.idle_since = time.monotonic()
        self._tell(peer, False)

    def _tell(self, peer: Peer, is_there: bool) -> None:
        for listener in self.listeners:
            listener(peer, is_there)

    async def _answer(self, said: Mapping[str, Any], peer: Peer, writer: asyncio.StreamWriter) -> None:
        number = said.get("id")

        def send(answer: Mapping[str, Any]) -> None:
            if not writer.is_closing():
                writer.write(line_of({"id": number, **answer}))

        asking = Peer(
            peer.pid, peer.command, peer.label, peer.since_ns, note=lambda value: send({"note": value})
        )
        try:
            method = self._methods.get(text_in(said, "method"))
            if method is None:
                name = clean_line(text_in(said, "method"), 60)
                raise UsageError(f"this mcptui does not know {name}", next_step="Restart it after an update.")
            send({"result": await method(self._runtime, mapping(said.get("params")), asking)})
        except McptuiError as error:
            send({"error": as_error(error)})
        except ValueError as error:
            send({"error": as_error(McptuiError(f"the answer cannot be passed on: {reason_of(error)}"))})
        except Exception as error:
            send({"error": as_error(McptuiError(f"internal error in mcptui: {reason_of(error)}"))})
            raise
        with suppress(OSError):
            await writer.drain()


def _late(value: Any) -> Method:
    async def method(runtime: "Runtime", params: Mapping[str, Any], peer: Peer) -> Any:
        return await load(value)(runtime, params, peer)

    return method


def as_error(error: McptuiError) -> dict[str, str]:
    """Return an error as JSON."""
    kind = _ERRORS.get(type(error), "")
    return {"why": error.message, "where": error.where, "next_step": error.next_step, "kind": kind}
