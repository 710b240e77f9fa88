"""Servers that are just starting: a question waits a little for them, so that the model has their tools."""

from collections.abc import Callable, Sequence

from tui.core.ports import Clock
from tui.core.servers import ServerState, ServerStatus

PATIENCE_NS = 8_000_000_000
"""How long after its start began a server is waited for; one that downloads itself takes longer."""

LOOK_SECONDS = 0.05


class Starting:
    """The servers that are starting.

    Args:
        statuses: gives the state of all servers. Cheap.
        clock: time.
    """

    def __init__(self, statuses: Callable[[], Sequence[ServerStatus]], clock: Clock) -> None:
        self._statuses = statuses
        self._clock = clock

    def names(self) -> tuple[str, ...]:
        """Return the names of all that are starting."""
        return tuple(one.name for one in self._statuses() if one.state is ServerState.STARTING)

    def worth_waiting(self) -> tuple[str, ...]:
        """Return the names of those that may well run in a moment."""
        since = self._clock.now_ns() - PATIENCE_NS
        return tuple(
            one.name for one in self._statuses() if one.state is ServerState.STARTING and one.since_ns > since
        )

    async def wait(self) -> None:
        """Wait until none of them is worth waiting for any more."""
        while self.worth_waiting():
            await self._clock.sleep(LOOK_SECONDS)
