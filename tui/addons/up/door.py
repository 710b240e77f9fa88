"""The door of a running mcptui: a local socket where commands and agents of the same user ask it for things.

The first line is what the holder says about itself. Then each request `{"id", "method", "params"}` gets
`{"id", "note"}` any number of times and one `{"id", "result"}` or `{"id", "error"}`. A connection that ends
cancels its requests. Methods are those of the kind `door` in the table of add-ons: `async (runtime, params,
peer) -> JSON`.
"""

import asyncio
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import tui
from tui.addons.up.peer import Peer
from tui.addons.up.questions import DoorQuestions
from tui.core.addons import every, load
from tui.core.background import Tasks
from tui.core.errors import ConfigError, McptuiError, UsageError, reason_of
from tui.core.language.translate import listed, message, n_message
from tui.core.questions import Action, AttachQuestion, Questioner
from tui.core.text import clean_line, object_in, text_in
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
REFUSED = "its user refuses commands"
QUIET = frozenset({"up.find", "up.stop"})
"""Methods that only ask or end: who calls no other one is not attached, and need not be allowed."""

MOST_PEERS = 128
MOST_REQUESTS = 32
"""Maximum connections, and requests at a time of each."""

_ERRORS: Mapping[type[McptuiError], str] = {UsageError: "usage", ConfigError: "config"}


