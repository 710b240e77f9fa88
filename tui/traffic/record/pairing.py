"""Pairs responses, cancellations, progress and further rounds with their requests.

A state machine without time and without I/O: one call of `Correlator` for each entry, in order. Its memory is
bounded whatever a server writes; the response to a forgotten request matches nothing.
"""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from tui.core.jsonrpc.classification import Classification, id_forms, id_text
from tui.core.traffic import PROBE_METHOD, Cause, Direction, Kind, Outcome, end_of
from tui.core.units import whole

MAX_OPEN = 10_000
"""Maximum open requests of one side. The oldest are dropped first."""

MAX_OVER = 1_000
"""Maximum closed requests of one side to remember, for duplicate and late responses."""

ANY_PEER = 0
MAX_ROUNDS = 100
"""Maximum calls of one side that wait for their next round."""

_FEW = 32
_REJECTABLE = frozenset({Outcome.OK, Outcome.INPUT_REQUIRED})


@dataclass(slots=True)
class OpenRequest:
    """A request and its outcome, PENDING while it is open.

    `exchange` is the number of its HTTP request, `peer` that of its client, 0 if there is only one.
    """

    seq: int
    root: int
    ident: str
    method: str
    tool: str
    token: str
    cause: Cause | None
    exchange: int = 0
    peer: int = 0
    outcome: Outcome = Outcome.PENDING

    @property
    def key(self) -> tuple[str, int]:
        """Its id, and over HTTP its exchange: several clients may use the same id at the same time."""
        return self.ident, self.exchange


class Side:
    """The requests of one source in one direction."""

    def __init__(self) -> None:
        self.open: OrderedDict[tuple[str, int], OpenRequest] = OrderedDict()
        self.over: OrderedDict[tuple[str, int], OpenRequest] = OrderedDict()
        self.tokens: dict[tuple[str, int], OpenRequest] = {}
        self.rounds: list[tuple[OpenRequest, int]] = []  # with the `state` of the next one
        self._newest: dict[tuple[str, int], OpenRequest] = {}

    def add(self, asked: OpenRequest) -> None:
        if len(self.open) >= MAX_OPEN:
            self._forget(self.open.popitem(last=False)[1])
        self.open[asked.key] = asked
        if asked.token:
            self.tokens[asked.token, asked.peer] = self.tokens[asked.token, ANY_PEER] = asked
        if asked.exchange:
            self._newest[asked.ident, asked.peer] = self._newest[asked.ident, ANY_PEER] = asked

    def end(self, asked: OpenRequest, outcome: Outcome) -> None:
        asked.outcome = outcome
        del self.open[asked.key]
        self.over[asked.key] = asked
        if len(self.over) > MAX_OVER:
            self._forget(self.over.popitem(last=False)[1])

    def lose(self) -> None:
        self.rounds.clear()
        for asked in list(self.open.values()):
            self.end(asked, Outcome.LOST)

    def forget(self, ident: str, exchange: int = 0, peer: int = 0) -> bool:
        """Remove the old request with this id; return whether the client has used it for an open one.

        Over HTTP, the old one can still be answered, in the response to its own exchange.
        """
        key = (ident, exchange)
        if (old := self.open.pop(key, None) or self.over.pop(key, None)) is not None:
            self._forget(old)
        newest = old or self._newest.get((ident, peer))
        return newest is not None and newest.outcome is Outcome.PENDING

    def find(self, ident: str, exchange: int = 0, peer: int = 0) -> OpenRequest | None:
        """Return the request with this id: of the same exchange, or else the newest one of the client."""
        key = (ident, exchange)
        return (
            self.open.get(key)
            or self.over.get(key)
            or self._newest.get((ident, peer))
            or self._newest.get((ident, ANY_PEER))
        )

    def find_loosely(self, ident: str, exchange: int = 0, peer: int = 0) -> OpenRequest | None:
        """Return the request with this id in another type: see `id_forms`."""
        found = (self.find(form, exchange, peer) for form in id_forms(ident)[1:] if form != ident)
        return next(filter(None, found), None)

    def round_before(self, reading: Classification, cause: Cause | None) -> OpenRequest | None:
        """Return the request whose next round this is, and stop waiting for it.

        If there are several (a server without `requestState`), it is the one of the same call, or else the
        oldest.
        """
        best, best_fit = -1, 0
        for index, (asked, state) in enumerate(self.rounds):
            if (asked.method, asked.tool, state) == (reading.method, reading.tool, reading.state):
                fit = 2 if cause is not None and asked.cause == cause else 1
                if fit > best_fit:
                    best, best_fit = index, fit
        return self.rounds.pop(best)[0] if best >= 0 else None

    def _forget(self, asked: OpenRequest) -> None:
        for peer in (asked.peer, ANY_PEER) if asked.peer else (ANY_PEER,):
            for known, name in ((self._newest, asked.ident), (self.tokens, asked.token)):
                if known and known.get((name, peer)) is asked:
                    del known[name, peer]


