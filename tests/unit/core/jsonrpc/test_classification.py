"""The classification of a line, for columns and for the host."""

import json
import time
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tui.core.jsonrpc.classification import MAX_NAME, READ_WHOLE, Classification, classify, column, id_text
from tui.core.jsonrpc.messages import Failure, Notification, Request, Response, Stray, read_line
from tui.core.traffic import Kind, Outcome


def line(**fields: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **fields}).encode()


@each_case(
    ("raw", "kind"),
    [
        (line(id=1, method="ping"), Kind.REQUEST),
        (line(method="notifications/initialized"), Kind.NOTIFICATION),
        (line(id=1, result={}), Kind.RESPONSE),
        (line(id=1, error={"code": -1, "message": "no"}), Kind.ERROR),
        (line(id=None, error={"code": -32700, "message": "what?"}), Kind.ERROR),
        (line(id=1, error="no", result=None), Kind.ERROR),
        (b"[" + line(id=1, result={}) + b"]", Kind.BATCH),
        (b"[]", Kind.NOT_RPC),
        (b"[1]", Kind.NOT_RPC),
        (b"7", Kind.NOT_RPC),
        (b"{}", Kind.NOT_RPC),
        (b'{"id":1,"result":{}}', Kind.NOT_RPC),
        (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', Kind.NOT_RPC),
        (line(id=1), Kind.NOT_RPC),
        (line(id=1, method=5), Kind.NOT_RPC),
        (line(id={"a": 1}, method="ping"), Kind.NOT_RPC),
        (line(id=None, method="ping"), Kind.NOT_RPC),
        (line(id=True, method="ping"), Kind.NOT_RPC),
        (line(id=1, method="ping", params="x"), Kind.NOT_RPC),
        (line(id=1, method="ping", result={}), Kind.NOT_RPC),
        (line(id=1, result={}, error={}), Kind.NOT_RPC),
        (b"", Kind.NOT_JSON),
        (b"hello", Kind.NOT_JSON),
        (b"Content-Length: 12", Kind.NOT_JSON),
        (b'{"jsonrpc":"2.0","id":1', Kind.NOT_JSON),
        (line(id=1, result={}) + b" x", Kind.NOT_JSON),
        (line(id=1, result={}) + line(id=2, result={}), Kind.NOT_JSON),
        (b'{"jsonrpc":"2.0","id":1,"result":{"a":NaN}}', Kind.NOT_JSON),
        (b'{"jsonrpc":"2.0","id":1,"result":{"a":-Infinity}}', Kind.NOT_JSON),
    ],
)
def test_each_line_has_one_kind(raw: bytes, kind: Kind):
    assert classify(raw).kind is kind


@each_case(
    "raw",
    [
        b"\xef\xbb\xbf" + line(id=1, method="ping"),
        b" \t" + line(id=1, method="ping") + b"\r",
        line(id=1, method="ping", params={"a": 1}).replace(b"1}}", b"9" * 5000 + b"}}"),
        line(id=1, method="ping", params={}).replace(b"{}", b'{"a":' + b"[" * 9000 + b"]" * 9000 + b"}"),
        line(id=1, method="ping", params={"a": "x"}).replace(b"x", b"\xff\xfe"),
        line(id=1, method="ping", params={"a": "x"}).replace(b"x", rb"\ud800"),
        b'{"jsonrpc":"2.0","id":9,"method":"no","method":"ping","id":1}',
    ],
)
def test_a_request_in_unusual_bytes_is_a_request(raw: bytes):
    reading = classify(raw)
    assert (reading.kind, reading.method, reading.ident) == (Kind.REQUEST, "ping", "1")


@each_case(
    ("fields", "outcome"),
    [
        ({"result": {}}, Outcome.OK),
        ({"result": {"isError": False}}, Outcome.OK),
        ({"result": {"isError": True}}, Outcome.TOOL_ERROR),
        ({"result": {"isError": "yes"}}, Outcome.OK),
        ({"result": {"resultType": "input_required"}}, Outcome.INPUT_REQUIRED),
        ({"result": "text"}, Outcome.ERROR),
        ({"error": {"code": 1, "message": ""}}, Outcome.ERROR),
        ({"result": {}, "error": {}}, Outcome.ERROR),
    ],
)
def test_a_response_gives_the_outcome_of_its_request(fields: dict[str, Any], outcome: Outcome):
    assert classify(line(id=1, **fields)).outcome is outcome


@each_case(
    ("method", "params", "tool"),
    [
        ("tools/call", {"name": "get_weather"}, "get_weather"),
        ("prompts/get", {"name": "greeting"}, "greeting"),
        ("resources/read", {"uri": "file:///a"}, "file:///a"),
        ("resources/subscribe", {"uri": "file:///a"}, "file:///a"),
        ("notifications/resources/updated", {"uri": "file:///a"}, "file:///a"),
        ("completion/complete", {"ref": {"type": "ref/prompt", "name": "greeting"}}, "greeting"),
        ("completion/complete", {"ref": {"type": "ref/resource", "uri": "x://{a}"}}, "x://{a}"),
        ("completion/complete", {"ref": 7}, ""),
        ("tools/call", {"name": 7}, ""),
        ("tools/list", {"name": "x"}, ""),
    ],
)
def test_each_request_has_its_target_in_a_column(method: str, params: dict[str, Any], tool: str):
    assert classify(line(id=1, method=method, params=params)).tool == tool


def test_progress_names_its_token_and_a_cancellation_its_request():
    assert classify(line(method="notifications/progress", params={"progressToken": "a"})).token == '"a"'
    assert classify(line(method="notifications/cancelled", params={"requestId": 7})).target == "7"
    asks = line(id=1, method="tools/call", params={"name": "x", "_meta": {"progressToken": 4}})
    assert classify(asks).token == "4"


def test_a_retried_call_carries_the_state_of_the_previous_round():
    first = classify(line(id=1, result={"resultType": "input_required", "requestState": "s"}))
    params = {"name": "x", "inputResponses": {}, "requestState": "s"}
    second = classify(line(id=2, method="tools/call", params=params))
    assert second.is_next_round
    assert first.state == second.state != 0


@each_case(
    ("value", "text"),
    [(7, "7"), (-1, "-1"), ("a", '"a"'), ("7", '"7"'), ('"', r'"\""'), (7.0, "7.0"), (7.5, ""), (None, "")],
)
def test_an_id_is_kept_as_its_json_text(value: Any, text: str):
    assert id_text(value) == text


def test_long_ids_are_shortened_but_remain_distinct():
    first, second = id_text("x" * 10**6), id_text("x" * 10**6 + "y")
    assert first != second and len(first) <= MAX_NAME
    assert len(id_text(10**4000)) <= MAX_NAME


def test_names_are_cleaned_and_bounded_in_columns():
    reading = classify(line(id=1, method="tools/call", params={"name": "\x1b[31m\n\u202eevil\ud800" * 100}))
    assert len(reading.tool) == MAX_NAME and reading.tool.isprintable() and reading.tool.encode()
    assert column("a\tb\nc") == "a␉b␊c"


@given(st.text(st.characters(codec="ascii", categories=("L", "N", "P", "S")), max_size=MAX_NAME))
def test_an_ordinary_name_is_unchanged(name: str):
    assert column(name) == name


def test_the_messages_of_a_batch_are_classified_one_by_one():
    first, second = line(id=1, result={}), line(method="notifications/x")
    raw = b"[" + first + b", " + second + b"]"
    found = classify(raw).items
    assert [raw[start:end] for start, end, _ in found] == [first, second]
    assert [item.kind for _, _, item in found] == [Kind.RESPONSE, Kind.NOTIFICATION]


envelopes = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.sampled_from(["2.0", "1.0", 2]),
        "id": st.sampled_from([1, "a", None, 7.0, {}, [], True, "x" * 5000]),
        "method": st.sampled_from(["tools/call", "notifications/progress", "resources/read", "", None, {}]),
        "params": st.sampled_from(
            [
                {"name": "t", "_meta": {"progressToken": 1}, "requestState": "s"},
                {"uri": "u", "progressToken": "p", "_meta": [], "inputResponses": {"a": {}}},
                {"name": {"no": 1}, "_meta": None},
                {},
                [],
                None,
                "x",
            ]
        ),
        "result": st.sampled_from(
            [{}, {"isError": True}, {"resultType": "input_required", "requestState": "s"}, None, [], "x"]
        ),
        "error": st.sampled_from([None, {}, {"code": 1}, "no", []]),
    },
)


