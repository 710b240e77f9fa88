"""A turn of the loop as the faces see it: begun when its events are read, watched, without secrets."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
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
    """A turn that begins when its events are iterated; the screens may look at it before.

    Args:
        begin: opens the journal, says what the person said, and returns the turn.
        meter: what is shown until then.
        notice: called with each event before anyone else has it.
        discreet: what takes secrets out of it.
    """

    def __init__(
        self,
        begin: Callable[[], Awaitable[Turn]],
        meter: Meter,
        notice: Callable[[Event], None],
        discreet: Callable[[Event], Event],
    ) -> None:
        self._begin = begin
        self._meter = meter
        self._notice = notice
        self._discreet = discreet
        self._turn: Turn | None = None
        self._cancelled = False
        self._early: list[str] = []

    @property
    def meter(self) -> Meter:
        """What the turn has used up so far."""
        return self._turn.meter if self._turn is not None else self._meter

    @property
    def unsaid(self) -> Sequence[str]:
        """What `steer` was given and the model was not told."""
        return self._turn.unsaid if self._turn is not None else tuple(self._early)

    def steer(self, text: str) -> None:
        """Say `text` before the next step."""
        if self._turn is not None:
            self._turn.steer(text)
        else:
            self._early.append(text)

    def cancel(self) -> None:
        """End the turn now."""
        self._cancelled = True
        if self._turn is not None:
            self._turn.cancel()

    async def events(self) -> AsyncIterator[Event]:
        """Yield what happens, ending with `TurnEnded`."""
        self._turn = turn = await self._begin()
        for text in self._early:
            turn.steer(text)
        if self._cancelled:
            turn.cancel()
        async for event in turn.events():
            self._notice(event)
            yield self._discreet(event)
