"""A transport to a server inside the test, which answers, stays silent or dies on command."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace

from tui.core.errors import ServerError
from tui.core.jsonrpc.messages import Response
from tui.host.frames.id_gate import random_id
from tui.host.frames.inbox import Inbox
from tui.host.frames.link import Link


@dataclass
class Script:
    """How the servers of one host behave, and what happened to them."""

    silent: bool = False
    missing: bool = False
    dies_on_call: bool = False
    stop_seconds: float = 0.0
    defects: dict[str, list[Exception]] = field(default_factory=dict)
    on_defect: Callable[[], object] = lambda: None
    spawned: int = 0
    called: int = 0
    alive: list["ScriptedTransport"] = field(default_factory=list)
    most_alive: int = 0

    def open(self, spec, **around):
        self.break_at("open")
        return ScriptedTransport(self, spec)

    def break_at(self, place):
        """Raise the next defect planned for this place, if any."""
        if self.defects.get(place):
            self.on_defect()
            raise self.defects[place].pop(0)

    def kill(self, code=1):
        """Make the newest server exit by itself."""
        self.alive[-1].die(code)


@dataclass(frozen=True)
class Ended:
    code: int | None
    signal: str = ""

    def sentence(self):
        return f"exited with code {self.code} after 0.1 s"


class Log:
    last = reason = "last words"
    revision = 1

    def lines(self):
        return ("first words", "last words")


class ScriptedGate:
    stray = ""

    def __init__(self, script):
        self.script = script

    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        if name == "version":
            self.script.break_at("handshake")


class ScriptedTransport:
    """The counterpart of `StdioTransport` for the scripted server."""

    messages = SimpleNamespace(noise=0, invalid_words="", first_noise="")
    incomplete = 0
    noise_hint = fatal = next_step = ""
    reach = None
    is_final = False
    leftovers = ()
    stages = ()

    def __init__(self, script, spec):
        self.script = script
        self.gate = ScriptedGate(script)
        self.pid = None
        self.exited = asyncio.Event()
        self.exit = None
        self.stderr = Log()

    async def __aenter__(self):
        if self.script.missing:
            raise ServerError("`x` was not found on PATH.", where="x", next_step="Check its command.")
        self.script.break_at("spawn")
        self.script.spawned += 1
        self.script.alive.append(self)
        self.script.most_alive = max(self.script.most_alive, len(self.script.alive))
        self.pid = 1000 + self.script.spawned
        self.inbox = Inbox()
        return Link(self.inbox, self._answer, random_id)

    async def __aexit__(self, *_):
        if self.exit is None and self.script.stop_seconds:
            await asyncio.sleep(self.script.stop_seconds)
        self.die(0)

    async def kill_now(self):
        self.die(-9)

    def die(self, code):
        if self.exit is None:
            self.exit = Ended(code)
            self.pid = None
            self.script.alive.remove(self)
            self.inbox.close()
            self.exited.set()

    def _answer(self, message, headers):
        method = message.get("method")
        if "id" in message and not self.script.silent:
            self.script.called += method == "tools/call"
            if method == "tools/call" and self.script.dies_on_call:
                self.die(17)
            self.inbox.put(Response(message["id"], RESULTS.get(method, {})))
        return self.exit is None


RESULTS = {
    "initialize": {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "scripted", "version": "1"},
    },
    "tools/list": {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]},
    "tools/call": {"content": [{"type": "text", "text": "hello"}]},
}
