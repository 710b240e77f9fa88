"""Messages survive JSON, and invalid ones are rejected with a reason."""

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tests.unit.storage.session_samples import CALL, any_json, messages
from tui.core.conversation.conversation import (
    AssistantMessage,
    Attachment,
    CallRequest,
    Message,
    ToolMessage,
    Usage,
    UserMessage,
)
from tui.core.conversation.message_json import dumps, message_object, message_of, plain
from tui.core.secrets.redact import Redactor
from tui.core.secrets.walk import without_secrets

SECRET = "a-configured-secret-x9"
clear = Redactor({"KEY": SECRET}).redact


@given(messages())
def test_any_message_survives_a_round_trip(message: Message):
    assert message_of(json.loads(dumps(message_object(message)))) == message


@given(st.floats(0, 1e9), st.floats(0, 1e9), st.builds(Usage, st.integers(0, 2**50), st.integers(0, 9)))
def test_times_and_usage_survive_a_round_trip(seconds: float, thought: float, usage: Usage):
    for message in (
        AssistantMessage("a", seconds=seconds, thought=thought, usage=usage),
        ToolMessage("c1", "a__b", "r", seconds=seconds, why="denied"),
    ):
        found = message_of(json.loads(dumps(message_object(message))))
        assert repr(found) == repr(message)  # equality ignores times and usage


@given(messages())
def test_json_is_ascii_so_that_lone_surrogates_can_be_stored(message: Message):
    assert dumps(message_object(message)).isascii()


@given(any_json)
def test_any_value_is_a_message_or_rejected_with_a_reason(found):
    try:
        message_of(found)
    except ValueError as error:
        assert str(error)


FIELDS = "text calls attachments echo partial is_error kept call_id name seconds thought usage why at"


@given(
    st.sampled_from(["user", "assistant", "tool"]), st.dictionaries(st.sampled_from(FIELDS.split()), any_json)
)
def test_a_message_with_fields_of_any_type_is_read_or_rejected(role, fields):
    try:
        message = message_of({**fields, "role": role})
    except ValueError as error:
        assert "not an object" in str(error)
    else:
        assert isinstance(message.text, str)


def test_fields_of_a_later_version_are_ignored_but_an_unknown_role_is_rejected():
    assert message_of({"v": 9, "role": "user", "text": "hi", "mood": "good"}) == UserMessage("hi")
    with pytest.raises(ValueError, match='"role" is "system"'):
        message_of({"role": "system"})


def test_values_that_json_cannot_hold_become_null():
    nested: list = []
    for _ in range(3000):
        nested = [nested]
    echo = {"nan": float("nan"), "huge": 10**5000, "odd": object(), "deep": nested}
    found = json.loads(dumps(message_object(AssistantMessage("x", echo=echo))))["echo"]
    assert (found["nan"], found["huge"], found["odd"]) == (None, None, None)
    assert found["deep"] is not None
    assert json.loads(dumps(plain([10**1000]))) == [10**1000]


@each_case(
    "message",
    [
        UserMessage(f"my key is {SECRET}"),
        UserMessage("", (Attachment("text", "text/plain", "notes", 9, f"key {SECRET}"),)),
        UserMessage("", (Attachment("text", "text/plain", f"file-{SECRET}", 9, ""),)),
        UserMessage("", (Attachment("blob", "x/y", "b", 9, base64.b64encode(SECRET.encode()).decode()),)),
        AssistantMessage(f"it is {SECRET}", f"I see {SECRET}"),
        AssistantMessage(calls=(CallRequest("c", "n", json.dumps({"token": SECRET})),)),
        AssistantMessage(calls=(CallRequest("c", "n", "{}", extra={"deep": [SECRET]}),)),
        AssistantMessage("x", echo={SECRET: 1}),
        ToolMessage("c", "n", f"env: {SECRET}"),
    ],
)
def test_secrets_are_removed_from_every_part(message: Message):
    stored = dumps(message_object(without_secrets(message, clear)))
    assert SECRET not in stored
    assert base64.b64encode(SECRET.encode()).decode() not in stored


def test_arguments_remain_valid_json_when_a_secret_is_removed():
    secret = 'quo"ted-secret'
    call = CallRequest("c", "n", json.dumps({"token": secret, "n": 1}))
    stored = message_object(
        without_secrets(AssistantMessage(calls=(call,)), Redactor({"KEY": secret}).redact)
    )
    assert json.loads(stored["calls"][0]["arguments"]) == {"token": "[redacted:KEY]", "n": 1}


def test_an_image_without_secrets_is_unchanged():
    data = base64.b64encode(bytes(range(256)) * 40).decode()
    one = UserMessage("look", (Attachment("image", "image/png", "p.png", 10240, data),))
    assert message_of(message_object(without_secrets(one, clear))) == one


def test_default_values_are_not_stored():
    assert message_object(AssistantMessage("hi")) == {"v": 1, "role": "assistant", "text": "hi"}
    assert message_object(AssistantMessage(calls=(CALL,)))["calls"] == [
        {"id": "c1", "name": "weather__get", "arguments": '{"city": "Beijing"}'}
    ]