@given(envelopes)
def test_a_large_message_is_classified_like_a_small_one(envelope: dict[str, Any]):
    small = json.dumps(envelope).encode()
    large = json.dumps({**envelope, "padding": ['}\\"' * 10, "x" * READ_WHOLE]}).encode()
    wanted = classify(small)
    got = classify(large)
    if envelope.get("id") == "x" * 5000:  # only a digest of it is kept
        wanted, got = wanted._replace(ident=""), got._replace(ident="")
    assert got == wanted


@given(st.binary(max_size=200), st.sampled_from([b"", b'{"jsonrpc":"2.0","id":1,', b"[{", b'{"id":"']))
def test_any_bytes_are_classified(tail: bytes, head: bytes):
    raw = head + tail
    assert classify(raw).kind in Kind
    assert classify(raw, len(raw) + 1).kind in Kind


def test_the_first_bytes_of_a_message_are_enough_to_classify_it():
    head = line(id=7, result={"content": "x" * 500})[:100]
    reading = classify(head, 10**9)
    assert (reading.kind, reading.ident) == (Kind.RESPONSE, "7")
    head = b'{"result":{"content":[{"type":"text","text":"xxx'
    assert classify(head, 10**9) == Classification(Kind.RESPONSE)
    assert classify(b'{"id":null,"result":{"a":"xx', 10**9) == Classification(Kind.NOT_RPC)
    assert classify(b'{"id":4,"method":"ping","params":{"a":"xx', 10**9).kind is Kind.REQUEST


