"""Secret arguments of tool calls in recordings."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tui.core.secrets.named_values import SecretArguments
from tui.core.secrets.redact import Redactor
from tui.core.traffic import Captured, Direction, Kind
from tui.traffic.record.redaction import keep, keep_all, without_secret_arguments
from tui.traffic.record.secret_texts import joined


def call(arguments: object, **meta: object) -> bytes:
    params = {"name": "login", "_meta": {"progressToken": "t-1", **meta}, "arguments": arguments}
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()


NAMES = SecretArguments()


def hidden(arguments: object, known: SecretArguments = NAMES) -> Any:
    return json.loads(without_secret_arguments(call(arguments), known, "auth")[0])["params"]["arguments"]


@each_case(
    ("arguments", "expected"),
    [
        *(
            ({name: '1"2', "user": "ada"}, {name: f"[redacted:{name}]", "user": "ada"})
            for name in ("password", "token", "secret", "api_key", "apiKey", "access-token", "pin")
        ),
        ({"login": [{"pin": 1234, "n": 1}]}, {"login": [{"pin": "[redacted:pin]", "n": 1}]}),
    ],
)
def test_the_value_of_an_argument_named_like_a_secret_is_redacted(arguments: object, expected: object):
    assert hidden(arguments) == expected


@each_case(
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
    assert without_secret_arguments(call(arguments), NAMES) == (call(arguments), frozenset())


def test_the_reported_positions_are_those_of_the_marks():
    body, marks, _ = keep(
        sent(call({"password": "hunter2", "pin": 12})), lambda raw: (raw, ()), 0, SecretArguments()
    )
    assert [body[one.start : one.end].decode() for one in marks] == ["[redacted:password]", "[redacted:pin]"]


def test_secret_arguments_of_a_truncated_call_are_redacted():
    cut = call({"password": "hunter2", "rest": "x" * 500})[:-100]
    assert b"hunter2" not in without_secret_arguments(cut, NAMES)[0]


@given(st.dictionaries(st.sampled_from(["password", "a", "token"]), st.text() | st.integers()))
def test_the_redacted_call_is_valid_json_without_the_values(arguments: dict[str, object]):
    for name, value in hidden(arguments).items():
        secret = name != "a" and value != ""
        assert value == (f"[redacted:{name}]" if secret else arguments[name])


NAMED = st.dictionaries(
    st.sampled_from(["a", "password", "é", "progressToken", "_meta", "input", "arguments"]),
    st.recursive(st.sampled_from(["x", "", 1, True]), lambda inner: st.dictionaries(st.just("pin"), inner)),
)


@given(
    NAMED,
    st.sampled_from([1, 2, "t"]),
    st.sampled_from(["", "pin", "*", "login.a", "login.*"]),
    st.integers(0, 9),
)
def test_a_small_message_is_redacted_as_a_large_one(
    arguments: dict[str, object], token: object, rule: str, cut: int
):
    known = SecretArguments()
    known.set_rules({"auth": [rule]} if rule else {})
    raw = call(arguments, progressToken=token)
    small, large = (without_secret_arguments(one, known, "auth") for one in (raw, raw + b" " * 5000))
    assert (small[0], small[1]) == (large[0].rstrip(), large[1])
    part = raw[: len(raw) - cut]
    assert (
        without_secret_arguments(part, known, "auth")[1]
        == without_secret_arguments(b" " * 5000 + part, known, "auth")[1]
    )


@pytest.mark.parametrize(
    ("declared", "arguments"),
    [
        ([], b'{"' + "\ud800".encode("utf-8", "surrogatepass") * 70 + b'password": 5}'),
        (["progressToken"], b'{"progressToken":12345678}'),
        ([f"a{number}" for number in range(4_000)], b'{"other": 5}'),
    ],
    ids=["a name that is not UTF-8", "the same value as the id", "more names than are remembered"],
)
def test_a_small_message_is_searched_if_only_one_name_can_be_secret(declared: list[str], arguments: bytes):
    known = SecretArguments()
    for start in range(0, len(declared), 1_000):
        names = declared[start : start + 1_000]
        known.learn("auth", f"tool{start}", {"properties": {name: {"writeOnly": True} for name in names}})
    raw = b'{"id":12345678,"method":"prompts/get","params":{"name":"p","arguments":' + arguments + b"}}"
    small, large = (without_secret_arguments(one, known, "auth") for one in (raw, raw + b" " * 5000))
    assert small == (large[0].rstrip(), large[1])
    assert small[1]


def sent(raw: bytes, direction: Direction = Direction.OUT) -> Captured:
    return Captured("auth", direction, 1, 1, raw)


def test_a_recording_keeps_neither_secret_arguments_nor_configured_secrets():
    redact, known = Redactor({"KEY": "canary-12345"}).redact_bytes, SecretArguments()
    raw = call({"password": "hunter2", "note": "canary-12345"})
    for stored in (keep(sent(raw), redact, 0, known), *keep_all([sent(raw), sent(b"{}")], redact, 0, known)):
        assert b"hunter2" not in stored.body and b"canary" not in stored.body
    body, redactions, _ = keep(sent(raw), redact, 0, known)
    assert {body[one.start : one.end] for one in redactions} == {b"[redacted:password]", b"[redacted:KEY]"}
    assert [one.start for one in redactions] == sorted(one.start for one in redactions)


SCHEMA = {
    "type": "object",
    "properties": {
        "code": {"type": "string", "format": "password"},
        "user": {"type": "string"},
        "steps": {
            "type": "array",
            "items": {"properties": {"answer": {"type": "integer", "writeOnly": True}}},
        },
        "words": {"type": "array", "items": {"type": "string", "format": "password"}},
    },
}


def knowing() -> SecretArguments:
    known = SecretArguments()
    known.learn("auth", "login", SCHEMA)
    return known


PLAIN = {"code": "canary-1", "steps": [{"answer": 4711, "n": 1}], "words": ["canary-2"], "user": "ada"}
MARKED = {
    "code": "[redacted:code]",
    "steps": [{"answer": "[redacted:answer]", "n": 1}],
    "words": "[redacted:words]",
    "user": "ada",
}


def test_an_argument_marked_secret_in_the_schema_is_redacted_at_any_depth():
    assert hidden(PLAIN, knowing()) == MARKED
    assert hidden(PLAIN) == PLAIN


def test_a_rule_redacts_only_the_argument_it_names():
    known = SecretArguments()
    known.set_rules({"auth": ["login.u?er"], "other": ["*.n"]})
    assert hidden({"user": "ada", "n": 1}, known) == {"user": "[redacted:user]", "n": 1}


def model_request(arguments: object, content: object = None) -> bytes:
    function = {"name": "auth__login", "arguments": json.dumps(arguments)}
    said = {"role": "assistant", "content": content, "tool_calls": [{"id": "1", "function": function}]}
    asked = {"role": "user", "content": json.dumps({"code": "mine"})}
    return json.dumps({"model": "m", "messages": [asked, said, {"role": "tool", "content": "ok"}]}).encode()


def stored(kind: Kind, raw: bytes, known: SecretArguments, cap: int = 0) -> bytes:
    direction = Direction.OUT if kind is Kind.MODEL_REQUEST else Direction.IN
    captured = Captured("model:m", direction, 1, 1, raw, kind)
    body, marks, _ = keep(captured, lambda data: (data, ()), cap, known)
    assert all(body[one.start : one.end].startswith(b"[redacted:") for one in marks)
    return body


def test_a_model_request_contains_no_secret_arguments_of_earlier_calls():
    body = stored(Kind.MODEL_REQUEST, model_request(PLAIN), knowing())
    messages = json.loads(body)["messages"]
    assert json.loads(messages[1]["tool_calls"][0]["function"]["arguments"]) == MARKED
    assert json.loads(messages[0]["content"]) == {"code": "mine"}


@pytest.mark.parametrize("missing", [60, 60 + len(json.dumps(PLAIN)) // 2])
def test_a_truncated_model_request_contains_no_secret_arguments(missing: int):
    body = stored(Kind.MODEL_REQUEST, model_request(PLAIN)[:-missing], knowing())
    assert b"canary" not in body and (b"4711" not in body)


def test_a_call_written_as_text_by_the_model_is_redacted_too():
    text = 'I call it:\n<tool>{"name": "login", "arguments": ' + json.dumps(PLAIN) + '}</tool> "so'
    body = stored(Kind.MODEL_REQUEST, model_request({}, text), knowing())
    assert b"canary" not in body and b"4711" not in body
    assert json.loads(body)["messages"][1]["content"].endswith('}</tool> "so')


def test_a_reply_without_streaming_contains_no_secret_arguments():
    function = {"arguments": json.dumps(PLAIN), "name": "auth__login"}
    reply = {"choices": [{"message": {"content": None, "tool_calls": [{"function": function}]}}]}
    found = json.loads(stored(Kind.MODEL_REPLY, json.dumps(reply).encode(), knowing()))
    assert json.loads(found["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"]) == MARKED


def streamed(deltas: list[object]) -> bytes:
    chunks = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    return (
        b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks) + b"data: [DONE]\n\n"
    )


@given(st.integers(1, 40))
def test_arguments_streamed_in_pieces_are_redacted_in_every_piece(size: int):
    text = json.dumps(PLAIN)
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    first = {"tool_calls": [{"index": 0, "function": {"name": "auth__login", "arguments": ""}}]}
    rest = [{"tool_calls": [{"index": 0, "function": {"arguments": piece}}]} for piece in pieces]
    body = stored(Kind.MODEL_REPLY, streamed([{"content": "Well, "}, first, *rest]), knowing())
    assert json.loads(joined(body)["tool_calls"][0]["arguments"]) == MARKED
    assert joined(body)["text"] == "Well, " and body.endswith(b"data: [DONE]\n\n")
    said = stored(
        Kind.MODEL_REPLY, streamed([{"content": piece} for piece in ["login ", *pieces]]), knowing()
    )
    assert json.loads(joined(said)["text"].removeprefix("login ")) == MARKED


def test_secret_arguments_are_learned_from_a_recorded_tool_list():
    known = SecretArguments()
    listed = {"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "login", "inputSchema": SCHEMA}]}}
    list(keep_all([sent(json.dumps(listed).encode(), Direction.IN)], lambda raw: (raw, ()), 0, known))
    (body, *_) = keep(sent(call(PLAIN)), lambda raw: (raw, ()), 0, known)
    assert json.loads(body)["params"]["arguments"] == MARKED


LIST = json.dumps({"id": 1, "result": {"tools": [{"name": "login", "inputSchema": SCHEMA}]}}).encode()
TRAFFIC = [
    sent(call({"city": "Oslo"})),
    sent(call({"password": "hunter2"})),
    sent(call({"code": "canary-1"})),
    sent(b'{"id":1,"result":{}}', Direction.IN),
    sent(LIST, Direction.IN),
]


@given(st.lists(st.sampled_from(TRAFFIC), max_size=20))
def test_calls_that_are_redacted_together_are_redacted_as_each_alone(group: list[Captured]):
    redact = Redactor({"KEY": "canary-12345"}).redact_bytes
    together, alone = SecretArguments(), SecretArguments()
    assert list(keep_all(group, redact, 0, together)) == [keep(one, redact, 0, alone) for one in group]
