"""What belongs together: answers, cancels, progress and further rounds find the request they are about.

A state machine without time and without I/O: one call of `Correlator.link` for each entry, in order. What
it keeps is bounded, whatever a server writes; what it had to forget is then an answer to nothing known.
"""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, NamedTuple

from tui.core.traffic import Cause, Direction, Kind, Outcome
from tui.trace.classify import Reading

MAX_OPEN = 10_000
"""Requests of one source that wait for their answer; the oldest are forgotten first."""

MAX_OVER = 1_000
"""Requests of one source that are over and still recognised, for second and late answers."""

MAX_ROUNDS = 100
"""Calls of one source that wait for their next round."""

MAX_SOURCES = 1_000
MODEL: Final = "exchange"
"""Key in the detail of model entries: the same for a request, its reply and the retries of both."""


class Remark(StrEnum):
    """What is odd about an entry's place among the others."""

    NONE = ""
    UNKNOWN = "unknown-id"
    """Answers, cancels or reports on nothing that was asked."""
    DUPLICATE = "duplicate"
    """A second answer to the same request."""
    LATE = "late"
    """Comes after its request was cancelled, answered or lost."""
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


@dataclass(slots=True)
class _Asked:
    """A request and what became of it; `outcome` is PENDING while it is open."""

    seq: int
    root: int
    key: "_Key"
    method: str
    tool: str
    token: str
    cause: Cause | None
    outcome: Outcome = Outcome.PENDING


class _Round(NamedTuple):
    asked: _Asked
    state: int


_Key = tuple[Direction, str]
_ALONE: Final = Link()
_OTHER_WAY = {Direction.OUT: Direction.IN, Direction.IN: Direction.OUT, Direction.NONE: Direction.NONE}