KINDS = {
    Request: Kind.REQUEST,
    Notification: Kind.NOTIFICATION,
    Response: Kind.RESPONSE,
    Failure: Kind.ERROR,
    Stray: None,
}


@given(envelopes, st.sampled_from([b"", b"\xff", b" ", b"NaN"]))
def test_the_host_and_the_recorder_agree_on_every_message(envelope: dict[str, Any], tail: bytes):
    raw = json.dumps(envelope).encode() + tail
    (frame,) = read_line(raw)
    reading = classify(raw)
    used = KINDS[type(frame)]
    if used is None:
        bad = (Kind.NOT_RPC, Kind.NOT_JSON)
        assert reading.kind in bad or (reading.kind, reading.outcome) == (Kind.RESPONSE, Outcome.ERROR)
    else:
        assert reading.kind is used


def test_an_incomplete_large_line_is_not_json():
    raw = line(id=7, result={"content": "x" * READ_WHOLE})
    assert classify(raw[:-1]).kind is Kind.NOT_JSON
    assert classify(raw + b"x").kind is Kind.NOT_JSON
    assert classify(b"[" + raw).kind is Kind.NOT_JSON


def test_a_message_of_many_megabytes_is_classified_quickly():
    for content in ("x" * 20_000_000, [{"a": '"\\'}] * 500_000, {str(n): [] for n in range(4000)}):
        raw = json.dumps(
            {"result": {"content": content, "isError": True}, "jsonrpc": "2.0", "id": 3}
        ).encode()
        began = time.process_time()
        assert classify(raw).outcome is Outcome.TOOL_ERROR
        assert time.process_time() - began < 3


def test_lines_of_the_hello_dialect_are_not_json_rpc_but_complete_their_calls():
    asked = classify(b'{"type":"tool_call","id":"7","name":"add","parameters":{}}')
    assert (asked.kind, asked.method, asked.tool, asked.ident) == (Kind.NOT_RPC, "tool_call", "add", '"7"')
    assert asked.asks
    answered = classify(b'{"type":"tool_error","id":"7","error":{"message":"no"}}')
    assert (answered.method, answered.outcome, answered.asks) == ("tool_error", Outcome.TOOL_ERROR, False)
    assert classify(b'{"type":"hello","version":"v1","tools":[]}').method == "hello"
    large = b'{"type":"tool_result","id":"7","result":"' + b"x" * 100_000 + b'"}'
    assert classify(large).outcome is Outcome.OK
    assert classify(b'{"type":["hello"]}').method == ""
