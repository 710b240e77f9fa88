"""Keeps one list of a server fresh: lists it again when the server reports a change, and after a failure."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from tui.core.ports import Clock
from tui.host.lifecycle import RefreshPace, RetryDelay
from tui.host.waits import first_of, set_within

SETTLE_SECONDS = 5.0
"""How long a call waits for a list that has changed."""

_log = logging.getLogger(__name__)


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
        if self.is_settled:
            return
        self._waiting += 1
        self._needed.set()
        try:
            await set_within(self._settled, SETTLE_SECONDS)
        finally:
            self._waiting -= 1

    async def run(self, list_again: Callable[[], Awaitable[bool]], complete: bool = True) -> None:
        """List again whenever it is time, until cancelled; `complete` says how the first listing went."""
        pace, retry = RefreshPace(), RetryDelay()
        while True:
            if complete:
                retry.reset()
                await self._changed.wait()
            else:
                await first_of(self._changed.wait(), self._clock.sleep(retry.after_failure()))
            if self._changed.is_set():
                wait = pace.wait_seconds(self._clock.now_ns())
                if wait and not self._waiting:  # a waiting call takes precedence over the pace
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
            pace.refreshed(self._clock.now_ns())
