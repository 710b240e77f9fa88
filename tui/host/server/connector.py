"""How a server is connected to: in the mode that fits its era, then in the other, and again after a bug."""

import asyncio
import logging
from functools import partial

from tui.core.eras import Era, era_key, opening_modes
from tui.core.errors import ConfigError, ServerError
from tui.core.server_secrets import with_secrets
from tui.core.servers import StopReason
from tui.host import error_sentences as explain
from tui.host.error_sentences import Ending
from tui.host.server.connection import Connection
from tui.host.server.host_context import Connected, HostContext
from tui.host.server.server_start import load_transport
from tui.host.transports import ServerTransport

STARTS = 2
"""How often to try a start that fails with an internal error."""

_log = logging.getLogger(__name__)


class Connector:
    """Runs the connections to one server.

    `connection` is the present or last one, `only` the one mode in which the next start is tried, or "".
    """

    def __init__(self, server: Connected, around: HostContext) -> None:
        self.connection: Connection | None = None
        self.only = ""
        self._server = server
        self._around = around

    async def run(self, stop: asyncio.Event) -> Ending:
        """Connect until `stop` is set or the server dies; return how it ended."""
        for _ in range(STARTS):
            try:
                return await self._run(stop)
            except Exception as error:  # a bug with one server must not end the host; many depend on timing
                name = self._server.spec.name
                _log.error("%s failed to start with an internal error", name, exc_info=error)
                ending = Ending(StopReason.REQUESTED) if stop.is_set() else explain.internal_error(error)
                await asyncio.sleep(0)  # whoever heard of it may ask to stop
        return ending

    async def _run(self, stop: asyncio.Event) -> Ending:
        """Connect, and try again in the other mode if the server may be of the other era.

        If the server is known to have no handshake, the probe waits as long as the start may take.
        """
        await self._server.offer.load()
        spec, eras = self._server.spec, self._around.remembered.eras
        known = eras.find(era_key(spec))
        ending = Ending(StopReason.REQUESTED)
        known_modern, modes = (
            known is not None and known.modern,
            opening_modes(spec, known, self._around.profile(spec)),
        )
        if self.only:
            modes, self.only = (self.only,), ""
        for mode in modes:
            if stop.is_set():
                break
            if not self._around.answerers.consent.allows(self._server.spec):  # whatever the reason
                return explain.needs_consent(self._server.spec)
            try:
                transport = await self._opened(stop, is_modern=mode == "modern" or known_modern)
            except (ServerError, ConfigError) as error:
                return Ending(StopReason.FAILED_TO_START, error.message, error.next_step)
            if transport is None:
                break
            last = mode == modes[-1]
            self.connection = found = Connection(self._server, transport, self._around, stop, mode, last=last)
            ending = await found.run()
            is_sure = len(modes) > 1 and not (spec.url and transport.fatal)
            if ending.reason is StopReason.FAILED_TO_START and is_sure:
                eras.forget(era_key(spec))  # not if the address cannot be reached
                known_modern = False
            if not found.may_be_of_other_era:
                break
        return ending

    async def _opened(self, stop: asyncio.Event, *, is_modern: bool) -> "ServerTransport | None":
        """Return a transport, None if `stop` is set meanwhile. Raises ServerError and ConfigError."""
        spec = await with_secrets(self._server.spec, self._around.redactor.add, stop)
        await load_transport(spec)
        if stop.is_set():
            return None
        return self._around.open(
            spec,
            on_change=partial(self._around.changed, spec.name),
            clocks=self._server.requests.clocks,
            is_modern=is_modern,
        )

    def succeeded(self, version: str) -> None:
        """Remember the era that the running server negotiated; `version` is that of its program."""
        assert self.connection is not None
        era = Era(self.connection.introduction.is_modern, version)
        self._around.remembered.eras.connected(era_key(self._server.spec), era)
