"""A domain on loopback with an AI catalog, cards and an MCP server, from the test."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tests.http_server import Asked, HttpServer, reply
from tui.addons.cards.card import CARD_TYPE, SCHEMA
from tui.addons.cards.catalog import CATALOG_TYPE
from tui.addons.cards.discovery import WELL_KNOWN


def entry(name: str, **more: Any) -> dict[str, Any]:
    """Return an entry of a catalog; `url` or `data` is in `more`."""
    return {"identifier": f"urn:air:example.com:mcp:{name}", "type": CARD_TYPE, **more}


def catalog(*entries: Any, **more: Any) -> dict[str, Any]:
    return {"specVersion": "1.0", "entries": list(entries), **more}


def nested(url: str, **more: Any) -> dict[str, Any]:
    return {"identifier": f"urn:air:example.com:catalog:{url}", "type": CATALOG_TYPE, "url": url, **more}


def card(url: str = "https://mcp.example.com/mcp", **more: Any) -> dict[str, Any]:
    """Return a card with one endpoint."""
    remotes = [{"type": "streamable-http", "url": url, "supportedProtocolVersions": ["2026-07-28"]}]
    about = {
        "$schema": SCHEMA,
        "name": "com.example/weather",
        "version": "2.1.0",
        "description": "The weather",
    }
    return {**about, "remotes": remotes, **more}


class CardServer(HttpServer):
    """Serves `documents` by path, JSON or raw responses, and an MCP server at `/mcp`."""

    def __init__(self, **how: Any) -> None:
        super().__init__(**how)
        self.documents: dict[str, Any] = {}

    @property
    def origin(self) -> str:
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}"

    def names(self, **cards: Any) -> None:
        """Serve a catalog with these cards."""
        self.documents[WELL_KNOWN] = catalog(*(entry(name, url=f"/{name}/server-card") for name in cards))
        self.documents |= {f"/{name}/server-card": document for name, document in cards.items()}

    def usual(self, asked: Asked) -> bytes:
        if asked.verb != "GET":
            return super().usual(asked)
        found = self.documents.get(asked.path)
        if found is None:
            return reply(b"", "404 Not Found", "")
        return found if isinstance(found, bytes) else reply(json.dumps(found).encode())

    def result(self, asked: Asked) -> dict[str, Any] | None:
        found = super().result(asked)
        if asked.method == "server/discover" and found is not None:
            found["_meta"] = {"io.modelcontextprotocol/serverInfo": {"name": "weather", "version": "3.0.0"}}
        return found

    @property
    def fetched(self) -> list[str]:
        return [one.path for one in self.asked if one.verb == "GET"]


@asynccontextmanager
async def card_server(**how: Any) -> AsyncIterator[CardServer]:
    """Run a domain for the duration of a test."""
    server = CardServer(**how)
    await server.start()
    try:
        yield server
    finally:
        await server.stop()
