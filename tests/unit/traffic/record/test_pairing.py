"""Pairing messages as the traffic list shows them."""

import json
from typing import Any

import pytest

from tui.core.jsonrpc.classification import classify
from tui.core.traffic import Cause, Direction, Kind, Outcome
from tui.traffic.record import pairing as exchange_module
from tui.traffic.record.pairing import Correlator, Link

OUT, IN = Direction.OUT, Direction.IN


class Wire:
    """Numbers messages as the recorder does."""

    def __init__(self) -> None:
        self.correlator = Correlator()
        self.seq = 0

    def __call__(
        self,
        way: Direction,
        *,
        source: str = "weather",
        cause: Cause | None = None,
        exchange: int = 0,
        peer: int = 0,
        **fields: Any,
    ) -> Link:
        self.seq += 1
        reading = classify(json.dumps({"jsonrpc": "2.0", **fields}).encode())
        return self.correlator.link(self.seq, source, way, reading, cause, exchange, peer)

    def call(self, ident: Any = 1, tool: str = "forecast", cause: Cause | None = None, **params: Any) -> Link:
        return self(OUT, id=ident, method="tools/call", params={"name": tool, **params}, cause=cause)

    def answer(self, ident: Any = 1, source: str = "weather", **result: Any) -> Link:
        return self(IN, id=ident, result=result, source=source)

    def event(self, word: str, **detail: Any) -> Link:
        self.seq += 1
        return self.correlator.link_event("weather", word, detail)

    def open(self, source: str) -> int:
        state = self.correlator._source(source)
        return len(state.is_asked.open) + len(state.asks.open)

    def model(self, kind: Kind, cause: Cause | None = None, model: str = "", **detail: Any) -> Link:
        self.seq += 1
        return self.correlator.link_model(self.seq, "model:demo", kind, detail, cause, model)


@pytest.fixture
def wire() -> Wire:
    return Wire()


def test_a_request_is_the_root_of_its_call_and_the_answer_inherits_its_columns(wire: Wire):
    cause = Cause(3, 1, "call-1")
    assert wire.call(cause=cause) == Link("tools/call", "forecast", 0, 1, cause=cause)
    assert wire.answer() == Link("tools/call", "forecast", 1, 1, Outcome.OK, cause)


@pytest.mark.parametrize("given_up", [False, True])
def test_a_probe_refused_by_an_older_server_is_not_a_failure(wire: Wire, given_up: bool):
    wire(OUT, id=1, method="server/discover")
    if given_up:
        assert wire.event("gave up", id=1).outcome is Outcome.PROBE
    assert wire(IN, id=1, error={"code": -32601, "message": "no"}).outcome is Outcome.PROBE


def test_a_handshake_refused_by_a_slow_modern_server_is_not_a_failure(wire: Wire):
    wire(OUT, id=1, method="server/discover")
    wire.event("gave up", id=1)
    wire(OUT, id=2, method="initialize")
    wire.answer(1, supportedVersions=["2026-07-28"])
    assert wire(IN, id=2, error={"code": -32022, "message": "no"}).outcome is Outcome.PROBE


def test_a_refused_handshake_is_a_failure(wire: Wire):
    wire(OUT, id=1, method="server/discover")
    wire(IN, id=1, error={"code": -32601, "message": "no"})
    wire(OUT, id=2, method="initialize")
    assert wire(IN, id=2, error={"code": -32603, "message": "broken"}).outcome is Outcome.ERROR


REFUSAL = {"code": -32600, "message": "no valid session"}


@pytest.mark.parametrize(
    ("others", "exchange", "pair"),
    [(["tools/list"], 4, 1), ([], 0, 1), (["initialize"], 0, 0)],
    ids=["of its HTTP exchange", "a probe alone", "not a probe among others"],
)
def test_an_error_without_an_id_answers_a_request_that_is_certain(
    wire: Wire, others: list[str], exchange: int, pair: int
):
    wire(OUT, id=1, method="server/discover", exchange=exchange)
    for number, method in enumerate(others, 2):
        wire(OUT, id=number, method=method, exchange=exchange and exchange + 1)
    assert wire(IN, id=None, error=REFUSAL, exchange=exchange).pair == pair
    assert wire.open("weather") == 1 + len(others) - bool(pair)


