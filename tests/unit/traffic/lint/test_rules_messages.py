"""Rules for any message: JSON-RPC, ids, methods, errors."""

import pytest

from tests.cases import each_case
from tests.unit.traffic.traffic_script import MODERN_META, Script
from tui.core.traffic import Direction, Outcome, Severity


@each_case(
    ("message", "code"),
    [
        (7, "not-json-rpc"),
        ("text", "not-json-rpc"),
        ({}, "not-json-rpc"),
        ({"jsonrpc": "2.0"}, "not-json-rpc"),
        ({"jsonrpc": "2.0", "method": 7}, "not-json-rpc"),
        ({"jsonrpc": "2.0", "method": "ping", "id": 9, "result": {}}, "not-json-rpc"),
        ({"jsonrpc": "2.0", "id": 9}, "neither"),
        ({"method": "notifications/cancelled"}, "bad-version"),
        ({"jsonrpc": "1.0", "method": "notifications/cancelled"}, "bad-version"),
        ({"jsonrpc": 2.0, "method": "notifications/cancelled"}, "bad-version"),
        ({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": []}, "bad-params"),
        ({"jsonrpc": "2.0", "method": "notifications/cancelled", "id": 3}, "not-json-rpc"),
        ({"jsonrpc": "2.0", "method": "ping"}, "not-json-rpc"),
        ({"jsonrpc": "2.0", "method": "ping", "id": None}, "null-id"),
        ({"jsonrpc": "2.0", "method": "ping", "id": 1.5}, "id-type"),
        ({"jsonrpc": "2.0", "method": "ping", "id": True}, "id-type"),
        ({"jsonrpc": "2.0", "result": {}}, "null-id"),
        ({"jsonrpc": "2.0", "id": [1], "result": {}}, "id-type"),
        ({"jsonrpc": "2.0", "id": 77, "result": {}}, "unknown-id"),
        ({"jsonrpc": "2.0", "method": "weather/forecast"}, "unknown-method"),
    ],
)
def test_each_violation_of_json_rpc_has_a_code(message: object, code: str):
    script = Script().legacy()
    script.back(message)
    assert code in script.codes()


def test_an_error_without_id_is_valid_for_an_unreadable_request():
    script = Script().legacy()
    script.back({"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "Parse error"}})
    assert script.codes() == []
    script.back({"jsonrpc": "2.0", "id": None, "error": {"code": -32603, "message": "no"}})
    assert script.codes() == ["null-id"]


def test_a_probe_may_be_refused_with_an_error_without_id():
    script = Script()
    script.back({"jsonrpc": "2.0", "id": None, "error": {"code": -32000, "message": "no session"}})
    assert "null-id" in script.codes()
    script.entries[-1] = script.entries[-1]._replace(outcome=Outcome.PROBE)
    assert "null-id" not in script.codes()


BOTH = {"jsonrpc": "2.0", "id": 2, "result": {}, "error": {"code": 1, "message": "x"}}


@pytest.mark.parametrize(
    ("steps", "codes"),
    [
        pytest.param([("result", 2, {})] * 2, ["duplicate-answer"], id="second answer"),
        pytest.param([("result", "2", {}), ("result", 2, {})], ["id-type", "duplicate-answer"], id="id type"),
        pytest.param([("result", 1007, {})], ["unknown-id"], id="unknown id"),
        pytest.param([("back", BOTH)], ["result-and-error"], id="both result and error"),
        pytest.param([("result", 2, "pong")], ["bad-result"], id="not an object"),
    ],
)
def test_each_violation_in_an_answer_has_a_code(steps: list[tuple[object, ...]], codes: list[str]):
    assert Script().legacy().play(("out", "ping"), *steps).codes() == codes


def test_an_id_in_use_must_not_be_reused():
    script = Script().legacy()
    script.out("ping", id=script.out("ping"))
    assert script.codes() == ["reused-id"]


def test_an_answered_id_can_be_reused_only_without_a_session():
    old, new = Script().legacy().play(("out", "ping"), ("result", 2, {})), Script().modern()
    old.out("ping", id=2)
    again = new.ask("tools/list")
    new.result(again, {"resultType": "complete", "tools": []})
    new.out("tools/list", {"_meta": MODERN_META}, id=again)
    assert (old.codes(), new.codes()) == (["reused-id"], [])


def test_servers_and_clients_have_separate_ids():
    script = Script().legacy(client={"roots": {}})
    script.play(("out", "ping"), ("back", {"jsonrpc": "2.0", "id": 2, "method": "roots/list"}))
    script.result(2, {})
    script.raw(Direction.OUT, b'{"jsonrpc":"2.0","id":2,"result":{"roots":[]}}')
    assert script.codes() == []


def test_an_answer_long_after_a_cancellation_is_more_severe_than_one_that_crossed_it():
    def answered_after(ms: int) -> Severity:
        script = Script().legacy()
        known = script.out("tools/call", {"name": "x"})
        script.tell("notifications/cancelled", {"requestId": known})
        script.wait(ms)
        script.result(known, {"content": []})
        (finding,) = script.findings()
        assert finding.code == "answer-after-cancel"
        return finding.severity

    assert (answered_after(5), answered_after(5_000)) == (Severity.HINT, Severity.WARNING)


@pytest.mark.parametrize(
    ("revision", "method", "code"),
    [
        ("2024-11-05", "elicitation/create", "unknown-method"),
        ("2025-11-25", "tools/list", "wrong-direction"),
        ("2025-11-25", "server/discover", "unknown-method"),
    ],
)
def test_a_server_may_send_only_requests_of_its_revision(revision: str, method: str, code: str):
    script = Script().legacy(revision)
    script.back({"jsonrpc": "2.0", "id": 1, "method": method})
    assert script.codes() == [code]


def test_since_2026_servers_send_no_requests():
    script = Script().modern()
    script.back({"jsonrpc": "2.0", "id": 1, "method": "sampling/createMessage", "params": {}})
    (finding,) = script.findings()
    assert (finding.code, finding.section) == ("wrong-direction", "2026-07-28 basic/transports/stdio")


def test_methods_that_a_later_revision_removed_are_reported():
    script = Script().modern()
    script.ask("ping")
    assert script.findings()[0].sentence == '2026-07-28 has no "ping". Only 2024-11-05 to 2025-11-25 have it.'


def test_extension_methods_are_accepted_if_an_extension_is_declared():
    script = Script().modern(server={"tools": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}})
    script.ask("tasks/get", taskId="x")
    script.hear("notifications/acme/news", {})
    assert script.codes() == []


def test_the_line_dialect_is_reported_once_and_its_lines_are_not_messages():
    script = Script()
    script.raw(Direction.IN, b'{"type":"error","message":"before any hello"}')
    script.raw(Direction.IN, b'{"type":"hello","version":"v1","tools":[]}')
    script.raw(Direction.OUT, b'{"type":"tool_call","id":"1","name":"x","parameters":{}}')
    script.raw(Direction.IN, b'{"type":"tool_result","id":"1","result":2}')
    assert script.codes() == ["not-json-rpc", "not-mcp"]
