from typing import Any

import pytest

from tui.addons.replay.recorded_server import (
    Bodies,
    Question,
    RecordedServer,
    Script,
    alike,
    nearest,
    request_of,
)


@pytest.mark.parametrize(
    ("recorded", "asked", "expected"),
    [
        ("a", "a", True),
        ("a", "b", False),
        ("[redacted:K]", "anything\nat all", True),
        ("x [redacted:K] y", "x secret y", True),
        ("x [redacted:K] y", "x secret z", False),
        ({"a": [1, "[redacted:K]"]}, {"a": [1, "s"]}, True),
        ({"pin": "[redacted:pin]"}, {"pin": 1234}, True),
        ({"pin": "[redacted:pin]"}, {"pin": None}, False),
        ({"pin": "no [redacted:pin]"}, {"pin": 1}, False),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ([1], [1, 2], False),
        (1, True, False),
        (None, None, True),
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


def test_handshake_requests_match_with_any_params():
    book, scripts = RecordedServer(Bodies(lambda seq: b"")), [Script(0), Script(1)]
    book.add(Question.of("initialize", {"clientInfo": {"name": "a"}}), scripts[0])
    assert book.find(Question.of("initialize", {"clientInfo": {"name": "b"}})) is scripts[0]
    assert book.find(Question.of("tools/call", {"name": "b"})) is None


def test_the_order_of_keys_is_ignored_in_matching():
    assert Question.of("m", {"a": 1, "b": 2}).key() == Question.of("m", {"b": 2, "a": 1}).key()


def test_truncated_and_invalid_messages_are_not_requests():
    assert request_of(b'{"method":"m","par', "m") is None
    assert request_of(b"[]", "m") is None


def test_the_most_similar_request_comes_first():
    known = [Question.of("m", {"city": "NYC"}), Question.of("m", {"city": "Beijing"})]
    assert nearest(Question.of("m", {"city": "Beijin"}), known)[0] == known[1]
