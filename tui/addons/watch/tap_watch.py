"""`mcptui tap --watch`: another host's server starts again when its files change, unnoticed by the host.

The new process has shaken hands before the old one goes. What fails leaves the old one.
"""

import argparse
import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Self

from tui.addons.watch.agreed import INITIALIZE, INITIALIZED, LISTS
from tui.addons.watch.globs import guessed
from tui.addons.watch.kept_session import Courier, KeptSession
from tui.addons.watch.restarter import (
    ANSWER_SECONDS,
    START_SECONDS,
    Restarts,
    end_of,
    say,
    say_restarted,
    why_failed,
)
from tui.commands.tap.message_tap import STOP_SECONDS, MessageTap, ServerSide
from tui.commands.tap.tap import TapPart
from tui.core.background import first_of
from tui.core.errors import reason_of
from tui.core.jsonrpc.messages import write_line
from tui.core.programs import is_command
from tui.core.servers import ServerSpec
from tui.core.traffic import PROBE_METHOD
from tui.traffic.explain.crash import may_be_in_use, says_in_use

ASK_SECONDS = 10.0


@dataclass(slots=True)
class Candidate:
    """A process that does not serve the host yet; `early` is what it said beside our answers."""

    tap: MessageTap
    side: ServerSide
    courier: Courier = field(default_factory=Courier)
    early: list[bytes] = field(default_factory=list)
    is_introduced: bool = False
    is_initialized: bool = False

    def hear(self, raw: bytes) -> None:
        if not self.courier.take(raw):
            self.early.append(raw)

    async def ask(
        self, method: str, params: Mapping[str, Any], seconds: float = ASK_SECONDS
    ) -> Mapping[str, Any] | None:
        """Send a request of our own; return its result, None for an error or no answer."""
        line, answer = self.courier.request(method, params)
        self.tap.tell(self.side, line)
        await first_of(asyncio.wait((answer,)), self.side.process.exited.wait(), seconds=seconds)
        return answer.result() if answer.done() else None


