"""Settings that the user changes while a server runs: applied at once, saved in the configuration."""

import asyncio
import os
from collections.abc import Callable, Sequence

from tui.core.errors import McptuiError, sentences
from tui.core.servers import SamplingRule
from tui.core.text import quoted_name
from tui.core.tools import switched
from tui.host.host import Host
from tui.settings.config_file import ConfigFile

EVERYTHING = "*"
"""The pattern for all tools of a server."""


class ServerChoices:
    """Changes settings of one server that need no restart.

    `host` returns the host, which is replaced when the configuration is read. `is_configured` tells whether a
    server is in the configuration file: samples are not.
    """

    def __init__(
        self, config: ConfigFile, host: Callable[[], Host], is_configured: Callable[[str], bool]
    ) -> None:
        self._config = config
        self._host = host
        self._is_configured = is_configured
        self._saving = asyncio.Lock()

    async def toggle_tool(self, server: str, tool: str) -> str:
        """Turn a tool on or off for the model; return why that was not saved, or ""."""
        host = self._host()
        names = [one.name for one in host.workbench.tools(server)]
        return await self._set_off_patterns(server, switched(host.status(server).spec.off, tool, names))

    async def toggle_all(self, server: str) -> str:
        """Turn all tools off for the model, or on if any is off; return why that was not saved, or ""."""
        return await self._set_off_patterns(
            server, () if self._host().status(server).spec.off else (EVERYTHING,)
        )

    async def toggle_instructions(self, server: str) -> str:
        """Set whether the model gets the server's instructions; return why that was not saved, or ""."""
        given = not self._host().status(server).spec.instructions
        self._host().reconfigure(server, instructions=given)
        return await self._save(server, "instructions", given)

    async def toggle_resources(self, server: str) -> str:
        """Set whether the model may read the server's resources; return why that was not saved, or ""."""
        allowed = not self._host().status(server).spec.offer_resources
        self._host().reconfigure(server, offer_resources=allowed)
        return await self._save(server, "offer_resources", allowed)

    async def set_log_level(self, server: str, level: str) -> str:
        """Set the server's minimum log level; return why that was not saved, or ""."""
        self._host().reconfigure(server, log_level=level)
        return await self._save(server, "log_level", level)

    async def set_roots(self, server: str, roots: Sequence[str]) -> str:
        """Set the directories that the server may work in; return why that was not saved, or ""."""
        paths = absolute(roots)
        self._host().reconfigure(server, roots=paths)
        return await self._save(server, "roots", paths)

    async def set_sampling(self, server: str, rule: SamplingRule) -> str:
        """Set whether the server may use the model; return why that was not saved, or ""."""
        self._host().reconfigure(server, sampling=rule)
        return await self._save(server, "sampling", str(rule))

    async def _set_off_patterns(self, server: str, patterns: Sequence[str]) -> str:
        self._host().reconfigure(server, off=tuple(patterns))
        return await self._save(server, "off", tuple(patterns))

    async def _save(self, server: str, key: str, value: str | bool | Sequence[str]) -> str:
        if not self._is_configured(server):
            return (
                f"The server {quoted_name(server)} is not in the configuration file. "
                "The change lasts until mcptui quits."
            )
        async with self._saving:
            try:
                await asyncio.to_thread(self._config.save, ("servers", server, key), value)
            except McptuiError as error:
                return sentences(f"Not saved: {error}", "The change lasts until mcptui quits.")
        return ""


def absolute(folders: Sequence[str]) -> tuple[str, ...]:
    """Return the absolute paths of typed folders, with "~" expanded."""
    return tuple(os.path.abspath(os.path.expanduser(folder)) for folder in folders)
