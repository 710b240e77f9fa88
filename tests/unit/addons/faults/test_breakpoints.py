"""Breakpoints and held messages, without a server."""

import json
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tui.addons.faults.breakpoints import UNKNOWN, Breakpoints, Patience
from tui.core.traffic import Direction

OUT, IN = Direction.OUT, Direction.IN
S = 1_000_000_000


class Line:
    """One connection with a breakpoint, and the end of its way: what passed, and what was reported."""

    source, exchange, is_gone = "files", 0, False
    is_heard = True

    def __init__(self, breakpoint: str, patience: Patience = UNKNOWN) -> None:
        self.now_ns = 0
        self.passed: list[tuple[Direction, Any]] = []
        self.events: list[tuple[str, dict[str, Any]]] = []
        self.refused: list[int] = []
        self.breakpoints = Breakpoints(lambda: self.now_ns)
        self.breakpoints.set(breakpoint)
        self.stage = self.breakpoints.stage(patience)

    def __call__(self, direction: Direction, raw: bytes) -> None:
        self.passed.append((direction, json.loads(raw)))

    def event(self, word: str, **what: Any) -> None:
        self.events.append((word, what))

    def lose(self) -> None: ...

    def hears(self, direction: Direction) -> bool:
        return self.is_heard

    def refuse(self, status: int, headers: object) -> None:
        self.refused.append(status)

    def take(self, direction: Direction, **message: Any) -> None:
        self.stage.take(direction, json.dumps({"jsonrpc": "2.0", **message}).encode(), self)

    def call(self, ident: int, tool: str, **meta: Any) -> None:
        params = {"name": tool, "arguments": {}, **({"_meta": meta} if meta else {})}
        self.take(OUT, id=ident, method="tools/call", params=params)

    @property
    def held(self) -> list[int]:
        return list(self.breakpoints.held)

    @property
    def sent(self) -> list[Any]:
        return [message.get("id", message.get("method")) for _, message in self.passed]


def edited(line: Line, number: int, **changes: Any) -> None:
    message = json.loads(line.breakpoints.held[number].raw)
    line.breakpoints.edit(number, json.dumps({**message, **changes}).encode())


def test_a_call_that_matches_waits_and_others_pass():
    line = Line("tool:delete_* dir:out")
    line.call(1, "delete_all")
    line.call(2, "read")
    assert (line.held, line.sent) == ([1], [2])


def test_a_response_belongs_to_the_tool_of_its_request():
    line = Line("tool:delete_* dir:in")
    line.call(1, "delete_all")
    line.take(IN, id=1, result={})
    assert (line.held, line.sent) == ([1], [1])


def test_an_edited_message_is_sent_as_edited_and_both_are_reported():
    line = Line("tool:delete_*")
    line.call(1, "delete_all")
    edited(line, 1, params={"name": "delete_one"})
    line.breakpoints.release(1)
    assert line.passed[0][1]["params"]["name"] == "delete_one"
    word, what = line.events[-1]
    assert (word, what["was"]["params"]["name"], what["sent"]["params"]["name"]) == (
        "edited",
        "delete_all",
        "delete_one",
    )


def test_an_answer_of_ones_own_goes_back_to_the_caller_and_the_server_sees_nothing():
    line = Line("tool:delete_*")
    line.call(1, "delete_all")
    line.breakpoints.answer(1, {"result": {"content": []}})
    assert line.passed == [(IN, {"jsonrpc": "2.0", "id": 1, "result": {"content": []}})]


def test_a_response_is_replaced_by_an_answer_of_ones_own():
    line = Line("kind:response")
    line.call(1, "delete_all")
    line.take(IN, id=1, result={"a": 1})
    line.breakpoints.answer(1, {"error": {"code": -1, "message": "no"}})
    assert line.passed[1:] == [(IN, {"jsonrpc": "2.0", "id": 1, "error": {"code": -1, "message": "no"}})]


def test_a_cancellation_waits_behind_its_request():
    line = Line("tool:delete_*")
    line.call(1, "delete_all")
    line.take(OUT, method="notifications/cancelled", params={"requestId": 1})
    assert line.breakpoints.held[1].is_given_up
    assert line.sent == []
    line.breakpoints.release(1)
    assert line.sent == [1, "notifications/cancelled"]


def test_over_http_a_cancellation_that_waits_is_accepted_at_once() -> None:
    line = Line("tool:delete_*")
    line.call(1, "delete_all")
    line.take(OUT, method="notifications/cancelled", params={"requestId": 1})
    assert line.refused == [202]
    line.breakpoints.drop(1)
    assert line.sent == []


def test_over_http_a_held_message_without_an_answer_is_accepted_at_once() -> None:
    line = Line("dir:out")
    line.call(1, "read")
    assert line.refused == []
    line.take(OUT, method="notifications/roots/list_changed")
    line.take(OUT, id=1, result={})
    assert line.refused == [202, 202]
    line.breakpoints.release_all()
    assert len(line.sent) == 3


def test_whoever_waits_with_a_token_gets_progress_that_never_exceeds_the_server_s():
    line = Line("tool:slow dir:out")
    line.call(1, "slow", progressToken="t")
    for _ in range(3):
        line.now_ns += 5 * S
        line.breakpoints.keep_waiting()
    notices = [message["params"] for way, message in line.passed if way is IN]
    assert len({one["progressToken"] for one in notices}) == 1
    values = [one["progress"] for one in notices]
    assert values == [0.001, 0.002, 0.003]
    line.breakpoints.is_silent = True
    line.now_ns += 50 * S
    line.breakpoints.keep_waiting()
    assert len(line.passed) == 3


