"""When a connection or a stream that was lost is opened again: the same for every kind of them."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field

FIRST_SECONDS = 1.0
LONGEST_SECONDS = 60.0
HANDSHAKE_SECONDS = 30.0
"""How long a server may take to accept another connection or session."""

REOPENS = 5
"""How often in a row a connection is opened again in vain before it counts as lost."""


@dataclass(slots=True)
class Reconnection:
    """The delays before the next try of one stream.

    They double, and start over once a stream has delivered something, or has lived longer than the last
    delay. `first` may be set to the delay that the server asks for. After `most` tries in vain, it is given
    up.
    """

    first: float = FIRST_SECONDS
    most: int | None = None
    now: Callable[[], float] = time.monotonic
    _opened: float | None = field(default=None, init=False)
    _has_delivered: bool = field(default=False, init=False)
    _failures: int = field(default=0, init=False)
    _last: float = field(default=0.0, init=False)

    def opened(self) -> None:
        """Record that the stream is open."""
        self._opened = self.now()

    def delivered(self) -> None:
        """Record that the stream has brought a message of the server, or ended as the server had announced."""
        self._has_delivered = True

    def seconds(self) -> float | None:
        """Return the delay after the stream has ended, or could not be opened; None to give up."""
        lived = 0.0 if self._opened is None else self.now() - self._opened
        worked = self._has_delivered or (self._opened is not None and lived >= self._last)
        self._opened, self._has_delivered = None, False
        if worked or not self._last:
            self._failures, self._last = int(not worked), self.first
        else:
            self._failures, self._last = self._failures + 1, min(LONGEST_SECONDS, self._last * 2)
        return None if self.most is not None and self._failures > self.most else self._last

    async def wait(self) -> bool:
        """Wait until the next try; return False at once to give up."""
        seconds = self.seconds()
        if seconds is not None:
            await asyncio.sleep(seconds)
        return seconds is not None
