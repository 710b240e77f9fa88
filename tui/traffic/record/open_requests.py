"""Requests that one side of a source asked, while they wait and for a while after. Bounded."""

from collections import OrderedDict
from dataclasses import dataclass
from typing import NamedTuple

from tui.core.jsonrpc.classify import Reading
from tui.core.traffic import Cause, Outcome

MAX_OPEN = 10_000
"""Requests of one side that wait for their answer; the oldest are forgotten first."""

MAX_OVER = 1_000
"""Requests of one side that are over and still recognised, for second and late answers."""

MAX_ROUNDS = 100
"""Calls of one side that wait for their next round."""

_FEW = 32


@dataclass(slots=True)
class OpenRequest:
    """A request and what became of it; `outcome` is PENDING while it is open."""

    seq: int
    root: int
    ident: str
    method: str
    tool: str
    token: str
    cause: Cause | None
    outcome: Outcome = Outcome.PENDING


class _Round(NamedTuple):
    asked: OpenRequest
    state: int


class Side:
    """The requests of one source that went one way."""

    __slots__ = ("open", "over", "rounds", "tokens")

    def __init__(self) -> None:
        self.open: OrderedDict[str, OpenRequest] = OrderedDict()
        self.over: OrderedDict[str, OpenRequest] = OrderedDict()
        self.tokens: dict[str, OpenRequest] = {}
        self.rounds: list[_Round] = []

    def add(self, asked: OpenRequest) -> None:
        """Remember a request that waits from now on."""
        if len(self.open) >= MAX_OPEN:
            self._forget_token(self.open.popitem(last=False)[1])
        self.open[asked.ident] = asked
        if asked.token:
            self.tokens[asked.token] = asked

    def end(self, asked: OpenRequest, outcome: Outcome) -> None:
        """Note how a request ended that was open."""
        asked.outcome = outcome
        del self.open[asked.ident]
        self.over[asked.ident] = asked
        if len(self.over) > MAX_OVER:
            self._forget_token(self.over.popitem(last=False)[1])

    def lose(self) -> None:
        """Note that no request will be answered any more."""
        self.rounds.clear()
        for asked in list(self.open.values()):
            self.end(asked, Outcome.LOST)

    def forget(self, ident: str) -> bool:
        """Make room for a new request with this id; tell whether the old one still waited."""
        if (old := self.open.pop(ident, None)) is not None:
            self._forget_token(old)
            return True
        if (old := self.over.pop(ident, None)) is not None:
            self._forget_token(old)
        return False

    def find(self, ident: str) -> OpenRequest | None:
        """Return the request with this id."""
        return self.open.get(ident) or self.over.get(ident)

    def find_loosely(self, ident: str) -> OpenRequest | None:
        """Return the request with this id in another type: some servers answer 7 with "7" or 7.0."""
        plain = ident[1:-1] if ident.startswith('"') else ident.removesuffix(".0")
        for form in (plain, f'"{plain}"', f"{plain}.0"):
            if form != ident and (asked := self.find(form)) is not None:
                return asked
        return None

    def wait_for_round(self, asked: OpenRequest, state: int) -> None:
        """Note that a request was answered with input_required."""
        self.rounds.append(_Round(asked, state))
        del self.rounds[:-MAX_ROUNDS]

    def round_before(self, reading: Reading, cause: Cause | None) -> OpenRequest | None:
        """Return the request whose next round is read, and let it wait no longer.

        Of several alike (a server without `requestState`) the one of the same call, or else the oldest.
        """
        best, best_fit = -1, 0
        for index, (asked, state) in enumerate(self.rounds):
            if (asked.method, asked.tool, state) == (reading.method, reading.tool, reading.state):
                fit = 2 if cause is not None and asked.cause == cause else 1
                if fit > best_fit:
                    best, best_fit = index, fit
        return self.rounds.pop(best).asked if best >= 0 else None

    def only_cause(self) -> Cause | None:
        """Return the cause of the one call that is open, None if there is none or there are several."""
        if len(self.open) > _FEW:
            return None
        causes = {asked.cause for asked in self.open.values() if asked.cause}
        return causes.pop() if len(causes) == 1 else None

    def _forget_token(self, asked: OpenRequest) -> None:
        if asked.token and self.tokens.get(asked.token) is asked:
            del self.tokens[asked.token]
