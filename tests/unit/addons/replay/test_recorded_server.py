from typing import Any

from tests.cases import each_case
from tui.addons.replay.recorded_server import (
    Bodies,
    Question,
    RecordedServer,
    Script,
    alike,
    handshake,
    modern_answer,
    nearest,
    request_of,
)


@each_case(
    ("recorded", "asked", "expected"),
    [
        ("a", "b", False),
        ("[redacted:K]", "anything\nat all", True),
        ("x [redacted:K] y", "x secret y", True),
        ("x [redacted:K] y", "x secret z", False),
        ({"a": [1, "[redacted:K]"]}, {"a": [1.0, "s"]}, True),
        ({"pin": "[redacted:pin]"}, {"pin": 1234}, True),
        ({"pin": "[redacted:pin]"}, {"pin": None}, False),
        ({"pin": "no [redacted:pin]"}, {"pin": 1}, False),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ([1], [1, 2], False),
        (1, True, False),
    ],
)
def test_a_redacted_part_matches_text_numbers_and_lists(recorded: Any, asked: Any, expected: bool):
    assert alike(recorded, asked) is expected


def test_the_same_meta_is_preferred_to_the_same_parameters():
    book, scripts = RecordedServer(Bodies(lambda seq: b"")), [Script(0), Script(1)]
    for level, script in zip(("debug", "error"), scripts, strict=True):
        book.add(Question.of("tools/list", {"_meta": {"level": level}}), script)
    assert book.find(Question.of("tools/list", {"_meta": {"level": "error"}})) is scripts[1]
    assert book.find(Question.of("tools/list", None)) is scripts[0]


def test_the_order_of_keys_and_the_notation_of_numbers_are_ignored_in_matching():
    assert Question.of("m", {"a": 1, "b": 2.5}).key() == Question.of("m", {"b": 2.5, "a": 1.0}).key()


def test_truncated_and_invalid_messages_are_not_requests():
    assert request_of(b'{"method":"m","par', "m") is None
    assert request_of(b"[]", "m") is None


def test_the_most_similar_request_comes_first():
    known = [Question.of("m", {"city": "NYC"}), Question.of("m", {"city": "Beijing"})]
    assert nearest(Question.of("m", {"city": "Beijin"}), known)[0] == known[1]


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