class WatchedTap:
    """Replaces the server of a tap; a `Keeper`. `patterns` are globs of the files to watch."""

    def __init__(
        self,
        tap: MessageTap,
        session: KeptSession,
        command: Sequence[str],
        environment: Mapping[str, str],
        patterns: Sequence[str],
    ) -> None:
        self._restarts = Restarts(patterns, self._restart)
        self._tap = tap
        self._session = session
        self._command, self._environment = command, environment
        self._has_new = asyncio.Event()
        self._stops_first = False
        self._may_try = True

    async def __aenter__(self) -> Self:
        await self._restarts.begin()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._restarts.end()

    async def ended(self) -> None:
        """Tell the host that its server has exited, and wait for the next one."""
        server = self._tap.server
        async with self._restarts.lock:
            if self._tap.server is not server:
                return
            await first_of(server.heard_all.wait(), seconds=STOP_SECONDS)
            why = f"The server {end_of(server)}. It starts again when its files change."
            self._session.down = why
            self._tap.event("server ended", failed=self._session.lose(why), why=why)
            say(why)
        await self._has_new.wait()

    async def _restart(self, files: Sequence[str]) -> bool:
        began, old = monotonic(), self._tap.server
        try:
            new, problem = await self._opened(old)
            if new is None:
                self._tap.event("restart failed", files=list(files), why=problem)
                say(f"not restarted: {problem}")
                return False
            self._session.hold()
            await self._answered()
            failed = self._replace(old, new, files)
            changed = await self._told(new)
        finally:
            self._session.resume()
        say_restarted(self._tap.event, monotonic() - began, files=list(files), changed=changed, failed=failed)
        return True

    async def _opened(self, old: ServerSide) -> tuple[Candidate | None, str]:
        """Return a process that has shaken hands, or why there is none."""
        if old.process.exit is not None or not self._stops_first:
            new, problem, is_in_use = await self._started()
            if new is not None or not is_in_use or old.process.exit is not None:
                return new, problem
        self._session.hold()
        await self._answered()
        await old.stop()
        new, problem, _ = await self._started()
        self._stops_first = self._may_try = new is not None
        return new, problem

    async def _answered(self) -> None:
        """Wait until the server has answered all, but not long."""
        for _ in range(10):
            if self._session.under_way.waits:
                await asyncio.sleep(ANSWER_SECONDS / 10)

    async def _started(self) -> tuple[Candidate | None, str, bool]:
        """Return as `_opened` does, and whether the old process may be the problem, as `Handovers` does."""
        try:
            side = self._tap.connect(self._command, self._environment)
        except OSError as error:
            return None, f"cannot start {self._command[0]}: {reason_of(error)}", False
        new, self._restarts.starting = Candidate(self._tap, side), side
        side.hear = new.hear
        is_new = await self._shake_hands(new)
        if is_new and (self._tap.server.process.exit is not None or not says_in_use(side.log.lines())):
            return new, "", False
        problem, may_be = "it did not accept the handshake", False
        if side.process.exit is not None:
            await first_of(side.heard_all.wait(), seconds=STOP_SECONDS)
            problem = f"the new server {end_of(side)}"
            may_be = self._may_try and may_be_in_use(side.process.exit.code, side.log.lines())
        await side.stop(0)
        self._restarts.starting = None
        return None, problem, may_be or says_in_use(side.log.lines())

    async def _shake_hands(self, new: Candidate) -> bool:
        """Repeat the host's handshake. Without one, any answer shows that the server is there."""
        agreed = self._session.agreed
        if agreed.introduction is None:
            meta = {"_meta": dict(agreed.meta)} if agreed.meta else {}
            await new.ask(PROBE_METHOD, meta, START_SECONDS)
        elif not await self._introduce(new):
            return False
        return new.side.process.exit is None

    async def _introduce(self, new: Candidate) -> bool:
        """Repeat as much of the handshake as the host has completed; return whether that succeeded."""
        agreed = self._session.agreed
        if agreed.introduction is None:
            return True  # a handshake under way goes to the new process
        if not new.is_introduced:
            if await new.ask(INITIALIZE, agreed.introduction, START_SECONDS) is None:
                return False
            new.is_introduced = True
        if agreed.is_initialized and not new.is_initialized:
            self._tap.tell(new.side, write_line({"jsonrpc": "2.0", "method": INITIALIZED}))
            new.is_initialized = True
        return True

    def _replace(self, old: ServerSide, new: Candidate, files: Sequence[str]) -> int:
        """Let the new process serve; return the number of requests that the old one has not answered."""
        session = self._session
        failed = session.lose(why_failed(files))
        session.down, session.courier = "", new.courier
        self._tap.adopt(new.side)
        self._restarts.starting = None
        for raw in new.early:
            new.side.hear(raw)
        self._has_new.set()
        self._has_new = asyncio.Event()
        self._restarts.retire(old)
        return failed

    async def _told(self, new: Candidate) -> list[str]:
        """Tell the new process what the old one knew, and the host which lists have changed; return these."""
        session = self._session
        await self._introduce(new)
        for raw in session.under_way.repeated():
            self._tap.tell(new.side, raw)
        await session.agreed.repeat(new.ask)
        changed = await session.agreed.changed(new.ask)
        session.tell_changed(changed)
        return [LISTS[method] for method in changed]


def tap_part(args: argparse.Namespace) -> TapPart:
    """Return what `mcptui tap --watch` adds to a tap. Raises ValueError."""
    command = args.server_command[1:] if args.server_command[:1] == ["--"] else args.server_command
    patterns = tuple(filter(None, args.watch))
    if command and not patterns:
        patterns = guessed(ServerSpec("", command[0], tuple(command[1:])))
    if command and not patterns and not is_command(command[0]):
        raise ValueError(f"cannot start {command[0]}: No such file or directory")
    if command and not patterns:
        raise ValueError("cannot tell which files the server is made of: --watch GLOB")
    if args.listen is not None or args.to is not None:
        if not command or args.listen is None or args.to is None:
            raise ValueError("--watch starts the server: --listen PORT --to URL -- COMMAND ARG ...")
        if any("{port}" in word for word in command) != ("{port}" in args.to):
            raise ValueError("{port} has to be in both --to and the command, or in neither")
        from tui.addons.watch.tap_watch_http import WatchedHttp

        return TapPart([], serves=WatchedHttp(command, patterns))
    session = KeptSession()
    return TapPart(
        [session], lambda tap, environment: WatchedTap(tap, session, command, environment, patterns)
    )