MAX_SOURCES = 1_000
EXCHANGE: Final = "exchange"
"""Key in the detail of model entries and HTTP: the same for a request and its reply."""

OF_EXCHANGE: Final = "of_exchange"
"""Key in the detail of an event about a message: the exchange of its request."""

PEER: Final = "peer"
"""Key in the detail of HTTP: the number of the client, if a server may have several."""


class Link(NamedTuple):
    """The related entries of an entry; the fields are those of `core.traffic.Entry`.

    `remark` is a problem, or "". It names no request that was sent ("unknown-id"), is a second response to
    the same request ("duplicate"), or arrived after its request was cancelled or answered ("late"). It has
    the id of an open request ("reused-id"), or one of another type than its request ("id-changed").
    """

    method: str = ""
    tool: str = ""
    pair: int = 0
    root: int = 0
    outcome: Outcome = Outcome.NONE
    cause: Cause | None = None
    remark: str = ""


def _linked(asked: OpenRequest, method: str, outcome: Outcome, cause: Cause | None, remark: str = "") -> Link:
    """Return the links of an entry that belongs to a request."""
    return Link(method, asked.tool, asked.seq, asked.root, outcome, cause or asked.cause, remark)


class _Source:
    """The requests of one source in both directions; for a model, the last request and how it ended.

    `knows_probe`: it has answered `PROBE_METHOD`; `is_stopped`: mcptui is ending its session; `is_remote`: it
    has no process, so no exit follows the stop.
    """

    def __init__(self) -> None:
        self.is_asked, self.asks = Side(), Side()
        self.knows_probe = self.is_stopped = self.is_remote = False
        self.last: OpenRequest | None = None

    def side(self, way: Direction) -> Side:
        return self.asks if way is Direction.IN else self.is_asked

    def other_side(self, way: Direction) -> Side:
        return self.is_asked if way is Direction.IN else self.asks


