"""Secret arguments of tool calls in recordings."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.core.secrets.redact import Redactor
from tui.core.traffic import Captured, Direction
from tui.traffic.record.redaction import keep, keep_all
from tui.traffic.record.secret_arguments import without_secret_arguments


def call(arguments: object, **meta: object) -> bytes:
    params = {"name": "login", "_meta": {"progressToken": "t-1", **meta}, "arguments": arguments}
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()


def hidden(arguments: object) -> object:
    return json.loads(without_secret_arguments(call(arguments))[0])["params"]["arguments"]


@pytest.mark.parametrize("name", ["password", "token", "secret", "api_key", "apiKey", "access-token", "pin"])
def test_an_argument_with_the_name_of_a_secret_loses_its_value(name: str):
    assert hidden({name: '1"2', "user": "ada"}) == {name: f"[redacted:{name}]", "user": "ada"}


def test_numbers_and_nested_arguments_too():
    assert hidden({"login": [{"pin": 1234, "n": 1}]}) == {"login": [{"pin": "[redacted:pin]", "n": 1}]}


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"next_token": "x"},
        {"city": "Oslo"},
        {"max_tokens": 5},
        {"token_file": "/x"},
        {"password": ""},
        {"page_token": "x", "nextPageToken": "y"},
        {"q": '"token": "x"'},
    ],
)
def test_other_arguments_are_kept_byte_for_byte(arguments: object):
    assert without_secret_arguments(call(arguments)) == (call(arguments), ())


def test_names_of_the_protocol_are_not_arguments():
    kept = json.loads(without_secret_arguments(call({"token": "x"}))[0])
    assert kept["params"]["_meta"] == {"progressToken": "t-1"}


def test_the_positions_are_those_of_the_marks():
    body, marks = without_secret_arguments(call({"password": "hunter2", "pin": 12}))
    assert [body[one.start : one.end].decode() for one in marks] == ["[redacted:password]", "[redacted:pin]"]


def test_a_call_that_is_cut_off_is_searched_behind_its_arguments():
    cut = call({"password": "hunter2", "rest": "x" * 500})[:-100]
    assert b"hunter2" not in without_secret_arguments(cut)[0]


@given(st.dictionaries(st.sampled_from(["password", "a", "token"]), st.text() | st.integers()))
def test_what_is_left_is_valid_json_without_the_values(arguments: dict[str, object]):
    for name, value in hidden(arguments).items():  # type: ignore[attr-defined]
        secret = name != "a" and value != ""
        assert value == (f"[redacted:{name}]" if secret else arguments[name])


def sent(raw: bytes, direction: Direction = Direction.OUT) -> Captured:
    return Captured("auth", direction, 1, 1, raw)


def test_a_recording_keeps_neither_secret_arguments_nor_configured_secrets():
    redact = Redactor({"KEY": "canary-12345"}).redact_bytes
    raw = call({"password": "hunter2", "note": "canary-12345"})
    for stored in (keep(sent(raw), redact, 0), *keep_all([sent(raw), sent(b"{}")], redact, 0)):
        assert b"hunter2" not in stored.body and b"canary" not in stored.body
    body, redactions, _ = keep(sent(raw), redact, 0)
    assert {body[one.start : one.end] for one in redactions} == {b"[redacted:password]", b"[redacted:KEY]"}
    assert [one.start for one in redactions] == sorted(one.start for one in redactions)
