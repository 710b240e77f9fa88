"""A registry (API v0.1) on loopback with entries from the test."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tests.http_server import Asked, HttpServer, reply

ITEMS = dict[str, dict[str, Any]]


class RegistryServer(HttpServer):
    """Lists two entries per page. `asked` contains every request."""

    def __init__(self, entries: Iterable[dict[str, Any]]) -> None:
        super().__init__(path="")
        self.entries: ITEMS = {one["name"]: one for one in entries}
        self.instead: bytes | None = None

    def usual(self, asked: Asked) -> bytes:
        if self.instead is not None:
            return self.instead
        parts = urlsplit(asked.path)
        if parts.path == "/v0.1/servers":
            return reply(self._listed({key: values[0] for key, values in parse_qs(parts.query).items()}))
        _, _, _, name, _, version = parts.path.split("/")
        entry = self.entries.get(unquote(name))
        if entry is None or version not in ("latest", entry["version"]):
            return reply({"error": "Server not found"}, "404 Not Found")
        return reply(_item(entry))

    def _listed(self, query: dict[str, str]) -> dict[str, Any]:
        found = [_item(one) for name, one in self.entries.items() if query["search"] in name]
        begin = int(query.get("cursor", "0"))
        more = {"nextCursor": str(begin + 2)} if begin + 2 < len(found) else {}
        return {"servers": found[begin : begin + 2], "metadata": more}


def _item(entry: dict[str, Any]) -> dict[str, Any]:
    status = entry.get("status", "active")
    server = {key: value for key, value in entry.items() if key != "status"}
    return {"server": server, "_meta": {"io.modelcontextprotocol.registry/official": {"status": status}}}


@asynccontextmanager
async def registry_server(*entries: dict[str, Any]) -> AsyncIterator[RegistryServer]:
    """Run a registry for the duration of a test."""
    server = RegistryServer(entries)
    await server.start()
    try:
        yield server
    finally:
        await server.stop()
