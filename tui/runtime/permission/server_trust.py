"""Trust in servers: by configuration, command line or answer, or because they are samples.

The key of a stored answer is the server's name with a hash of what runs, so a changed command invalidates it.
"""

from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tui.core.context.built_in_tools import built_in
from tui.core.language.translate import message
from tui.core.ports import BY_KEY, USER, DecisionKind, DecisionLog, DecisionRecord
from tui.core.servers import ServerSpec, not_configured
from tui.core.tools import Tool
from tui.settings.locations import is_sample
from tui.settings.state.state_file import KeyedList

if TYPE_CHECKING:
    from tui.runtime.configuration import Configuration


MAX_ENTRIES = 1000

Key = tuple[str, str]


class ServerTrust:
    """A `tui.core.ports.TrustStore` over the servers of the configuration and the answers in a file."""

    def __init__(self, stored: "StoredTrust", configuration: "Configuration", decisions: DecisionLog) -> None:
        self._stored = stored
        self.close = stored.close
        self._configuration = configuration
        self._decisions = decisions

    @property
    def problems(self) -> list[str]:
        """Sentences about problems with the file of stored answers."""
        damage = self._stored.damage
        return [message("Which servers you trust cannot be read: {damage}", damage=damage)] if damage else []

    def trusts(self, tool: Tool) -> bool:
        return bool(built_in(tool)) or self.trusted(tool.server) is True

    def trusted(self, server: str) -> bool | None:
        status = self._configuration.host.find(server)
        return False if status is None else status.spec.trusted

    def decide(self, server: str, trusted: bool) -> None:
        status = self._configuration.host.find(server)
        if status is None:  # it was removed while the question was open
            return
        self._stored.keep(status.spec, trusted)
        self._configuration.host.reconfigure(server, trusted=trusted)
        subject = "read-only marks and results"
        self._decisions.add(
            DecisionRecord(DecisionKind.TRUST, server, subject, trusted, BY_KEY, USER, asked=True)
        )

    async def toggle(self, server: str) -> str:
        """Set whether a server is trusted; return why that was not saved, or ""."""
        if self._configuration.host.find(server) is None:
            return not_configured(server)
        trusted = self.trusted(server) is not True
        self.decide(server, trusted)
        table = self._configuration.servers.get(server, {})
        # A value in the configuration takes precedence at the next start.
        return await self._configuration.choose(server, "trusted", trusted, save="trusted" in table)


class StoredTrust:
    """The answers, which are read from their file once."""

    def __init__(self, path: Path) -> None:
        self._list = KeyedList(
            path, "which servers are trusted", "servers", _read, _entry, max_entries=MAX_ENTRIES
        )
        self.close = self._list.close

    @cached_property
    def _read_once(self) -> tuple[dict[Key, bool], str]:
        content, damage = self._list.file.look()
        return self._list.of(content), damage

    @property
    def damage(self) -> str:
        """Why answers of earlier runs could not be read, with the path of the file, or ""."""
        return self._read_once[1]

    def applied(self, spec: ServerSpec) -> ServerSpec:
        """Return a server with its stored trust, unless configuration or command line set it.

        Samples change with mcptui, so their changes are accepted.
        """
        is_shipped = is_sample(spec)
        spec = replace(spec, accept_changes=True) if is_shipped else spec
        if spec.trusted is not None:
            return spec
        known = self._read_once[0].get(_key(spec))
        return replace(spec, trusted=True if known is None and is_shipped else known)

    def keep(self, spec: ServerSpec, trusted: bool) -> None:
        self._read_once[0][_key(spec)] = trusted
        self._list.change_later({_key(spec): trusted})


def _key(spec: ServerSpec) -> Key:
    return spec.name, spec.digest()


def _read(entry: Any) -> tuple[Key, bool] | None:
    match entry:
        case {"name": str(name), "runs": str(runs), "trusted": bool(trusted)}:
            return (name, runs), trusted
    return None


def _entry(key: Key, trusted: bool) -> dict[str, Any]:
    return {"name": key[0], "runs": key[1], "trusted": trusted}
