"""A client for registries of MCP servers, API v0.1. Sends requests only when the user asks."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import httpx2

from tui.core.errors import ServerError, reason_of
from tui.core.text import clean_line, quoted_name
from tui.core.units import size
from tui.core.web import proxy_problem
from tui.host.transports.http_client import RoutedTransport, open_client, redirect_target, send_within_origin

SECONDS = 30.0
MAX_BYTES = 16 * 1024 * 1024
MAX_PAGES = 20
PAGE = 100
MAX_ENTRIES = 5000
"""Maximum entries that a search reads. A registry may send more per page than it is asked for."""

NOT_FOUND = 404
MAX_NAME = 1000
MAX_TEXT = 10_000


class Registry:
    """One registry. Every method raises ServerError with one sentence if there is no usable answer.

    `shown` is its URL for errors. `is_cut` says whether the last search left entries out.
    """

    def __init__(self, url: str, shown: str = "") -> None:
        self._base = url.rstrip("/")
        self._where = clean_line(shown or url, 200)
        self.is_cut = False

    async def search(self, words: list[str], limit: int) -> list[Mapping[str, Any]]:
        """Return the newest version of each server that has all words in its name, title or description."""
        found: dict[str, Mapping[str, Any]] = {}
        cursor, left = "", MAX_ENTRIES
        for _ in range(MAX_PAGES):
            query = {"search": words[0], "version": "latest", "limit": str(PAGE)}
            answer = await self._get("/v0.1/servers", query | ({"cursor": cursor} if cursor else {}))
            listed = answer.get("servers")
            if not isinstance(listed, list):
                raise ServerError("the response has no list of servers.", where=self._where)
            for item in listed[:left]:
                if isinstance(item, Mapping) and _has(item, words):
                    found.setdefault(str(_server(item).get("name"))[:MAX_NAME], item)
            metadata = answer.get("metadata")
            after = metadata.get("nextCursor") if isinstance(metadata, Mapping) else None
            left -= len(listed)
            if len(found) >= limit or left <= 0 or not isinstance(after, str) or after in ("", cursor):
                break
            cursor = after
        self.is_cut = left < 0 and len(found) < limit
        return list(found.values())[:limit]

    async def server(self, name: str, version: str) -> Mapping[str, Any] | None:
        """Return the entry of a server, None if there is none with that name and version."""
        place = f"/v0.1/servers/{quote(name, safe='')}/versions/{quote(version, safe='')}"
        answer: Mapping[str, Any] | None = await self._get(place, {}, optional=True)
        if answer is None:
            return None
        entry = answer.get("server")
        if not isinstance(entry, Mapping):
            raise ServerError("the response describes no server.", where=self._where)
        self._refuse_other("server", entry.get("name"), name)
        if version != "latest":
            self._refuse_other("version", entry.get("version"), version)
        return answer

    def _refuse_other(self, what: str, found: object, wanted: str) -> None:
        """Raise ServerError if an entry is not the one that was asked for."""
        text = found if isinstance(found, str) else ""
        if text.casefold() != wanted.casefold():
            shown, asked = quoted_name(text, 100), quoted_name(wanted, 100)
            raise ServerError(f"returned the {what} {shown} instead of {asked}.", where=self._where)

    async def _get(self, place: str, query: Mapping[str, str], *, optional: bool = False) -> Any:
        try:
            async with asyncio.timeout(SECONDS):
                return await self._answer(place, query, optional)
        except TimeoutError:
            raise ServerError(f"no response within {SECONDS:g} s.", where=self._where) from None
        except httpx2.HTTPError as error:
            through = proxy_problem(error, self._base, "the registry")
            problem, step = through or (
                f"cannot connect: {reason_of(error)}",
                "Check the URL in [registry] url or --registry.",
            )
            raise ServerError(f"{problem}.", where=self._where, next_step=step) from error
        except httpx2.InvalidURL:
            raise ServerError("is not a URL.", where=self._where) from None

    async def _answer(self, place: str, query: Mapping[str, str], optional: bool) -> Any:
        async with open_client(RoutedTransport(), {"accept": "application/json"}) as client:
            request = client.build_request("GET", self._base + place, params=dict(query))
            response = await send_within_origin(client, request)
            try:
                if optional and response.status_code == NOT_FOUND:
                    return None
                if onward := redirect_target(response):
                    raise ServerError(f"redirects to {clean_line(onward, 200)}.", where=self._where)
                if response.status_code != httpx2.codes.OK:
                    raise ServerError(f"returned HTTP {response.status_code}.", where=self._where)
                body = bytearray()
                async for block in response.aiter_bytes():
                    body += block
                    if len(body) > MAX_BYTES:
                        raise ServerError(f"returned more than {size(MAX_BYTES)}.", where=self._where)
            finally:
                await response.aclose()
        try:
            answer = json.loads(body)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            raise ServerError("did not return a JSON object.", where=self._where)
        return answer


def _server(item: Mapping[str, Any]) -> Mapping[str, Any]:
    found = item.get("server")
    return found if isinstance(found, Mapping) else {}


def _has(item: Mapping[str, Any], words: list[str]) -> bool:
    server = _server(item)
    texts = (server.get(key) for key in ("name", "title", "description"))
    text = " ".join(text[:MAX_TEXT] for text in texts if isinstance(text, str)).casefold()
    return bool(server) and all(word.casefold() in text for word in words)