def test_progress_of_ours_is_reported_once_and_counted_at_the_end():
    line = Line("tool:slow dir:out")
    line.call(1, "slow", progressToken="t")
    for _ in range(3):
        line.now_ns += 5 * S
        line.breakpoints.keep_waiting()
    line.breakpoints.release(1)
    assert [word for word, _ in line.events] == ["held", "our progress", "released"]
    assert line.events[-1][1]["progress"] == 3


def test_an_edited_message_is_called_by_what_is_sent():
    line = Line("tool:delete_*")
    line.call(1, "delete_all")
    edited(line, 1, params={"name": "delete_one"})
    assert line.breakpoints.held[1].reading.tool == "delete_one"
    line.breakpoints.release(1)
    assert line.events[-1][1]["tool"] == "delete_one"
    line.take(IN, id=1, result={})
    edited(line, 2, result={"a": 1})
    assert line.breakpoints.held[2].reading.tool == "delete_all"


def test_a_side_that_can_only_be_sent_the_answer_gets_no_progress_and_none_is_reported():
    line = Line("tool:slow dir:out")
    line.is_heard = False
    line.call(1, "slow", progressToken="t")
    line.now_ns += 50 * S
    line.breakpoints.keep_waiting()
    assert (line.passed, "our progress" in [word for word, _ in line.events]) == ([], False)


def test_progress_of_ours_follows_that_of_the_server():
    line = Line("dir:in kind:response")
    line.call(1, "slow", progressToken=7)
    line.take(IN, method="notifications/progress", params={"progressToken": 7, "progress": 3})
    line.take(IN, id=1, result={})
    for seconds in (6, 12):
        line.now_ns = seconds * S
        line.breakpoints.keep_waiting()
    assert [message["params"]["progress"] for _, message in line.passed[-2:]] == [8, 13]


def test_the_deadline_moves_with_progress_up_to_the_most():
    line = Line("dir:in", patience=Patience(60, 100))
    line.call(1, "slow", progressToken=7)
    line.take(IN, id=1, result={})
    held = line.breakpoints.held[1]
    assert held.deadline_ns == 60 * S
    line.now_ns = 30 * S
    line.breakpoints.keep_waiting()
    assert held.deadline_ns == 90 * S
    line.now_ns = 70 * S
    line.breakpoints.keep_waiting()
    assert held.deadline_ns == 100 * S


def test_a_batch_is_held_for_any_of_its_messages():
    line = Line("tool:delete_*")
    batch = [
        {"jsonrpc": "2.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "delete_x"}},
    ]
    line.stage.take(OUT, json.dumps(batch).encode(), line)
    assert line.held == [1]
    assert line.breakpoints.held[1].why_no_answer


class Tray(RuleBasedStateMachine):
    """A model of the tray: every message is sent once, is still held, or was dropped or answered."""

    @initialize()
    def begin(self) -> None:
        self.line = Line("tool:delete_* or kind:response")
        self.count = 0
        self.waiting: dict[int, list[object]] = {}
        self.expected: list[object] = []

    def _taken(self, is_held: bool, key: object) -> None:
        if is_held:
            self.waiting[max(self.line.held)] = [key]
        else:
            self.expected.append(key)

    @rule(deletes=st.booleans())
    def call(self, deletes: bool) -> None:
        self.count += 1
        self.line.call(self.count, "delete_x" if deletes else "read")
        self._taken(deletes, self.count)

    @rule()
    def respond(self) -> None:
        self.count += 1
        self.line.take(IN, id=self.count, result={"n": self.count})
        self._taken(True, self.count)

    @rule()
    def notify(self) -> None:
        self.count += 1
        self.line.take(IN, method=f"notifications/{self.count}")
        self.expected.append(f"notifications/{self.count}")

    @precondition(lambda self: self.waiting)
    @rule(data=st.data(), what=st.sampled_from(["release", "edit", "drop", "answer", "cancel"]))
    def act(self, data: st.DataObject, what: str) -> None:
        number = data.draw(st.sampled_from(sorted(self.waiting)))
        held = self.line.breakpoints.held[number]
        if what == "edit":
            edited(self.line, number, extra=True)
        elif what == "cancel" and held.direction is OUT:
            target = self.waiting[number][0]
            self.line.take(OUT, method="notifications/cancelled", params={"requestId": target})
            self.waiting[number].append("notifications/cancelled")
        elif what == "release":
            self.line.breakpoints.release(number)
            self.expected += self.waiting.pop(number)
        elif what == "drop":
            self.line.breakpoints.drop(number)
            del self.waiting[number]
        elif what == "answer":
            self.line.breakpoints.answer(number, {"result": {"mine": True}})
            self.expected.append(self.waiting.pop(number)[0])

    @rule(direction=st.sampled_from([OUT, IN]))
    def end_of_a_stream(self, direction: Direction) -> None:
        held = self.line.breakpoints.held
        ending = [number for number in sorted(self.waiting) if held[number].direction is direction]
        self.line.stage.release(direction)
        for number in ending:
            self.expected += self.waiting.pop(number)

    @invariant()
    def nothing_is_lost_or_sent_twice_and_the_order_is_that_of_the_releases(self) -> None:
        if hasattr(self, "line"):
            assert self.line.sent == self.expected
            assert self.line.held == sorted(self.waiting)


TestTray = Tray.TestCase
TestTray.settings = settings(max_examples=20, stateful_step_count=100, deadline=None)
