"""Converting messages of one era to the other."""

from tui.addons.replay.eras import handshake, modern_answer


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
