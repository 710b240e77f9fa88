"""A turn of the loop as the faces see it: watched by the runtime, and without secrets in its errors."""

from collections.abc import AsyncIterator, Callable
from dataclasses import replace

from tui.core.events import Event, RetryScheduled, TurnError
from tui.core.limits import Meter
from tui.core.loop import Turn
from tui.core.redact import Redactor


def discreet(event: Event, redactor: Redactor) -> Event:
    """Return `event` without configured secrets in what an endpoint said; some quote the key."""
    match event:
        case TurnError(message=message):
            return replace(event, message=redactor.redact(message))
        case RetryScheduled(reason=reason):
            return replace(event, reason=redactor.redact(reason))
        case _:
            return event


class WatchedTurn:
    """A turn whose events are seen by someone else first.

    Args:
        turn: the turn.
        notice: called with each event before anyone else has it.
        discreet: what takes secrets out of it.
    """

    def __init__(
        self, turn: Turn, notice: Callable[[Event], None], discreet: Callable[[Event], Event]
    ) -> None:
        self._turn = turn
        self._notice = notice
        self._discreet = discreet

    @property
    def meter(self) -> Meter:
        """What the turn has used up so far."""
        return self._turn.meter

    def cancel(self) -> None:
        """End the turn now."""
        self._turn.cancel()

    async def events(self) -> AsyncIterator[Event]:
        """Yield what happens, ending with `TurnEnded`."""
        async for event in self._turn.events():
            self._notice(event)
            yield self._discreet(event)
