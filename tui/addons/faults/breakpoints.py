"""Breakpoints: a filter that stops messages, and the messages that wait. Pure: no clock, no thread, no I/O.

A held message leaves the tray once, by one of `release`, `drop` and `answer`, or when its connection ends,
which releases it. What is edited is sent as edited from then on. Everything is reported by an event, because
a recording otherwise shows only what was sent.
"""

from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import floor, inf, nextafter
from typing import TYPE_CHECKING, Any

from tui.core.jsonrpc.classification import Classification, classify, id_forms
from tui.core.jsonrpc.messages import write_line
from tui.core.jsonrpc.reader import json_mapping, json_value
from tui.core.language.translate import message
from tui.core.text import object_in
from tui.core.traffic import ANSWERS, Direction, Kind, Outcome
from tui.core.units import number_limit
from tui.host.frames.stage import PassOn

if TYPE_CHECKING:  # not needed before a breakpoint is set, and a server may start before
    from tui.addons.faults.breakpoints_filter import Passing, Test

PROGRESS_SECONDS = 5.0
"""How often the side that waits for a held message is sent progress."""

_SMALL = 0.001
"""Our progress grows by this while a request is held: it must stay below what the server reports later."""

ACCEPTED = 202
"""Answers the HTTP request of a message that waits, but has no answer: its client may send nothing before."""

MAX_REQUESTS = 1_000
SHOWN = 64 * 1024
"""Bytes of a message in an event."""

_SECOND = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Patience:
    """How long the side that sent a request waits: `seconds` without a sign of life, `most` in all.

    0 for unknown. `is_guess`: another program's usual limit.
    """

    seconds: float = 0.0
    most: float = 0.0
    is_guess: bool = False


UNKNOWN = Patience()


@dataclass(slots=True)
class _Request:
    reading: Classification
    direction: Direction
    at_ns: int
    token: Any
    signed_ns: int
    event: Callable[..., None]
    progress: float = 0.0
    is_given_up: bool = False


@dataclass(slots=True)
class HeldMessage(ABC):
    """A message that waits, in this process or in a tap.

    Attributes:
        number: counts from 1 in the run.
        reading: of what is sent, with the method and tool of its request, if it is a response.
        raw: as it arrived.
        sent: what is sent when it is released: `raw`, or what it was edited to.
        at_ns: monotonic nanoseconds when it arrived.
    """

    number: int
    source: str
    direction: Direction
    reading: Classification
    raw: bytes
    sent: bytes
    at_ns: int

    @abstractmethod
    def act(self, word: str, **what: Any) -> None:
        """Do to it what a method of `Breakpoints` does."""

    def release(self) -> None:
        """Send it on."""
        self.act("release")

    def drop(self) -> None:
        """Never send it."""
        self.act("drop")

    def edit(self, sent: bytes) -> None:
        """Change what is sent when it is released."""
        self.act("edit", sent=sent)

    def answer(self, said: Mapping[str, Any]) -> None:
        """Answer it instead of its server, or replace what it answers."""
        self.act("answer", said=said)

    def will_send(self, sent: bytes) -> None:
        """Take what is sent when it is released."""
        reading = classify(sent)
        if reading.kind in ANSWERS:
            reading = reading._replace(method=self.reading.method, tool=self.reading.tool)
        self.sent, self.reading = sent, reading

    @property
    def is_edited(self) -> bool:
        return self.sent != self.raw

    @property
    def why_no_answer(self) -> str:
        """Why it cannot be answered by hand, or ""."""
        is_one = self.reading.ident and self.reading.kind in {Kind.REQUEST, *ANSWERS}
        return "" if is_one else message("Only a request or its response can be answered.")


