"""Messages waiting for the session: responses at once, notifications rate-limited.

A server that sends 50,000 notifications a second would block everything else. Responses and requests are
never delayed. While there are few notifications they keep their order; when there are many, those that
replace each other (progress of one call, "list changed") are merged into the newest, and the others are
dropped. Those of a stream that the session has requested are never dropped and never wait.
"""

import asyncio
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable

from tui.core.background import set_within
from tui.core.jsonrpc.messages import Message, Notification, Response
from tui.core.jsonrpc.protocol import LISTS

BURST = 100
PER_SECOND = 100.0
WAITING = 64
HAND_OVER_SECONDS = 0.1

SESSION_REOPENED = "notifications/mcptui/session_reopened"
"""A transport adds this when it has opened a new session after a gap, in which nothing is set up yet.

It is never sent. If a server sends it, everything is listed and set up again.
"""

MISSED = "notifications/mcptui/missed"
"""A transport adds this after a gap in which notifications may have been lost.

It is never sent. If a server sends it, everything is listed again.
"""

WITHDRAWN = "notifications/mcptui/withdrawn"
"""The gate adds this when a request ends, once for each server request (`requestId`) in its response.

It is never sent. If a server sends it, it is dropped.
"""

LIST_OF = {f"notifications/{kind}/list_changed": kind for kind in LISTS}
RESOURCE_UPDATED = "notifications/resources/updated"
STREAMED = "notifications/events/"
"""How the method of each message of an event stream begins."""

_MERGED = {SESSION_REOPENED, MISSED, *LIST_OF}
_KEYS = {"notifications/progress": "progressToken", RESOURCE_UPDATED: "uri"}
"""The params by which a notification replaces an earlier one."""


class EndOfInbox(Exception):
    """No more messages will arrive."""


class Inbox:
    """A queue from the reader of a pipe to the session; the reader never waits for it.

    `divert` is offered each response first, unless others wait, and each message of a stream. It returns
    whether it took it. `emptied` is set once it is closed and empty.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._urgent: deque[tuple[int, Message]] = deque()
        self._notices: OrderedDict[Hashable, tuple[int, Notification]] = OrderedDict()
        self._number = 0
        self._tokens = float(BURST)
        self._counted_at = now()
        self._wake = asyncio.Event()
        self._closed = False
        self.divert: Callable[[Response | Notification], bool] = lambda message: False
        self.emptied = asyncio.Event()

    @property
    def crowded(self) -> bool:
        """Whether a notification that replaces no other would be dropped."""
        return len(self._notices) >= WAITING

    def surplus(self, method: str) -> bool:
        """Whether another notification of `method` would be merged or dropped, whatever its params."""
        if method in _MERGED:
            return method in self._notices
        return self.crowded and method != "notifications/progress" and not method.startswith(STREAMED)

    def put(self, message: Message) -> bool:
        """Add a message; never waits. Return False if it was merged or dropped."""
        if self._closed:
            return False
        if isinstance(message, Response):
            if not self._urgent and not self._notices and self.divert(message):
                return True
        elif isinstance(message, Notification) and message.method.startswith(STREAMED):
            if self.divert(message):
                return True
        self._number += 1
        if not isinstance(message, Notification) or message.method == WITHDRAWN:
            self._urgent.append((self._number, message))
        elif not self._put_notice(message):
            return False
        self._wake.set()
        return True

    def close(self) -> None:
        """Hand over the remaining responses, then end."""
        self._closed = True
        self._notices.clear()
        self._wake.set()

    async def hand_over(self) -> None:
        """Close, and wait a moment until the session has taken the rest, so that it sees the end last."""
        self.close()
        await set_within(self.emptied, HAND_OVER_SECONDS)

    async def get(self) -> Message:
        """Raises EndOfInbox if it is closed and empty."""
        while True:
            message = self._next()
            if message is not None:
                return message
            if self._closed:
                self.emptied.set()
                raise EndOfInbox
            self._wake.clear()
            timer: asyncio.TimerHandle | None = None
            if self._notices:
                timer = asyncio.get_running_loop().call_later(1 / PER_SECOND, self._wake.set)
            try:
                await self._wake.wait()
            finally:
                if timer is not None:
                    timer.cancel()

    def _put_notice(self, notice: Notification) -> bool:
        key = _replaces(notice)
        if key is None:
            key = self._number
        elif key in self._notices:
            self._notices[key] = (self._notices[key][0], notice)
            return False
        if self.crowded:
            return False
        self._notices[key] = (self._number, notice)
        return True

    def _next(self) -> Message | None:
        if self._notices and self._may_pass():
            key = next(iter(self._notices))
            if not self._urgent or self._notices[key][0] < self._urgent[0][0]:
                self._tokens -= 1
                return self._notices.pop(key)[1]
        return self._urgent.popleft()[1] if self._urgent else None

    def _may_pass(self) -> bool:
        now = self._now()
        self._tokens = min(BURST, self._tokens + (now - self._counted_at) * PER_SECOND)
        self._counted_at = now
        return self._tokens >= 1


def _replaces(notice: Notification) -> Hashable | None:
    """Return what a newer notification of the same kind replaces, or None if each counts."""
    params = notice.params or {}
    if notice.method in _MERGED:
        return notice.method
    key = params.get(_KEYS.get(notice.method, ""))
    return (notice.method, key) if isinstance(key, str | int) else None