class _Source:
    """The requests of one source."""

    __slots__ = ("open", "over", "rounds", "tokens")

    def __init__(self) -> None:
        self.open: OrderedDict[_Key, _Asked] = OrderedDict()
        self.over: OrderedDict[_Key, _Asked] = OrderedDict()
        self.tokens: dict[_Key, _Asked] = {}
        self.rounds: list[_Round] = []

    def add(self, asked: _Asked) -> None:
        if len(self.open) >= MAX_OPEN:
            self._forget_token(self.open.popitem(last=False)[1])
        self.open[asked.key] = asked
        if asked.token:
            self.tokens[asked.key[0], asked.token] = asked

    def end(self, asked: _Asked, outcome: Outcome) -> None:
        """Note how an open request ended; it is still recognised for a while."""
        asked.outcome = outcome
        del self.open[asked.key]
        self.over[asked.key] = asked
        self.over.move_to_end(asked.key)
        if len(self.over) > MAX_OVER:
            self._forget_token(self.over.popitem(last=False)[1])

    def forget(self, key: _Key) -> bool:
        """Make room for a new request with this id; tell whether the old one still waited."""
        for kept in (self.open, self.over):
            old = kept.pop(key, None)
            if old is not None:
                self._forget_token(old)
                return kept is self.open
        return False

    def find(self, way: Direction, ident: str) -> _Asked | None:
        return self.open.get((way, ident)) or self.over.get((way, ident))

    def _forget_token(self, asked: _Asked) -> None:
        key = (asked.key[0], asked.token)
        if asked.token and self.tokens.get(key) is asked:
            del self.tokens[key]


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
        kind = reading.kind
        if kind is Kind.REQUEST:
            return self._ask(seq, self._source(source), direction, reading, cause)
        if kind is Kind.RESPONSE or kind is Kind.ERROR:
            return self._answer(self._source(source), direction, reading, cause)
        if reading.token:
            return self._progress(self._source(source), direction, reading, cause)
        if reading.target:
            return self._cancel(self._source(source), direction, reading, cause)
        if reading.outcome is Outcome.ERROR:  # not JSON-RPC, but meant as an answer: the call fails by it
            return self._answer(self._source(source), direction, reading, cause)
        return Link(reading.method, reading.tool, 0, 0, Outcome.NONE, cause)

    def link_model(
        self, seq: int, source: str, kind: Kind, detail: Mapping[str, Any], cause: Cause | None
    ) -> Link:
        """Return what an entry of the model's side belongs to; its exchange is named by `detail`."""
        exchange, held = str(detail.get(MODEL, "")), self._source(source)
        key = (Direction.OUT, exchange)
        known = held.find(*key) if exchange else None
        if kind is Kind.MODEL_REQUEST:
            root = known.root if known else seq
            held.forget(key)
            if exchange:
                held.add(_Asked(seq, root, key, "", "", "", cause))
            return Link(root=root, cause=cause)
        outcome = _model_outcome(detail)
        if known is None:
            return Link(outcome=outcome, cause=cause, remark=Remark.UNKNOWN)
        remark = Remark.NONE
        if known.outcome is Outcome.PENDING:
            held.end(known, outcome)
        else:
            remark = Remark.DUPLICATE
        return Link("", "", known.seq, known.root, outcome, cause or known.cause, remark)

    def event(self, source: str, word: str) -> None:
        """Take in what happened to a source: at its exit all that it had not answered is lost."""
        held = self._sources.get(source)
        if held is None:
            return
        if word == "spawn":  # a new process counts its ids anew
            del self._sources[source]
        elif word == "exit":
            held.rounds.clear()
            for asked in list(held.open.values()):
                held.end(asked, Outcome.LOST)

    def open(self, source: str) -> int:
        """Return how many requests of a source wait for their answer."""
        held = self._sources.get(source)
        return len(held.open) if held else 0

    # ---- frames ------------------------------------------------------------------------------------------

    def _source(self, name: str) -> _Source:
        held = self._sources.get(name)
        if held is None:
            if len(self._sources) >= MAX_SOURCES:
                self._sources.popitem(last=False)
            held = self._sources[name] = _Source()
        return held

    def _ask(self, seq: int, held: _Source, way: Direction, reading: Reading, cause: Cause | None) -> Link:
        key = (way, reading.ident)
        remark = Remark.REUSED if held.forget(key) else Remark.NONE
        root = seq
        if reading.goes_on and (before := _round_before(held, reading, cause)) is not None:
            root, cause = before.root, cause or before.cause
        if cause is None and way is Direction.IN:
            cause = _only_cause(held)
        held.add(_Asked(seq, root, key, reading.method, reading.tool, reading.token, cause))
        return Link(reading.method, reading.tool, 0, root, Outcome.NONE, cause, remark)

    def _answer(self, held: _Source, way: Direction, reading: Reading, cause: Cause | None) -> Link:
        outcome = reading.outcome
        if not reading.ident:
            return Link(outcome=outcome, cause=cause)
        asked, remark = held.find(_OTHER_WAY[way], reading.ident), Remark.NONE
        if asked is None:
            asked, remark = _asked_loosely(held, _OTHER_WAY[way], reading.ident), Remark.ID_CHANGED
        if asked is None:
            return Link(reading.method, "", 0, 0, outcome, cause, Remark.UNKNOWN)
        if asked.outcome is Outcome.PENDING:
            held.end(asked, outcome)
            if outcome is Outcome.INPUT_REQUIRED:
                held.rounds.append(_Round(asked, reading.state))
                del held.rounds[:-MAX_ROUNDS]
        elif asked.outcome is Outcome.CANCELLED:
            outcome, remark = Outcome.CANCELLED, Remark.LATE
        elif asked.outcome is Outcome.LOST:  # read from the pipe after the exit was noticed
            asked.outcome = outcome
        else:
            remark = Remark.DUPLICATE
        return Link(asked.method, asked.tool, asked.seq, asked.root, outcome, cause or asked.cause, remark)

    def _progress(self, held: _Source, way: Direction, reading: Reading, cause: Cause | None) -> Link:
        asked = held.tokens.get((_OTHER_WAY[way], reading.token))
        if asked is None:
            return Link(reading.method, "", 0, 0, Outcome.NONE, cause, Remark.UNKNOWN)
        remark = Remark.NONE if asked.outcome is Outcome.PENDING else Remark.LATE
        return Link(
            reading.method, asked.tool, asked.seq, asked.root, Outcome.NONE, cause or asked.cause, remark
        )

    def _cancel(self, held: _Source, way: Direction, reading: Reading, cause: Cause | None) -> Link:
        # The one who asked cancels; a server may also end a listen that the host asked for.
        asked = held.find(way, reading.target) or held.find(_OTHER_WAY[way], reading.target)
        if asked is None:
            return Link(reading.method, "", 0, 0, Outcome.NONE, cause, Remark.UNKNOWN)
        outcome, remark = Outcome.CANCELLED, Remark.NONE
        if asked.outcome is Outcome.PENDING:
            held.end(asked, outcome)
        else:
            outcome, remark = Outcome.NONE, Remark.LATE
        return Link(reading.method, asked.tool, asked.seq, asked.root, outcome, cause or asked.cause, remark)


def _round_before(held: _Source, reading: Reading, cause: Cause | None) -> _Asked | None:
    """Return the request whose next round this one is, and let it wait no longer."""
    best, best_fit = -1, 0
    for index, (asked, state) in enumerate(held.rounds):
        if asked.method != reading.method or asked.tool != reading.tool or state != reading.state:
            continue
        fit = 2 if cause is not None and asked.cause == cause else 1
        if fit > best_fit:
            best, best_fit = index, fit
    return held.rounds.pop(best).asked if best >= 0 else None


def _only_cause(held: _Source) -> Cause | None:
    """Return what the one call that is open was caused by: a server that asks back does so for it."""
    causes = {asked.cause for asked in held.open.values() if asked.cause and asked.key[0] is Direction.OUT}
    return causes.pop() if len(causes) == 1 else None


def _asked_loosely(held: _Source, way: Direction, ident: str) -> _Asked | None:
    """Return the request that an answer is to, if its id has become another type on the way."""
    plain = ident[1:-1] if ident.startswith('"') else ident.removesuffix(".0")
    for form in (plain, f'"{plain}"', f"{plain}.0"):
        if form != ident and (asked := held.find(way, form)) is not None:
            return asked
    return None


def _model_outcome(detail: Mapping[str, Any]) -> Outcome:
    """Return how a reply of the model ended: `outcome` says it, or else an `error` or the HTTP status."""
    said = detail.get("outcome")
    if isinstance(said, str) and said.upper() in Outcome.__members__:
        return Outcome[said.upper()]
    status = detail.get("status")
    failed = bool(detail.get("error")) or (isinstance(status, int) and status >= 400)
    return Outcome.ERROR if failed else Outcome.OK
