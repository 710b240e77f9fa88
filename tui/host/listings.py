"""The listings of one connection, asked for page by page and taken raw. Drives the SDK's client."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from mcp.client import Client
from mcp_types import PaginatedRequestParams, PromptsCapability, ResourcesCapability, ToolsCapability
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from tui.host.catalog import Walk, walk_pages
from tui.host.frames.id_gate import METHOD_NOT_FOUND
from tui.host.sdk_bridge import RawReply, SdkBridge

COUNT_SECONDS = 2.0


class Listing:
    """Asks one server what it offers."""

    def __init__(self, client: Client, wire: SdkBridge) -> None:
        self._client = client
        self._wire = wire

    async def walk(self, kind: str, seconds: float, *, first: float | None = None) -> Walk:
        """Return the raw entries of all pages, or of those that came in time.

        Args:
            kind: "tools", "resources", "resourceTemplates" or "prompts": the key of its answer.
            seconds: how long all pages may take together.
            first: how long the first one may take, or None if the caller looks after that.
        """
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds

        async def fetch(cursor: str | None) -> Mapping[str, Any]:
            if cursor is None:
                async with asyncio.timeout(first):
                    return await self._page(kind, cursor)
            async with asyncio.timeout_at(end):
                return await self._page(kind, cursor)

        return await walk_pages(fetch, kind)

    async def count(self, kind: str) -> int | None:
        """Return how many entries there are, or None if not offered or not all listed within 2 s."""
        if kind not in self.offered:
            return None
        try:
            async with asyncio.timeout(COUNT_SECONDS):
                walk = await self.walk(kind, COUNT_SECONDS)
        except Exception:  # a count is a nicety: no failure of it may cost the server
            return None
        return None if walk.incomplete else len(walk.items)

    @property
    def offered(self) -> frozenset[str]:
        """The kinds of lists that the server says it has."""
        return frozenset(kind for kind, offer in self._offers.items() if offer is not None)

    @property
    def streamed(self) -> frozenset[str]:
        """The kinds of lists whose changes the server sends only on a change stream."""
        if self._client.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            return frozenset()
        return frozenset(kind for kind, offer in self._offers.items() if offer and offer.list_changed)

    @property
    def _offers(self) -> dict[str, ToolsCapability | ResourcesCapability | PromptsCapability | None]:
        said = self._client.server_capabilities
        return {"tools": said.tools, "resources": said.resources, "prompts": said.prompts}

    async def listen(self, opened: Callable[[], None]) -> bool:
        """Hold a change stream open until it ends; what it carries is heard on the wire.

        Args:
            opened: called once the server has acknowledged the stream.

        Returns:
            Whether it may be opened again: False if the server does not know such streams.
        """
        kinds = self.streamed
        try:
            async with self._client.listen(
                tools_list_changed="tools" in kinds,
                resources_list_changed="resources" in kinds,
                prompts_list_changed="prompts" in kinds,
            ) as changes:
                opened()
                async for _ in changes:
                    pass
        except Exception as error:  # however it ends or is refused, the server can still be called
            return getattr(error, "code", None) != METHOD_NOT_FOUND
        return True

    async def _page(self, kind: str, cursor: str | None) -> Mapping[str, Any]:
        ticket = RawReply(hollow=lambda raw: {kind: []})
        meta: Any = self._wire.issue(ticket)
        params = PaginatedRequestParams(cursor=cursor, _meta=meta)
        session = self._client.session
        try:
            if kind == "tools":
                await session.list_tools(params=params)
            elif kind == "resources":
                await session.list_resources(params=params)
            elif kind == "resourceTemplates":
                await session.list_resource_templates(params=params)
            else:
                await session.list_prompts(params=params)
        finally:
            self._wire.withdraw(meta)
        return ticket.raw or {}
