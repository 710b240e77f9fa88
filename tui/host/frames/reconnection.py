"""When a connection or a stream that was lost is opened again: the same for every kind of them."""

import asyncio
import math
import time
from collections.abc import Awaitable, Callable

from tui.core.background import RetryDelay

FIRST_SECONDS = 1.0
LONGEST_SECONDS = 60.0
HANDSHAKE_SECONDS = 30.0
"""How long a server may take to accept another connection or session."""

REOPENS = 5
"""How often in a row a connection is opened again in vain before it counts as lost."""


class Reconnection:
    """The delays before the next try of one stream.

    They double, and start over once a stream has delivered something, or has lived longer than the last
    delay. If it `gives_up`, it does so after `REOPENS` tries in vain. `now` returns seconds.
    """

    def __init__(self, *, gives_up: bool = False, now: Callable[[], float] = time.monotonic) -> None:
        self._gives_up = gives_up
        self._now = now
        self._retry = RetryDelay(FIRST_SECONDS, LONGEST_SECONDS)
        self._failures = 0
        self._opened: float | None = None
        self._has_delivered = False
        self.is_ordinary = True
        """Whether the stream had worked before the last delay."""

    async def keep_open(self, stream: Callable[[], Awaitable[bool]]) -> None:
        """Open a stream and read it to its end with `stream`, and again after a delay each time.

        It ends once `stream` returns False, or when too many tries were in vain.
        """
        while await stream() and await self.wait():
            pass

    @property
    def is_open(self) -> bool:
        """Whether the stream has been opened since the last delay."""
        return self._opened is not None

    def opened(self) -> None:
        """Record that the stream is open, and any handshake on it accepted."""
        self._opened = self._now()

    def delivered(self) -> None:
        """Record that the stream has brought a message, or that the server had announced its end."""
        self._has_delivered = True

    def asked_for(self, milliseconds: int | None) -> None:
        """Record the first delay that the server asks for, None for none."""
        self._retry.first = FIRST_SECONDS if milliseconds is None else milliseconds / 1000

    def seconds(self) -> float | None:
        """Return the delay after the stream has ended, or could not be opened; None to give up."""
        lived = 0.0 if self._opened is None else self._now() - self._opened
        works = self._has_delivered or self._opened is not None
        seconds = self._retry.after_failure(math.inf if self._has_delivered else lived)
        self._opened, self._has_delivered = None, False
        self.is_ordinary = seconds <= self._retry.first
        self._failures = 0 if works and self.is_ordinary else self._failures + 1
        return None if self._gives_up and self._failures > REOPENS else seconds

    async def wait(self) -> bool:
        """Wait until the next try; return False at once to give up."""
        seconds = self.seconds()
        if seconds is not None:
            await asyncio.sleep(seconds)
        return seconds is not None
