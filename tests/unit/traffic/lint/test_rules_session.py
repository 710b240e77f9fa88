"""Rules about negotiated capabilities and the order of a session."""

import pytest

from tests.unit.traffic.traffic_script import MODERN_META, Script
from tui.core.traffic import Direction, Severity


def test_a_request_before_the_handshake_is_reported():
    script = Script()
    script.out("tools/list")
    assert script.codes() == ["before-initialize"]


def test_ping_is_allowed_at_any_time():
    script = Script()
    script.out("ping")
    script.back({"jsonrpc": "2.0", "id": 1, "method": "ping"})
    assert script.codes() == []


def test_a_server_request_before_initialized_is_reported():
    script = Script()
    known = script.out("initialize", {"protocolVersion": "2025-11-25", "capabilities": {"roots": {}}})
    script.result(known, {"protocolVersion": "2025-11-25", "capabilities": {}})
    script.back({"jsonrpc": "2.0", "id": 1, "method": "roots/list"})
    script.tell("notifications/initialized")
    script.back({"jsonrpc": "2.0", "id": 2, "method": "roots/list"})
    assert script.codes() == ["before-initialize"]


@pytest.mark.parametrize(
    ("method", "declared"),
    [
        ("notifications/tools/list_changed", {"tools": {"listChanged": True}}),
        ("notifications/prompts/list_changed", {"prompts": {"listChanged": True}}),
        ("notifications/resources/list_changed", {"resources": {"listChanged": True}}),
        ("notifications/resources/updated", {"resources": {"subscribe": True}}),
        ("notifications/message", {"logging": {}}),
    ],
)
def test_a_notification_needs_its_capability(method: str, declared: object):
    without, having = Script().legacy(server={}), Script().legacy(server=declared)
    without.hear(method, {})
    having.hear(method, {})
    assert (without.codes(), having.codes()) == (["not-negotiated"], [])


@pytest.mark.parametrize("method", ["sampling/createMessage", "elicitation/create", "roots/list"])
def test_a_server_request_for_an_undeclared_client_capability_is_reported(method: str):
    without, having = Script().legacy(), Script().legacy(client={method.split("/")[0]: {}})
    for script in (without, having):
        script.back({"jsonrpc": "2.0", "id": 1, "method": method, "params": {}})
    assert [(found.code, found.severity) for found in without.findings()] == [
        ("not-negotiated", Severity.ERROR)
    ]
    assert having.codes() == []


def test_a_client_request_for_an_undeclared_server_capability_is_reported():
    script = Script().legacy(server={"tools": {}})
    script.out("prompts/list")
    assert (
        script.findings()[0].sentence == 'The server did not declare prompts, which "prompts/list" requires.'
    )


def test_the_first_revision_has_no_capability_for_completion():
    script = Script().legacy("2024-11-05", server={})
    script.out("completion/complete", {})
    assert script.codes() == []


def test_since_2026_list_changes_need_a_subscription():
    server = {"tools": {"listChanged": True}}
    without, having = Script().modern(server), Script().modern(server)
    having.ask("subscriptions/listen", notifications={"toolsListChanged": True})
    for script in (without, having):
        script.hear("notifications/tools/list_changed", {})
    assert (without.codes(), having.codes()) == (["not-negotiated"], [])


def test_since_2026_log_messages_need_a_request_for_them():
    server = {"tools": {}, "logging": {}}
    without, having = Script().modern(server), Script().modern(server)
    having.ask("tools/list", _meta={"io.modelcontextprotocol/logLevel": "info"})
    for script in (without, having):
        script.hear("notifications/message", {"level": "info", "data": 1})
    assert "not-negotiated" in without.codes()
    assert having.codes() == ["deprecated"]


def progress(script: Script, token: object, *values: object) -> list[str]:
    for value in values:
        script.hear("notifications/progress", {"progressToken": token, "progress": value})
    return script.codes()


def with_token() -> Script:
    script = Script().legacy()
    script.out("tools/call", {"name": "x", "_meta": {"progressToken": 5}})
    return script