@dataclass(slots=True)
class Held(HeldMessage):
    """A message that waits in this process."""

    _stage: "BreakpointStage"
    _pass_on: PassOn
    _request: _Request | None
    _after: list[tuple[bytes, PassOn]] = field(default_factory=list)
    _notices: int = 0  # of progress that was sent meanwhile

    @property
    def event(self) -> Callable[..., None]:
        """Reports an event of the call that it belongs to."""
        return self._pass_on.event if self._request is None else self._request.event

    def act(self, word: str, **what: Any) -> None:
        getattr(self._stage.breakpoints, word)(self.number, **what)

    @property
    def is_over(self) -> bool:
        """Whether it does not wait any more."""
        return self.number not in self._stage.breakpoints.held

    @property
    def is_given_up(self) -> bool:
        """Whether the other side has cancelled its request, or its HTTP request has ended."""
        return self.is_gone or (self._request is not None and self._request.is_given_up)

    @property
    def is_gone(self) -> bool:
        """Whether its HTTP request has ended, which cancelled it and cannot be sent on."""
        return self._pass_on.is_gone

    @property
    def patience(self) -> Patience:
        """How long the side that waits for it does so."""
        return self._stage.patience if self._request and self._waiter is Direction.IN else UNKNOWN

    @property
    def deadline_ns(self) -> int:
        """When the side that waits for it gives up, in monotonic nanoseconds; 0 if that is unknown."""
        patience, request = self.patience, self._request
        if request is None or not patience.seconds:
            return 0
        by_sign = request.signed_ns + int(patience.seconds * _SECOND)
        return min(by_sign, request.at_ns + int((patience.most or patience.seconds) * _SECOND))

    @property
    def _waiter(self) -> Direction:
        """The direction towards the side that sent the request."""
        assert self._request is not None
        return _other(self._request.direction)


class Breakpoints:
    """The breakpoint of a run, and the messages that it holds, in the order in which they arrived.

    `changed` is called after every change. `is_silent`: no progress is sent while messages wait. `revision`
    grows with every change. `now` returns monotonic nanoseconds.
    """

    def __init__(self, now: Callable[[], int], *, is_silent: bool = False) -> None:
        self.is_silent = is_silent
        self.changed: Callable[[], object] = lambda: None
        self.held: dict[int, Held] = {}
        self.text = ""
        self.revision = 0
        self._now = now
        self._test: Test | None = None
        self._last = 0

    def set(self, text: str) -> None:
        """Replace the breakpoint; "" removes it. What is held stays held.

        Raises:
            ValueError: a bad filter; the text says why.
        """
        from tui.addons.faults.breakpoints_filter import parse_breakpoint, test_of

        query = parse_breakpoint(text.strip())
        if query.problems:
            raise ValueError(query.problems[0].sentence)
        self.text = query.text
        self._test = test_of(query) if query.text else None
        self._change()

    def stage(self, patience: Patience = UNKNOWN, *, prefix: str = "") -> "BreakpointStage":
        """Return the stage of one connection; `prefix` is added to its name."""
        return BreakpointStage(self, patience, prefix)

    # ---- what is done to held messages -------------------------------------------------------------------

    def edit(self, number: int, sent: bytes) -> None:
        """Change what is sent when a message is released."""
        if (held := self.held.get(number)) is not None:
            held.will_send(sent)
            self._change()

    def release(self, number: int) -> None:
        """Send a held message on, and then what waits for it."""
        if (held := self._taken(number)) is None:
            return
        if held.is_edited:
            held.event("edited", **_about(held), was=_shown(held.raw), sent=_shown(held.sent))
        else:
            held.event("released", **_about(held))
        held._pass_on(held.direction, held.sent)
        for raw, pass_on in held._after:
            pass_on(held.direction, raw)

    def release_all(self, stage: "BreakpointStage | None" = None, direction: Direction | None = None) -> None:
        """Release everything in order, or what one connection has in one direction.

        What an HTTP client does not wait for any more is dropped: ending its request cancelled it.
        """
        for number, held in list(self.held.items()):
            if stage is None or (held._stage, held.direction) == (stage, direction):
                (self.drop if held.is_gone else self.release)(number)

    def drop(self, number: int) -> None:
        """Never send a held message, nor a cancellation of it."""
        if (held := self._taken(number)) is not None:
            held.event("discarded", **_about(held), was=_shown(held.raw))
            if held.direction is Direction.OUT and held.reading.kind is not Kind.REQUEST:
                held._pass_on.refuse(ACCEPTED, {})

    def answer(self, number: int, said: Mapping[str, Any]) -> None:
        """Answer a held request instead of its server, or replace a held response.

        `said` has a `result` or an `error`.
        """
        held = self.held.get(number)
        if held is None or held.why_no_answer or self._taken(number) is None:
            return
        ident = json_mapping(held.raw).get("id")
        raw = write_line({"jsonrpc": "2.0", "id": ident, **said})
        held.event("answered", **_about(held), was=_shown(held.raw), sent=_shown(raw))
        is_request = held.reading.kind is Kind.REQUEST
        held._pass_on(_other(held.direction) if is_request else held.direction, raw)

    def keep_waiting(self) -> None:
        """Send progress to the sides that wait, if it is time and they have asked for progress."""
        now = self._now()
        for held in list(self.held.values()):
            request = held._request
            if self.is_silent or request is None or request.token is None or held.is_given_up:
                continue
            if not held._pass_on.hears(held._waiter):
                continue
            if now - max(request.signed_ns, held.at_ns) >= PROGRESS_SECONDS * _SECOND:
                request.signed_ns = now
                request.progress = _next_progress(held, request.progress)
                params = {
                    "progressToken": request.token,
                    "progress": request.progress,
                    "message": "held by mcptui",
                }
                notice = {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}
                held._notices += 1
                if held._notices == 1:  # the event at its end has their number
                    held.event("our progress", **_about(held), seconds=(now - held.at_ns) / _SECOND)
                held._pass_on(held._waiter, write_line(notice))

    # ---- what the stages do ------------------------------------------------------------------------------

    def stops(self, message: "Passing") -> bool:
        """Whether the breakpoint stops a message."""
        return self._test is not None and self._test(message)

    def hold(
        self, stage: "BreakpointStage", message: "Passing", request: _Request | None, pass_on: PassOn
    ) -> None:
        """Put a message into the tray."""
        self._last += 1
        source, direction, reading, raw = message
        held = Held(self._last, source, direction, reading, raw, raw, self._now(), stage, pass_on, request)
        self.held[self._last] = held
        if direction is Direction.OUT and (reading.kind is Kind.NOTIFICATION or reading.kind in ANSWERS):
            pass_on.refuse(ACCEPTED, {})
        held.event("held", **_about(held), breakpoint=self.text)
        self._change()

    def now(self) -> int:
        return self._now()

    def noticed(self) -> None:
        """Report a change of a held message."""
        self._change()

    def _taken(self, number: int) -> Held | None:
        if (held := self.held.pop(number, None)) is not None:
            self._change()
        return held

    def _change(self) -> None:
        self.revision += 1
        self.changed()


