"""Redaction of entries before they are stored: their bytes, and what a user gave a server."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tests.unit.traffic.tapped import seen
from tui.core.secrets.named_values import EVERY, FORMS, MAX_NAMES, SecretArguments
from tui.core.secrets.redact import Redactor
from tui.core.traffic import Captured, Direction, Kind
from tui.model.openai_api.openai_client import WITHHELD
from tui.traffic.record.redaction import keep, keep_all, scrub

NO_TOOLS = SecretArguments()


def kept_detail(detail: dict[str, object]) -> object:
    return scrub(detail, Redactor().redact_bytes)


def test_headers_with_credentials_and_secrets_in_urls_are_not_kept():
    detail = {
        "url": "https://ada:hunter2@h/mcp?token=hunter2&page=2",
        "headers": [["Mcp-Session-Id", "s1"], ["Location", "/in?session_id=s1"], ["Accept", "text/plain"]],
        "response_headers": {"X-Auth-Token": "s1", "Mcp-Protocol-Version": "2025-06-18"},
    }
    assert kept_detail(detail) == {
        "url": "https://ada:[redacted:password]@h/mcp?token=[redacted:token]&page=2",
        "headers": [
            ["Mcp-Session-Id", "[redacted:mcp-session-id]"],
            ["Location", "/in?session_id=[redacted:session_id]"],
            ["Accept", "text/plain"],
        ],
        "response_headers": {"X-Auth-Token": "[redacted:x-auth-token]", "Mcp-Protocol-Version": "2025-06-18"},
    }


def test_redacting_a_detail_twice_changes_nothing():
    once = kept_detail({"url": "https://a:b@h/?key=x1", "headers": {"cookie": "a"}})
    assert kept_detail(dict(once)) == once  # type: ignore[call-overload]


SECRET, KEY = "a-configured-secret-value", "sk-proj-Ab3dEf6hIj9kLm2n"
PIECES = [
    *(b"x", b"xxxx", b"***", b"\n", b"\\", b"%2d", b'"', b"A" * 300, b"B" * 4000),
    *(b"AKIA", b"Bearer ", b"ghp_" + b"a1B2" * 9, SECRET[6:].encode(), KEY[-14:].encode()),
    *(text[:cut].encode() for text in (SECRET, KEY) for cut in (6, 14, None)),
]
lines = st.lists(st.sampled_from(PIECES), max_size=6).map(b"".join)


@given(st.lists(st.tuples(lines, st.sampled_from([0, 0, 0, 1])), max_size=30), st.sampled_from([0, 200]))
def test_redacting_bodies_together_equals_redacting_each_alone(raws: list[tuple[bytes, int]], cap: int):
    redact = Redactor({"TOKEN": SECRET}, {"KEY": KEY}).redact_bytes
    group = [seen(raw)._replace(size=len(raw) + missing) for raw, missing in raws]
    assert list(keep_all(group, redact, cap, NO_TOOLS)) == [keep(one, redact, cap, NO_TOOLS) for one in group]


@pytest.mark.parametrize("others", [0, 1])
def test_the_placeholder_of_a_withheld_reply_is_not_truncated(others: int):
    note = seen(WITHHELD)._replace(size=10_000, detail={"withheld": True}, kind=Kind.MODEL_REPLY)
    kept = next(iter(keep_all([note, *[seen(b"{}")] * others], Redactor().redact_bytes, 0, NO_TOOLS)))
    assert kept.body == WITHHELD


@pytest.mark.parametrize("between", ["", " "])
@pytest.mark.parametrize("name", ["K", "a.name.of.more.letters.than.all.of.it"])
@pytest.mark.parametrize("torn", [False, True])
@pytest.mark.parametrize("cap", [0, 40_000, 400_000])
def test_truncating_a_long_body_leaves_no_part_of_a_secret(between: str, name: str, torn: bool, cap: int):
    raw = between.join([SECRET] * 8_000).encode()
    body = seen(raw[:-7])._replace(size=len(raw)) if torn else seen(raw)
    kept = keep(body, Redactor({name: SECRET}).redact_bytes, cap, NO_TOOLS)
    parts = {SECRET[at : at + 6].encode() for at in range(len(SECRET) - 5)}
    assert [part for part in parts if part in kept.body] == []
    assert len(kept.body) >= (min(cap, 120_000) or 120_000) // 3
    assert all(kept.body[span.start : span.end].startswith(b"[redacted") for span in kept.redactions)


COMPLETE = "completion/complete"
FORM = {
    "type": "object",
    "properties": {
        "phrase": {"type": "string", "format": "password"},
        "answer": {"type": "string", "writeOnly": True},
        "number": {"type": "string", "title": "Credit card"},
        "city": {"type": "string"},
    },
}
TYPED = {
    "password": "canary-1",
    "phrase": "canary-2",
    "answer": "canary-3",
    "number": "canary-4",
    "city": "Oslo",
}
ACCEPTED = {"action": "accept", "content": TYPED}
ELICITS = {"method": "elicitation/create", "params": {"message": "?", "requestedSchema": FORM}}


def stored(known: SecretArguments, direction: Direction, **message: object) -> str:
    raw = json.dumps({"jsonrpc": "2.0", "id": 1, **message}).encode()
    return keep(Captured("auth", direction, 1, 1, raw), Redactor({}).redact_bytes, 0, known).body.decode()


@pytest.mark.parametrize(
    "shown",
    [
        ELICITS,
        {"result": {"resultType": "input_required", "inputRequests": {"k": ELICITS}}},
        {"method": "notifications/tasks", "params": {"inputRequests": {"k": ELICITS}}},
    ],
    ids=["request", "result", "task"],
)
@pytest.mark.parametrize(
    "answer",
    [
        {"result": ACCEPTED},
        {"method": "tools/call", "params": {"name": "t", "arguments": {}, "inputResponses": {"k": ACCEPTED}}},
        {"method": "tools/call", "params": {"inputResponses": {"k": ACCEPTED}, "name": "t", "arguments": {}}},
        {"method": "prompts/get", "params": {"name": "t", "inputResponses": {"k": ACCEPTED}}},
        {"method": "resources/read", "params": {"uri": "x:y", "inputResponses": {"k": ACCEPTED}}},
        {"method": "tasks/update", "params": {"taskId": "1", "inputResponses": {"k": ACCEPTED}}},
        {"method": "vendor/any", "params": TYPED},
    ],
    ids=["answer", "call", "before", "prompt", "resource", "task", "vendor"],
)
def test_the_secret_fields_of_a_form_are_redacted_in_whatever_method_sends_them(shown, answer):
    known = SecretArguments()
    stored(known, Direction.IN, **shown)
    body = stored(known, Direction.OUT, **answer)
    assert "canary" not in body and "Oslo" in body and json.loads(body)


def test_the_secret_arguments_of_the_rules_are_redacted_in_every_method():
    known = SecretArguments()
    known.set_rules({"auth": ["login.ssn", "iban"]})
    values = {"ssn": "canary-1", "iban": "canary-2"}
    assert "canary" not in stored(known, Direction.OUT, result={"action": "accept", "content": values})


SAID = [
    {"method": "initialize", "params": {"clientInfo": {"name": "x"}, "capabilities": {}}},
    {"method": "resources/read", "params": {"uri": "x:y"}},
    {"method": "tools/call", "params": {"name": "other", "arguments": {"city": "Oslo"}}},
    {"result": {"action": "accept", "content": {"city": "Oslo"}}},
]


@pytest.mark.parametrize("message", SAID, ids=["initialize", "resource", "other call", "answer"])
def test_secret_arguments_of_one_tool_leave_other_messages_whole(message):
    known = SecretArguments()
    known.set_rules({"auth": ["login.*"]})
    known.learn("auth", "unlock", {"type": "object", "writeOnly": True})
    assert json.loads(stored(known, Direction.OUT, **message)) == {"jsonrpc": "2.0", "id": 1, **message}


@each_case("name", ["method", "params", "id", "name", "content", "result", "arguments"])
def test_a_field_with_a_name_of_the_protocol_is_secret_only_in_its_form(name):
    known = SecretArguments()
    known.learn("auth", FORMS, {"properties": {name: {"type": "string", "writeOnly": True}}})
    for message in SAID:
        assert json.loads(stored(known, Direction.OUT, **message)) == {"jsonrpc": "2.0", "id": 1, **message}
    answer = {"result": {"action": "accept", "content": {name: "canary-1"}}}
    assert "canary" not in stored(known, Direction.OUT, **answer)


@each_case(
    "message",
    [
        {"method": "prompts/get", "params": {"name": "login", "arguments": {"phrase": "canary-1"}}},
        {"method": "prompts/get", "params": {"name": "login", "arguments": {"password": "canary-1"}}},
        {"method": COMPLETE, "params": {"argument": {"name": "password", "value": "canary-1"}}},
        {"method": COMPLETE, "params": {"argument": {"value": "canary-1", "name": "api_key"}}},
        {
            "method": COMPLETE,
            "params": {
                "argument": {"name": "city", "value": "Oslo"},
                "context": {"arguments": {"password": "canary-1"}},
            },
        },
        {"error": {"code": -1, "message": "no", "data": {"password": "canary-1"}}},
        {
            "method": "tools/list",
            "params": {"_meta": {"apiKey": "canary-1", "x/y": {"password": "canary-2"}}},
        },
        {"method": "initialize", "params": {"capabilities": {"experimental": {"x": {"token": "canary-1"}}}}},
        {"method": "vendor/any", "params": {"password": {"content": {"a": "canary-1"}}, "city": "Oslo"}},
    ],
)
def test_secret_values_are_redacted_wherever_a_message_has_them(message):
    known = SecretArguments()
    stored(known, Direction.IN, **ELICITS)
    body = stored(known, Direction.OUT, **message)
    assert "canary" not in body and json.loads(body)


@pytest.mark.parametrize(
    "raw",
    [
        '[{"id":1,"method":"tools/call","params":{"name":"a","arguments":{"x":1}}},'
        '{"id":2,"method":"tools/call","params":{"name":"b","arguments":{"phrase":"canary-1"}}}]',
        '{"method":"completion\\/complete","params":{"argument":{"name":"password","value":"canary-1"}}}',
    ],
    ids=["batch", "escaped slash"],
)
def test_secret_values_are_redacted_in_other_forms_of_a_message(raw):
    known = SecretArguments()
    stored(known, Direction.IN, **ELICITS)
    captured = Captured("auth", Direction.OUT, 1, 1, raw.encode())
    body = keep(captured, Redactor({}).redact_bytes, 0, known).body.decode()
    assert "canary" not in body and json.loads(body)


def test_names_of_the_protocol_are_kept_in_every_method():
    meta = {"progressToken": "t-1", "x/credentials": {"a": 1}}
    capabilities = {"extensions": {"io.modelcontextprotocol/oauth-client-credentials": {"a": 1}}}
    message = {"params": {"_meta": meta, "capabilities": capabilities, "cursor": "c", "nextPageToken": "n"}}
    expected = {"jsonrpc": "2.0", "id": 1, "method": "initialize", **message}
    assert json.loads(stored(SecretArguments(), Direction.OUT, method="initialize", **message)) == expected


def test_a_form_with_thousands_of_secret_fields_makes_every_value_secret():
    properties = {f"f{number}": {"type": "string", "writeOnly": True} for number in range(MAX_NAMES + 1)}
    known = SecretArguments()
    known.learn("auth", FORMS, {"properties": properties})
    assert known.of_server("auth").names == {EVERY}
