"""Exports with shapes in place of values."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.core.traffic import Direction, Entry, Kind
from tui.storage.exports.shapes import named_servers, with_shapes


def entry(body: Any, kind: Kind = Kind.REQUEST, method: str = "tools/call") -> Entry:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Entry(1, 0, 0, "srv", Direction.OUT, kind, method=method, body=raw, size=len(raw))


def shaped(body: Any, kind: Kind = Kind.REQUEST, method: str = "tools/call") -> Any:
    return json.loads(with_shapes(entry(body, kind, method)).body)


def test_argument_names_are_kept_and_values_replaced():
    params = {"name": "send", "arguments": {"to": "ada@example.org", "copies": 2, "urgent": True, "cc": None}}
    assert shaped({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}) == {
        "jsonrpc": "2.0",
        "id": 7,
        "method": "tools/call",
        "params": {
            "name": "send",
            "arguments": {
                "to": "<text, 15 characters>",
                "copies": "<number>",
                "urgent": "<boolean>",
                "cc": None,
            },
        },
    }


def test_values_in_results_and_errors_are_replaced():
    result = {"content": [{"type": "text", "text": "private"}]}
    found = shaped({"id": 1, "result": result}, Kind.RESPONSE)
    assert found["result"] == {"content": [{"type": "<text, 4 characters>", "text": "<text, 7 characters>"}]}
    error = shaped({"id": 1, "error": {"code": -32602, "message": "no ada"}}, Kind.RESPONSE)
    assert error["error"] == {"code": -32602, "message": "<text, 6 characters>"}
    error = shaped({"id": 1, "error": {"code": "ada"}}, Kind.RESPONSE)
    assert error["error"] == {"code": "<text, 3 characters>"}


def test_a_tool_list_is_unchanged():
    body = {"id": 1, "result": {"tools": [{"name": "send", "description": "Sends."}]}}
    assert shaped(body, Kind.RESPONSE, "tools/list") == body


def test_texts_of_model_requests_are_replaced_and_model_names_kept():
    body = {"model": "m", "messages": [{"role": "user", "content": "private"}]}
    assert shaped(body, Kind.MODEL_REQUEST, "m") == {
        "model": "m",
        "messages": [{"role": "user", "content": "<text, 7 characters>"}],
    }


@pytest.mark.parametrize("body", [b"data: {private}\n\n", b'{"id": 1, "priva', b"\xff\xfe"])
def test_a_body_that_is_not_json_is_replaced_by_its_size(body: bytes):
    assert with_shapes(entry(body)).body == b"<%d B>" % len(body)
    assert with_shapes(entry(b'"private"', Kind.STDERR)).body == b"<9 B>"


def test_an_entry_without_a_body_is_unchanged():
    assert with_shapes(entry(b"")) == entry(b"")


def test_of_commands_folders_urls_and_headers_only_shapes_and_hosts_are_kept():
    detail = {
        "event": "spawn",
        "pid": 7,
        "argv": ["python3", "-p", "private"],
        "cwd": "/private",
        "url": "https://ada:private@host:8/private?a=private",
        "headers": [["X-A", "private"], ["Content-Type", "text/plain"]],
        "why": "private",
        "status": 500,
    }
    found = with_shapes(entry(b"")._replace(detail=detail)).detail
    assert "private" not in json.dumps(found)
    assert found == {
        "event": "spawn",
        "pid": 7,
        "argv": ["<text, 7 characters>", "<text, 2 characters>", "<text, 7 characters>"],
        "cwd": "<text, 8 characters>",
        "url": "https://host:8",
        "headers": [["X-A", "<text, 7 characters>"], ["Content-Type", "text/plain"]],
        "why": "<text, 7 characters>",
        "status": 500,
    }


_VALUES = st.recursive(
    st.just("canary") | st.integers(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text("xyz"), inner),
    max_leaves=20,
)


@given(_VALUES, st.sampled_from(["result", "params", "error", "other"]))
def test_no_value_is_left_anywhere(value: Any, key: str):
    assert "canary" not in json.dumps(shaped({"id": 1, key: value}))


def test_of_many_servers_five_are_named_and_the_rest_counted():
    assert named_servers("gfedcba") == "from the servers “a”, “b”, “c”, “d”, “e” and 2 more"