class Correlator:
    """Finds the request of an entry."""

    def __init__(self) -> None:
        self._sources: OrderedDict[str, _Source] = OrderedDict()

    def link(
        self,
        seq: int,
        source: str,
        direction: Direction,
        reading: Classification,
        cause: Cause | None,
        exchange: int = 0,
        peer: int = 0,
    ) -> Link:
        """Return the links of a message, and remember it if it is a request; seqs grow.

        `exchange` is the number of its HTTP request, `peer` that of the client; 0 if there is none.
        """
        kind, state = reading.kind, self._source(source)
        if kind is Kind.REQUEST or reading.asks:
            return _ask(seq, state, direction, reading, cause, (exchange, peer))
        if reading.outcome is not Outcome.NONE:  # includes what is not JSON-RPC but still ends a request
            answered = _answer(state.other_side(direction), reading, cause, exchange, peer)
            return _negotiated(state, answered, reading)
        if reading.token:
            tokens = state.other_side(direction).tokens
            asked = tokens.get((reading.token, peer)) or tokens.get((reading.token, ANY_PEER))
            if asked is not None:
                remark = "" if asked.outcome is Outcome.PENDING else "late"
                return _linked(asked, reading.method, Outcome.NONE, cause, remark)
        elif reading.target:
            # The requester cancels; a server may also end a `subscriptions/listen` of the host.
            for side in (state.side(direction), state.other_side(direction)):
                if (asked := side.find(reading.target, peer=peer)) is not None:
                    return _end_early(side, asked, reading.method, Outcome.CANCELLED, cause)
        else:
            return Link(reading.method, reading.tool, cause=cause)
        return Link(reading.method, cause=cause, remark="unknown-id")

    def link_model(
        self,
        seq: int,
        source: str,
        kind: Kind,
        detail: Mapping[str, Any],
        cause: Cause | None,
        model: str = "",
    ) -> Link:
        """Return the links of an entry of a model; `detail` names its exchange.

        A request that repeats a failed one for the same step of a turn has the root of that one.
        """
        state = self._source(source)
        exchange = str(detail.get(EXCHANGE) or "")
        if kind is Kind.MODEL_REQUEST:
            last, root = state.last, seq
            if last and cause and last.cause == cause and last.outcome is Outcome.ERROR:
                root = last.root
            state.last = OpenRequest(seq, root, exchange, model, "", "", cause)
            state.is_asked.forget(exchange)
            if exchange:
                state.is_asked.add(state.last)
            return Link(model, root=root, cause=cause)
        known = state.is_asked.find(exchange)
        status = detail.get("status")
        failed = bool(detail.get("broken")) or (isinstance(status, int) and status >= 400)
        outcome = Outcome.ERROR if failed else Outcome.OK
        if known is None:
            return Link(model, outcome=outcome, cause=cause, remark="unknown-id")
        if known.outcome is not Outcome.PENDING:
            return _linked(known, known.method, outcome, cause, "duplicate")
        state.is_asked.end(known, outcome)
        return _linked(known, known.method, outcome, cause)

    def link_event(
        self, source: str, word: str, detail: Mapping[str, Any], cause: Cause | None = None
    ) -> Link:
        """Return the links of an event, and apply its meaning.

        When a source exits, its open requests are lost, or cancelled if mcptui was stopping it; those of a
        remote source end with the stop. A new process starts new ids. An abandoned request, or one whose
        response the host rejected, fails with this event, which belongs to it; one that the host cancelled
        itself does not fail. What was done to a response on its way belongs to its request.
        """
        state = self._source(source) if word == "connect" else self._sources.get(source)
        if state is None:
            return Link(cause=cause)
        if word == "spawn":
            del self._sources[source]
        elif word == "connect":
            state.is_remote, state.is_stopped = True, False
        elif word == "stop" and not state.is_remote:
            state.is_stopped = True
        elif word in ("exit", "stop"):
            is_cut = (state.is_stopped or state.is_remote) and bool(state.is_asked.open or state.asks.open)
            state.is_asked.lose()
            state.asks.lose()
            if is_cut:
                return Link(outcome=Outcome.CANCELLED, cause=cause)
        elif word == "gave up":
            side = state.is_asked
            exchange = whole(detail.get(EXCHANGE)) or 0
            asked = side.find(ident, exchange) if (ident := id_text(detail.get("id"))) else None
            if asked is not None:
                is_cancelled = detail.get("cancelled") is True
                outcome = end_of(asked.method, Outcome.CANCELLED if is_cancelled else Outcome.ERROR)
                if is_cancelled or asked.outcome not in _REJECTABLE:
                    return _end_early(side, asked, "", outcome, cause)
                asked.outcome = outcome
                return _linked(asked, "", outcome, cause)
        elif detail.get("dir") == "in" and (ident := id_text(detail.get("id"))):
            asked = state.is_asked.find(ident, whole(detail.get(OF_EXCHANGE)) or 0)
            if asked is not None and asked.method == detail.get("method"):  # not a request of the server
                return _linked(asked, "", Outcome.NONE, cause)
        return Link(cause=cause)

    def _source(self, name: str) -> _Source:
        state = self._sources.get(name)
        if state is None:
            if len(self._sources) >= MAX_SOURCES:
                self._sources.popitem(last=False)
            state = self._sources[name] = _Source()
        return state


