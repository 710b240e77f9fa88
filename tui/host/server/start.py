"""One try to start a session with a server: handshake in one mode, first lists, time limit."""

import asyncio

from tui.core.background import cancel_all, first_of
from tui.core.jsonrpc.introduction import Introduction
from tui.core.time_limits import TimeLimit
from tui.host import error_sentences as explain
from tui.host.frames.id_gate import PROBE
from tui.host.server.host_context import Connected
from tui.host.server.lists import ServerLists
from tui.host.server.server_start import start_seconds
from tui.host.session.handshake import OUR_VERSIONS, Handshake
from tui.host.session.session import Session
from tui.host.transports import ServerTransport


class Start:
    """One try to start a session.

    `mode` is "auto" to probe for the protocol era, "modern" to send no `initialize` if that fails, or
    "legacy" to send it right away; `last` says that no other mode is tried after this one. `introduction` is
    what the server has said about itself, once both have agreed on a version.
    """

    def __init__(
        self, server: Connected, transport: ServerTransport, stop: asyncio.Event, mode: str, *, last: bool
    ) -> None:
        self.introduction = Introduction()
        self.is_last = last
        self._server, self._transport, self._stop = server, transport, stop
        self._mode = mode
        self._seconds = start_seconds(server.spec)
        self._handshake: Handshake | None = None
        self._waiting_for = "the first request"
        self._timed_out = False

    async def run(self, session: Session, lists: ServerLists) -> bool | None:
        """Shake hands and list; return whether all tools were listed, None if the start was given up."""
        mode, is_local = self._mode, self._transport.reach is None
        self._handshake = handshake = Handshake(
            session,
            probes=mode != "legacy",
            initializes=mode != "modern",
            leaves=mode == "auto" and not self.is_last and is_local,
        )
        self._waiting_for = PROBE if mode == "modern" else "initialize"
        limit = TimeLimit(self._seconds)
        guard = asyncio.create_task(self._give_up(limit), name=f"guard of {self._server.spec.name}")
        try:
            async with self._server.requests.clocks.within(limit):
                await handshake.shake()
                self.introduction = handshake.introduction
                self._transport.gate.version = self.introduction.version
                self._waiting_for = "tools/list"
                complete = await lists.read_all(session, self.introduction, self._seconds)
                if guard.done():
                    return None
                limit.end()
                return complete
        except TimeoutError:
            if not limit.expired:
                raise
            self._timed_out = not (self._stop.is_set() or self._transport.exited.is_set())
            return None
        finally:
            await cancel_all((guard,))

    async def _give_up(self, limit: TimeLimit) -> None:
        """End the start at once when asked to stop, or when the process has ended."""
        await first_of(self._stop.wait(), self._transport.exited.wait())
        limit.expire()

    @property
    def was_probed(self) -> bool:
        """Whether the session of a process began with a probe; see `may_be_of_other_era`."""
        shaken = self._handshake
        return shaken is not None and shaken.was_probed and self._transport.reach is None

    def may_be_of_other_era(self, died: bool) -> bool:
        """Whether a new process may start in the other mode; `died` says whether this one did on its own.

        Some servers exit on an unknown method, and some gateways open their upstream with whatever comes
        first: after a probe they may die, reject `initialize`, or offer less. So a process that rejected the
        probe is not used. A server that rejects `initialize` as its first request may have been upgraded.
        """
        handshake = self._handshake
        if handshake is None or self.introduction.version or self._timed_out or self._stop.is_set():
            return False
        died_early = died and not handshake.versions
        is_possible = self._mode == "legacy" or handshake.was_refused or died_early
        return is_possible and not self._transport.is_final

    def failure(self, error: BaseException | None, died: bool) -> explain.Ending:
        """Say why it failed; `error` is what it raised, None if it was given up."""
        spec, shaken = self._server.spec, self._handshake
        return explain.start_failure(
            spec,
            self._transport,
            error,
            seconds=self._seconds if self._timed_out else None,
            died=died,
            waiting_for=self._waiting_for,
            versions=(shaken.versions, shaken.offered(spec.era)) if shaken else ((), OUR_VERSIONS[spec.era]),
        )
