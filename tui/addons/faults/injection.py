"""Decides which messages of one connection have a fault. Pure: no clock, no thread, no I/O.

The match of a call is counted when its request passes, and its response has the fault: so the faults are the
same in whatever order a server answers.
"""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tui.addons.faults.breakpoints_filter import Passing
from tui.addons.faults.broken_messages import LISTS, names_in, schemas_in
from tui.addons.faults.rules import Rule, Target
from tui.core.jsonrpc.classification import Classification, classify, column, id_forms
from tui.core.traffic import ANSWERS, Direction, Kind

MAX_REQUESTS = 10_000


class Hit(NamedTuple):
    """A fault that happens to a message: the rule, the number of its match, and the names that vanish."""

    rule: Rule
    match: int
    gone: frozenset[str] = frozenset()


class Decided(NamedTuple):
    """A message with its faults; `schema` is the output schema of its tool, if that is known and needed."""

    reading: Classification
    hits: Sequence[Hit]
    schema: Mapping[str, Any] | None = None


class _Call(NamedTuple):
    reading: Classification
    matches: Mapping[int, int]


class Injection:
    """The rules of one connection, and the matches that they have counted."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = rules
        self._counts = [0] * len(rules)
        self._calls: OrderedDict[tuple[Direction, str], dict[int, _Call]] = OrderedDict()
        self._schemas: dict[str, Mapping[str, Any]] | None = (
            {} if any(rule.fault == "invalid-result" for rule in rules) else None
        )

    def decide(self, source: str, direction: Direction, raw: bytes, exchange: int = 0) -> Decided:
        """Return the faults of a message; each message passes once, in order."""
        reading = classify(raw)
        message = Passing(source, direction, reading, raw)
        call: _Call | None = None
        if reading.kind is Kind.REQUEST:
            self._remember(message, exchange)
        elif reading.kind in ANSWERS:
            call = self._call(direction, reading.ident, exchange)
            message = message.of(call.reading if call is not None else None)
        reading = message.reading
        if self._schemas is not None and reading.method == "tools/list" and reading.kind is Kind.RESPONSE:
            self._schemas |= schemas_in(raw)
        if reading.kind not in (Kind.REQUEST, Kind.NOTIFICATION, *ANSWERS):
            return Decided(reading, ())
        hits = [hit for at, rule in enumerate(self._rules) for hit in self._hits(at, rule, message, call)]
        schema = self._schemas.get(reading.tool) if self._schemas and reading.method == "tools/call" else None
        return Decided(reading, hits, schema)

    def _hits(self, at: int, rule: Rule, message: Passing, call: _Call | None) -> Sequence[Hit]:
        if not _is_target(rule, message):
            return ()
        if rule.fault == "vanish":
            return self._vanished(at, rule, message)
        match = call.matches.get(at, 0) if call is not None else 0
        if not match:
            if not rule.test(message):
                return ()
            match = self._count(at)
        return (Hit(rule, match),) if rule.hits(match) else ()

    def _vanished(self, at: int, rule: Rule, message: Passing) -> Sequence[Hit]:
        method = message.reading.method
        if method not in LISTS or (not rule.fields and method != "tools/list"):
            return ()
        names = names_in(message.raw, method)
        one = message._replace
        found = [
            name for name in names if rule.test(one(reading=message.reading._replace(tool=column(name))))
        ]
        if found and "tool" not in rule.fields:  # no tool is named, so one of them vanishes
            match = self._count(at)
            drawn = found[rule.drawn(match, "tool") * len(found) >> 64]
            return (Hit(rule, match, frozenset({drawn})),) if rule.hits(match) else ()
        hits = [(match, name) for name in found if rule.hits(match := self._count(at))]
        return (Hit(rule, hits[0][0], frozenset(name for _, name in hits)),) if hits else ()

    def _count(self, at: int) -> int:
        self._counts[at] += 1
        return self._counts[at]

    def _remember(self, message: Passing, exchange: int) -> None:
        matches = {
            at: self._count(at)
            for at, rule in enumerate(self._rules)
            if message.direction is Direction.OUT
            and rule.is_of_call
            and rule.target is not Target.REQUEST
            and rule.fault != "vanish"
            and rule.test(message)
        }
        known = self._calls.setdefault((message.direction, message.reading.ident), {})
        known[exchange] = _Call(message.reading, matches)
        if len(self._calls) > MAX_REQUESTS:
            self._calls.popitem(last=False)

    def _call(self, direction: Direction, ident: str, exchange: int) -> _Call | None:
        """Return the request that a message answers, and forget it.

        Over HTTP, several clients may use the same id, and a response may come in another exchange.
        """
        asked = Direction.IN if direction is Direction.OUT else Direction.OUT
        for form in id_forms(ident):
            if known := self._calls.get((asked, form)):
                found = known.pop(exchange if exchange in known else max(known))
                if not known:
                    del self._calls[asked, form]
                return found
        return None


def _is_target(rule: Rule, message: Passing) -> bool:
    kind = message.reading.kind
    if message.direction not in rule.directions:
        return False
    match rule.target:
        case Target.REQUEST:
            return kind is Kind.REQUEST or (rule.fault == "lose" and kind is Kind.NOTIFICATION)
        case Target.ANSWER:
            return kind in ANSWERS
        case Target.MESSAGE:
            return True
