"""What a host and its server have agreed on, which a new server has to hear again, in both eras."""

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from tui.core.jsonrpc.messages import Id, Request
from tui.core.text import object_in

INITIALIZE, INITIALIZED, LISTEN = "initialize", "notifications/initialized", "subscriptions/listen"
LEVEL, SUBSCRIBE, UNSUBSCRIBE = "logging/setLevel", "resources/subscribe", "resources/unsubscribe"

LISTS = {f"{kind}/list": kind for kind in ("tools", "resources", "prompts")}
"""The lists whose changes a host is told, by the method that it asks for them."""

MOST_PAGES = 100

Ask = Callable[[str, Mapping[str, Any]], Awaitable[Mapping[str, Any] | None]]
"""Sends a request of our own; returns its result, None for an error or no answer."""


class Agreed:
    """What one session has agreed on.

    Attributes:
        introduction: the params of the host's `initialize`, None until it is answered and in the modern era.
        is_initialized: whether the host has confirmed the handshake.
        level: the params of the last `logging/setLevel`.
        subscribed: the params of `resources/subscribe`, by address.
        lists: the items of each list as the host last got them, by method.
        meta: `_meta` of the last request of the host.
        questions: the ids of requests of the server that the host has not answered.
        void: the ids of those of servers that are gone; answers to them are not passed on.
    """

    def __init__(self) -> None:
        self.introduction: Mapping[str, Any] | None = None
        self.is_initialized = False
        self.level: Mapping[str, Any] | None = None
        self.subscribed: dict[str, Mapping[str, Any]] = {}
        self.lists: dict[str, list[Any]] = {}
        self.meta: dict[str, Any] = {}
        self.questions: set[Id] = set()
        self.void: set[Id] = set()

    def asked(self, request: Request) -> None:
        """Remember what another server has to hear again."""
        params = request.params or {}
        self.meta = {**object_in(params, "_meta")}
        self.meta.pop("progressToken", None)
        if request.method == LEVEL:
            self.level = params
        elif request.method == SUBSCRIBE:
            self.subscribed[str(params.get("uri"))] = params
        elif request.method == UNSUBSCRIBE:
            self.subscribed.pop(str(params.get("uri")), None)

    def answered(self, request: Request, result: Mapping[str, Any]) -> None:
        """Remember the handshake, and the items of a list."""
        params = request.params or {}
        if request.method == INITIALIZE:
            self.introduction = params
        if request.method in LISTS:
            items = result.get(LISTS[request.method])
            before = self.lists.get(request.method, []) if params.get("cursor") else []
            self.lists[request.method] = [*before, *items] if isinstance(items, list) else before

    async def repeat(self, ask: Ask) -> None:
        """Let a new server hear the log level and the subscriptions."""
        if self.level is not None:
            await ask(LEVEL, self.level)
        for params in [*self.subscribed.values()]:
            await ask(SUBSCRIBE, params)

    async def changed(self, ask: Ask) -> list[str]:
        """Take the lists of a new server; return the methods of those that are not as the host got them."""
        found = {method: await self._fetched(method, ask) for method in [*self.lists]}
        return [
            method for method, items in found.items() if items is not None and self._differs(method, items)
        ]

    async def _fetched(self, method: str, ask: Ask) -> list[Any] | None:
        """Return all items of a list of a server, None if it does not answer with one."""
        items: list[Any] = []
        more: dict[str, Any] = {"_meta": dict(self.meta)} if self.introduction is None else {}
        for _ in range(MOST_PAGES):
            page = await ask(method, more)
            found = None if page is None else page.get(LISTS[method])
            if page is None or not isinstance(found, list):
                return None
            items += found
            if not page.get("nextCursor"):
                return items
            more = more | {"cursor": page["nextCursor"]}
        return None

    def _differs(self, method: str, items: list[Any] | None) -> bool:
        if items is None:
            return False
        before, self.lists[method] = self.lists[method], items
        return _digest(items) != _digest(before)


def _digest(items: list[Any]) -> str:
    return json.dumps(items, sort_keys=True)
