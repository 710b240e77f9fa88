"""The filter language for one message on its way, of which only the bytes and its request are known. Pure."""

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from tui.core.jsonrpc.classification import Classification
from tui.core.language.translate import message
from tui.core.matching import composed
from tui.core.search.readings import readings
from tui.core.search.regex import asks_for_boundaries, marked_text, re2_text, search_of
from tui.core.text import fold
from tui.core.traffic import ANSWERS, BodyTerm, Direction, Kind, Outcome
from tui.traffic.filter.fields import FIELDS, And, Between, Name, Node, Not, Or, Term, Text, Value
from tui.traffic.filter.filter import name_test
from tui.traffic.filter.query import Query, QueryProblem, parse

KNOWN = ("server", "method", "tool", "kind", "dir", "size", "id", "status", "body")
"""The fields that a message has before it is recorded."""

_OF_SERVERS = ("sampling/createMessage", "elicitation/create", "roots/list", "ping")
"""The requests of servers, whose responses are those of the client."""


class Passing(NamedTuple):
    """A message on its way; `reading` has the method and the tool of its request, if it is a response."""

    source: str
    direction: Direction
    reading: Classification
    raw: bytes

    def of(self, request: Classification | None) -> "Passing":
        """Return it with the method and the tool of its request, if that is known."""
        if request is None:
            return self
        return self._replace(reading=self.reading._replace(method=request.method, tool=request.tool))


Test = Callable[[Passing], bool]


def parse_breakpoint(text: str) -> Query:
    """Parse a filter for messages on their way; a field that they do not have yet is a problem."""
    query = parse(text)
    problems = [
        QueryProblem(
            0,
            len(text),
            message("“{name}” is not known yet. Use {names}.", name=name, names=", ".join(KNOWN)),
        )
        for name in _fields(query.root)
        if name not in KNOWN
    ]
    return Query(text, query.root, (*query.problems, *problems))


def fields_of(query: Query) -> frozenset[str]:
    """Return the names of the fields in a query."""
    return frozenset(_fields(query.root))


def can_match(query: Query, kinds: Collection[Kind], directions: Collection[Direction]) -> bool:
    """Return whether a query may match a message of these kinds and directions, whatever else is in it."""
    probes = [
        Passing("", direction, Classification(kind, outcome=outcome), b"")
        for kind in kinds
        for direction in directions
        for outcome in (Outcome if kind in ANSWERS else (Outcome.NONE,))
    ]
    return query.root is None or any(_verdict(query.root, probe) is not False for probe in probes)


def _verdict(node: Node, probe: Passing) -> bool | None:
    """Return whether a message matches by kind, direction and status; None if the rest decides.

    A response of the client also has no tool, and a known method.
    """
    match node:
        case Not(part):
            inner = _verdict(part, probe)
            return None if inner is None else not inner
        case And(parts):
            found = [_verdict(part, probe) for part in parts]
            return False if False in found else None if None in found else True
        case Or(parts):
            found = [_verdict(part, probe) for part in parts]
            return True if True in found else None if None in found else False
        case Term("kind" | "dir" | "status"):
            return _test(node)(probe)
        case Term("tool" | "method") if probe.direction is Direction.OUT and probe.reading.kind in ANSWERS:
            test, reading = _test(node), probe.reading
            said = {test(probe._replace(reading=reading._replace(method=one))) for one in _OF_SERVERS}
            return said.pop() if len(said) == 1 else None
    return None


def _fields(node: Node | None) -> Sequence[str]:
    match node:
        case Term(field):
            return (field,)
        case Not(part):
            return _fields(part)
        case And(parts) | Or(parts):
            return [name for part in parts for name in _fields(part)]
    return ()


def test_of(query: Query) -> Test:
    """Return what tells whether a message matches; the query has no problems."""
    return (lambda message: True) if query.root is None else _test(query.root)


def _test(node: Node) -> Test:
    match node:
        case Not(part):
            inner = _test(part)
            return lambda message: not inner(message)
        case And(parts):
            every = [_test(part) for part in parts]
            return lambda message: all(test(message) for test in every)
        case Or(parts):
            some = [_test(part) for part in parts]
            return lambda message: any(test(message) for test in some)
        case Text(text):
            wanted = fold(text)
            names: list[Callable[[Passing], str]] = [
                lambda message: message.source,
                lambda message: message.reading.method,
                lambda message: message.reading.tool,
            ]
            in_body = _body_test(BodyTerm(text))
            return lambda message: any(wanted in fold(name(message)) for name in names) or in_body(message)
        case BodyTerm():
            return _body_test(node)
        case Term("body", values):
            terms = [_body_test(BodyTerm(value.text)) for value in values if isinstance(value, Name)]
            return lambda message: any(test(message) for test in terms)
        case Term(field, values):
            return _field_test(field, values)


def _field_test(field: str, values: Sequence[Value]) -> Test:
    accepts = name_test(values)
    match field:
        case "server":
            return lambda message: accepts(message.source)
        case "method":
            return lambda message: accepts(message.reading.method)
        case "tool":
            return lambda message: accepts(message.reading.tool)
        case "id":
            return lambda message: accepts(message.reading.ident.strip('"'))
        case "size":
            limits = [value for value in values if isinstance(value, Between)]
            return lambda message: any(
                low <= len(message.raw) and (high is None or len(message.raw) <= high) for low, high in limits
            )
    choices = FIELDS[field].choices
    chosen = {number for word, numbers in choices.items() if accepts(word) for number in numbers}
    if field == "dir":
        return lambda message: int(message.direction) in chosen
    if field == "kind":
        return lambda message: int(message.reading.kind) in chosen
    return lambda message: int(message.reading.outcome) in chosen - {int(Outcome.NONE)}


def _body_test(term: BodyTerm) -> Test:
    if not term.regex:
        wanted = fold(term.needle)
        return lambda message: any(wanted in fold(text) for text in readings(message.raw))
    marked = asks_for_boundaries(term.needle)
    search = search_of(composed(term.needle), ignore_case=term.fold, marked=marked)

    def found(message: Passing) -> bool:
        texts = map(re2_text, readings(message.raw))
        return any(search(marked_text(text) if marked else text) is not None for text in texts)

    return found
