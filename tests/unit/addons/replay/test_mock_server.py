"""A recorded server that answers new clients."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.traffic.recorded import Recorded
from tui.addons.replay.mock import MockServer, Send


def stand_in(recorded: Recorded) -> MockServer:
    return MockServer(recorded.entries, recorded.bodies.__getitem__)


def asked(ident: Any, method: str, **params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": ident, "method": method, "params": params}).encode()


def said(sends: Sequence[Send]) -> list[Any]:
    return [json.loads(send.raw) for send in sends]


def ask(server: MockServer, ident: Any, method: str, **params: Any) -> list[Any]:
    return said(server.take(asked(ident, method, **params)))


def call(recorded: Recorded, ident: Any, name: str, answer: Any, **arguments: Any) -> None:
    recorded.out({"id": ident, "method": "tools/call", "params": {"name": name, "arguments": arguments}})
    recorded.back({"id": ident, "result": answer})


def test_the_same_request_gets_the_recorded_answer_with_its_own_id():
    recorded = Recorded()
    call(recorded, 7, "echo", {"text": "hi"}, text="hi")
    (answer,) = ask(stand_in(recorded), "mine", "tools/call", name="echo", arguments={"text": "hi"})
    assert answer == {"jsonrpc": "2.0", "id": "mine", "result": {"text": "hi"}}


def test_every_byte_of_an_answer_but_its_id_is_unchanged():
    recorded = Recorded()
    recorded.out({"id": 1, "method": "tools/list"})
    recorded.back_raw(b'{ "result" :{"b":1,"a":1.50, "a":"\\u0041"} ,"jsonrpc":"2.0", "id": 1 }')
    (send,) = stand_in(recorded).take(asked("x", "tools/list"))
    assert send.raw == b'{ "result" :{"b":1,"a":1.50, "a":"\\u0041"} ,"jsonrpc":"2.0", "id": "x" }'


def test_answers_to_the_same_request_come_in_recorded_order_and_the_last_repeats():
    recorded = Recorded()
    for number in (1, 2, 3):
        call(recorded, number, "count", number)
    server = stand_in(recorded)
    again = [ask(server, 9, "tools/call", name="count", arguments={})[0] for _ in range(5)]
    assert [answer["result"] for answer in again] == [1, 2, 3, 3, 3]


def test_ids_tokens_and_meta_are_ignored_in_matching():
    recorded = Recorded()
    recorded.out({"id": 1, "method": "tools/list", "params": {"_meta": {"progressToken": 1, "v": "2026"}}})
    recorded.back({"id": 1, "result": "listed"})
    server = stand_in(recorded)
    for line in (asked(5, "tools/list", _meta={"progressToken": "p"}), b'{"id":6,"method":"tools/list"}'):
        assert said(server.take(line))[0]["result"] == "listed"


def test_progress_is_replayed_with_the_token_of_the_new_request():
    recorded = Recorded()
    recorded.out({"id": 1, "method": "tools/call", "params": {"name": "slow", "_meta": {"progressToken": 1}}})
    recorded.back({"method": "notifications/progress", "params": {"progressToken": 1, "progress": 5}})
    recorded.back({"id": 1, "result": {}})
    progress, answer = ask(stand_in(recorded), 2, "tools/call", name="slow", _meta={"progressToken": "new"})
    assert progress["params"] == {"progressToken": "new", "progress": 5}
    assert answer["id"] == 2


def test_unsolicited_messages_keep_their_position():
    recorded = Recorded()
    recorded.out({"id": 0, "method": "initialize", "params": {"clientInfo": {"name": "one"}}})
    recorded.back({"id": 0, "result": {}})
    recorded.out({"method": "notifications/initialized"})
    recorded.back({"method": "notifications/tools/list_changed"})
    server = stand_in(recorded)
    assert len(server.take(asked(0, "initialize", clientInfo={"name": "another"}))) == 1
    (changed,) = said(server.take(b'{"jsonrpc":"2.0","method":"notifications/initialized"}'))
    assert changed["method"] == "notifications/tools/list_changed"


def test_an_accepted_notification_over_http_has_no_line_in_the_mock():
    recorded = Recorded()
    recorded.out({"id": 0, "method": "initialize", "params": {}})
    recorded.back({"id": 0, "result": {}})
    recorded.out({"method": "notifications/initialized"}, exchange=2, http="POST")
    recorded.back_raw(b"", exchange=2, status=202, headers=[])
    server = stand_in(recorded)
    assert len(server.take(asked(0, "initialize"))) == 1
    assert server.take(b'{"jsonrpc":"2.0","method":"notifications/initialized"}') == []


def test_a_server_request_is_replayed_and_waits_for_its_answer():
    server = stand_in(asking_twice())
    (question,) = ask(server, 8, "tools/call", name="greet", arguments={})
    assert (question["method"], question["id"]) == ("elicitation/create", 7)
    (question,) = said(server.take(answer_to(question)))
    assert server.take(answer_to({"id": "another"})) == []
    (answer,) = said(server.take(answer_to(question)))
    assert (answer["id"], answer["result"]) == (8, {"text": "hi"})


def asking_twice() -> Recorded:
    """Return a call during which the server asks two questions with small ids, and withdraws a third."""
    recorded = Recorded()
    recorded.out({"id": 1, "method": "tools/call", "params": {"name": "greet", "arguments": {}}})
    recorded.back({"id": 7, "method": "elicitation/create", "params": {"message": "Who?"}})
    recorded.out({"id": 7, "result": {"action": "accept"}})
    recorded.back({"id": "8", "method": "elicitation/create", "params": {"message": "Why?"}})
    recorded.out({"id": "8", "result": {"action": "accept"}})
    recorded.back({"id": 1, "result": {"text": "hi"}})
    return recorded


def answer_to(question: dict[str, Any]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept"}}).encode()


@pytest.mark.parametrize("number", [2, 5])
@pytest.mark.parametrize("backwards", [False, True])
def test_calls_at_once_are_all_answered_though_their_recorded_questions_have_one_id(
    number: int, backwards: bool
):
    server = stand_in(asking_twice())
    calls = [f"call-{one}" for one in range(number)]
    first = [ask(server, call, "tools/call", name="greet", arguments={})[0] for call in calls]
    order = slice(None, None, -1 if backwards else 1)
    second = [said(server.take(answer_to(question)))[0] for question in first[order]]
    answers = [said(server.take(answer_to(question)))[0] for question in second[order]]
    assert [question["params"]["message"] for question in (*first, *second)] == (
        ["Who?"] * number + ["Why?"] * number
    )
    assert len({json.dumps(question["id"]) for question in (*first, *second)}) == 2 * number
    assert sorted(answer["id"] for answer in answers) == calls
    assert (first[0]["id"], server.unanswered) == (7, [])


def test_a_call_that_is_played_again_asks_with_other_ids():
    server = stand_in(asking_twice())
    (first,) = ask(server, "a", "tools/call", name="greet", arguments={})
    (second,) = said(server.take(answer_to(first)))
    server.take(answer_to(second))
    (again,) = ask(server, "b", "tools/call", name="greet", arguments={})
    assert again["id"] not in (first["id"], second["id"])
    assert server.take(answer_to(first)) == []


def test_cancelling_one_of_two_calls_leaves_the_question_of_the_other():
    server = stand_in(asking_twice())
    one, other = (ask(server, call, "tools/call", name="greet", arguments={})[0] for call in "ab")
    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "a"}}
    assert server.take(json.dumps(cancelled).encode()) == []
    assert server.take(answer_to(one)) == []
    assert said(server.take(answer_to(other)))[0]["params"] == {"message": "Why?"}


def test_the_recorded_cancellation_of_a_question_names_the_id_that_it_was_sent_with():
    recorded = Recorded()
    recorded.out({"id": 1, "method": "tools/call", "params": {"name": "ask"}})
    recorded.back({"id": 7, "method": "elicitation/create", "params": {"message": "Who?"}})
    recorded.out({"id": 7, "result": {"action": "accept"}})
    recorded.back({"method": "notifications/cancelled", "params": {"requestId": 7}})
    recorded.back({"id": 1, "result": {}})
    server = stand_in(recorded)
    for call in "ab":
        (question,) = ask(server, call, "tools/call", name="ask")
        withdrawn, answer = said(server.take(answer_to(question)))
        assert withdrawn["params"]["requestId"] == question["id"] and answer["id"] == call
    assert question["id"] != 7


def test_two_modern_calls_at_once_are_both_answered_from_a_legacy_recording():
    server = stand_in(legacy_session())
    asking = [ask(server, call, "tools/call", name="ask", _meta=MODERN)[0] for call in "ab"]
    for call, state in zip("cd", (one["result"]["requestState"] for one in asking), strict=True):
        given = {"requestState": state, "inputResponses": {}}
        (done,) = ask(server, call, "tools/call", name="ask", _meta=MODERN, **given)
        assert (done["id"], done["result"]["content"]) == (call, [])


def test_two_legacy_calls_at_once_are_both_answered_from_a_modern_recording():
    server = stand_in(modern_session())
    server.take(asked(0, "initialize", protocolVersion="2025-06-18"))
    questions = [ask(server, call, "tools/call", name="ask")[0] for call in "ab"]
    answers = [said(server.take(answer_to(question)))[0] for question in questions]
    assert [answer["id"] for answer in answers] == ["a", "b"]


def test_a_redacted_secret_matches_any_value():
    recorded = Recorded()
    call(recorded, 1, "login", "welcome", header="Bearer [redacted:KEY]!")
    server = stand_in(recorded)
    fits = asked(2, "tools/call", name="login", arguments={"header": "Bearer abcdef!"})
    other = asked(3, "tools/call", name="login", arguments={"header": "Basic abcdef!"})
    assert said(server.take(fits))[0]["result"] == "welcome"
    assert said(server.take(other))[0]["error"]["code"] == -32602


def test_an_unknown_request_gets_an_error_that_lists_the_recorded_ones():
    recorded = Recorded()
    call(recorded, 1, "get_weather", "sunny", location="Beijing")
    server = stand_in(recorded)
    (wrong,) = ask(server, 2, "tools/call", name="get_weather", arguments={"location": "NYC"})
    assert "Beijing" in wrong["error"]["message"]
    (missing,) = ask(server, 3, "prompts/list")
    assert (missing["error"]["code"], missing["error"]["data"]) == (-32601, {"recorded": ["tools/call"]})
    assert ask(server, 4, "ping")[0]["result"] == {}


def test_an_unanswered_request_gets_an_error_and_a_cancelled_one_nothing():
    recorded = Recorded()
    recorded.out({"id": 1, "method": "tools/call", "params": {"name": "died"}})
    recorded.out({"id": 2, "method": "tools/call", "params": {"name": "cancelled"}})
    recorded.out({"method": "notifications/cancelled", "params": {"requestId": 2}})
    server = stand_in(recorded)
    (died,) = ask(server, 1, "tools/call", name="died")
    assert "ends before the response" in died["error"]["message"]
    assert server.take(asked(2, "tools/call", name="cancelled")) == []


def batch(*messages: bytes) -> bytes:
    return b"[" + b", ".join(messages) + b"]"


def result(ident: Any, value: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": ident, "result": value}).encode()


def recorded_batch(*answers: bytes) -> Recorded:
    """Return a recording of two requests in a batch and their answers."""
    recorded = Recorded()
    recorded.out_raw(batch(asked(1, "tools/list"), asked(2, "prompts/list")))
    for answer in answers:
        recorded.back_raw(answer)
    return recorded


@pytest.mark.parametrize("joined", [True, False])
def test_a_batch_is_answered_as_recorded_with_its_own_ids(joined: bool):
    recorded = [result(2, "prompts"), result(1, "tools")]
    server = stand_in(recorded_batch(*([batch(*recorded)] if joined else recorded)))
    answers = said(server.take(batch(asked("a", "tools/list"), asked("b", "prompts/list"))))
    (answers,) = answers if joined else (answers,)
    assert [(one["id"], one["result"]) for one in answers] == [("a", "tools"), ("b", "prompts")]


def test_requests_recorded_separately_can_be_answered_as_a_batch():
    recorded = Recorded()
    call(recorded, 1, "one", "first")
    recorded.out({"id": 2, "method": "tools/call", "params": {"name": "two", "arguments": {}}})
    recorded.back({"method": "notifications/message", "params": {"data": "working"}})
    recorded.back({"id": 2, "result": "second"})
    questions = [asked(name, "tools/call", name=name, arguments={}) for name in ("one", "two", "three")]
    working, answers = said(stand_in(recorded).take(batch(*questions, asked(5, "ping"), b"7")))
    assert working["method"] == "notifications/message"
    assert [one.get("result", "error") for one in answers] == ["first", "second", "error", {}, "error"]


def test_a_batch_of_notifications_gets_no_answer_and_an_empty_one_an_error():
    server = stand_in(recorded_batch(batch(result(1, "tools"))))
    assert server.take(batch(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')) == []
    assert said(server.take(b"[]"))[0]["error"]["code"] == -32600


def test_notifications_and_requests_of_a_recorded_batch_are_sent_as_lines():
    progress = b'{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"hello"}}'
    question = b'{"jsonrpc":"2.0","id":"s","method":"roots/list"}'
    recorded = Recorded()
    recorded.out_raw(asked(1, "tools/list"))
    recorded.back_raw(batch(progress, question))
    recorded.out_raw(result("s", {"roots": []}))
    recorded.back_raw(batch(result(1, "tools")))
    server = stand_in(recorded)
    assert [one["method"] for one in ask(server, 4, "tools/list")] == [
        "notifications/message",
        "roots/list",
    ]
    (answer,) = said(server.take(result("s", {"roots": []})))
    assert (answer["id"], answer["result"]) == (4, "tools")


def test_a_redacted_secret_in_a_recorded_batch_does_not_mix_up_the_answers():
    key = "sk-proj-" + "a1B2" * 12
    server = stand_in(recorded_batch(batch(result(1, f"the key is {key}"), result(2, "prompts"))))
    (answer,) = ask(server, 9, "prompts/list")
    assert (answer["id"], answer["result"]) == (9, "prompts")
    (answer,) = ask(server, 9, "tools/list")
    assert key not in answer["result"] and answer["result"].startswith("the key is [redacted:")


def test_an_answer_beyond_the_end_of_a_truncated_batch_is_an_error():
    server = stand_in(recorded_batch(batch(result(1, "x" * 400_000), result(2, "prompts"))))
    for method in ("tools/list", "prompts/list"):
        (answer,) = ask(server, 9, method)
        assert "only the beginning of this response" in answer["error"]["message"]


@pytest.mark.parametrize(
    "detail", [{"batch": [1]}, {"batch": 1}, {"batch": 1, "at": [5]}, {"batch": 1, "at": "x"}]
)
def test_a_batch_edited_by_hand_gives_an_error_response(detail: dict[str, Any]):
    recorded = recorded_batch(batch(result(1, "tools")))
    entries = [
        entry._replace(detail=detail) if entry.detail.get("batch") else entry for entry in recorded.entries
    ]
    server = MockServer(entries, recorded.bodies.__getitem__)
    assert "error" in ask(server, 9, "tools/list")[0]


def test_invalid_input_gets_json_rpc_errors():
    server = stand_in(Recorded())
    assert said(server.take(b"{"))[0]["error"]["code"] == -32700
    assert said(server.take(b"[" * 100_000))[0]["error"]["code"] == -32700
    for depth in (300, 900, 990, 2000):
        line = b'{"id":1,"method":"m","params":{"a":' + b"[" * depth + b"]" * depth + b"}}"
        assert "error" in said(server.take(line))[0]
    assert said(server.take(b"5"))[0]["error"]["code"] == -32600
    assert server.take(b"  ") == []


def test_answers_are_delayed_as_recorded():
    recorded = Recorded()
    recorded.out({"id": 1, "method": "ping"})
    recorded.wait(0.25)
    recorded.back({"id": 1, "result": {}})
    (send,) = stand_in(recorded).take(asked(1, "ping"))
    assert abs(send.after_ns - 250_000_000) < 5_000_000


@given(st.binary(max_size=60) | st.text('{}[]":,idmethodnul1', max_size=40).map(str.encode))
def test_any_line_is_handled_and_every_answer_is_one_line(line: bytes):
    recorded = Recorded()
    call(recorded, 1, "echo", "hi", text="hi")
    for send in stand_in(recorded).take(line):
        assert b"\n" not in send.raw
        message = json.loads(send.raw)
        assert all(one["jsonrpc"] == "2.0" for one in (message if isinstance(message, list) else [message]))


MODERN = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}


def legacy_session() -> Recorded:
    """Return a handshake, a list and a call with a server request, of 2025-11-25."""
    recorded = Recorded()
    recorded.out({"id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}})
    result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "it"}}
    recorded.back({"id": 0, "result": result})
    recorded.out({"method": "notifications/initialized"})
    recorded.back({"id": 0, "method": "roots/list"})
    recorded.out({"id": 1, "method": "tools/list"})
    recorded.back({"id": 1, "result": {"tools": []}})
    recorded.out({"id": 2, "method": "tools/call", "params": {"name": "ask", "arguments": {}}})
    recorded.back({"method": "notifications/message", "params": {"level": "info", "data": "asking"}})
    recorded.back({"id": 7, "method": "elicitation/create", "params": {"message": "Who?"}})
    recorded.out({"id": 7, "result": {"action": "accept"}})
    recorded.back({"id": 2, "result": {"content": []}})
    return recorded


def modern_session() -> Recorded:
    """Return the same call of 2026-07-28, without `server/discover`."""
    recorded = Recorded()
    recorded.out({"id": 1, "method": "tools/call", "params": {"name": "ask", "_meta": MODERN}})
    wanted = {"who": {"method": "elicitation/create", "params": {"message": "Who?"}}}
    asking = {"resultType": "input_required", "inputRequests": wanted, "requestState": "s"}
    recorded.back({"id": 1, "result": asking})
    params = {"name": "ask", "inputResponses": {"who": {}}, "requestState": "s", "_meta": MODERN}
    recorded.out({"id": 2, "method": "tools/call", "params": params})
    recorded.back({"id": 2, "result": {"resultType": "complete", "content": []}})
    return recorded


def test_a_modern_client_is_answered_from_a_legacy_recording():
    server = stand_in(legacy_session())
    (found,) = ask(server, 1, "server/discover", _meta=MODERN)
    assert "2026-07-28" in found["result"]["supportedVersions"]
    assert found["result"]["capabilities"] == {"tools": {}}
    (tools,) = ask(server, 2, "tools/list", _meta=MODERN)
    assert tools["result"] == {"resultType": "complete", "ttlMs": 0, "cacheScope": "private", "tools": []}
    (asking,) = ask(server, 3, "tools/call", name="ask", _meta=MODERN)
    assert asking["result"]["resultType"] == "input_required"
    given = {"requestState": asking["result"]["requestState"], "inputResponses": {}}
    (done,) = ask(server, 4, "tools/call", name="ask", _meta=MODERN, **given)
    assert (done["id"], done["result"]) == (4, {"resultType": "complete", "content": []})
    assert server.unanswered == []


def test_a_legacy_client_is_answered_from_a_modern_recording():
    server = stand_in(modern_session())
    (begun,) = ask(server, 0, "initialize", protocolVersion="2025-06-18")
    assert begun["result"]["protocolVersion"] == "2025-06-18"
    assert begun["result"]["capabilities"] == {"tools": {}}
    (question,) = ask(server, 1, "tools/call", name="ask", arguments={})
    assert (question["method"], question["params"]) == ("elicitation/create", {"message": "Who?"})
    answer = json.dumps({"jsonrpc": "2.0", "id": question["id"], "result": {}}).encode()
    (done,) = said(server.take(answer))
    assert (done["id"], done["result"]["content"]) == (1, [])
    assert server.unanswered == []


def test_the_recorded_client_gets_the_recorded_handshake():
    recorded = Recorded()
    recorded.out({"id": 1, "method": "server/discover", "params": {"_meta": MODERN}})
    recorded.back({"id": 1, "error": {"code": -32601, "message": "unknown"}})
    recorded.out({"id": 2, "method": "tools/list"})
    recorded.back({"id": 2, "result": {"tools": []}})
    server = stand_in(recorded)
    (same,) = ask(server, 1, "server/discover", _meta=MODERN)
    assert same["error"]["code"] == -32601
    other = {**MODERN, "io.modelcontextprotocol/clientInfo": {"name": "another"}}
    (found,) = ask(server, 1, "server/discover", _meta=other)
    assert found["result"]["capabilities"] == {"tools": {}}


def test_an_unknown_revision_is_refused_with_the_known_ones():
    meta = {"io.modelcontextprotocol/protocolVersion": "2030-01-01"}
    (refused,) = ask(stand_in(legacy_session()), 1, "tools/list", _meta=meta)
    assert (refused["error"]["code"], refused["error"]["data"]["requested"]) == (-32022, "2030-01-01")
    assert "2026-07-28" in refused["error"]["data"]["supported"]


def test_a_subscription_is_acknowledged_and_stays_open():
    server = stand_in(legacy_session())
    wanted = {"toolsListChanged": True}
    (sent,) = ask(server, 1, "subscriptions/listen", _meta=MODERN, notifications=wanted)
    assert (sent["method"], sent["params"]["notifications"]) == (
        "notifications/subscriptions/acknowledged",
        wanted,
    )
    assert server.unanswered == []


def test_unanswered_requests_are_listed_with_the_reason():
    server = stand_in(legacy_session())
    server.take(asked(1, "prompts/list"))
    server.take(asked(2, "tools/call", name="other"))
    missing, different = server.unanswered
    assert missing.startswith("prompts/list was not recorded")
    assert different == 'tools/call was not recorded with these parameters: {"name": "other"}'


def test_a_further_round_is_matched_by_its_state_whatever_the_input():
    server = stand_in(modern_session())
    given = {"inputResponses": {"who": {"action": "decline"}}, "requestState": "s"}
    (done,) = ask(server, 9, "tools/call", name="ask", _meta=MODERN, **given)
    assert (done["id"], done["result"]["content"]) == (9, [])
    other = {**given, "requestState": "another"}
    (refused,) = ask(server, 9, "tools/call", name="ask", _meta=MODERN, **other)
    assert refused["error"]["code"] == -32602


def test_a_call_that_needs_an_undeclared_capability_is_refused():
    meta = {**MODERN, "io.modelcontextprotocol/clientCapabilities": {"roots": {}}}
    for recorded in (legacy_session(), modern_session()):
        server = stand_in(recorded)
        (refused,) = ask(server, 1, "tools/call", name="ask", _meta=meta)
        assert refused["error"]["code"] == -32021
        assert refused["error"]["data"] == {"requiredCapabilities": {"elicitation": {}}}
        assert "requires elicitation, which the client does not declare" in server.unanswered[0]


def test_an_old_client_without_roots_gets_no_request_for_them():
    server = stand_in(legacy_session())
    server.take(asked(0, "initialize", protocolVersion="2025-11-25", capabilities={"elicitation": {}}))
    assert server.take(b'{"jsonrpc":"2.0","method":"notifications/initialized"}') == []
    _, question = ask(server, 1, "tools/call", name="ask")
    assert question["method"] == "elicitation/create"


@pytest.mark.parametrize("method", ["initialize", "server/discover", "subscriptions/listen", "tools/call"])
@pytest.mark.parametrize("params", [[], ["x"], "x", 5, None])
def test_params_that_are_not_an_object_get_one_answer(method: str, params: Any):
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    assert len(said(stand_in(legacy_session()).take(line))) == 1
