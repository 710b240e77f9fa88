"""Receives changes from a server: the change stream (2026-07-28), or subscriptions of an older session."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING

from tui.core.ports import Clock
from tui.host.lifecycle import RetryDelay
from tui.host.subscriptions import Subscriptions
from tui.host.waits import first_of

if TYPE_CHECKING:  # imports the SDK
    from tui.host.requests import Listings
    from tui.host.tasks import ServerTasks

Task = asyncio.Task[bool]


class ChangeStream:
    """Keeps a stream open that reports changed lists, subscribed resources and followed `tasks`.

    There is no replay: after a gap without a stream, `relist` is called with the kinds of lists that may
    have changed, and every subscription counts as updated.
    """

    def __init__(
        self,
        listing: "Listings",
        subscriptions: Subscriptions | None,
        clock: Clock,
        relist: Callable[[Iterable[str]], None],
        tasks: "ServerTasks | None" = None,
    ) -> None:
        self._listing = listing
        self._subscriptions = subscriptions or Subscriptions()
        self._clock = clock
        self._relist = relist
        self._tasks = tasks
        self._streams: list[Task] = []
        self._opened_ns = 0
        self._deaf = bool(self._subscriptions.uris)  # an earlier connection's may have missed updates

    async def run(self) -> None:
        """Open the stream, and again when it ends, with growing delays, or when the subscriptions change."""
        retry, turned = RetryDelay(), self._subscriptions.turned
        began = self._tasks.began if self._tasks is not None else asyncio.Event()
        try:
            while True:
                turned.clear()
                began.clear()
                uris = self._subscriptions.uris
                followed = tuple(self._tasks.followed) if self._tasks is not None else ()
                if not uris and not followed and not self._listing.streamed:
                    self._close(self._streams)
                    await first_of(turned.wait(), began.wait())
                    continue
                stream = self._open(uris, followed)
                await first_of(asyncio.wait({stream}), turned.wait(), began.wait())
                if stream.done():
                    if not stream.result():
                        return
                    worked = (self._clock.now_ns() - self._opened_ns) / 1e9 if self._opened_ns else 0.0
                    self._deaf = True
                    await self._clock.sleep(retry.after_failure(worked))
        finally:
            self._close(self._streams)
            await asyncio.gather(*self._streams, return_exceptions=True)

    def _open(self, uris: tuple[str, ...], tasks: tuple[str, ...]) -> Task:
        """Open a stream, and close the earlier ones only once it is open, so that nothing is missed."""

        def opened(accepted: int) -> None:
            self._opened_ns = self._clock.now_ns()
            self._close(earlier)
            for uri in uris:
                self._subscriptions.settle(uri, "" if accepted else "The server rejected it.")
            if self._deaf:
                self._deaf = False
                self._relist(self._listing.streamed)
                self._subscriptions.missed()

        self._opened_ns = 0
        self._streams = [one for one in self._streams if not one.done()]
        earlier = tuple(self._streams)
        stream = asyncio.create_task(self._listing.listen(opened, uris, tasks), name="change stream")
        self._streams.append(stream)
        return stream

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