class Door:
    """Listens while it is open, and answers.

    `peers` are the attached processes, and `used` counts them by server. `listeners` are called when one
    attaches or leaves. `kind` is "app" or "up". `problem` is why it is not open. `refuses` is what every
    process is told before it is disconnected, or "". `ending` is set when another process asks `mcptui up` to
    end.
    """

    def __init__(self, runtime: "Runtime") -> None:
        self.peers: list[Peer] = []
        self.used: dict[str, int] = {}
        self.refuses = ""
        self.kind = "app"
        self.problem = ""
        self.idle_since = time.monotonic()
        self.listeners: list[Callable[[Peer, bool], None]] = []
        self.ending = asyncio.Event()
        self._is_allowed = False
        self._asking = asyncio.Lock()
        self.questions = DoorQuestions(Questioner(), has_user=False, where="")
        self._runtime = runtime
        self._path = sockets_folder(KIND)
        self._server: asyncio.Server | None = None
        self._talks = Tasks()
        self._writers: dict[Peer, asyncio.StreamWriter] = {}
        self._methods: Mapping[str, Any] = {}
        self._began = time.time()

    def begin(self, kind: str = "app") -> None:
        """Open the door beside everything else, and answer what servers ask a command first."""
        self.kind, is_app = kind, kind == "app"
        where = f"{'mcptui' if is_app else 'mcptui up'} (pid {os.getpid()})"
        self.questions = DoorQuestions(self._runtime.questioner, has_user=is_app, where=where)
        self._runtime.questioner = self.questions
        self._talks.start(self._open(kind), "opening the door")

    async def _open(self, kind: str) -> None:
        self._path = sockets_folder(KIND) / f"{kind}-{os.getpid()}{SUFFIX}"
        self._methods = dict(every("door"))
        try:
            self._server = await asyncio.start_unix_server(
                self._connected, sock=listening(self._path), limit=MAX_LINE
            )
        except (OSError, AttributeError) as error:  # no local sockets on this system
            self.problem = reason_of(error) if isinstance(error, OSError) else "not supported on this system"

    @property
    def setting(self) -> str:
        """Whether commands may use the servers: "allow", "ask" or "off"."""
        loaded = self._runtime.configuration.loaded
        return "allow" if loaded is None or self.kind != "app" else loaded.settings.up.attach

    async def may_attach(self, peer: Peer) -> bool:
        """Return whether a process may use the servers, after asking the user if that is configured."""
        if self.refuses or self.setting != "ask" or self._is_allowed:
            return not self.refuses and self.setting != "off"
        peer.note({"wait": True})
        async with self._asking:  # one question, however many ask
            if not self._is_allowed and not self.refuses:
                answer = await self._runtime.questioner.ask(AttachQuestion(peer.words))
                self._is_allowed = answer.action is Action.ACCEPT
                if answer.action is Action.DECLINE:
                    self.refuses = REFUSED
        peer.note({"wait": False})
        return self._is_allowed

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
    def _who(self) -> dict[str, Any]:
        """What also a process is told that is refused."""
        config = str(self._runtime.configuration.file.path)
        return {"version": tui.__version__, "pid": os.getpid(), "kind": self.kind, "config": config}

    @property
    def about(self) -> dict[str, Any]:
        """What every other process of the user is told."""
        statuses = self._runtime.host.statuses()
        return {
            **self._who,
            "since": self._began,
            "servers": [status.name for status in statuses if status.state == "RUNNING"],
            "attached": [peer.words for peer in self.peers],
        }

    # ---- one connection ----------------------------------------------------------------------------------

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # Not as the coroutine that asyncio starts: it logs a traceback if that is cancelled at the end.
        self._talks.start(self._talk(reader, writer), "a process at the door")

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there = peer_of(writer.get_extra_info("socket"))
        if there is None or not is_own(there):
            writer.close()
            return
        peer, requests = Peer(there.pid), Tasks()
        try:
            why = self.refuses or ("its configuration refuses commands" if self.setting == "off" else "")
            why = why or ("too many processes are attached" if len(self._writers) >= MOST_PEERS else "")
            self._writers[peer] = writer
            writer.write(line_of({**self._who, "refused": why} if why else self.about))
            await writer.drain()
            while not why and (said := object_of(await reader.readline())):
                peer.command = peer.command or clean_line(text_in(said, "command"), 60)
                peer.label = peer.label or clean_line(text_in(said, "label"), 120)
                while len(requests.running) >= MOST_REQUESTS:
                    await asyncio.wait(requests.running, return_when=asyncio.FIRST_COMPLETED)
                requests.start(self._answer(said, peer, writer), "a request at the door")
        except (OSError, ValueError):
            pass  # it is gone, or sends too long a line
        finally:
            await requests.cancel(1.0)
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()
            del self._writers[peer]
            self._lost(peer)

    def _has(self, peer: Peer, server: str) -> None:
        peer.server = server if self._runtime.host.find(server) is not None else ""
        is_first = not self.used
        self.peers.append(peer)
        self.used[peer.server] = self.used.get(peer.server, 0) + 1
        if is_first and self.kind == "app":
            text = message("{command} attached. The palette can refuse commands.", command=peer.words)
            self._runtime.tell_user(peer.server or "mcptui", text)
        self._tell(peer, True)

    def _lost(self, peer: Peer) -> None:
        self.idle_since = time.monotonic()
        if peer in self.peers:
            self.peers.remove(peer)
            self._tell(peer, False)

    def _tell(self, peer: Peer, is_there: bool) -> None:
        if peer.server:
            self._runtime.host.around.changed(peer.server)
        for listener in self.listeners:
            listener(peer, is_there)

    def attached_words(self) -> dict[str, str]:
        """Return by server which commands use it, or how many have, or that they are refused."""
        if self.refuses:
            return dict.fromkeys(self.used, message("commands are refused"))
        found: dict[str, str] = {}
        for server, n in self.used.items():
            here = listed(peer.words for peer in self.peers if peer.server == server)
            used = n_message("used by {n} command", "used by {n} commands", n)
            found[server] = message("attached: {who}", who=here) if here else used
        return found

    async def _answer(self, said: Mapping[str, Any], peer: Peer, writer: asyncio.StreamWriter) -> None:
        number = said.get("id")

        def send(answer: Mapping[str, Any]) -> None:
            if writer.transport.get_write_buffer_size() > MAX_LINE:  # it does not read
                writer.transport.abort()
            elif not writer.is_closing():
                writer.write(line_of({"id": number, **answer}))

        asking = replace(peer, note=lambda value: send({"note": value}))
        try:
            name, params = text_in(said, "method"), object_in(said, "params")
            if (method := self._methods.get(name)) is None:
                why = f"this mcptui does not know {clean_line(name, 60)}"
                raise UsageError(why, next_step="Restart it after an update.")
            if name not in QUIET:
                if not await self.may_attach(asking):
                    raise McptuiError("its user does not allow other processes to use its servers")
                if peer not in self.peers:
                    self._has(peer, text_in(params, "server"))
            send({"result": await load(method)(self._runtime, params, asking)})
        except McptuiError as error:
            send({"error": as_error(error)})
        except ValueError as error:
            send({"error": as_error(McptuiError(f"the answer cannot be passed on: {reason_of(error)}"))})
        except Exception as error:
            send({"error": as_error(McptuiError(f"internal error in mcptui: {reason_of(error)}"))})
            raise
        with suppress(OSError):
            await writer.drain()


def as_error(error: McptuiError) -> dict[str, str]:
    """Return an error as JSON."""
    kind = _ERRORS.get(type(error), "")
    return {"why": error.message, "where": error.where, "next_step": error.next_step, "kind": kind}