def _ask(
    seq: int,
    state: _Source,
    way: Direction,
    reading: Classification,
    cause: Cause | None,
    place: tuple[int, int],
) -> Link:
    side, root = state.side(way), seq
    remark = "reused-id" if side.forget(reading.ident, *place) else ""
    if reading.is_next_round and (before := side.round_before(reading, cause)) is not None:
        root, cause = before.root, cause or before.cause
    if cause is None and way is Direction.IN and len(state.is_asked.open) <= _FEW:
        causes = {asked.cause for asked in state.is_asked.open.values() if asked.cause}
        cause = causes.pop() if len(causes) == 1 else None  # a server's request belongs to the only open call
    side.add(
        OpenRequest(seq, root, reading.ident, reading.method, reading.tool, reading.token, cause, *place)
    )
    return Link(reading.method, reading.tool, 0, root, Outcome.NONE, cause, remark)


def _answer(side: Side, reading: Classification, cause: Cause | None, exchange: int, peer: int) -> Link:
    outcome, remark = reading.outcome, ""
    if not reading.ident:
        # Over HTTP, an error without an id responds to the request of its exchange. A server that cannot read
        # a host's probe also answers without an id, and no other request is open then.
        waiting = reversed(side.open.values())
        asked = next((one for one in waiting if not exchange or one.exchange == exchange), None)
        is_sure = exchange or (len(side.open) == 1 and asked and asked.method == PROBE_METHOD)
        if asked is None or not is_sure or reading.kind is not Kind.ERROR:
            return Link(reading.method, outcome=outcome, cause=cause)
    else:
        asked = side.find(reading.ident, exchange, peer)
        if asked is None:
            asked, remark = side.find_loosely(reading.ident, exchange, peer), "id-changed"
        if asked is None:
            return Link(reading.method, outcome=outcome, cause=cause, remark="unknown-id")
    if asked.outcome is Outcome.PENDING:
        side.end(asked, outcome)
        if outcome is Outcome.INPUT_REQUIRED:
            side.rounds.append((asked, reading.state))
            del side.rounds[:-MAX_ROUNDS]
    elif asked.outcome is Outcome.CANCELLED:
        outcome, remark = Outcome.CANCELLED, "late"
    elif asked.outcome is Outcome.LOST:  # read from the pipe after the exit was detected
        asked.outcome = outcome
    else:
        remark = "duplicate"
    return _linked(asked, reading.method or asked.method, outcome, cause, remark)


def _negotiated(state: _Source, link: Link, reading: Classification) -> Link:
    """Return the link of a response; a rejection that only shows the server's other era is not a failure.

    That is the rejection of a probe, or of a handshake by a server that was too slow to answer the probe.
    """
    if link.method == PROBE_METHOD and link.pair:
        state.knows_probe |= reading.outcome is Outcome.OK
        return link._replace(outcome=end_of(PROBE_METHOD, link.outcome))
    if link.method == "initialize" and state.knows_probe and link.outcome is Outcome.ERROR:
        return link._replace(outcome=Outcome.PROBE)
    return link


def _end_early(side: Side, asked: OpenRequest, method: str, outcome: Outcome, cause: Cause | None) -> Link:
    """Return the links of an entry that ends an open request without a response."""
    if asked.outcome is not Outcome.PENDING:
        return _linked(asked, method, Outcome.NONE, cause, "late")
    side.end(asked, Outcome.CANCELLED)
    return _linked(asked, method, outcome, cause)
