"""The watching of one server: asked each second what it is and what it costs, never twice at once."""

import asyncio
import time

from tui.core.servers import ServerState, ServerStatus
from tui.core.workbench import ServerIdentity, Workbench

SECONDS = 1.0


class Watch:
    """Asks for the identity of a server while somebody looks.

    Attributes:
        identity: the last answer; None before the first.
        share: of one processor, between the last two answers; None if it cannot be told.
    """

    def __init__(self, bench: Workbench, server: str) -> None:
        self._bench = bench
        self._server = server
        self.identity: ServerIdentity | None = None
        self.share: float | None = None
        self._asked = float("-inf")
        self._measured: tuple[float, float, tuple[int, ...]] | None = None
        self._state: ServerState | None = None
        self._task: asyncio.Task[None] | None = None

    def look(self, status: ServerStatus | None) -> None:
        """Ask, if it is time to; at once where the state is another one."""
        now = time.monotonic()
        state = status.state if status is not None else None
        if self._task is not None and not self._task.done():
            return
        if now - self._asked >= SECONDS or state is not self._state:
            self._asked, self._state = now, state
            self._task = asyncio.create_task(self._ask(), name="identity of a server")

    async def _ask(self) -> None:
        identity = await self._bench.identity(self._server)
        now, spent = time.monotonic(), identity.cpu_seconds
        before, self._measured = self._measured, None
        self.identity, self.share = identity, None
        if spent is None:
            return
        self._measured = (now, spent, identity.pids)
        # Of other processes nothing can be said: the time of one that ended is gone from the sum.
        if before is not None and before[2] == identity.pids and now > before[0]:
            self.share = max(0.0, (spent - before[1]) / (now - before[0]))

    def started(self, status: ServerStatus) -> str:
        """Return the time of day at which the present state began, in words."""
        ago = (time.monotonic_ns() - status.since_ns) / 1e9
        return time.strftime("%H:%M:%S", time.localtime(time.time() - ago)) if status.since_ns else ""

    async def close(self) -> None:
        """Ask no more."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})