@pytest.mark.parametrize(("sent", "answered"), [(7, "7"), (7, 7.0), ("7", 7)])
def test_an_id_of_another_type_is_matched_and_other_text_is_not(wire: Wire, sent: Any, answered: Any):
    wire.call(sent)
    wire.call("a-1")
    link = wire.answer(answered)
    assert (link.pair, link.remark) == (1, "id-changed")
    assert wire.answer('"a-1"') == Link(outcome=Outcome.OK, remark="unknown-id")


def test_the_number_7_and_the_text_7_are_two_requests(wire: Wire):
    wire.call(7, "number")
    wire.call("7", "text")
    assert [wire.answer("7").tool, wire.answer(7).tool] == ["text", "number"]


def test_progress_belongs_to_the_call_that_gave_the_token(wire: Wire):
    wire.call(1, _meta={"progressToken": "t"}, cause=Cause(1))
    report = {"method": "notifications/progress", "params": {"progressToken": "t", "progress": 1}}
    assert wire(IN, **report) == Link("notifications/progress", "forecast", 1, 1, cause=Cause(1))
    wire.answer()
    assert wire(IN, **report).remark == "late"
    report["params"]["progressToken"] = "u"
    assert wire(IN, **report).remark == "unknown-id"


def test_a_cancellation_ends_its_request_and_a_late_answer_does_not_undo_it(wire: Wire):
    wire.call()
    cancel = wire(OUT, method="notifications/cancelled", params={"requestId": 1})
    assert (cancel.pair, cancel.outcome, cancel.tool) == (1, Outcome.CANCELLED, "forecast")
    late = wire.answer()
    assert (late.pair, late.outcome, late.remark) == (1, Outcome.CANCELLED, "late")
    again = wire(OUT, method="notifications/cancelled", params={"requestId": 1})
    assert (again.pair, again.outcome, again.remark) == (1, Outcome.NONE, "late")


def test_a_server_can_end_a_subscription_of_the_host(wire: Wire):
    wire(OUT, id=5, method="subscriptions/listen")
    assert wire(IN, method="notifications/cancelled", params={"requestId": 5}).pair == 1


def test_all_rounds_of_a_call_have_one_root(wire: Wire):
    wire.call(1, cause=Cause(2, 1, "c"))
    first = wire.answer(1, resultType="input_required", requestState="s1")
    second = wire.call(2, requestState="s1", inputResponses={})
    wire.answer(2, resultType="input_required", requestState="s2")
    wire.call(3, requestState="s2", inputResponses={})
    last = wire.answer(3)
    assert first.outcome is Outcome.INPUT_REQUIRED
    assert {first.root, second.root, last.root} == {1}
    assert (last.pair, last.outcome, last.cause) == (5, Outcome.OK, Cause(2, 1, "c"))


def test_rounds_of_concurrent_calls_are_distinguished_by_state_or_cause(wire: Wire):
    for ident in (1, 2):
        wire.call(ident, cause=Cause(1, 1, f"call-{ident}"))
    for ident in (1, 2):
        wire.answer(ident, resultType="input_required", requestState="same")
    assert wire.call(3, requestState="same", inputResponses={}, cause=Cause(1, 1, "call-2")).root == 2
    assert wire.call(4, requestState="same", inputResponses={}).root == 1
    assert wire.call(5, requestState="same", inputResponses={}).root == 7


def test_a_round_without_state_is_continued_by_its_answers(wire: Wire):
    wire.call(1)
    wire.answer(1, resultType="input_required", inputRequests={"a": {}})
    assert wire.call(2, inputResponses={"a": {}}).root == 1


