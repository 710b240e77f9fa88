"""How often a tool list is asked for again when a server keeps saying that it changed. Pure."""

from dataclasses import dataclass

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
