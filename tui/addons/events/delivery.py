"""Delivers the events of one subscription: runs its polls, or keeps its stream open."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from tui.addons.events import wire
from tui.addons.events.server_events import RunningServer
from tui.addons.events.subscription import Subscription, new_events
from tui.addons.events.wire import Occurrence
from tui.core.background import cancel_all, first_of
from tui.core.language.translate import N_
from tui.core.ports import Clock
from tui.core.workbench import RawAnswer
from tui.host.error_sentences import problem_of

POLL_SECONDS = 60.0
"""How long a server may take to answer a poll."""

MAX_QUEUE = 1_000
"""Messages of a stream that wait to be accepted; more, and it is closed and continued from its cursor."""

IN_A_ROW = 50
"""Events that are accepted before other tasks run."""


Accept = Callable[[Occurrence], Awaitable[None]]
"""Takes an event that is not a duplicate. The position moves once it has returned."""


class Delivery:
    """Runs one subscription with its arguments until it ends, or until it is cancelled.

    `accept` takes each new event. `changed` is called when the position has moved or the state has changed.
    """

    def __init__(
        self,
        server: RunningServer,
        subscription: Subscription,
        arguments: Mapping[str, Any],
        accept: Accept,
        clock: Clock,
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        self.subscription = subscription
        self._server, self._arguments, self._clock = server, arguments, clock
        self._accept, self._changed = accept, changed

    async def run(self) -> None:
        """Deliver until the subscription has ended. A stop of the server counts as a lost connection."""
        one = self.subscription
        turn = self._poll if one.mode == wire.POLL_MODE else self._stream
        while not one.is_over:
            await turn()
            self._changed()
            if not one.is_over:
                await self._clock.sleep(one.wait)

    async def _poll(self) -> None:
        one = self.subscription
        answer = await self._server.request(wire.POLL, one.params(self._arguments), POLL_SECONDS)
        if not self._failed(answer):
            batch = wire.batch(answer.result or {})
            for number, event in enumerate(new_events(one, batch.events)):
                await self._take(event, number)
            one.polled(batch)

    async def _stream(self) -> None:
        one = self.subscription
        queue: deque[tuple[str, Mapping[str, Any]]] = deque()
        arrived, is_full = asyncio.Event(), False

        def heard(method: str, params: Mapping[str, Any]) -> None:
            nonlocal is_full
            is_full = is_full or len(queue) >= MAX_QUEUE
            if not is_full:
                queue.append((method, params))
            arrived.set()

        request = self._server.stream(wire.STREAM, one.params(self._arguments), heard)
        stream = asyncio.create_task(request, name="event stream")
        try:
            while not stream.done() and not is_full and one.patience > 0:
                await first_of(arrived.wait(), asyncio.wait({stream}), seconds=one.patience)
                arrived.clear()
                await self._accept_all(queue)
                if one.is_over:
                    return
            await self._accept_all(queue)
            is_over = stream.done()
        finally:
            await cancel_all((stream,))
        if one.is_over:
            pass
        elif is_full:
            one.overflowed()
        elif not is_over:
            one.failed(None, N_("The stream was silent for too long."))
        elif not self._failed(stream.result()):
            one.failed(None, N_("The server closed the stream."))

    async def _accept_all(self, queue: deque[tuple[str, Mapping[str, Any]]]) -> None:
        one, number = self.subscription, 0
        while queue and not one.is_over:
            method, params = queue.popleft()
            if method == wire.EVENT:
                for event in new_events(one, (params,)):
                    await self._take(event, number)
            one.heard(method, params)
            number += 1
            self._changed()

    async def _take(self, event: Occurrence, number: int) -> None:
        if number % IN_A_ROW == IN_A_ROW - 1:
            await asyncio.sleep(0)
        await self._accept(event)
        self.subscription.accepted(event)

    def _failed(self, answer: RawAnswer) -> bool:
        """Tell the subscription if a request failed; return whether it did."""
        if answer.error is not None:
            self.subscription.failed(wire.error_of(answer.error))
        elif problem := problem_of(answer):
            self.subscription.failed(None, problem)
        else:
            return False
        return True