class BreakpointStage:
    """The breakpoints on the way of one connection: a `Stage`."""

    def __init__(self, breakpoints: Breakpoints, patience: Patience, prefix: str) -> None:
        self.patience = patience
        self.breakpoints, self._prefix = breakpoints, prefix
        self._requests: OrderedDict[tuple[Direction, str, int], _Request] = OrderedDict()

    def begin(self) -> None:
        """Nothing to do."""

    @property
    def is_idle(self) -> bool:
        return not self.breakpoints.text and not self.breakpoints.held

    def take(self, direction: Direction, raw: bytes, pass_on: PassOn) -> None:
        breakpoints = self.breakpoints
        if self.is_idle:
            self._requests.clear()
            pass_on(direction, raw)
            return
        from tui.addons.faults.breakpoints_filter import Passing

        reading = classify(raw)
        if self._cancels_held(direction, reading, raw, pass_on):
            return
        request = self._request_of(direction, reading, raw, pass_on)
        message = Passing(self._prefix + pass_on.source, direction, reading, raw).of(
            None if request is None else request.reading
        )
        if breakpoints.stops(message) or any(
            breakpoints.stops(message._replace(reading=one).of(None if asked is None else asked.reading))
            for *_, one in reading.items
            for asked in (self._asked(direction, one, pass_on.exchange),)
        ):
            breakpoints.hold(self, message, request, pass_on)
        else:
            pass_on(direction, raw)

    def release(self, direction: Direction) -> None:
        self.breakpoints.release_all(self, direction)

    def _request_of(
        self, direction: Direction, reading: Classification, raw: bytes, pass_on: PassOn
    ) -> _Request | None:
        """Return the request that a message is or answers, and remember it or its progress."""
        for *_, one in reading.items:
            if one.kind is Kind.REQUEST:
                self._remember(direction, one, None, pass_on)
        if reading.kind is Kind.REQUEST:
            params = object_in(json_mapping(raw), "params") if reading.token else {}
            token = object_in(params, "_meta").get("progressToken")
            return self._remember(direction, reading, token, pass_on)
        if reading.token:
            self._progressed(direction, reading, raw)
        return self._asked(direction, reading, pass_on.exchange)

    def _remember(
        self, direction: Direction, reading: Classification, token: Any, pass_on: PassOn
    ) -> _Request:
        now = self.breakpoints.now()
        request = _Request(reading, direction, now, token, now, pass_on.event)
        self._requests[direction, reading.ident, pass_on.exchange] = request
        if len(self._requests) > MAX_REQUESTS:
            self._requests.popitem(last=False)
        return request

    def _asked(self, direction: Direction, reading: Classification, exchange: int) -> _Request | None:
        """Return the request that a message answers, and forget it."""
        if reading.outcome is Outcome.NONE or not reading.ident:
            return None
        forms = id_forms(reading.ident)
        alike = [key for key in self._requests if key[0] is _other(direction) and key[1] in forms]
        # Over HTTP, several clients may use the same id; a server's request is answered in another exchange.
        best = max(alike, key=lambda key: (key[2] == exchange, key[1] == reading.ident), default=None)
        return None if best is None else self._requests.pop(best)

    def _progressed(self, direction: Direction, reading: Classification, raw: bytes) -> None:
        for request in self._requests.values():
            if request.direction is not direction and request.reading.token == reading.token:
                params = object_in(json_mapping(raw), "params")
                request.progress = max(request.progress, number_limit(params.get("progress")) or 0.0)
                request.signed_ns = self.breakpoints.now()

    def _cancels_held(
        self, direction: Direction, reading: Classification, raw: bytes, pass_on: PassOn
    ) -> bool:
        """Whether a message cancels a request that is held, and now waits behind it."""
        if not reading.target:
            return False
        mine = [held for held in self.breakpoints.held.values() if held._stage is self]
        for request in (*self._requests.values(), *(held._request for held in mine)):
            if request is not None and (request.direction, request.reading.ident) == (
                direction,
                reading.target,
            ):
                request.is_given_up = True
        for held in mine:
            if held.is_given_up and held.reading.ident == reading.target and held.direction is direction:
                held._after.append((raw, pass_on))
                pass_on.refuse(ACCEPTED, {})
                self.breakpoints.noticed()
                return True
        return False


def _next_progress(held: Held, last: float) -> float:
    """Return more than the last progress: of a held response, after which no other comes, whole seconds."""
    is_response = held.reading.kind in ANSWERS
    following = floor(last) + PROGRESS_SECONDS if is_response else round(last + _SMALL, 3)
    return max(following, nextafter(last, inf))


def _other(direction: Direction) -> Direction:
    return Direction.IN if direction is Direction.OUT else Direction.OUT


def _about(held: Held) -> dict[str, Any]:
    return about_message(held.reading, held.direction, held=held.number, progress=held._notices or None)


def about_message(reading: Classification, direction: Direction, **more: Any) -> dict[str, Any]:
    """Return what an event says of a message, and `more`."""
    found = {
        "tool": reading.tool,
        "method": reading.method,
        "dir": direction.name.lower(),
        "id": json_value(reading.ident) if reading.ident else None,
        **more,
    }
    return {key: value for key, value in found.items() if value not in ("", None)}


def _shown(raw: bytes) -> Any:
    """Return a message for an event: as JSON, or the beginning of its text."""
    text = raw.decode("utf-8", "replace")
    if len(raw) > SHOWN:
        return text[:SHOWN]
    return text if (value := json_value(text)) is None else value
