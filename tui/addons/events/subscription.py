"""One subscription as a state machine: its position in the events of a server, and when to ask again. Pure.

Rules (SEP-3415, "Cursor Lifecycle", "Subscription Termination"): a cursor is opaque, and an absent one is
null. Null is never kept: without a cursor, delivery starts from now. An event counts once, by its id. What
arrives is accepted first and moves the position then, so that a crash in between repeats it.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from tui.addons.events import wire
from tui.addons.events.wire import EventError, Occurrence
from tui.core.language.translate import N_
from tui.core.text import clean_line
from tui.host.frames.reconnection import Reconnection

MAX_SEEN = 500
"""The event ids that are remembered to recognize duplicates."""

MAX_EVENTS = 100
"""Events that a poll asks for at most."""

FLOOR_SECONDS, DEFAULT_SECONDS, CEILING_SECONDS = 1.0, 30.0, 3_600.0
"""The shortest and the longest interval between polls, and the one of a server that names none."""

MOST_AT_ONCE = 100
"""Polls without a pause while a server says that there is more."""

HEARTBEAT_SECONDS = 30.0
"""How often a server should send a heartbeat. A stream without a message for twice as long is dead."""

MAX_AGE_MS = 24 * 3_600 * 1_000
"""After a downtime, events older than this are not replayed."""


class State(StrEnum):
    """What a subscription does."""

    WAITING = N_("waiting for the server")
    ELSEWHERE = N_("in another mcptui")
    OPENING = N_("connecting")
    LIVE = N_("live")
    POLLING = N_("polling")
    LOST = N_("lost")
    PAUSED = N_("paused")
    ENDED = N_("ended")


@dataclass(slots=True)
class Position:
    """Where a subscription is: its cursor, if its events can be replayed, and the ids seen last."""

    cursor: str | None = None
    seen: tuple[str, ...] = ()


class Subscription:
    """The state of one subscription to the event type `name`, in one mode.

    Attributes:
        state: what it does.
        problem: why it is lost or has ended, and what the server last reported, in a sentence; or "".
        received: the accepted events, without `duplicates`; of both, those of this run.
        gaps: how often the server skipped events; `gap_at` is when it last did, in seconds since the epoch.
        event_at: when the last event arrived; heard_at: the last message; 0.0 for never.
        wait: seconds until the next request.
    """

    def __init__(
        self,
        name: str,
        mode: str,
        position: Position | None = None,
        *,
        now: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
        heartbeat: float = HEARTBEAT_SECONDS,
    ) -> None:
        position = position or Position()
        self.name, self.mode = name, mode
        self.cursor = position.cursor
        self.state = State.WAITING
        self.problem = ""
        self.received = self.duplicates = self.gaps = 0
        self.gap_at = self.event_at = self.heard_at = 0.0
        self.wait = 0.0
        self._seen = dict.fromkeys(position.seen[-MAX_SEEN:])
        self._now, self._wall, self._heartbeat = now, wall, heartbeat
        self._again = Reconnection(now=now)
        self._at_once = 0
        self._is_resuming = True
        self._heard = 0.0

    @property
    def is_over(self) -> bool:
        """Whether it has ended for good."""
        return self.state is State.ENDED

    @property
    def position(self) -> Position:
        """What to keep of it."""
        return Position(self.cursor, tuple(self._seen))

    def params(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the params of its next request, and count it as begun."""
        params: dict[str, Any] = {"name": self.name, "arguments": dict(arguments)}
        if self.cursor is not None:
            params["cursor"] = self.cursor
            if self._is_resuming:
                params["maxAgeMs"] = MAX_AGE_MS
        if self.mode == wire.POLL_MODE:
            params["maxEvents"] = MAX_EVENTS
        elif self.state is not State.LIVE:
            self.state = State.OPENING
        self._heard = self._now()
        return params

    def is_new(self, event: Occurrence) -> bool:
        """Whether an event is not a duplicate; counts it if it is."""
        if event.id not in self._seen:
            return True
        self._seen[event.id] = self._seen.pop(event.id)
        self.duplicates += 1
        return False

    def accepted(self, event: Occurrence) -> None:
        """Record that an event was accepted."""
        self.received += 1
        self.event_at = self._wall()
        if event.id:
            self._seen[event.id] = None
            while len(self._seen) > MAX_SEEN:
                del self._seen[next(iter(self._seen))]

    # ---- poll --------------------------------------------------------------------------------------------

    def polled(self, batch: wire.Batch) -> None:
        """Take the end of a poll whose events are all accepted."""
        moves = batch.place.cursor != self.cursor
        self.state, self.problem, self._is_resuming = State.POLLING, "", False
        self._again.opened()
        self._again.delivered()
        self._at(batch.place)
        self._at_once += 1
        if batch.has_more and (batch.events or moves) and self._at_once < MOST_AT_ONCE:
            self.wait = 0.0
            return
        self._at_once = 0
        seconds = DEFAULT_SECONDS if batch.next_ms is None else batch.next_ms / 1000
        self.wait = min(CEILING_SECONDS, max(FLOOR_SECONDS, seconds))

    # ---- push --------------------------------------------------------------------------------------------

    def heard(self, method: str, params: Mapping[str, Any]) -> None:
        """Take a message of the stream, if it is an event, once that is accepted."""
        self._heard = self._now()
        self.heard_at = self._wall()
        if self.state is State.OPENING:
            self.state, self.problem = State.LIVE, ""
            self._again.opened()
        match method:
            case wire.ACTIVE:
                self._again.delivered()
                self._is_resuming = False
                self._at(wire.place_of(params))
            case wire.EVENT | wire.HEARTBEAT:
                self._again.delivered()
                if (cursor := wire.place_of(params).cursor) is not None:  # some name it in events only
                    self.cursor = cursor
            case wire.ERROR:
                self.problem = str(wire.error_of(params.get("error")))
            case wire.TERMINATED:
                self.end(wire.error_of(params.get("error")))

    @property
    def patience(self) -> float:
        """Seconds until the stream counts as dead if nothing arrives; 0.0 or less if it does."""
        return self._heard + 2 * self._heartbeat - self._now()

    # ---- both --------------------------------------------------------------------------------------------

    def _at(self, place: wire.Place) -> None:
        self.heard_at = self._wall()
        if place.problem:  # the last position is still valid, and repeats are recognized
            self.problem = place.problem
        else:
            self.cursor = place.cursor
        if place.is_after_gap and self.cursor is not None:  # without one, there was no position
            self.gaps += 1
            self.gap_at = self._wall()

    def failed(self, error: EventError | None, problem: str = "") -> None:
        """Take the end of a request: the error of the server, or why there is no answer, in a sentence."""
        if error is not None and error.ends:
            self.end(error)
            return
        self.state, self._is_resuming, self._at_once = State.LOST, True, 0
        self.problem = str(error) if error is not None else clean_line(problem, 300)
        self.wait = self._again.seconds() or 0.0

    def end(self, error: EventError) -> None:
        """End it for good: the server would answer the same again."""
        self.state, self.problem = State.ENDED, str(error)

    def overflowed(self) -> None:
        """Record that events arrived faster than they were accepted, and the stream was closed for that."""
        if self.cursor is None:
            self.gaps += 1
            self.gap_at = self._wall()
        self.failed(None, N_("Events arrived too fast. Continuing where it stopped."))


def new_events(subscription: Subscription, events: Iterable[Any]) -> Iterable[Occurrence]:
    """Yield the events of a batch that are not duplicates."""
    for event in events:
        found = wire.occurrence(event, subscription.name)
        if subscription.is_new(found):
            yield found
