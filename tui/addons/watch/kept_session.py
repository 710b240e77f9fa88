"""The session of a host that lives on while its server is replaced, over stdio, in both eras.

A pure state machine: a `Stage`, the last before the server. It remembers what a new process has to hear
again, and tells the host nothing but what has changed.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any

from tui.core.jsonrpc.messages import (
    Failure,
    Id,
    Message,
    Notification,
    Request,
    Response,
    read_line,
    write_line,
)
from tui.core.jsonrpc.protocol import INTERNAL_ERROR, SUBSCRIPTION_KEY
from tui.core.jsonrpc.reader import json_mapping
from tui.core.text import object_in
from tui.core.traffic import Direction
from tui.host.frames.id_gate import CANCELLED
from tui.host.frames.stage import PassOn

OWN = "mcptui-watch-"
"""Prefix of the ids of our own requests."""

INITIALIZE, INITIALIZED, LISTEN = "initialize", "notifications/initialized", "subscriptions/listen"
LEVEL, SUBSCRIBE = "logging/setLevel", "resources/subscribe"
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"

LISTS = {f"{kind}/list": kind for kind in ("tools", "resources", "prompts")}
"""The lists whose changes a host is told, by the method that it asks for them."""

MOST_PAGES = 100

Ask = Callable[[str, Mapping[str, Any]], Awaitable[Mapping[str, Any] | None]]
"""Sends a request of our own; returns its result, None for an error or no answer."""
MOST_HELD = 10_000
"""Maximum messages of the host that wait for a server; later requests fail."""


class KeptSession:
    """What a host and its server have agreed on.

    Attributes:
        introduction: the params of the host's `initialize`, None before it and in the modern era.
        is_initialized: whether the host has confirmed the handshake.
        level: the params of the last `logging/setLevel`.
        subscribed: the params of `resources/subscribe`, by address.
        streams: the open change streams as they were asked for, by id.
        lists: the items of each list as the host last got them, by method.
        down: why there is no server, "" while there is one.
        courier: has our own requests to the server.
    """

    is_idle = False

    def __init__(self) -> None:
        self.introduction: Mapping[str, Any] | None = None
        self.is_initialized = False
        self.level: Mapping[str, Any] | None = None
        self.subscribed: dict[str, Mapping[str, Any]] = {}
        self.streams: dict[Id, bytes] = {}
        self.lists: dict[str, list[Any]] = {}
        self.meta: dict[str, Any] = {}
        self.down = ""
        self.courier: Courier | None = None
        self._asked: dict[Id, Request] = {}
        self._first: bytes | None = None
        self._asks: set[Id] = set()
        self._void: set[Id] = set()
        self._silent: set[Id] = set()
        self._held: list[bytes] | None = None
        self._place: PassOn | None = None

    def begin(self) -> None:
        """Do nothing: it begins with the first message."""

    # ---- what passes ---------------------------------------------------------------------------------------

    def take(self, direction: Direction, raw: bytes, pass_on: PassOn) -> None:
        self._place = pass_on
        if direction is Direction.IN:
            if self.courier is not None and self.courier.take(raw):
                return
            passes = [self._came(message) for message in read_line(raw, batches=True)]
            if all(passes):
                pass_on(Direction.IN, raw)
        elif self._held is not None and len(self._held) < MOST_HELD:
            self._held.append(raw)
        else:
            passes = [self._went(message, raw) for message in read_line(raw, batches=True)]
            if all(passes):
                pass_on(Direction.OUT, raw)

    def release(self, direction: Direction) -> None:
        """Send what waits, if there is somebody to send it to."""
        if direction is Direction.OUT:
            self.resume()

    @property
    def is_introducing(self) -> bool:
        """Whether the host waits for the answer to its `initialize`."""
        return any(asked.method == INITIALIZE for asked in self._asked.values())

    @property
    def waits(self) -> bool:
        """Whether the host waits for an answer that is lost if the server goes."""
        return any(asked.method not in (INITIALIZE, LISTEN) for asked in self._asked.values())

    def _went(self, message: Message, raw: bytes) -> bool:
        """Take a message of the host; return whether it goes to the server."""
        match message:
            case Request(id=known) if self.down:
                self._fail(known, self.down)
            case Request(id=known):
                self._asked[known] = message
                self.agree(message, raw)
            case Notification(method=method, params=params):
                if method == INITIALIZED:
                    self.is_initialized = True
                elif method == CANCELLED and isinstance(known := (params or {}).get("requestId"), int | str):
                    self._asked.pop(known, None)
                    self.streams.pop(known, None)
                return not self.down
            case Response(id=known) | Failure(id=known) if known is not None:
                self._asks.discard(known)
                if known in self._void:
                    self._void.discard(known)
                    return False
                return not self.down
        return not self.down

    def agree(self, asked: Request, raw: bytes) -> None:
        """Remember what another server has to hear again."""
        params = asked.params or {}
        self.meta = {**object_in(params, "_meta")}
        self.meta.pop("progressToken", None)
        match asked.method:
            case "initialize":
                self.introduction, self._first = params, raw
            case "logging/setLevel":
                self.level = params
            case "subscriptions/listen":
                self.streams[asked.id] = raw
            case "resources/subscribe":
                self.subscribed[str(params.get("uri"))] = params
            case "resources/unsubscribe":
                self.subscribed.pop(str(params.get("uri")), None)

    def _came(self, message: Message) -> bool:
        """Take a message of the server; return whether it goes to the host."""
        match message:
            case Response(id=known, result=result):
                self._answered(known, result)
            case Failure(id=known) if known is not None:
                self._answered(known, None)
            case Request(id=known):
                self._asks.add(known)
                self._void.discard(known)
            case Notification(method=method, params=params) if method == ACKNOWLEDGED:
                known = object_in(params or {}, "_meta").get(SUBSCRIPTION_KEY)
                if isinstance(known, int | str) and known in self._silent:
                    self._silent.discard(known)
                    return False
        return True

    def _answered(self, known: Id, result: Mapping[str, Any] | None) -> None:
        asked = self._asked.pop(known, None)
        self.streams.pop(known, None)
        if asked is not None and result is not None:
            self.listed(asked, result)

    def listed(self, asked: Request, result: Mapping[str, Any]) -> None:
        """Remember the items of a list."""
        if asked.method in LISTS:
            items = result.get(LISTS[asked.method])
            before = self.lists.get(asked.method, []) if (asked.params or {}).get("cursor") else []
            self.lists[asked.method] = [*before, *items] if isinstance(items, list) else before

    def _fail(self, known: Id, why: str) -> None:
        error = {"code": INTERNAL_ERROR, "message": why}
        self._tell({"jsonrpc": "2.0", "id": known, "error": error})

    def _tell(self, message: Mapping[str, Any]) -> None:
        if self._place is not None:
            self._place(Direction.IN, write_line(message))

    # ---- another server ------------------------------------------------------------------------------------

    def hold(self) -> None:
        """Let what the host sends wait, from now on until `resume`."""
        self._held = self._held or []

    def resume(self) -> None:
        """Send what waits to the server."""
        held, self._held = self._held or [], None
        for raw in held:
            if self._place is not None:
                self.take(Direction.OUT, raw, self._place)

    def lose(self, why: str) -> int:
        """End what was under way with a server that is gone; return the number of requests that failed.

        A handshake is not lost: the next server gets it.
        """
        failed = 0
        for known, asked in list(self._asked.items()):
            if asked.method not in (INITIALIZE, LISTEN):
                del self._asked[known]
                self._fail(known, why)
                failed += 1
        for known in self._asks:
            reason = {"requestId": known, "reason": why}
            self._tell({"jsonrpc": "2.0", "method": CANCELLED, "params": reason})
        self._void |= self._asks
        self._asks.clear()
        return failed

    def repeated(self) -> Iterator[bytes]:
        """Yield what the host has sent to the last server and the next one has to get as it was."""
        if self._first is not None and self.is_introducing:
            yield self._first
        self._silent |= self.streams.keys()
        yield from self.streams.values()

    def changed(self, method: str, items: list[Any]) -> bool:
        """Take the list of a new server, and tell the host if it has changed; return whether it has."""
        if not self.differs(method, items):
            return False
        if self.introduction is not None:
            self._tell(change_note(method))
        for known, raw in self.streams.items():
            if note := stream_note(method, known, object_in(json_mapping(raw), "params")):
                self._tell(note)
        return True

    async def fetched(self, method: str, ask: Ask) -> list[Any] | None:
        """Return all items of a list of the next server, None if it does not answer with one."""
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

    def differs(self, method: str, items: list[Any]) -> bool:
        """Take the list of a new server; return whether it has changed."""
        before, self.lists[method] = self.lists[method], items
        return _digest(items) != _digest(before)


def change_note(method: str) -> dict[str, Any]:
    """Return the notification that a list has changed."""
    return {"jsonrpc": "2.0", "method": f"notifications/{LISTS[method]}/list_changed"}


def stream_note(method: str, known: Id, opened: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the notification for a change stream with an id; None if it has not asked for that.

    `opened` are the params that it was opened with.
    """
    if not object_in(opened, "notifications").get(f"{LISTS[method]}ListChanged"):
        return None
    return {**change_note(method), "params": {"_meta": {SUBSCRIPTION_KEY: known}}}


def _digest(items: list[Any]) -> str:
    return json.dumps(items, sort_keys=True)


class Courier:
    """Our own requests to one server, by ids that nobody else has."""

    def __init__(self) -> None:
        self._number = 0
        self._waiting: dict[Id, asyncio.Future[Mapping[str, Any] | None]] = {}

    def request(self, method: str, params: Mapping[str, Any]) -> tuple[bytes, asyncio.Future[Any]]:
        """Return a request to send, and its result to come, None for an error."""
        self._number += 1
        known = f"{OWN}{self._number}"
        answer = self._waiting[known] = asyncio.get_running_loop().create_future()
        return write_line({"jsonrpc": "2.0", "id": known, "method": method, "params": params}), answer

    def take(self, raw: bytes) -> bool:
        """Return whether a line answers one of the requests."""
        if OWN.encode() not in raw:
            return False
        for message in read_line(raw):
            if isinstance(message, Response | Failure) and message.id in self._waiting:
                answer = self._waiting.pop(message.id)
                if not answer.done():
                    answer.set_result(message.result if isinstance(message, Response) else None)
                return True
        return False
