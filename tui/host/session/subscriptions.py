"""The user's subscriptions to resources of one server, and the stream that reports changes.

Subscriptions outlive the connections of a server. Changes of resources and lists arrive in the
change stream (2026-07-28), or through the subscriptions of an older session.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from dataclasses import replace
from typing import Any

from tui.core.background import cancel_all, first_of
from tui.core.jsonrpc.protocol import LISTEN, LISTS, METHOD_NOT_FOUND
from tui.core.language.translate import message
from tui.core.ports import Clock
from tui.core.workbench import ResourceSubscription
from tui.host.frames.reconnection import Reconnection
from tui.host.session.session import Session
from tui.host.session.tasks import ServerTasks

_ACKNOWLEDGED = "notifications/subscriptions/acknowledged"

MOST = 500
"""Maximum subscriptions of one server."""


class Subscriptions:
    """The subscribed resources, and how often each was updated.

    Attributes:
        turned: set when a subscription was added or removed, or a new session began.
        session: counts the sessions of the server, each of which begins without subscriptions.
        by_uri: the subscriptions.
    """

    def __init__(self) -> None:
        self.turned = asyncio.Event()
        self.session = 0
        self.by_uri: dict[str, ResourceSubscription] = {}

    @property
    def uris(self) -> tuple[str, ...]:
        return tuple(self.by_uri)

    def add(self, uri: str) -> None:
        if len(self.by_uri) < MOST:
            self.by_uri.setdefault(uri, ResourceSubscription())
            self.turned.set()

    def remove(self, uri: str) -> None:
        if self.by_uri.pop(uri, None) is not None:
            self.turned.set()

    def updated(self, uri: object) -> None:
        """Count an update; an update of a part of a resource counts for the resource."""
        if not isinstance(uri, str):
            return
        if uri not in self.by_uri:
            whole = (one for one in self.by_uri if uri.startswith(one) and uri[len(one) :][:1] in "/?#")
            uri = max(whole, key=len, default="")
        if (known := self.by_uri.get(uri)) is not None:
            # A server that reports updates has subscribed mcptui, even if it answered otherwise.
            self.by_uri[uri] = ResourceSubscription(known.updates + 1)

    def missed(self) -> None:
        """Count an update of each, because updates were missed while no stream was open."""
        for uri, known in self.by_uri.items():
            self.by_uri[uri] = replace(known, updates=known.updates + 1)

    def begin_session(self) -> None:
        """Record a new session of the server, which has no subscriptions yet."""
        self.session += 1
        self.missed()
        self.turned.set()

    def settle(self, uri: str, problem: str) -> None:
        """Record that a server accepted a subscription, or the `problem`."""
        if (known := self.by_uri.get(uri)) is not None:
            self.by_uri[uri] = replace(known, problem=problem)


async def listen(
    session: Session,
    streamed: frozenset[str],
    opened: Callable[[int], None],
    resources: tuple[str, ...] = (),
    tasks: tuple[str, ...] = (),
) -> bool:
    """Keep a change stream open until it ends; return False if the server does not support such streams.

    It reports changes of the `streamed` lists, of `resources` and of `tasks`, by id. `opened` is called once
    the server has acknowledged it, with the number of resources that it accepted.
    """
    wanted: dict[str, Any] = {f"{kind}ListChanged": True for kind in LISTS if kind in streamed}
    wanted |= {"resourceSubscriptions": list(resources)} if resources else {}
    wanted |= {"taskIds": list(tasks)} if tasks else {}
    is_open = False

    def acknowledged(honored: Mapping[str, Any]) -> None:
        nonlocal is_open
        if not is_open:
            is_open, accepted = True, honored.get("resourceSubscriptions")
            opened(len(accepted) if isinstance(accepted, list) else 0)

    def heard(method: str, params: Mapping[str, Any]) -> None:
        if method == _ACKNOWLEDGED and isinstance(honored := params.get("notifications"), dict):
            acknowledged(honored)

    try:
        await session.request(LISTEN, {"notifications": wanted}, heard=heard)
    except Exception as error:  # however it ends, the server can still be called
        return getattr(error, "code", None) != METHOD_NOT_FOUND
    acknowledged({})
    return True


Task = asyncio.Task[bool]
Listen = Callable[[Callable[[int], None], tuple[str, ...], tuple[str, ...]], Coroutine[Any, Any, bool]]
"""Opens a change stream; see `listen`."""


class ChangeStream:
    """Keeps a stream open that reports changed lists, subscribed resources and followed `tasks`.

    There is no replay: after a gap without a stream, `relist` is called with the kinds of lists that may
    have changed, and every subscription counts as updated.
    """

    def __init__(
        self,
        open_stream: Listen,
        streamed: frozenset[str],
        subscriptions: Subscriptions | None,
        clock: Clock,
        relist: Callable[[Iterable[str]], None],
        tasks: ServerTasks | None = None,
    ) -> None:
        self._listen, self._streamed = open_stream, streamed
        self._subscriptions = subscriptions or Subscriptions()
        self._clock = clock
        self._relist = relist
        self._tasks = tasks
        self._streams: list[Task] = []
        self._again = Reconnection(now=lambda: clock.now_ns() / 1e9)
        self._deaf = bool(self._subscriptions.uris)  # an earlier connection's may have missed updates

    async def run(self) -> None:
        """Open the stream, and again when it ends, with growing delays, or when the subscriptions change."""
        turned = self._subscriptions.turned
        began = self._tasks.began if self._tasks is not None else asyncio.Event()
        try:
            while True:
                turned.clear()
                began.clear()
                uris = self._subscriptions.uris
                followed = tuple(self._tasks.followed) if self._tasks is not None else ()
                if not uris and not followed and not self._streamed:
                    self._close(self._streams)
                    await first_of(turned.wait(), began.wait())
                    continue
                stream = self._open(uris, followed)
                await first_of(asyncio.wait({stream}), turned.wait(), began.wait())
                if stream.done():
                    if not stream.result():
                        while True:  # there is none, whatever the subscriptions
                            turned.clear()
                            self._settle_all(message("The server does not support change streams."))
                            await turned.wait()
                    self._deaf = True
                    seconds = self._again.seconds() or 0.0
                    if not self._again.is_ordinary:  # not an ordinary gap
                        self._settle_all(
                            message("The change stream ended. Retrying in {seconds:g} s.", seconds=seconds)
                        )
                    await first_of(self._clock.sleep(seconds), turned.wait(), began.wait())
        finally:
            await cancel_all(self._streams)

    def _open(self, uris: tuple[str, ...], tasks: tuple[str, ...]) -> Task:
        """Open a stream, and close the earlier ones only once it is open, so that nothing is missed."""

        def opened(accepted: int) -> None:
            self._again.opened()
            self._close(earlier)
            for uri in uris:
                self._subscriptions.settle(uri, "" if accepted else message("The server rejected it."))
            if self._deaf:
                self._deaf = False
                self._relist(self._streamed)
                self._subscriptions.missed()

        self._streams = [one for one in self._streams if not one.done()]
        earlier = tuple(self._streams)
        stream = asyncio.create_task(self._listen(opened, uris, tasks), name="change stream")
        self._streams.append(stream)
        return stream

    def _settle_all(self, problem: str) -> None:
        for uri in self._subscriptions.uris:
            self._subscriptions.settle(uri, problem)

    @staticmethod
    def _close(streams: Iterable[Task]) -> None:
        for stream in streams:
            stream.cancel()


async def keep_subscribed(subscriptions: Subscriptions, ask: Callable[[str, str], Awaitable[str]]) -> None:
    """In a session, subscribe to the resources that the user follows, and unsubscribe from the others.

    `ask` sends a request of a method about a resource, and returns why it failed, or "".
    """
    subscribed: set[str] = set()
    subscriptions.begin_session()
    session = subscriptions.session
    while True:
        subscriptions.turned.clear()
        if subscriptions.session != session:
            session, subscribed = subscriptions.session, set()
        wanted = subscriptions.uris
        for uri in subscribed - set(wanted):
            await ask("resources/unsubscribe", uri)
        for uri in wanted:
            if uri not in subscribed:
                subscriptions.settle(uri, await ask("resources/subscribe", uri))
        subscribed = set(wanted)
        await subscriptions.turned.wait()
