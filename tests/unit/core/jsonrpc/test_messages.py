"""Trace ids: one trace for each turn."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tui.core.jsonrpc.messages import (
    INVALID_ANSWER,
    Failure,
    Notification,
    Request,
    Response,
    Stray,
    TraceIds,
    find_ids,
    read_line,
    write_line,
)
from tui.core.jsonrpc.reader import MAX_DEPTH
from tui.core.traffic import Cause

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=10,
)
members = st.sampled_from(["jsonrpc", "id", "method", "params", "result", "error", "code", "message", "data"])


def read_one(text: str | bytes):
    (frame,) = read_line(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    return frame


def answer_with(**members):
    return read_one(json.dumps({"jsonrpc": "2.0", "id": 7, **members}))


@given(st.binary(max_size=200))
def test_any_bytes_can_be_read(data):
    assert read_line(data)


@given(st.dictionaries(members, json_values | st.just("2.0"), max_size=7), st.booleans())
def test_any_json_object_can_be_read_and_a_malformed_response_names_its_id(message, patient):
    frame = read_line(json.dumps(message).encode(), patient=patient)[0]
    if isinstance(frame, Failure):
        assert isinstance(frame.code, int) and len(frame.message) < 600
    assert not isinstance(frame, Response) or isinstance(frame.result, dict)


@given(json_values)
def test_a_written_message_can_be_read_back(value):
    frame = read_one(write_line({"jsonrpc": "2.0", "id": "a", "result": {"value": value}}))
    assert frame == Response("a", {"value": value})


def test_the_four_kinds_of_message_are_distinguished():
    assert answer_with(result={"a": 1}) == Response(7, {"a": 1})
    assert answer_with(method="ping") == Request(7, "ping")
    assert read_one('{"jsonrpc":"2.0","method":"m","params":{}}') == Notification("m", {})
    assert answer_with(error={"code": -1, "message": "no", "data": [1]}) == Failure(7, -1, "no", [1])


@pytest.mark.parametrize("identity", ["7", "7.0", '"7"'])
def test_an_id_may_return_as_another_json_type(identity):
    assert str(read_one(f'{{"jsonrpc":"2.0","id":{identity},"result":{{}}}}').id) == "7"


@each_case(
    ("error", "code", "message"),
    [
        ({"code": "-32001", "message": "text"}, -32001, "text"),
        ({"code": -5.0, "message": "float"}, -5, "float"),
        ({"code": 10**30, "message": "huge"}, INVALID_ANSWER, "huge"),
        ({"code": True, "message": "bool"}, INVALID_ANSWER, "bool"),
        ({"message": "no code"}, INVALID_ANSWER, "no code"),
        ({"code": 1}, 1, "the server reported an error without a message"),
        ({"code": 1, "message": None}, 1, "the server reported an error without a message"),
        ({"code": 1, "message": {"why": "object"}}, 1, '{"why": "object"}'),
        ("just text", INVALID_ANSWER, "just text"),
        ([], INVALID_ANSWER, "[]"),
    ],
)
def test_a_malformed_error_becomes_a_failure_with_code_and_message(error, code, message):
    assert answer_with(error=error) == Failure(7, code, message)


def test_an_error_message_is_bounded_and_cleaned_and_large_data_is_omitted_with_a_note():
    frame = answer_with(error={"code": 1, "message": "\x1b[2J" + "x" * 100_000})
    assert len(frame.message) <= 500 and "\x1b" not in frame.message
    frame = answer_with(error={"code": 1, "message": "no", "data": "x" * 1_000_000})
    assert frame.data is None and "bytes of data, omitted" in frame.message


@each_case(
    "line",
    [
        '{"jsonrpc":"2.0","id":7,"result":{},"error":{"code":1,"message":"x"}}',
        '{"jsonrpc":"2.0","id":7,"result":[1]}',
        '{"jsonrpc":"2.0","id":7,"result":null}',
        '{"id":7,"result":{}}',
        '{"jsonrpc":"2.0","id":7,"result":{"x":NaN}}',
        '{"jsonrpc":"2.0","id":7,"result":{"x":-Infinity}}',
        '{"jsonrpc":"2.0","id":7,"result":{"x":1e999}}',
        '{"jsonrpc":"2.0","id":7,"result":{"x":' + "[" * 100_000 + "]" * 100_000 + "}}",
        '{"jsonrpc":"2.0","id":7,"result":' + '{"x":' * 400 + "1" + "}" * 400 + "}",
        '{"jsonrpc":"2.0","id":7,"result":{"x":1',
        '[{"jsonrpc":"2.0","id":7,"result":{}}]',
        '  "id": 7,',
    ],
)
def test_an_unusable_response_still_names_its_request(line):
    frame = read_one(line)
    assert isinstance(frame, Stray) and frame.ids == (7,)


@each_case(
    "line",
    [
        "Server listening, id: 7",
        '{"level":"debug","id":7,"message":"not an answer"}',
        "42",
        'DEBUG got {"id": 7, "result": {}}',
        '{"jsonrpc":"2.0","id":7,"method":5}',
        '{"jsonrpc":"2.0","id":null,"method":"ping"}',
        '{"jsonrpc":"2.0"}',
    ],
)
def test_other_output_is_stray_and_fails_no_call(line):
    frame = read_one(line)
    assert isinstance(frame, Stray) and frame.ids == ()


@pytest.mark.parametrize(
    ("raw", "text"),
    [(b"\xff", "\ufffd"), (rb"\ud800 \uDE00 \ud83d\ude00 \\ud800", "\ufffd \ufffd 😀 \\ud800")],
)
def test_invalid_utf8_and_lone_surrogates_become_replacement_characters(raw: bytes, text: str):
    line = b'\xef\xbb\xbf{"jsonrpc":"2.0","id":7,"result":{"t":"' + raw + b'"}}'
    assert read_one(line) == Response(7, {"t": text})


def test_a_null_result_or_error_counts_as_absent():
    assert answer_with(result={}, error=None) == Response(7, {})
    assert answer_with(result=None, error={"code": 1, "message": "x"}) == Failure(7, 1, "x")


def test_nesting_is_accepted_up_to_the_maximum_depth():
    deep = {}
    for _ in range(MAX_DEPTH - 3):
        deep = {"x": deep}
    assert isinstance(answer_with(result=deep), Response)


def test_a_batch_is_split_if_the_protocol_has_batches():
    line = b'[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","method":"m"}, 5]'
    stray = Stray("JSON, but not an object")
    assert read_line(line, batches=True) == [Response(1, {}), Notification("m"), stray]


def test_the_id_of_an_oversize_line_is_found_at_either_end():
    assert find_ids(b'{"jsonrpc":"2.0","id":12,"result":{"x":"', b'aaa"}}') == (12,)
    assert find_ids(b'{"jsonrpc":"2.0","result":{"x":"', b'aaa"},"id":"twelve"}') == ("twelve",)


def test_what_is_not_json_is_not_written_and_a_lone_surrogate_is_replaced():
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_line({"x": float("nan")})
    with pytest.raises(UnicodeError):
        write_line({"method": "m", "x": "a\ud800b"})
    assert "\ufffd" in json.loads(write_line({"x": "a\ud800b"}))["x"]


def test_the_requests_of_a_turn_share_a_trace_id_and_differ_in_span_id():
    ids = TraceIds()
    one, other = ids.traceparent(Cause(3, 1, "a")), ids.traceparent(Cause(3, 2, "b"))
    assert all(re.fullmatch(r"00-[0-9a-f]{32}-[0-9a-f]{16}-01", header) for header in (one, other))
    assert one.split("-")[1] == other.split("-")[1] and one.split("-")[2] != other.split("-")[2]


def test_other_turns_calls_by_hand_and_other_runs_have_their_own_trace_ids():
    ids = TraceIds()
    causes = [Cause(1, 1), Cause(2, 1), Cause(0, 0, "hand-1"), Cause(0, 0, "hand-2")]
    traces = [ids.traceparent(cause).split("-")[1] for cause in causes]
    traces.append(TraceIds().traceparent(Cause(1, 1)).split("-")[1])
    assert len(set(traces)) == 5
    assert TraceIds().traceparent(None) == "" and TraceIds().traceparent(Cause(0, 0)) == ""
