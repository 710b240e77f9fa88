"""Converting messages of one era to the other."""

import json

from tui.addons.replay.eras import acknowledgement, handshake, input_required, modern_answer, wanted_input


def test_a_legacy_list_result_becomes_modern_by_adding_only_the_new_fields():
    raw = b'{"jsonrpc":"2.0", "id":1,"result": {"tools" :[ ]}}'
    assert modern_answer(raw, "tools/list") == (
        b'{"jsonrpc":"2.0", "id":1,"result": {"resultType": "complete", "ttlMs": 0, "cacheScope": "private", '
        b'"tools" :[ ]}}'
    )
    assert (
        modern_answer(b'{"id":1,"result":{}}', "tools/call")
        == b'{"id":1,"result":{"resultType": "complete"}}'
    )


def test_complete_modern_results_and_errors_are_unchanged():
    for raw in (b'{"id":1,"result":{"resultType":"complete"}}', b'{"id":1,"error":{"code":-1}}', b"none"):
        assert modern_answer(raw, "tools/call") == raw


def test_both_handshakes_describe_a_server_alike():
    recorded = {
        "protocolVersion": "2025-06-18",
        "capabilities": {"tools": {}, "tasks": {}},
        "serverInfo": {"name": "s", "version": "1"},
        "instructions": "Be kind.",
    }
    discovered = handshake("server/discover", None, recorded, ())
    assert (discovered["capabilities"], discovered["instructions"]) == ({"tools": {}}, "Be kind.")
    again = handshake("initialize", "2025-03-26", discovered, ())
    assert again == {**recorded, "protocolVersion": "2025-03-26", "capabilities": {"tools": {}}}


def test_without_a_handshake_capabilities_follow_from_the_methods():
    methods = ["tools/call", "completion/complete"]
    assert handshake("initialize", "2026-07-28", None, methods) == {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}, "completions": {}},
        "serverInfo": {"name": "mock", "version": "0"},
    }


def test_a_request_of_a_server_becomes_a_result_that_asks_for_input():
    request = {"jsonrpc": "2.0", "id": 5, "method": "elicitation/create", "params": {"message": "Who?"}}
    answer = json.loads(input_required('"c"', json.dumps(request).encode(), "state"))
    assert (answer["id"], answer["result"]["requestState"]) == ("c", "state")
    assert wanted_input(json.dumps(answer).encode()) == [
        {"method": "elicitation/create", "params": {"message": "Who?"}}
    ]
    assert wanted_input(b'{"result":{"content":"input_required"}}') is None


def test_an_acknowledgement_names_its_request():
    params = json.loads(acknowledgement("3", {"toolsListChanged": True}))["params"]
    assert params == {
        "_meta": {"io.modelcontextprotocol/subscriptionId": 3},
        "notifications": {"toolsListChanged": True},
    }
