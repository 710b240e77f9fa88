"""What belongs together: answers, cancels, progress and further rounds find the request they are about.

A state machine without time and without I/O: one call of `Correlator` for each entry, in order. What it
keeps is bounded, whatever a server writes; what it had to forget is then an answer to nothing known.
"""

from collections import OrderedDict
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, NamedTuple

from tui.core.jsonrpc.classify import Reading, id_text
from tui.core.traffic import Cause, Direction, Kind, Outcome
from tui.traffic.record.open_requests import OpenRequest, Side

MAX_SOURCES = 1_000
EXCHANGE: Final = "exchange"
"""Key in the detail of model entries: the same for a request and its reply."""


class Remark(StrEnum):
    """What is odd about an entry's place among the others."""

    NONE = ""
    UNKNOWN = "unknown-id"
    """Answers, cancels or reports on nothing that was asked."""
    DUPLICATE = "duplicate"
    """A second answer to the same request."""
    LATE = "late"
    """Comes after its request was cancelled or answered."""
    REUSED = "reused-id"
    """A request with the id of one that still waits."""
    ID_CHANGED = "id-changed"
    """An answer whose id is of another type than that of its request (`"7"` or `7.0` for `7`)."""


class Link(NamedTuple):
    """What an entry belongs to; the fields are those of `core.traffic.Entry`."""

    method: str = ""
    tool: str = ""
    pair: int = 0
    root: int = 0
    outcome: Outcome = Outcome.NONE
    cause: Cause | None = None
    remark: Remark = Remark.NONE


class _Source:
    """The requests of one source, both ways; of the model's side the last one and how it ended."""

    __slots__ = ("asks", "is_asked", "last")

    def __init__(self) -> None:
        self.is_asked, self.asks = Side(), Side()
        self.last: OpenRequest | None = None

    def side(self, way: Direction) -> Side:
        """Return the requests that went this way."""
        return self.asks if way is Direction.IN else self.is_asked

    def other_side(self, way: Direction) -> Side:
        """Return the requests that answers going this way are to."""
        return self.is_asked if way is Direction.IN else self.asks


class Correlator:
    """Finds the request to which an entry belongs."""

    def __init__(self) -> None:
        self._sources: OrderedDict[str, _Source] = OrderedDict()

    def link(
        self, seq: int, source: str, direction: Direction, reading: Reading, cause: Cause | None
    ) -> Link:
        """Return what a frame belongs to, and remember it if it is a request.

        Args:
            seq: number of the entry; numbers grow.
            source: server.
            direction: which way.
            reading: what it is.
            cause: what made it go out, as far as the tap knows.
        """
        kind, held = reading.kind, self._source(source)
        if kind is Kind.REQUEST:
            return _ask(seq, held, direction, reading, cause)
        if reading.outcome is not Outcome.NONE:  # also what is no JSON-RPC, but ends a request all the same
            return _answer(held.other_side(direction), reading, cause)
        if reading.token:
            return _progress(held.other_side(direction), reading, cause)
        if reading.target:
            return _cancel(held, direction, reading, cause)
        return Link(reading.method, reading.tool, 0, 0, Outcome.NONE, cause)

    def link_model(
        self,
        seq: int,
        source: str,
        kind: Kind,
        detail: Mapping[str, Any],
        cause: Cause | None,
        model: str = "",
    ) -> Link:
        """Return what an entry of the model's side belongs to; `detail` names its exchange.

        A request that goes out again after one that failed, for the same step of a turn, has its root.
        """
        held = self._source(source)
        exchange = str(detail.get(EXCHANGE) or "")
        if kind is Kind.MODEL_REQUEST:
            last, root = held.last, seq
            if last and cause and last.cause == cause and last.outcome is Outcome.ERROR:
                root = last.root
            held.last = OpenRequest(seq, root, exchange, model, "", "", cause)
            held.is_asked.forget(exchange)
            if exchange:
                held.is_asked.add(held.last)
            return Link(model, root=root, cause=cause)
        known = held.is_asked.find(exchange)
        outcome = _model_outcome(detail)
        if known is None:
            return Link(model, outcome=outcome, cause=cause, remark=Remark.UNKNOWN)
        remark = Remark.NONE
        if known.outcome is Outcome.PENDING:
            held.is_asked.end(known, outcome)
        else:
            remark = Remark.DUPLICATE
        return Link(known.method, "", known.seq, known.root, outcome, cause or known.cause, remark)

    def link_event(
        self, source: str, word: str, detail: Mapping[str, Any], cause: Cause | None = None
    ) -> Link:
        """Return what an event belongs to, and take in what it means.

        At a source's exit all that it had not answered is lost; a new process counts its ids anew; a
        request that is given up ends there, and the event belongs to it.
        """
        held = self._sources.get(source)
        if held is None:
            return Link(cause=cause)
        if word == "spawn":
            del self._sources[source]
        elif word == "exit":
            held.is_asked.lose()
            held.asks.lose()
        elif word == "gave up":
            side = held.is_asked
            asked = side.find(ident) if (ident := id_text(detail.get("id"))) else None
            if asked is not None:
                return _end_early(side, asked, Link(outcome=Outcome.ERROR, cause=cause))
        return Link(cause=cause)

    def open(self, source: str) -> int:
        """Return how many requests of and to a source wait for their answer."""
        held = self._sources.get(source)
        return len(held.is_asked.open) + len(held.asks.open) if held else 0

    def _source(self, name: str) -> _Source:
        held = self._sources.get(name)
        if held is None:
            if len(self._sources) >= MAX_SOURCES:
                self._sources.popitem(last=False)
            held = self._sources[name] = _Source()
        return held


