"""The lists of one server over one connection: read page by page, and kept fresh.

Each is listed again when the server reports a change, and after a failure. A call waits until a reported
change is listed.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from functools import partial
from typing import Any

from tui.core.background import RetryDelay, first_of, set_within
from tui.core.errors import without_stop
from tui.core.jsonrpc.headers import header_map
from tui.core.jsonrpc.introduction import Introduction
from tui.core.jsonrpc.protocol import LISTS
from tui.core.language.translate import message, sentences
from tui.core.ports import Clock
from tui.core.time_limits import TimeLimit
from tui.core.workbench import CacheHint
from tui.host import error_sentences as explain
from tui.host.catalog import NO_TOOLS, Catalog, Walk, build_catalog, walk_pages
from tui.host.server.host_context import Connected, HostContext
from tui.host.session.client_requests import kind_of
from tui.host.session.session import Session
from tui.host.transports import ServerTransport

FIRST_LIST_SECONDS = 20.0
"""How long a start waits for tools. A server that does not list them can still be inspected, and asked
again."""

LIST_SECONDS = 30.0
COUNT_SECONDS = 2.0
GAP, LONGEST_GAP = 2.0, 60.0
"""Seconds between two listings: at first, and after the server has not paused in between for long."""

RECENT_SECONDS = 5.0
"""How long a complete list is kept for the first who asks for it."""

_METHODS = {
    "tools": "tools/list",
    "resources": "resources/list",
    "resourceTemplates": "resources/templates/list",
    "prompts": "prompts/list",
}

_log = logging.getLogger(__name__)

SETTLE_SECONDS = 5.0
"""How long a call waits for a list that has changed."""


class FreshList:
    """One list of a server; `what` names its items.

    Backs off while the server keeps reporting changes, and while listing keeps failing.
    """

    def __init__(self, what: str, clock: Clock, over: Callable[[], bool]) -> None:
        """Take a clock, and a function that says whether the connection has ended."""
        self._what = what
        self._clock = clock
        self._over = over
        self._changed = asyncio.Event()
        self._needed = asyncio.Event()
        self._waiting = 0
        self._settled = asyncio.Event()
        self._settled.set()

    def changed(self) -> None:
        """Record that the server has changed the list."""
        self._changed.set()
        self._settled.clear()

    @property
    def is_settled(self) -> bool:
        """Whether all reported changes are listed."""
        return self._settled.is_set()

    async def settled(self) -> None:
        """Return once all reported changes are listed, after 5 s at most."""
        self._waiting += 1
        self._needed.set()
        try:
            await set_within(self._settled, SETTLE_SECONDS)
        finally:
            self._waiting -= 1

    async def run(self, list_again: Callable[[], Awaitable[bool]], complete: bool = True) -> None:
        """List again whenever it is time, until cancelled; `complete` says how the first listing went."""
        gap, retry = RetryDelay(GAP, LONGEST_GAP), RetryDelay()
        listed_ns: int | None = None
        while True:
            if complete:
                retry.reset()
                await self._changed.wait()
            else:
                await first_of(self._changed.wait(), self._clock.sleep(retry.after_failure()))
            if self._changed.is_set() and listed_ns is not None:
                rested = (self._clock.now_ns() - listed_ns) / 1e9
                if (wait := gap.after_failure(rested) - rested) <= 0:
                    gap.reset()
                elif not self._waiting:  # a waiting call takes precedence over the gap
                    self._needed.clear()
                    await first_of(self._clock.sleep(wait), self._needed.wait())
            self._changed.clear()
            try:
                complete = await list_again()
            except Exception:  # a bug in reading one list must not leave it stale forever
                if self._over():
                    raise
                _log.exception("listing %s failed with an internal error", self._what)
                complete = False
            if not self._changed.is_set():
                self._settled.set()
            listed_ns = self._clock.now_ns()


async def read_pages(session: Session, kind: str, seconds: float) -> Walk:
    """Return the raw entries of all pages, or of those that arrived within `seconds`.

    `kind` is the key in the answer. While the user is asked, no time passes.
    """
    left = seconds

    async def fetch(cursor: str | None) -> Mapping[str, Any]:
        nonlocal left
        limit = TimeLimit(left)
        at = {} if cursor is None else {"cursor": cursor}
        async with session.requests.clocks.within(limit):
            page = await session.request(_METHODS[kind], at)
        left = limit.left
        kind_of(page, session)
        return page

    return await walk_pages(fetch, kind)


class ServerLists:
    """The tools of one server, and how many resources and prompts it has.

    Attributes:
        catalog: the tools, checked.
        counts: the numbers of resources and prompts, None if not offered or not counted.
        revisions: how often these lists have changed.
        hints: the caching hints of each list.
        introduction: what the server has said about itself, and so which lists it has.
    """

    def __init__(self, server: Connected, transport: ServerTransport, around: HostContext) -> None:
        self.catalog: Catalog = NO_TOOLS
        self.counts: dict[str, int | None] = {"resources": None, "prompts": None}
        self.revisions = {"resources": 0, "prompts": 0}
        self.hints: dict[str, CacheHint] = {}
        self._server, self._transport, self._around = server, transport, around
        self.introduction = Introduction()
        self._recent: dict[str, Walk] = {}
        self._fresh = {
            kind: FreshList(f"the {kind} of {server.spec.name}", around.clock, transport.exited.is_set)
            for kind in LISTS
        }

    @property
    def shown(self) -> dict[str, Any]:
        """What the status of the server shows of them, beside its tools."""
        revisions = {f"{kind}_revision": revision for kind, revision in self.revisions.items()}
        return {**self.counts, **revisions, "announces": self.introduction.announced}

    async def read_all(self, session: Session, introduction: Introduction, seconds: float) -> bool:
        """List everything for the first time, within `seconds`; return whether all tools were listed."""
        self.introduction = introduction
        complete = True
        if "tools" in introduction.offers:
            # Keep half of the start's time for later steps: some tools are better than none.
            complete = await self._list_tools(session, min(FIRST_LIST_SECONDS, seconds / 2))
        counts = await asyncio.gather(*(self._count(session, kind) for kind in self.counts))
        self.counts = dict(zip(self.counts, counts, strict=True))
        return complete

    def keeping(self, session: Session, complete: bool) -> dict[str, Coroutine[Any, Any, None]]:
        """Return what keeps each list fresh; `complete` says whether all tools were listed."""
        work = {"tools": self._fresh["tools"].run(partial(self._list_tools_again, session), complete)}
        for kind in self.introduction.offers.keys() & self.counts.keys():
            work[kind] = self._fresh[kind].run(partial(self._recount, session, kind))
        return work

    def relist(self, kinds: Iterable[str] = LISTS) -> None:
        """Request lists again, as the server has changed them, or may have."""
        for kind in kinds:
            self._fresh[kind].changed()

    async def settled(self, over: asyncio.Event) -> None:
        """Return once the tools are listed after the last reported change, after 5 s, or once `over`."""
        tools = self._fresh["tools"]
        if not tools.is_settled:  # waiting takes two tasks: a quarter of the time of a call (measured)
            await first_of(tools.settled(), over.wait())

    def take_recent(self, kind: str) -> Walk | None:
        """Return the list of the last few seconds, such as that of the start, once."""
        return self._recent.pop(kind, None)

    def forget(self) -> None:
        """Drop the lists of the last few seconds: a call may change what a server offers, without a word."""
        self._recent.clear()

    async def walk(self, session: Session, kind: str, seconds: float = LIST_SECONDS) -> Walk:
        """Return the raw entries of a list; see `read_pages`."""
        self._recent.pop(kind, None)  # it may have changed, and this may fail
        began_ns = time.monotonic_ns()
        walk = await read_pages(session, kind, seconds)
        self.hints[kind] = CacheHint(walk.ttl_ms, walk.scope, began_ns)
        if not walk.note:
            self._recent[kind] = walk
            asyncio.get_running_loop().call_later(RECENT_SECONDS, self._recent.pop, kind, None)
        return walk

    async def _list_tools(self, session: Session, seconds: float) -> bool:
        """List the tools; on failure, the known tools stay. Return whether all were listed."""
        try:
            walk = await self.walk(session, "tools", seconds)
        except Exception as error:  # a server that cannot list its tools can still be inspected
            if self._transport.exited.is_set():
                raise
            why = explain.protocol_failure(error)
            if isinstance(error, TimeoutError):
                late = message("no response within {seconds:g} s.", seconds=seconds)
                why = without_stop(sentences(late, explain.unanswered(self._transport)))
            walk = Walk(note=why, incomplete=True)
        # A listing may be megabytes of schemas: check it off the event loop.
        self.catalog = await asyncio.to_thread(self._checked, walk)
        session.tool_headers = self.catalog.headers
        return not walk.incomplete

    def _checked(self, walk: Walk) -> Catalog:
        """Return the tools of a listing, after learning their secret arguments; for a thread."""
        spec, introduction, around = self._server.spec, self.introduction, self._around
        repeats_arguments = self._transport.reach is not None and introduction.is_modern
        found = build_catalog(
            spec.name,
            walk,
            trusted=spec.trusted is True,
            pins=spec.pins,
            before=self.catalog,
            protocol=introduction.version,
            header_map=header_map if repeats_arguments else None,
        )
        for tool in found.tools:
            around.redactor.arguments.learn(spec.name, tool.name, tool.schema)
        around.redaction.listed(found.tools)
        return found

    async def _list_tools_again(self, session: Session) -> bool:
        before = self.catalog
        complete = await self._list_tools(session, LIST_SECONDS)
        if self.catalog != before:
            self._server.changed()
        return complete

    async def _count(self, session: Session, kind: str) -> int | None:
        """Return the number of entries; None if not offered or not listed within 2 s.

        Those of the pages before one that fails count, as the lists on screen show them.
        """
        if kind not in self.introduction.offers:
            return None
        try:
            walk = await self.walk(session, kind, COUNT_SECONDS)
        except Exception:  # a count is optional and must never make the server fail
            return None
        return None if walk.incomplete and (walk.is_late or not walk.items) else len(walk.items)

    async def _recount(self, session: Session, kind: str) -> bool:
        count = await self._count(session, kind)
        if count is not None:
            self.counts[kind] = count
        self.revisions[kind] += 1
        self._server.changed()
        return count is not None