def test_a_server_request_during_the_only_open_call_has_the_cause_of_the_call(wire: Wire):
    wire.call(cause=Cause(4, 2, "c"))
    assert wire(IN, id="s1", method="sampling/createMessage", params={}).cause == Cause(4, 2, "c")
    assert wire(OUT, id="s1", result={}).cause == Cause(4, 2, "c")
    wire.call(2, cause=Cause(4, 2, "d"))
    assert wire(IN, id="s2", method="roots/list").cause is None


def test_at_an_exit_pending_requests_are_lost_and_late_answers_count(wire: Wire):
    wire.call(1)
    wire.call(2)
    wire.event("exit", code=1)
    assert wire.open("weather") == 0
    assert (link := wire.answer(1)).pair == 1
    assert (link.outcome, link.remark) == (Outcome.OK, "")


@pytest.mark.parametrize(
    ("is_stopped", "is_open", "outcome"),
    [
        (True, True, Outcome.CANCELLED),
        (True, False, Outcome.NONE),
        (False, True, Outcome.NONE),
    ],
)
def test_a_server_request_pending_at_the_exit_is_cancelled_only_if_mcptui_ended_the_session(
    wire: Wire, is_stopped, is_open, outcome
):
    wire.call(1)
    wire.answer(1)
    if is_stopped:
        wire.event("stop")
    if is_open:
        wire(IN, id="s1", method="roots/list")
    assert wire.event("exit", code=0).outcome is outcome
    assert wire.open("weather") == 0


def test_an_abandoned_request_has_failed(wire: Wire):
    wire.call(1)
    link = wire.event("gave up", id=1, why="not JSON")
    assert (link.pair, link.root, link.outcome) == (1, 1, Outcome.ERROR)
    assert wire.answer(1).remark == "late"
    assert wire.event("gave up", id={}).pair == 0


def test_a_request_that_the_host_withdrew_is_cancelled_and_has_not_failed(wire: Wire):
    for number in (1, 2):
        wire(OUT, id=number, method="subscriptions/listen")
    link = wire.event("gave up", id=1, cancelled=True)
    assert (link.pair, link.outcome) == (1, Outcome.CANCELLED)
    wire.answer(2)
    assert wire.event("gave up", id=2, cancelled=True) == Link("", "", 2, 2, Outcome.NONE, None, "late")


def test_a_model_reply_is_paired_with_its_request(wire: Wire):
    wire.model(Kind.MODEL_REQUEST, Cause(1, 1), "small", exchange=1)
    wire.model(Kind.MODEL_REQUEST, Cause(1, 2), "large", exchange=2)
    reply = wire.model(Kind.MODEL_REPLY, exchange=1, status=200)
    assert reply == Link("small", "", 1, 1, Outcome.OK, Cause(1, 1))
    assert wire.model(Kind.MODEL_REPLY, exchange=1).remark == "duplicate"
    assert wire.model(Kind.MODEL_REPLY, exchange=9).remark == "unknown-id"


@pytest.mark.parametrize("detail", [{"status": 503}, {"broken": "ReadError", "status": 200}])
def test_a_retried_model_request_belongs_to_the_first(wire: Wire, detail: dict[str, Any]):
    wire.model(Kind.MODEL_REQUEST, Cause(1, 1), exchange=1)
    assert wire.model(Kind.MODEL_REPLY, exchange=1, **detail).outcome is Outcome.ERROR
    assert wire.model(Kind.MODEL_REQUEST, Cause(1, 1), exchange=2).root == 1
    assert wire.model(Kind.MODEL_REPLY, exchange=2).root == 1
    assert wire.model(Kind.MODEL_REQUEST, Cause(1, 1), exchange=3).root == 5