def _ask(seq: int, held: _Source, way: Direction, reading: Reading, cause: Cause | None) -> Link:
    side, root = held.side(way), seq
    remark = Remark.REUSED if side.forget(reading.ident) else Remark.NONE
    if reading.goes_on and (before := side.round_before(reading, cause)) is not None:
        root, cause = before.root, cause or before.cause
    if cause is None and way is Direction.IN:  # a server that asks back does so for the call that is open
        cause = held.is_asked.only_cause()
    side.add(OpenRequest(seq, root, reading.ident, reading.method, reading.tool, reading.token, cause))
    return Link(reading.method, reading.tool, 0, root, Outcome.NONE, cause, remark)


def _answer(side: Side, reading: Reading, cause: Cause | None) -> Link:
    outcome, remark = reading.outcome, Remark.NONE
    if not reading.ident:
        return Link(reading.method, "", 0, 0, outcome, cause)
    asked = side.find(reading.ident)
    if asked is None:
        asked, remark = side.find_loosely(reading.ident), Remark.ID_CHANGED
    if asked is None:
        return Link(reading.method, "", 0, 0, outcome, cause, Remark.UNKNOWN)
    if asked.outcome is Outcome.PENDING:
        side.end(asked, outcome)
        if outcome is Outcome.INPUT_REQUIRED:
            side.wait_for_round(asked, reading.state)
    elif asked.outcome is Outcome.CANCELLED:
        outcome, remark = Outcome.CANCELLED, Remark.LATE
    elif asked.outcome is Outcome.LOST:  # read from the pipe after the exit was noticed
        asked.outcome = outcome
    else:
        remark = Remark.DUPLICATE
    return Link(asked.method, asked.tool, asked.seq, asked.root, outcome, cause or asked.cause, remark)


def _progress(side: Side, reading: Reading, cause: Cause | None) -> Link:
    asked = side.tokens.get(reading.token)
    if asked is None:
        return Link(reading.method, "", 0, 0, Outcome.NONE, cause, Remark.UNKNOWN)
    remark = Remark.NONE if asked.outcome is Outcome.PENDING else Remark.LATE
    return Link(reading.method, asked.tool, asked.seq, asked.root, Outcome.NONE, cause or asked.cause, remark)


def _cancel(held: _Source, way: Direction, reading: Reading, cause: Cause | None) -> Link:
    # The one who asked cancels; a server may also end a listen that the host asked for.
    for side in (held.side(way), held.other_side(way)):
        asked = side.find(reading.target)
        if asked is not None:
            return _end_early(side, asked, Link(reading.method, outcome=Outcome.CANCELLED, cause=cause))
    return Link(reading.method, "", 0, 0, Outcome.NONE, cause, Remark.UNKNOWN)


def _end_early(side: Side, asked: OpenRequest, link: Link) -> Link:
    """Return `link` as that of an entry which ends a request without an answer, if it still waits."""
    outcome, remark = link.outcome, Remark.NONE
    if asked.outcome is Outcome.PENDING:
        side.end(asked, Outcome.CANCELLED)
    else:
        outcome, remark = Outcome.NONE, Remark.LATE
    cause = link.cause or asked.cause
    return Link(link.method, asked.tool, asked.seq, asked.root, outcome, cause, remark)


def _model_outcome(detail: Mapping[str, Any]) -> Outcome:
    status = detail.get("status")
    failed = bool(detail.get("broken")) or (isinstance(status, int) and status >= 400)
    return Outcome.ERROR if failed else Outcome.OK
