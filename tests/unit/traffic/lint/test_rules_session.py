"""Rules about negotiated capabilities and the order of a session."""

import pytest

from tests.cases import each_case
from tests.unit.traffic.traffic_script import MODERN_META, Script
from tui.core.traffic import Direction, Severity

OPENING = {"protocolVersion": "2025-11-25", "capabilities": {"roots": {}}}
TOOLS_CHANGED = ("hear", "notifications/tools/list_changed", {})
LOG = ("hear", "notifications/message", {"level": "info", "data": 1})
EXTENDED = {"io.modelcontextprotocol/clientCapabilities": {"extensions": {"io.x/tasks": {}}}}
TASK = {"resultType": "task", "taskId": "7"}


def roots(known: int) -> tuple[object, ...]:
    return ("back", {"jsonrpc": "2.0", "id": known, "method": "roots/list"})


def cancelled(by: str, known: object) -> tuple[object, ...]:
    return (by, "notifications/cancelled", {"requestId": known})


@pytest.mark.parametrize(
    ("versions", "codes"),
    [(["2099-01-01"], ["unknown-revision"]), ([], ["unknown-revision"]), (["2025-11-25"], [])],
)
def test_a_discovered_server_must_support_a_released_revision(versions: list[str], codes: list[str]):
    script = Script()
    script.result(script.ask("server/discover"), {"supportedVersions": versions, "capabilities": {}})
    assert [code for code in script.codes() if code != "missing-result-type"] == codes


@pytest.mark.parametrize(
    ("steps", "codes"),
    [
        pytest.param([("out", "tools/list")], ["before-initialize"], id="request before the handshake"),
        pytest.param(
            [("out", "ping"), ("back", {"jsonrpc": "2.0", "id": 1, "method": "ping"})], [], id="early ping"
        ),
        pytest.param(
            [
                ("out", "initialize", OPENING),
                ("result", 1, {"protocolVersion": "2025-11-25", "capabilities": {}}),
                roots(1),
                ("tell", "notifications/initialized"),
                roots(2),
            ],
            ["before-initialize"],
            id="server request before initialized",
        ),
        pytest.param(
            [("out", "initialize", OPENING), cancelled("tell", 1)], ["bad-cancel"], id="initialize cancelled"
        ),
    ],
)
def test_the_order_of_the_handshake(steps: list[tuple[object, ...]], codes: list[str]):
    assert Script().play(*steps).codes() == codes


@each_case(
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
    (found,) = Script().legacy(server={"tools": {}}).play(("out", "prompts/list")).findings()
    assert found.sentence == 'The server did not declare prompts, which "prompts/list" requires.'


def test_the_first_revision_has_no_capability_for_completion():
    script = Script().legacy("2024-11-05", server={})
    assert script.play(("out", "completion/complete", {})).codes() == []


@pytest.mark.parametrize(
    ("heard", "asked", "codes"),
    [
        (TOOLS_CHANGED, ("subscriptions/listen", {"notifications": {"toolsListChanged": True}}), []),
        (LOG, ("tools/list", {"_meta": {"io.modelcontextprotocol/logLevel": "info"}}), ["deprecated"]),
    ],
    ids=["list change", "log message"],
)
def test_since_2026_list_changes_and_log_messages_need_a_request_for_them(heard, asked, codes):
    server = {"tools": {"listChanged": True}, "logging": {}}
    assert "not-negotiated" in Script().modern(server).play(heard).codes()
    script = Script().modern(server)
    script.ask(asked[0], **asked[1])
    assert script.play(heard).codes() == codes


@each_case(
    ("token", "values", "codes"),
    [
        (5, (0, 0.5, 1, 10**400), []),
        (5, (1, 1), ["progress-order"]),
        (5, (2, 1), ["progress-order"]),
        (5, (10**400, 3), ["progress-order"]),
        (6, (1,), ["progress-token"]),
        ("5", (1,), ["progress-token"]),
        (5, ("answer", 1), ["progress-late"]),
    ],
)
def test_progress_must_increase_before_the_answer_and_have_a_known_token(
    token: object, values: tuple[object, ...], codes: list[str]
):
    script = Script().legacy()
    known = script.out("tools/call", {"name": "x", "_meta": {"progressToken": 5}})
    for value in values:
        if value == "answer":
            script.result(known, {"content": []})
        else:
            script.hear("notifications/progress", {"progressToken": token, "progress": value})
    assert script.codes() == codes


@pytest.mark.parametrize(
    ("steps", "codes"),
    [
        ([cancelled("tell", "nobody")], ["bad-cancel"]),
        ([("out", "ping"), ("result", 2, {}), cancelled("tell", 2)], []),
    ],
    ids=["unknown request", "crosses the answer"],
)
def test_a_cancellation_names_a_request(steps: list[tuple[object, ...]], codes: list[str]):
    assert Script().legacy().play(*steps).codes() == codes


def test_since_2026_a_server_may_cancel_only_subscriptions():
    script = Script().modern()
    stream, call = script.ask("subscriptions/listen"), script.ask("tools/call", name="x")
    assert script.play(cancelled("hear", stream), cancelled("hear", call)).codes() == ["bad-cancel"]


def test_deprecated_features_are_reported_as_a_hint_once():
    script = Script().legacy(client={"sampling": {}})
    asked = {"jsonrpc": "2.0", "method": "sampling/createMessage", "params": {"includeContext": "allServers"}}
    found = script.play(*(("back", {**asked, "id": known}) for known in (1, 2))).findings()
    assert [(one.code, one.severity) for one in found] == [("deprecated", Severity.HINT)]


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


@pytest.mark.parametrize(("meta", "codes"), [({}, ["unknown-result-type"]), (EXTENDED, [])])
def test_a_result_type_of_an_extension_must_be_declared(meta: dict[str, object], codes: list[str]):
    script = Script().modern()
    script.result(script.ask("tools/call", name="x", _meta=meta), TASK)
    if meta:
        script.result(script.ask("tasks/get", taskId="7", _meta=meta), {"resultType": "complete"})
    assert script.codes() == codes


def test_an_input_request_for_an_undeclared_capability_is_reported():
    script = Script().modern()
    asks = {
        "resultType": "input_required",
        "inputRequests": {"a": {"method": "elicitation/create", "params": {}}},
    }
    declared = {"io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}
    for meta in ({}, {**MODERN_META, **declared}):
        script.result(script.ask("tools/call", name="x", _meta=meta), asks)
        assert script.codes() == ["not-negotiated"]
