import json
from typing import Any

from tests.unit.traffic.recorded import Recorded
from tui.addons.replay.live import Replay, ReplayItem, ReplayResult, plan
from tui.core.traffic import Kind


def planned(recorded: Recorded) -> list[ReplayItem]:
    return plan(recorded.entries, recorded.bodies.__getitem__)


def answered(ident: Any, result: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": ident, "result": result}).encode()


def test_the_plan_has_each_message_of_the_host_with_its_answer():
    recorded = Recorded()
    recorded.out({"id": 1, "method": "tools/call", "params": {"name": "t"}})
    recorded.wait(0.5)
    recorded.back({"id": 1, "result": 5})
    recorded.out({"method": "notifications/initialized"})
    recorded.stderr(b"noise")
    call, told = planned(recorded)
    asked = call.entry
    assert (asked.method, asked.tool, asked.ident, json.loads(call.expected)["result"]) == (
        "tools/call",
        "t",
        "1",
        5,
    )
    assert 0.5e9 <= call.took_ns < 0.6e9
    assert (told.entry.kind, told.expected) == (Kind.NOTIFICATION, b"")


def test_messages_that_cannot_be_resent_have_a_reason():
    recorded = Recorded()
    recorded.out({"id": 1, "method": "m", "params": {"key": "[redacted:KEY]"}})
    recorded.back({"id": 1, "result": {}})
    recorded.out({"id": 2, "method": "hangs"})
    recorded.out({"id": 3, "method": "large", "params": {"text": "x" * 400_000}})
    recorded.back({"id": 3, "result": {}})
    assert [item.left_out for item in planned(recorded)] == [
        "a secret in it was redacted",
        "it had no response",
        "only its start was recorded",
    ]


def test_differences_are_reported_except_times_and_masked_paths():
    recorded = Recorded()
    recorded.out({"id": 1, "method": "m"})
    recorded.back({"id": 1, "result": {"at": "2026-01-01T00:00:00Z", "n": 1, "noise": 5}})
    (item,) = planned(recorded)
    now = {"at": "2026-02-02T00:00:00Z", "n": 1, "noise": 6}
    assert Replay([item]).answer(item, answered(1, now), 1).verdict == "differ"
    assert Replay([item], ["result.noise"]).answer(item, answered(1, now), 1).verdict == "same"


def test_cursors_and_states_of_the_live_server_are_sent_back():
    recorded = Recorded()
    recorded.out({"id": 1, "method": "tools/list"})
    recorded.back({"id": 1, "result": {"nextCursor": "old"}})
    recorded.out({"id": 2, "method": "tools/list", "params": {"cursor": "old"}})
    recorded.back({"id": 2, "result": {}})
    first, second = planned(recorded)
    replay = Replay([first, second])
    assert json.loads(replay.bytes_of(second))["params"] == {"cursor": "old"}
    assert replay.answer(first, answered(1, {"nextCursor": "new"}), 1).verdict == "same"
    assert json.loads(replay.bytes_of(second))["params"] == {"cursor": "new"}


def test_requests_of_the_server_get_the_recorded_answers_of_the_host():
    recorded = Recorded()
    recorded.out({"id": 1, "method": "tools/call", "params": {"name": "t"}})
    recorded.back({"id": "s", "method": "roots/list"})
    recorded.out({"id": "s", "result": {"roots": ["here"]}})
    recorded.back({"id": 1, "result": {}})
    replay = Replay(planned(recorded))
    assert json.loads(replay.reply_to("roots/list", 99)) == {
        "jsonrpc": "2.0",
        "id": 99,
        "result": {"roots": ["here"]},
    }
    assert json.loads(replay.reply_to("roots/list", 100))["error"]["code"] == -32601


def test_an_answer_other_than_json_differs_and_requests_are_counted():
    recorded = Recorded()
    recorded.out({"id": 1, "method": "m"})
    recorded.back({"id": 1, "result": {}})
    (item,) = planned(recorded)
    result = Replay([item]).answer(item, b"garbage", 1)
    assert result.verdict == "differ"
    assert [ReplayResult(item, problem=text).verdict for text in ("gone", "")] == ["differ", "omitted"]


# ---- batches --------------------------------------------------------------------------------------------


def recorded_batch(*answers: bytes) -> Recorded:
    recorded = Recorded()
    recorded.out_raw(
        b'[{"jsonrpc":"2.0","id":1,"method":"tools/list"}, {"jsonrpc":"2.0","id":2,"method":"prompts/list"},'
        b' {"jsonrpc":"2.0","method":"notifications/initialized"}]'
    )
    for answer in answers:
        recorded.back_raw(answer)
    return recorded


def test_the_requests_of_a_batch_are_sent_one_by_one():
    items = planned(recorded_batch(b"[" + answered(2, "prompts") + b"," + answered(1, "tools") + b"]"))
    assert [(item.entry.method, json.loads(item.raw).get("id"), item.left_out) for item in items] == [
        ("tools/list", 1, ""),
        ("prompts/list", 2, ""),
        ("notifications/initialized", None, ""),
    ]
    assert [json.loads(item.expected)["result"] for item in items[:2]] == ["tools", "prompts"]
    assert all(item.took_ns >= 0 for item in items[:2])


def test_messages_of_a_batch_that_cannot_be_resent_have_a_reason():
    items = planned(recorded_batch(b"[" + answered(1, "x" * 400_000) + b"]"))
    assert [item.left_out for item in items] == [
        "only the start of its response was recorded",
        "it had no response",
        "",
    ]


def test_answers_of_the_host_recorded_in_a_batch_are_used_too():
    recorded = Recorded()
    recorded.out({"id": 1, "method": "tools/call", "params": {"name": "t"}})
    recorded.back({"id": "s", "method": "roots/list"})
    recorded.out_raw(b"[" + answered("s", {"roots": ["here"]}) + b"]")
    recorded.back({"id": 1, "result": {}})
    assert json.loads(Replay(planned(recorded)).reply_to("roots/list", 99))["result"] == {"roots": ["here"]}
