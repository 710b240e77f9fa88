"""When a list is requested again: after the server says that it changed, and after a failure. Pure."""

from dataclasses import dataclass

FIRST_RETRY = 2.0
LONGEST_RETRY = 600.0
GAP = 2.0
LONGEST_GAP = 60.0
SECOND = 1_000_000_000


@dataclass(slots=True)
class RefreshPace:
    """At most one refresh per 2 s, and half as often each time the server does not rest in between."""

    _last_ns: int | None = None
    _gap: float = GAP / 2

    def wait_seconds(self, now_ns: int) -> float:
        """Return how long to wait, asked when the server has just said that its list changed."""
        if self._last_ns is None:
            return 0.0
        rested = (now_ns - self._last_ns) / SECOND
        self._gap = min(LONGEST_GAP, self._gap * 2) if rested < max(self._gap, GAP) else GAP / 2
        return max(0.0, self._gap - rested)

    def refreshed(self, now_ns: int) -> None:
        """Take note that the list was asked for."""
        self._last_ns = now_ns


@dataclass(slots=True)
class RetryDelay:
    """The delays between retries: 2 s, doubled after each failure, at most 10 min."""

    _last: float = 0.0

    def after_failure(self, worked_seconds: float = 0.0) -> float:
        """Return how many seconds to wait before the next try.

        Args:
            worked_seconds: how long it had worked; if for longer than the last delay, delays start over.
        """
        again = worked_seconds < self._last
        self._last = min(LONGEST_RETRY, self._last * 2) if again else FIRST_RETRY
        return self._last

    def reset(self) -> None:
        """Start over: it worked."""
        self._last = 0.0
