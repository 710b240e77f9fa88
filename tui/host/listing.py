"""The listings of one connection, asked for page by page and taken raw. Drives the SDK's client."""

import asyncio
from collections.abc import Mapping
from typing import Any

from mcp.client import Client
from mcp_types import PaginatedRequestParams
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from tui.host.catalog import Walk, walk_pages
from tui.host.wire import Ticket, Wire

COUNT_SECONDS = 2.0


class Listing:
    """Asks one server what it offers."""

    def __init__(self, client: Client, wire: Wire) -> None:
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

    async def count(self, kind: str, offered: bool) -> int | None:
        """Return how many entries there are, or None if not `offered` or not to be had within 2 s."""
        if not offered:
            return None
        try:
            async with asyncio.timeout(COUNT_SECONDS):
                return len((await self.walk(kind, COUNT_SECONDS)).items)
        except Exception:  # a count is a nicety: no failure of it may cost the server
            return None

    @property
    def must_listen(self) -> bool:
        """Whether the server says that its tools change only on a stream that is asked for."""
        offered = self._client.server_capabilities.tools
        modern = self._client.protocol_version in MODERN_PROTOCOL_VERSIONS
        return modern and bool(offered and offered.list_changed)

    async def listen(self, changed: asyncio.Event) -> None:
        """Hold that stream open, and set `changed` whenever the tools change; ends when the stream does."""
        try:
            async with self._client.listen(tools_list_changed=True) as changes:
                async for _ in changes:
                    changed.set()
        except Exception:  # a server may offer it and still refuse: then the list stays as it was
            return

    async def _page(self, kind: str, cursor: str | None) -> Mapping[str, Any]:
        ticket = Ticket(hollow=lambda raw: {kind: []})
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
