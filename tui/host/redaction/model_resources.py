"""The server resources that the model may read: redacted, unless the user allows secrets in them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tui.core.servers import ServerState
from tui.core.tools import ToolResult
from tui.core.workbench import ResourceInfo, Workbench
from tui.host.supervisor import Supervisor


class ModelResources:
    """See `core.context.resource_tools.ResourceSource`.

    `workbench` redacts what it returns, `raw` does not: it is for servers whose results are sent as they are.
    """

    def __init__(self, servers: Mapping[str, Supervisor], workbench: Workbench, raw: Workbench) -> None:
        self._servers = servers
        self._workbench = workbench
        self._raw = raw

    def servers(self) -> Sequence[str]:
        return [
            name
            for name, server in self._servers.items()
            if server.spec.offer_resources and server.state is ServerState.RUNNING
        ]

    async def resources(self, server: str) -> tuple[Sequence[ResourceInfo], str]:
        return await (self._raw if self._as_is(server) else self._workbench).resources(server)

    async def read(self, server: str, uri: str, seconds: float) -> ToolResult:
        if not self._as_is(server):
            return await self._workbench.read_resource(server, uri, call="", seconds=seconds)
        return replace(await self._raw.read_resource(server, uri, call="", seconds=seconds), as_is=True)

    def _as_is(self, server: str) -> bool:
        known = self._servers.get(server)
        return known is not None and known.spec.send_as_is
