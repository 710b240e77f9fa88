"""Secret values in what is sent to a server by any method: answers to forms, prompts, completions."""

import json

import pytest

from tui.core.secrets.named_values import EVERY, FORMS, MAX_NAMES, SecretArguments
from tui.core.secrets.redact import Redactor
from tui.core.traffic import Captured, Direction
from tui.traffic.record.redaction import keep

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


@pytest.mark.parametrize(
    "params",
    [
        {"name": "login", "arguments": {"password": "canary-1", "city": "Oslo"}},
        {"ref": {}, "argument": {"name": "password", "value": "canary-1"}, "city": "Oslo"},
        {"ref": {}, "argument": {"value": "canary-1", "name": "api_key"}, "city": "Oslo"},
        {"argument": {"name": "city", "value": "Oslo"}, "context": {"arguments": {"password": "canary-1"}}},
    ],
)
def test_the_secret_arguments_of_prompts_and_completions_are_redacted(params):
    method = "completion/complete" if "argument" in params else "prompts/get"
    body = stored(SecretArguments(), Direction.OUT, method=method, params=params)
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


@pytest.mark.parametrize("name", ["method", "params", "id", "name", "content", "result", "arguments"])
def test_a_field_with_a_name_of_the_protocol_is_secret_only_in_its_form(name):
    known = SecretArguments()
    known.learn("auth", FORMS, {"properties": {name: {"type": "string", "writeOnly": True}}})
    for message in SAID:
        assert json.loads(stored(known, Direction.OUT, **message)) == {"jsonrpc": "2.0", "id": 1, **message}
    answer = {"result": {"action": "accept", "content": {name: "canary-1"}}}
    assert "canary" not in stored(known, Direction.OUT, **answer)


@pytest.mark.parametrize(
    "message",
    [
        {"method": "prompts/get", "params": {"name": "login", "arguments": {"phrase": "canary-1"}}},
        {"error": {"code": -1, "message": "no", "data": {"password": "canary-1"}}},
        {
            "method": "tools/list",
            "params": {"_meta": {"apiKey": "canary-1", "x/y": {"password": "canary-2"}}},
        },
        {"method": "initialize", "params": {"capabilities": {"experimental": {"x": {"token": "canary-1"}}}}},
        {"method": "vendor/any", "params": {"password": {"content": {"a": "canary-1"}}, "city": "Oslo"}},
    ],
    ids=["prompt", "error", "meta", "capabilities", "around a part"],
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