def test_memory_per_source_is_bounded(wire: Wire, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(exchange_module, "MAX_OPEN", 10)
    monkeypatch.setattr(exchange_module, "MAX_OVER", 5)
    for ident in range(50):
        wire.call(ident, _meta={"progressToken": ident})
    assert wire.open("weather") == 10
    assert wire.answer(39).remark == "unknown-id"
    assert [wire.answer(ident).remark for ident in range(40, 50)] == [""] * 10
    assert wire.answer(40).remark == "unknown-id"
    assert wire.answer(49).remark == "duplicate"
    assert len(wire.correlator._source("weather").is_asked.tokens) == 5


def test_a_flood_of_server_requests_does_not_evict_the_hosts_requests(
    wire: Wire, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(exchange_module, "MAX_OPEN", 10)
    wire.call(1)
    for ident in range(100):
        wire(IN, id=ident, method="roots/list")
    assert wire.answer(1).pair == 1


def test_an_id_is_known_until_its_process_ends_separately_for_each_source_and_direction(wire: Wire):
    places = [{"source": source, "way": way} for source in ("a", "b") for way in (OUT, IN)]
    for place in places:
        assert wire(id=1, method="ping", **place).remark == ""
        assert wire(id=1, method="ping", **place).remark == "reused-id"
    for seq, (source, way) in zip((2, 4, 6), (("a", IN), ("a", OUT), ("b", IN)), strict=True):
        first, second = (wire(way, source=source, id=1, result={}) for _ in range(2))
        assert (first.pair, second.pair) == (seq, seq)
        assert (first.remark, second.remark) == ("", "duplicate")
    assert (wire.open("a"), wire.open("b")) == (0, 1)
    wire.correlator.link_event("b", "spawn", {})
    assert wire.open("b") == 0
    assert wire(OUT, source="b", id=1, result={}).remark == "unknown-id"


PING = {"id": 1, "method": "ping"}


def test_requests_of_two_clients_with_one_id_are_answered_in_their_own_exchanges(wire: Wire):
    first = wire(OUT, exchange=1, peer=1, **PING)
    second = wire(OUT, exchange=2, peer=2, **PING)
    assert (first.remark, second.remark) == ("", "")
    assert wire(IN, exchange=1, peer=1, id=1, result={}).pair == 1
    assert wire(IN, exchange=2, peer=2, id=1, result={}).pair == 2
    assert wire.open("weather") == 0


def test_an_id_that_one_client_uses_again_is_reported_and_both_are_answered(wire: Wire):
    wire(OUT, exchange=1, peer=1, **PING)
    assert wire(OUT, exchange=2, peer=1, **PING).remark == "reused-id"
    assert [wire(IN, exchange=number, peer=1, id=1, result={}).pair for number in (1, 2)] == [1, 2]
    assert wire.open("weather") == 0


def test_a_response_on_the_stream_of_a_client_belongs_to_its_request(wire: Wire):
    wire(OUT, exchange=1, peer=1, **PING)
    wire(OUT, exchange=2, peer=2, **PING)
    assert wire(IN, exchange=7, peer=1, id=1, result={}).pair == 1


def test_a_cancellation_on_another_connection_finds_its_request(wire: Wire):
    wire(OUT, exchange=1, peer=1, **PING)
    cancelled = wire(OUT, exchange=2, peer=2, method="notifications/cancelled", params={"requestId": 1})
    assert (cancelled.pair, cancelled.outcome) == (1, Outcome.CANCELLED)


def test_progress_for_one_token_of_two_clients_is_told_apart(wire: Wire):
    for number in (1, 2):
        params = {"name": "t", "_meta": {"progressToken": 1}}
        wire(OUT, exchange=number, peer=number, id=1, method="tools/call", params=params)
    params = {"progressToken": 1, "progress": 1}
    assert wire(IN, exchange=1, peer=1, method="notifications/progress", params=params).pair == 1


def test_memory_for_the_ids_of_http_is_bounded(wire: Wire, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(exchange_module, "MAX_OVER", 5)
    for number in range(1, 50):
        wire(OUT, exchange=number, peer=number, id=number, method="ping")
        wire(IN, exchange=number, peer=number, id=number, result={})
    assert len(wire.correlator._source("weather").is_asked._newest) == 10
