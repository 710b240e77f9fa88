"""The linter's state of each server: revision, capabilities, open requests, tools. Bounded, pure."""

from collections import OrderedDict
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field
from typing import Any

from tui.core.jsonrpc.protocol import VERSION_KEY, is_modern
from tui.core.text import object_in
from tui.core.traffic import Direction
from tui.traffic.lint.result_cache import ResultCache

MOST_OPEN = 10_000
"""Maximum open requests to remember in each direction."""

MOST_ANSWERED = 4_096
MOST_TOOLS = 20_000
MOST_SCHEMA_PARTS = 50_000
"""Maximum nodes of all output schemas of a server."""

MOST_PAGES = 256
MOST_NAMES = 50_000
"""Maximum tool names of all pages, for checking that their order is stable."""

MOST_TOKENS = 4_096

LONG_NAME = 200
"""Maximum characters of a name, since servers choose names."""

Id = tuple[str, Any]
"""An id with its type: 7 and "7" are different."""


def identity(value: Any) -> Id:
    """Return a key for an id; a very long id is replaced by its hash."""
    if isinstance(value, str) and len(value) > LONG_NAME:
        return ("str", (hash(value), len(value)))
    return (type(value).__name__, value)


@dataclass(slots=True)
class SentRequest:
    """A request that was sent.

    Attributes:
        tool: the tool of `tools/call`.
        revision: the revision that it names, "" for the session's.
        cursor: requested page of a list, None for the first.
        cancelled_ns: when it was cancelled; 0 if it was not.
        progress: the last value of its progress; None before the first.
        uri: the resource of `resources/read`.
        cache_key: identifies what a cached result answers; "" if its result must not be cached.
    """

    seq: int
    method: str
    tool: str = ""
    revision: str = ""
    cursor: Id | None = None
    token: Any = None
    cancelled_ns: int = 0
    progress: float | None = None
    ended: bool = False
    uri: str = ""
    cache_key: str = ""


@dataclass(slots=True)
class ToolListing:
    """The tools that a server has listed: the names of each page by its cursor, and output schemas by tool.

    `parts` counts the nodes of all schemas. `walk` has the names listed since the first page was last
    requested. `views` are the tools with an app view, `judged` hashes of pages that the rules about providers
    have seen.
    """

    pages: OrderedDict[Id | None, tuple[str, ...]] = field(default_factory=OrderedDict)
    walk: set[str] = field(default_factory=set)
    outputs: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    views: set[str] = field(default_factory=set)
    judged: set[str] = field(default_factory=set)
    parts: int = 0

    def turn(self, cursor: Id | None, names: tuple[str, ...]) -> tuple[str, ...] | None:
        """Store the names of a page; return its previous names, None if it is new."""
        before = self.pages.pop(cursor, None)
        self.pages[cursor] = names
        number = sum(map(len, self.pages.values()))
        while len(self.pages) > MOST_PAGES or (number > MOST_NAMES and len(self.pages) > 1):
            number -= len(self.pages.popitem(last=False)[1])
        return before

    def keep_output(self, name: str, schema: Any) -> None:
        if not isinstance(schema, dict) or len(self.outputs) >= MOST_TOOLS:
            return
        nodes: list[Any] = [schema]
        for node in nodes:  # all nodes of the schema; it grows meanwhile
            inner = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
            nodes.extend(inner)
            if self.parts + len(nodes) > MOST_SCHEMA_PARTS:
                return
        self.parts += len(nodes)
        self.outputs[name] = schema


Requests = dict[Direction, OrderedDict[Id, SentRequest]]
"""Requests by the direction in which they were sent, and by their id or progress token."""


class ServerSession:
    """One connection to one server, from its start to its end.

    Attributes:
        whole: whether it is known from its first message on. If not, earlier messages may be missing.
        before: the revision of the previous session.
        opened: `initialize` was answered; `ready`: `notifications/initialized` was sent.
        server, client: capabilities; None if unknown.
        log_wanted: a request asked for log messages (2026-07-28).
        answered: the latest requests that have a response; requests without one are `open`.
        said_once: codes that are reported once per session.
        peer: the number of its client, if the server may have several; 0 if not.
        acting: the client is mcptui, which acts as another host.
        cache: the results that the client may consider fresh.
    """

    def __init__(self, whole: bool, before: str = "", peer: int = 0) -> None:
        self.whole, self.before, self.peer = whole, before, peer
        self.revision = ""
        self.opened = self.ready = self.log_wanted = self.acting = False
        self.server: Mapping[str, Any] | None = None
        self.client: Mapping[str, Any] | None = None
        self.open, self.answered, self.tokens = _requests(), _requests(), _requests()
        self.said_once: set[str] = set()
        self.listing = ToolListing()
        self.cache = ResultCache()

    @property
    def modern(self) -> bool:
        return is_modern(self.revision)

    def beside(self, peer: int) -> "ServerSession":
        """Return a session of the same server with another client, or another connection of this one.

        What this one has negotiated is taken for that one until it says otherwise.
        """
        found = copy(self)
        found.whole, found.peer = self.whole and self.modern, peer
        found.open, found.answered, found.tokens = _requests(), _requests(), _requests()
        found.cache = self.cache.beside()
        return found

    def ask(self, direction: Direction, known: Id, asked: SentRequest) -> None:
        self.answered[direction].pop(known, None)
        waiting = self.open[direction]
        waiting[known] = asked
        if len(waiting) > MOST_OPEN:
            waiting.popitem(last=False)
            self.whole = False  # a response may now belong to a forgotten request
        if asked.token is not None:
            _keep(self.tokens[direction], identity(asked.token), asked, MOST_TOKENS)

    def answer(self, direction: Direction, known: Id) -> SentRequest | None:
        """Close and return the open request of a response, None if there is none."""
        asked = self.open[direction].pop(known, None)
        if asked is not None:
            asked.ended = True
            _keep(self.answered[direction], known, asked, MOST_ANSWERED)
        return asked


def _requests() -> Requests:
    return {way: OrderedDict() for way in Direction}


def _keep(kept: OrderedDict[Id, SentRequest], known: Id, asked: SentRequest, most: int) -> None:
    kept[known] = asked
    kept.move_to_end(known)
    if len(kept) > most:
        kept.popitem(last=False)


def sent_request(seq: int, method: str, params: Mapping[str, Any]) -> SentRequest:
    """Return the part of a request to remember."""
    meta = object_in(params, "_meta")
    version = meta.get(VERSION_KEY)
    name = params.get("name")
    token = meta.get("progressToken")
    return SentRequest(
        seq,
        method[:LONG_NAME],
        tool=name[:LONG_NAME] if isinstance(name, str) and method == "tools/call" else "",
        revision=version[:LONG_NAME] if isinstance(version, str) else "",
        cursor=identity(cursor) if isinstance(cursor := params.get("cursor"), str) else None,
        token=token if isinstance(token, int | str) and not isinstance(token, bool) else None,
        uri=uri[:LONG_NAME] if isinstance(uri := params.get("uri"), str) else "",
    )


def other(direction: Direction) -> Direction:
    """Return the opposite direction."""
    return Direction.IN if direction is Direction.OUT else Direction.OUT
