"""A turn of the loop as the faces see it: begun when its events are read, watched, without secrets."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import replace

from tui.core.conversation.conversation import Remark
from tui.core.events import Event, Notice, RetryScheduled, TurnError, TurnStarted
from tui.core.secrets.redact import Redactor
from tui.core.turn.limits import TurnMeter
from tui.core.turn.loop import Turn
from tui.runtime.readiness import Waiting, wait_for


def discreet(event: Event, redactor: Redactor) -> Event:
    """Return `event` without configured secrets in what mcptui itself says.

    The model room has taken its own key out already; an error may quote other secrets.
    """
    match event:
        case TurnError(message=message, where=where, next_step=next_step):
            clear = redactor.redact
            return replace(event, message=clear(message), where=clear(where), next_step=clear(next_step))
        case RetryScheduled(reason=reason):
            return replace(event, reason=redactor.redact(reason))
        case Notice(message=message):
            return replace(event, message=redactor.redact(message))
        case TurnStarted(notice=notice):
            return replace(event, notice=redactor.redact(notice))
        case _:
            return event


def discreet_remark(remark: Remark, discreet: Callable[[Event], Event]) -> Remark:
    """Return `remark` without configured secrets, as the event that it was made of would have none."""
    match discreet(TurnError(remark.text, remark.where, remark.next_step)):
        case TurnError(message=text, where=where, next_step=next_step):
            return replace(remark, text=text, where=where, next_step=next_step)
    return remark


class PendingTurn:
    """A turn that begins when its events are iterated; the screens may look at it before.

    Args:
        begin: opens the journal, says what the person said, and returns the turn.
        meter: what is shown until then.
        notice: called with each event before anyone else has it.
        discreet: what takes secrets out of it.
        waits: what is waited for before.
    """

    def __init__(
        self,
        begin: Callable[[], Awaitable[Turn]],
        meter: TurnMeter,
        notice: Callable[[Event], None],
        discreet: Callable[[Event], Event],
        waits: Sequence[Waiting],
    ) -> None:
        self._begin = begin
        self._meter = meter
        self._notice = notice
        self._discreet = discreet
        self._waits = waits
        self._waiting: asyncio.Task[None] | None = None
        self._turn: Turn | None = None
        self._cancelled = False
        self._early: list[str] = []

    @property
    def meter(self) -> TurnMeter:
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
        if self._waiting is not None:
            self._waiting.cancel()
        if self._turn is not None:
            self._turn.cancel()

    async def events(self) -> AsyncIterator[Event]:
        """Yield what happens, ending with `TurnEnded`."""
        async for notice in self._wait():
            yield notice
        self._turn = turn = await self._begin()
        for text in self._early:
            turn.steer(text)
        if self._cancelled:
            turn.cancel()
        async for event in turn.events():
            self._notice(event)
            yield self._discreet(event)

    async def _wait(self) -> AsyncIterator[Event]:
        """Wait for what is worth it, and say so; cancelling ends it."""
        awaited = [(one, said) for one in self._waits if (said := one.awaited())]
        if not awaited or self._cancelled:
            return
        for _, said in awaited:
            yield Notice(said)
        waits = [one for one, _ in awaited]
        self._waiting = asyncio.create_task(wait_for(waits), name="wait before a turn")
        try:
            await asyncio.wait({self._waiting})
        finally:
            self._waiting.cancel()
        for one in waits:
            if (said := one.missing()) and not self._cancelled:
                yield Notice(said)
