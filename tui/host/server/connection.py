"""One connection to one server: from starting the process to the end of the last of its processes.

A connection is one coroutine in one task. Nobody cancels that task; an event asks it to stop.
"""

import asyncio
import logging

from tui.core.background import cancel_all, first_of, set_within
from tui.core.jsonrpc.introduction import Introduction
from tui.core.servers import StopReason
from tui.host import error_sentences as explain
from tui.host.server.calls import ServerCalls
from tui.host.server.host_context import Connected, HostContext
from tui.host.server.lists import ServerLists
from tui.host.server.start import Start
from tui.host.server.upkeep import Upkeep
from tui.host.session.session import Session
from tui.host.transports import ServerTransport

EXIT_GRACE = 1.0

_log = logging.getLogger(__name__)


class Connection:
    """One connection to one server, which ends when `stop` is set or the server dies.

    It starts in `mode`; see `Start`. The stderr and exit of `transport` can still be read after the end.
    """

    def __init__(
        self,
        server: Connected,
        transport: ServerTransport,
        around: HostContext,
        stop: asyncio.Event,
        mode: str,
        *,
        last: bool = True,
    ) -> None:
        self.transport = transport
        self.start = Start(server, transport, stop, mode, last=last)
        self.start_ms: float | None = None
        self.lists = ServerLists(server, transport, around)
        self.calls = ServerCalls(server, transport, around, stop)
        self.upkeep = Upkeep(server, self.lists, self.calls, around.clock)
        self._server, self._around, self._stop = server, around, stop
        self._began_ns = around.clock.now_ns()
        self._ready = self._died = False

    @property
    def introduction(self) -> Introduction:
        """What the server has said about itself."""
        return self.start.introduction

    async def run(self) -> explain.Ending:
        """Run to the end; return how it ended, with none of its processes left.

        Any exception is a bug in mcptui or its libraries.
        """
        error: BaseException | None = None
        try:
            async with self.transport as link:
                profile = self._around.profile(self._server.spec)
                session = Session(
                    link, self.upkeep.notified, self._server.requests, self.calls.stamp, profile
                )
                try:
                    await self._run_session(session)
                except Exception as found:  # whatever it is, it ends this connection, never the program
                    error = found
                if session.closed.is_set() and not self._stop.is_set():
                    # A closed pipe is often its first sign.
                    await set_within(self.transport.exited, EXIT_GRACE)
                self._leave(error)
        except Exception as found:  # starting or stopping the process failed: that is how it ended
            error = error or found
        finally:
            self.calls.left.set()
        if error is not None and self._is_defect(error):
            if not self._ready:
                raise error
            _log.error("%s ended with an internal error", self._server.spec.name, exc_info=error)
        return self._ending(error)

    async def _run_session(self, session: Session) -> None:
        name = self._server.spec.name
        reading = asyncio.create_task(session.run(), name=f"session of {name}")
        try:
            if (complete := await self.start.run(session, self.lists)) is None:
                return
            self.start_ms = (self._around.clock.now_ns() - self._began_ns) / 1e6
            self._ready = True
            self.calls.session = session
            self._server.ready(self)
            work = self.upkeep.work(session, self.start, complete)
            side = [asyncio.create_task(item, name=f"{what} of {name}") for what, item in work.items()]
            try:
                await first_of(self._stop.wait(), self.transport.exited.wait(), session.closed.wait())
            finally:
                await cancel_all(side)
        finally:
            self.calls.end()
            await session.end()
            await cancel_all((reading,))

    def _leave(self, error: BaseException | None) -> None:
        self._died = self.transport.exited.is_set()
        is_retried = error is not None and not self._ready and self._is_defect(error)
        if is_retried or (self.may_be_of_other_era and not self.start.is_last):
            return  # still starting: the start is retried, or the other mode is tried with a new process
        self._server.leaving(self._ending(error).reason)

    @property
    def may_be_of_other_era(self) -> bool:
        """Whether a new process may start in the other mode."""
        return self.start.may_be_of_other_era(self._died)

    def _is_defect(self, error: BaseException) -> bool:
        """Whether a bug ended the connection; after a death or a stop, errors are expected."""
        ended = self._died or self._stop.is_set() or self.transport.fatal
        return not ended and explain.is_defect(error)

    def _ending(self, error: BaseException | None) -> explain.Ending:
        if self._stop.is_set():
            return explain.Ending(StopReason.REQUESTED, explain.left_behind(self.transport))
        if self._ready:
            return explain.death(self.transport, error, died=self._died)
        return self.start.failure(error, self._died)

    async def settled(self) -> None:
        """Return once the tools are listed after the server's last change notification, or after 5 s."""
        await self.lists.settled(self.calls.left)
