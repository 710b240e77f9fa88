"""`mcptui tap --watch --listen`: an HTTP server that this process starts, again when its files change.

With `{port}` in its command and URL, the new process answers before the old one goes. Without, both need the
same port, so the old one goes first, and requests wait.
"""

import asyncio
import os
from collections.abc import Sequence
from time import monotonic
from typing import Self

from httpx2 import AsyncBaseTransport

from tui.addons.watch.kept_http import KeptHttp
from tui.addons.watch.ports import answers, free_port, place_of
from tui.addons.watch.restarter import (
    ANSWER_SECONDS,
    START_SECONDS,
    Restarts,
    end_of,
    say,
    say_restarted,
    why_failed,
)
from tui.commands.tap.message_tap import STOP_SECONDS, ServerSide
from tui.core.background import first_of
from tui.core.errors import reason_of
from tui.core.secrets.commands_and_urls import masked_arguments
from tui.host.frames.tap import WireTap
from tui.host.process.guard import TapGuard
from tui.host.process.pipes import PipeReader

PORT = "{port}"
LOOK_SECONDS = 0.05
TOLD_SECONDS = 1.0
"""How long the streams of hosts may take to continue before a restart is reported."""

AGAIN = "It starts again when its files change."


class WatchedHttp:
    """Runs and replaces an HTTP server; an `HttpKeeper`. `command` may contain `{port}`, as may its URL."""

    def __init__(self, command: Sequence[str], patterns: Sequence[str]) -> None:
        self._restarts = Restarts(patterns, self._restart)
        self._command = command
        self._is_beside = any(PORT in word for word in command)
        self._guard = TapGuard(os.environ)
        self._count = 0
        self._serving: ServerSide | None = None
        self._port = 0
        self._host = ""

    def target(self, url: str) -> str:
        self._port = free_port() if self._is_beside else 0
        target = url.replace(PORT, str(self._port))
        self._host, self._port = place_of(target)
        return target

    def over(self, sends: AsyncBaseTransport, records: WireTap) -> AsyncBaseTransport:
        self._records, self._kept = records, KeptHttp(sends)
        return self._kept

    async def __aenter__(self) -> Self:
        await self._restarts.begin()
        self._begun = self._restarts.tasks.start(self._begin(), "start")
        return self

    async def __aexit__(self, *_: object) -> None:
        self._begun.cancel()
        if (server := self._serving) is not None:
            self._serving = None
            self._restarts.retire(server, 0)
        await self._restarts.end()
        self._guard.end()

    async def _begin(self) -> None:
        async with self._restarts.lock:
            if await answers(self._host, self._port):
                self._down(f"Port {self._port} is in use by another program.")
                return
            server, problem = await self._started(self._port)
            if server is None:
                self._down(f"The server did not start: {problem}. {AGAIN}")
                return
            self._serve(server, self._port)

    async def _restart(self, files: Sequence[str]) -> bool:
        began, old, port = monotonic(), self._serving, free_port() if self._is_beside else self._port
        new: ServerSide | None = None
        problem, failed = "", 0
        if self._is_beside:
            new, problem = await self._started(port)
        if new is not None or not self._is_beside:
            self._kept.hold()
            await self._kept.settled(ANSWER_SECONDS)
            failed = self._kept.lose(why_failed(files))
            self._serving = None
            if old is not None:
                leaving = self._restarts.retire(old, 0)
                if not self._is_beside:
                    await asyncio.shield(leaving)
        if not self._is_beside:
            new, problem = await self._started(port)
        if new is None:
            self._records.event("restart failed", files=list(files), why=problem)
            say(f"not restarted: {problem}")
            if self._serving is None:
                self._down(f"The server did not start: {problem}. {AGAIN}", is_said=True)
            return False
        self._serve(new, port)
        seconds, changed = monotonic() - began, await self._kept.told(TOLD_SECONDS)
        say_restarted(self._records.event, seconds, files=list(files), changed=changed, failed=failed)
        return True

    def _serve(self, server: ServerSide, port: int) -> None:
        self._serving, self._restarts.starting = server, None
        argv, pid = masked_arguments(server.command), server.process.pid
        self._records.event("spawn", pid=pid, argv=argv, cwd=os.getcwd(), tap=True)
        self._kept.resume(port)
        self._restarts.tasks.start(self._watch_end(server), "end")

    async def _watch_end(self, server: ServerSide) -> None:
        """Tell the hosts if the server exits by itself."""
        await server.process.exited.wait()
        if self._serving is server:
            await first_of(server.heard_all.wait(), seconds=STOP_SECONDS)
            self._serving = None
            self._down(f"The server {end_of(server)}. {AGAIN}")

    def _down(self, why: str, *, is_said: bool = False) -> None:
        self._records.event("server ended", failed=self._kept.lose(why), why=why)
        self._kept.fail(why)
        if not is_said:
            say(why)

    async def _started(self, port: int) -> tuple[ServerSide | None, str]:
        """Return a process whose port answers, or why there is none."""
        self._count += 1
        command = [word.replace(PORT, str(port)) for word in self._command]
        try:
            server = ServerSide(command, self._guard.environment, self._count)
        except OSError as error:
            return None, f"cannot start {command[0]}: {reason_of(error)}"
        self._restarts.starting = server
        if self._count == 1:
            self._guard.start(server.process.pid)
        self._restarts.tasks.start(self._hear(server), "output")
        until = monotonic() + START_SECONDS
        while server.process.exit is None and monotonic() < until:
            if await answers(self._host, port):
                return server, ""
            await first_of(server.process.exited.wait(), seconds=LOOK_SECONDS)
        problem = f"nothing listens on port {port}"
        if server.process.exit is not None:
            await first_of(server.heard_all.wait(), seconds=STOP_SECONDS)
            problem = f"the new server {end_of(server)}"
        await server.stop(0)
        self._restarts.starting = None
        return None, problem

    async def _hear(self, server: ServerSide) -> None:
        await asyncio.gather(self._read(server, server.stdout), self._read(server, server.stderr))
        server.heard_all.set()

    async def _read(self, server: ServerSide, pipe: PipeReader) -> None:
        while chunk := await pipe.read():
            server.log.feed(chunk)
            self._records.heard(chunk)
            await asyncio.to_thread(os.write, 2, chunk)
        pipe.close()
