"""Replaying a recorded session on a live server: the plan, and the differences. Pure.

Requests are sent as recorded, with their ids, one after the other, even those of a batch. Values that a
server hands out to be sent back (a cursor, the state of a call in rounds) are replaced with those of the live
server.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tui.addons.replay.eras import parsed
from tui.addons.replay.mock import member_span, with_member
from tui.addons.replay.recorded_server import Bodies, Body
from tui.core.comparison.placeholders import RUN_TO_RUN
from tui.core.comparison.values import Comparison, Tolerance, compare
from tui.core.jsonrpc.reserved import METHOD_NOT_FOUND
from tui.core.traffic import ANSWERS, Direction, Entry, Kind, Outcome

GIVEN_BACK = {"cursor": "nextCursor", "requestState": "requestState"}
"""Members of params whose values are from results, and the members of results that have them."""


@dataclass(frozen=True, slots=True)
class ReplayItem:
    """A message of the host: a request, a notification, or the response to a server's request.

    Attributes:
        method, tool: those of the message, or of the server's request that it responds to.
        expected: the recorded response, b"" for none.
        took_ns: how long that took, -1 for no response.
        left_out: why it is not sent, or "".
        refusal: why it may not be sent, which is a difference, or "".
    """

    seq: int
    method: str
    tool: str
    kind: Kind
    raw: bytes
    ident: str = ""
    expected: bytes = b""
    took_ns: int = -1
    left_out: str = ""
    refusal: str = ""


def plan(entries: Iterable[Entry], body: Body) -> list[ReplayItem]:
    """Return the host's messages in one server's traffic, in order, with the responses."""
    kept = [entry for entry in entries if entry.direction is not Direction.NONE]
    bodies = Bodies(body)
    for entry in kept:
        bodies.note(entry)
    answers = {
        entry.pair: entry
        for entry in kept
        if entry.direction is Direction.IN and entry.kind in ANSWERS and entry.pair
    }
    sent = (Kind.REQUEST, Kind.NOTIFICATION, Kind.RESPONSE, Kind.ERROR)
    return [
        _item(entry, answers.get(entry.seq), bodies)
        for entry in kept
        if entry.direction is Direction.OUT and entry.kind in sent and entry.outcome is not Outcome.CANCELLED
    ]


def _item(entry: Entry, answer: Entry | None, bodies: Bodies) -> ReplayItem:
    raw, expected = bodies.read(entry), b""
    left_out = ""
    if bodies.missing(entry, raw) is not None:
        left_out = "only its start was recorded"
    elif b"[redacted:" in raw:
        left_out = "a secret in it was redacted"
    elif entry.kind is Kind.REQUEST and answer is None:
        left_out = "it had no response"
    elif answer is not None:
        expected = bodies.read(answer)
        if bodies.missing(answer, expected) is not None:
            left_out, expected = "only the start of its response was recorded", b""
    return ReplayItem(
        entry.seq,
        entry.method,
        entry.tool,
        entry.kind,
        raw,
        entry.ident,
        expected,
        answer.mono_ns - entry.mono_ns if answer is not None else -1,
        left_out,
    )


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """The result of sending an item: the live response (b"" for none), how long it took, or the problem.

    `comparison` is None where there was nothing to compare; `took_ns` is -1 for no response.
    """

    item: ReplayItem
    got: bytes = b""
    took_ns: int = -1
    comparison: Comparison | None = None
    problem: str = ""

    @property
    def differs(self) -> bool:
        return bool(self.problem) or (self.comparison is not None and not self.comparison.same)


class Replay:
    """The state of a replay. `paths` may differ, as may values that change from run to run."""

    def __init__(self, items: Iterable[ReplayItem], paths: Iterable[str] = ()) -> None:
        self._items = list(items)
        self._tolerance = Tolerance(tuple(paths), RUN_TO_RUN)
        self._handed_out: dict[bytes, bytes] = {}

    def items(self) -> Iterator[ReplayItem]:
        return (item for item in self._items if item.kind in (Kind.REQUEST, Kind.NOTIFICATION))

    def bytes_of(self, item: ReplayItem) -> bytes:
        """Return the bytes of an item, after the responses so far."""
        raw = item.raw
        for name in GIVEN_BACK:
            value = _member(raw, "params", name)
            if value in self._handed_out:
                raw = with_member(raw, ("params", name), self._handed_out[value])
        return raw

    def answer(self, item: ReplayItem, got: bytes, took_ns: int) -> ReplayResult:
        """Compare the live response to an item with the recorded one."""
        for name in GIVEN_BACK.values():
            before, after = _member(item.expected, "result", name), _member(got, "result", name)
            if before and after:
                self._handed_out[before] = after
        before, after = (_value(raw) for raw in (item.expected, got))
        return ReplayResult(item, got, took_ns, compare(before, after, self._tolerance))

    def reply_to(self, method: str, ident: Any) -> bytes:
        """Return the host's recorded response to a server's request of `method`, with another id.

        Each response is used once, in order. After that, an error is returned.
        """
        for place, item in enumerate(self._items):
            if item.kind in ANSWERS and item.method == method and not item.left_out:
                del self._items[place]
                return with_member(item.raw, ("id",), json.dumps(ident).encode())
        error = {"code": METHOD_NOT_FOUND, "message": "no recorded response"}
        return json.dumps({"jsonrpc": "2.0", "id": ident, "error": error}).encode()


def _member(raw: bytes, *path: str) -> bytes:
    start, end = member_span(raw, path)
    return raw[start : max(start, end)]


def _value(raw: bytes) -> Any:
    found = parsed(raw)
    return raw.decode("utf-8", "replace") if found is None else found


def tally(results: Iterable[ReplayResult]) -> Mapping[str, int]:
    """Return how many items are the same, differ, and were omitted."""
    found = {"same": 0, "differ": 0, "omitted": 0}
    for result in results:
        if result.item.kind is Kind.REQUEST:
            compared = "differ" if result.differs else "same"
            key = "omitted" if result.comparison is None and not result.problem else compared
            found[key] += 1
    return found
