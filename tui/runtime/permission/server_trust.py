"""Trust in servers: by configuration, command line or answer, or because they are samples."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from tui.core.context.built_in_tools import BUILT_IN
from tui.core.ports import BY_KEY, USER, DecisionKind, DecisionLog, DecisionRecord
from tui.core.servers import not_configured
from tui.core.tools import Tool
from tui.host.host import Host
from tui.settings.state.permission.stored_trust import StoredTrust

if TYPE_CHECKING:
    from tui.runtime.configuration import Configuration


class ServerTrust:
    """A `tui.core.ports.TrustStore` over the servers of a host and the answers in a file."""

    def __init__(
        self,
        host: Callable[[], Host],
        stored: StoredTrust,
        configuration: "Configuration",
        decisions: DecisionLog,
    ) -> None:
        self._host = host
        self._stored = stored
        self._configuration = configuration
        self._decisions = decisions

    @property
    def problems(self) -> list[str]:
        """Sentences about problems with the file of stored answers."""
        return [damage] if (damage := self._stored.damage()) else []

    def trusts(self, tool: Tool) -> bool:
        if tool.digest.startswith(BUILT_IN):
            return True
        return self._trusted(tool.server) is True

    def trusts_server(self, server: str) -> bool:
        return self._trusted(server) is True

    def is_open(self, server: str) -> bool:
        return self._trusted(server) is None

    def decide(self, server: str, trusted: bool) -> None:
        if (status := self._host().find(server)) is None:  # it was removed while the question was open
            return
        self._stored.keep(status.spec, trusted)
        self._host().reconfigure(server, trusted=trusted)
        subject = "read-only marks and results"
        self._decisions.add(
            DecisionRecord(DecisionKind.TRUST, server, subject, trusted, BY_KEY, USER, asked=True)
        )

    async def toggle(self, server: str) -> str:
        """Set whether a server is trusted; return why that was not saved, or ""."""
        if self._host().find(server) is None:
            return not_configured(server)
        trusted = self._trusted(server) is not True
        self.decide(server, trusted)
        table = self._configuration.table(server) or {}
        # A value in the configuration takes precedence at the next start.
        return await self._configuration.choose(server, "trusted", trusted, save="trusted" in table)

    def close(self) -> None:
        """Wait until every answer is written."""
        self._stored.close()

    def _trusted(self, server: str) -> bool | None:
        """Return whether a server is trusted, None if undecided; one that was removed is not."""
        status = self._host().find(server)
        return False if status is None else status.spec.trusted