@pytest.mark.parametrize(
    ("token", "values", "codes"),
    [
        (5, (0, 0.5, 1, 10**400), []),
        (5, (1, 1), ["progress-order"]),
        (5, (2, 1), ["progress-order"]),
        (5, (10**400, 3), ["progress-order"]),
        (6, (1,), ["progress-token"]),
        ("5", (1,), ["progress-token"]),
    ],
)
def test_progress_must_increase_and_have_a_known_token(
    token: object, values: tuple[object, ...], codes: list[str]
):
    assert progress(with_token(), token, *values) == codes


def test_progress_after_the_answer_is_reported():
    script = with_token()
    script.result(script._ids, {"content": []})
    assert progress(script, 5, 1) == ["progress-late"]


def test_initialize_must_not_be_cancelled():
    script = Script()
    known = script.out("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}})
    script.tell("notifications/cancelled", {"requestId": known})
    assert script.codes() == ["bad-cancel"]


def test_a_cancellation_of_an_unknown_request_is_reported():
    script = Script().legacy()
    script.tell("notifications/cancelled", {"requestId": "nobody"})
    assert script.codes() == ["bad-cancel"]


def test_a_cancellation_that_crosses_the_answer_is_valid():
    script = Script().legacy()
    known = script.out("ping")
    script.result(known, {})
    script.tell("notifications/cancelled", {"requestId": known})
    assert script.codes() == []


def test_since_2026_a_server_may_cancel_only_subscriptions():
    script = Script().modern()
    stream, call = script.ask("subscriptions/listen"), script.ask("tools/call", name="x")
    script.hear("notifications/cancelled", {"requestId": stream})
    script.hear("notifications/cancelled", {"requestId": call})
    assert script.codes() == ["bad-cancel"]


def test_deprecated_features_are_reported_as_a_hint_once():
    script = Script().legacy(client={"sampling": {}})
    asked = {"jsonrpc": "2.0", "method": "sampling/createMessage", "params": {"includeContext": "allServers"}}
    for known in (1, 2):
        script.back({**asked, "id": known})
    assert [(found.code, found.severity) for found in script.findings()] == [("deprecated", Severity.HINT)]


def test_the_old_sse_transport_is_reported_as_a_hint():
    script = Script()
    script.raw(Direction.OUT, b'{"jsonrpc":"2.0","id":1,"method":"ping"}', detail={"transport": "sse"})
    (found,) = script.findings()
    assert (found.code, found.severity) == ("deprecated", Severity.HINT)
    assert found.section == "2025-03-26 basic/transports"


def test_since_2026_a_result_needs_a_type():
    script = Script().modern()
    script.result(script.ask("tools/list"), {"tools": []})
    (finding,) = script.findings()
    assert (finding.code, finding.section) == ("missing-result-type", "2026-07-28 basic")


def test_an_undeclared_result_type_is_reported():
    script = Script().modern()
    script.result(script.ask("tools/call", name="x"), {"resultType": "task", "taskId": "7"})
    assert script.codes() == ["unknown-result-type"]


def test_a_task_result_is_valid_if_the_client_declared_the_extension():
    script = Script().modern()
    declared = {"io.modelcontextprotocol/clientCapabilities": {"extensions": {"io.x/tasks": {}}}}
    called = script.ask("tools/call", name="x", _meta=declared)
    script.result(called, {"resultType": "task", "taskId": "7"})
    script.result(script.ask("tasks/get", taskId="7", _meta=declared), {"resultType": "complete"})
    assert script.codes() == []


def test_an_input_request_for_an_undeclared_capability_is_reported():
    script = Script().modern()
    asks = {
        "resultType": "input_required",
        "inputRequests": {"a": {"method": "elicitation/create", "params": {}}},
    }
    script.result(script.ask("tools/call", name="x"), asks)
    assert script.codes() == ["not-negotiated"]
    declared = {"io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}
    script.result(script.ask("tools/call", name="x", _meta={**MODERN_META, **declared}), asks)
    assert script.codes() == ["not-negotiated"]
