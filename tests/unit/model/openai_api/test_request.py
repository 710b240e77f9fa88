"""The request for a conversation."""

import base64
import json
import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tests.media import png
from tui.core.conversation.conversation import (
    AssistantMessage,
    Attachment,
    CallRequest,
    Message,
    ToolMessage,
    UserMessage,
)
from tui.core.ports import ModelRequest, ToolSpec
from tui.model.endpoints.learned_quirks import Learned
from tui.model.endpoints.profile import ModelProfile
from tui.model.openai_api.call_slots import sendable
from tui.model.openai_api.request import body_for, is_strict, plain_json

THOUGHT = {"reasoning_content": "hm", "reasoning_details": [{"type": "reasoning.encrypted", "data": "x"}]}


def profile(model: str = "m", **fields: Any) -> ModelProfile:
    return ModelProfile("test", "http://host/v1", model, **fields)


def sent(*messages: Message, model: str = "m", learned: Learned | None = None) -> list[dict[str, Any]]:
    return body_for(profile(model), ModelRequest("", messages), learned or Learned())["messages"]


def call(identity: str = "c1", arguments: str = "{}") -> CallRequest:
    return CallRequest(identity, "a__b", arguments)


def test_calls_and_results_are_sent_in_the_native_format() -> None:
    messages = sent(UserMessage("q"), AssistantMessage("", calls=(call(),)), ToolMessage("c1", "a__b", "r"))
    function = {"name": "a__b", "arguments": "{}"}
    assert messages[1:] == [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "r"},
    ]


def test_a_call_without_a_result_gets_one() -> None:
    messages = sent(UserMessage("q"), AssistantMessage("", calls=(call(),)))
    assert [message["role"] for message in messages] == ["user", "assistant", "tool"]


@each_case("arguments", ['{"a', "[1]", "", '"{}"', "null", '{"a": NaN}', "9" * 5000])
def test_arguments_that_are_not_an_object_are_sent_back_as_an_empty_one(arguments: str) -> None:
    (_, message, _) = sent(UserMessage("q"), AssistantMessage("", calls=(call(arguments=arguments),)))
    assert message["tool_calls"][0]["function"]["arguments"] == "{}"


def test_thinking_is_sent_back_within_the_turn_and_not_afterwards() -> None:
    said = AssistantMessage("", calls=(call(),), model="m", echo=THOUGHT)
    turn = (UserMessage("q"), said, ToolMessage("c1", "a__b", "r"))
    assert sent(*turn)[1]["reasoning_content"] == "hm"
    later = sent(*turn, AssistantMessage("done", model="m"), UserMessage("next"))
    assert "reasoning_content" not in later[1] and "reasoning_details" in later[1]


def test_a_note_by_the_loop_does_not_end_the_turn() -> None:
    said = AssistantMessage("", calls=(call(),), model="m", echo=THOUGHT)
    messages = sent(UserMessage("q"), said, ToolMessage("c1", "a__b", "r"), UserMessage("no more calls"))
    assert messages[1]["reasoning_content"] == "hm"


def test_fields_of_one_provider_are_not_sent_to_another() -> None:
    signed = CallRequest("c1", "a__b", "{}", extra={"google": {"thought_signature": "s"}})
    said = AssistantMessage("", calls=(signed,), model="other", echo=THOUGHT)
    text = json.dumps(sent(UserMessage("q"), said, ToolMessage("c1", "a__b", "r")))
    assert "thought_signature" not in text and "reasoning" not in text


def test_a_model_that_requires_thinking_on_every_message_gets_a_placeholder() -> None:
    mine = AssistantMessage("a", model="deepseek-v4-flash", echo=THOUGHT)
    empty = AssistantMessage("d", model="deepseek-v4-flash", echo={"reasoning_content": ""})
    other = AssistantMessage("b", model="other", reasoning="because", echo=THOUGHT)
    plain = AssistantMessage("c", model="deepseek-v4-flash")
    said = [part for one in (mine, other, plain, empty) for part in (UserMessage("q"), one)]
    messages = sent(*said, UserMessage("next"), model="deepseek-v4-flash")
    assert [one["reasoning_content"] for one in messages[1:8:2]] == ["hm", "because", ".", "."]
    assert "reasoning_details" not in messages[3]


def test_a_provider_without_fields_of_its_own_gets_none_back() -> None:
    signed = CallRequest("c1", "a__b", "{}", extra={"google": {"thought_signature": "s"}})
    said = AssistantMessage("", calls=(signed,), model="m", echo=THOUGHT | {"extra_content": {"x": 1}})
    request = ModelRequest("", [UserMessage("q"), said, ToolMessage("c1", "a__b", "r")])
    mistral = ModelProfile("test", "https://api.mistral.ai/v1", "m")
    assert body_for(mistral, request, Learned())["messages"][1].keys() == {"role", "content", "tool_calls"}
    elsewhere = body_for(profile(), request, Learned())["messages"][1]
    assert elsewhere.keys() > {"reasoning_content", "reasoning_details", "extra_content"}


@pytest.mark.parametrize(
    ("url", "model", "names"),
    [
        (
            "https://api.openai.com/v1",
            "o4-mini",
            {"max_completion_tokens", "stream_options", "temperature", "prompt_cache_key"},
        ),
        ("https://api.mistral.ai/v1", "m", {"max_tokens", "stop", "temperature"}),
        ("http://host/v1", "m", {"max_tokens", "stop", "temperature", "stream_options"}),
    ],
)
def test_parameters_that_a_provider_is_known_to_reject_are_not_sent(
    url: str, model: str, names: set[str]
) -> None:
    asked = ModelProfile("test", url, model, temperature=0.5, max_tokens=9)
    body = body_for(asked, ModelRequest("", [UserMessage("q")], stop=("END",)), Learned())
    assert body.keys() - {"model", "messages", "stream"} == names


def test_an_endpoint_that_requires_tools_with_calls_gets_the_called_ones() -> None:
    turn = [UserMessage("q"), AssistantMessage("", calls=(call(),)), ToolMessage("c1", "a__b", "r")]
    body = body_for(profile(), ModelRequest("", turn), Learned(needs_tools=True))
    assert [tool["function"]["name"] for tool in body["tools"]] == ["a__b"]
    assert body["tool_choice"] == "none"
    assert "tools" not in body_for(profile(), ModelRequest("", turn[:1]), Learned(needs_tools=True))


ANY = st.text(st.characters(codec=None), max_size=20)
MESSAGES = st.one_of(
    ANY.map(UserMessage),
    st.builds(ToolMessage, ANY, ANY, ANY),
    st.builds(
        AssistantMessage,
        text=ANY,
        calls=st.lists(st.builds(CallRequest, ANY, ANY, ANY), max_size=3).map(tuple),
    ),
)


def test_unanswered_user_messages_are_joined_with_the_next_one() -> None:
    written = sent(UserMessage("one"), UserMessage("two"), AssistantMessage("yes"), UserMessage("three"))
    assert [(one["role"], one["content"]) for one in written] == [
        ("user", "one\n\ntwo"), ("assistant", "yes"), ("user", "three"),
    ]  # fmt: skip


PICTURE = Attachment("image", "image/png", "p.png", len(png()), base64.b64encode(png()).decode())


def texts(content: Any) -> list[str]:
    """Return all text of a message's content."""
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
    return [part["text"] for part in parts if part["type"] == "text"]


def test_an_unanswered_user_message_with_an_image_is_joined_too() -> None:
    (written,) = sent(UserMessage("one"), UserMessage("two", (PICTURE,)), UserMessage("three"))
    assert [part["type"] for part in written["content"]] == ["text", "text", "image_url", "text"]
    assert texts(written["content"])[0] == "one" and texts(written["content"])[-1] == "three"


def test_a_steering_message_after_images_of_a_result_is_joined_with_them() -> None:
    result = ToolMessage("c1", "a__b", "r", attachments=(PICTURE,))
    body = sent(UserMessage("q"), AssistantMessage(calls=(call(),)), result, UserMessage("be brief"))
    assert [one["role"] for one in body] == ["user", "assistant", "tool", "user"]
    assert texts(body[-1]["content"])[-1] == "be brief"


WITH_PICTURES = st.one_of(
    MESSAGES,
    ANY.map(lambda text: UserMessage(text, (PICTURE,))),
    ANY.map(lambda text: AssistantMessage(text, calls=(call(),))),
    st.just(ToolMessage("c1", "a__b", "r", attachments=(PICTURE,))),
)


@given(st.lists(WITH_PICTURES, max_size=8), st.sampled_from(["m", "mistral-x"]))
def test_user_messages_are_never_adjacent_and_no_text_is_lost(messages: list[Message], model: str) -> None:
    before = list(messages)
    body = sent(*messages, model=model)
    assert messages == before
    roles = [one["role"] for one in body]
    assert ("user", "user") not in pairwise(roles)
    whole = "\0".join(text for one in body if one["role"] == "user" for text in texts(one["content"]))
    at = 0
    for message in messages:
        if isinstance(message, UserMessage):
            said = sendable(message.text)
            at = whole.index(said, at) + len(said)


def test_without_a_system_role_the_system_text_begins_the_first_user_message() -> None:
    for files in ((), (PICTURE,)):
        request = ModelRequest("be brief", [UserMessage("q", files), AssistantMessage("a"), UserMessage("q")])
        body = body_for(profile(), request, Learned(no_system=True))["messages"]
        assert [one["role"] for one in body] == ["user", "assistant", "user"]
        assert texts(body[0]["content"])[0].startswith("be brief") and body[2]["content"] == "q"
        assert isinstance(body[0]["content"], str) or body[0]["content"][-1]["type"] == "image_url"


OPENAI = "https://api.openai.com/v1"
SCHEMA: dict[str, Any] = {"type": "object", "properties": {"n": {"type": "integer"}}}
CLOSED = {**SCHEMA, "required": ["n"], "additionalProperties": False}
TOOL = ToolSpec("t", "", {"type": "object", "properties": {}})
ASK = ModelRequest("be brief", [UserMessage("hi")])


def body(
    request: ModelRequest = ASK, base_url: str = OPENAI, model: str = "m", **fields: Any
) -> dict[str, Any]:
    learned = fields.pop("learned", Learned())
    return body_for(ModelProfile("p", base_url, model, **fields), request, learned)


LOCAL = "http://127.0.0.1:8000/v1"
OLLAMA = "http://127.0.0.1:11434/v1"
SHORT = replace(ASK, max_tokens=50, temperature=0.1)


@each_case(
    ("request_", "base_url", "fields", "sent"),
    [
        (SHORT, LOCAL, {"max_tokens": 9000, "temperature": 0.5}, {"max_tokens": 50, "temperature": 0.1}),
        (SHORT, LOCAL, {"max_tokens": 9}, {"max_tokens": 9}),
        (replace(ASK, tools=[TOOL], must_call=True), LOCAL, {}, {"tool_choice": "required"}),
        (ASK, LOCAL, {"learned": Learned(no_stream=True)}, {"stream": False, "stream_options": None}),
        (ASK, LOCAL, {"extra_body": {"stream": False}}, {"stream": False, "stream_options": None}),
        (ASK, LOCAL, {"learned": Learned(max_reply=4096), "max_tokens": 32_000}, {"max_tokens": 4096}),
        (ASK, LOCAL, {"learned": Learned(max_reply=4096)}, {"max_tokens": None}),
        (ASK, LOCAL, {"learned": Learned(reply_room=700)}, {"max_tokens": 700}),
        (
            ASK,
            OPENAI,
            {"top_p": 0.9, "seed": 7, "stop": ("END",)},
            {"top_p": 0.9, "seed": 7, "stop": ["END"]},
        ),
        (ASK, OPENAI, {"top_p": 0.9, "extra_body": {"top_p": 0.5, "x": "y"}}, {"top_p": 0.5, "x": "y"}),
        (replace(ASK, stop=("a", "b")), LOCAL, {"stop": (*"bcde",)}, {"stop": [*"abcd"]}),
        (ASK, OPENAI, {"effort": "high"}, {"reasoning_effort": "high"}),
        (ASK, LOCAL, {"effort": "none"}, {"chat_template_kwargs": {"enable_thinking": False}}),
        (ASK, OLLAMA, {"effort": "none"}, {"chat_template_kwargs": None}),
        (ASK, LOCAL, {}, dict.fromkeys(("temperature", "top_p", "seed", "stop", "max_tokens", "tools"))),
    ],
)
def test_a_request_has_these_fields(
    request_: ModelRequest, base_url: str, fields: dict[str, Any], sent: dict[str, Any]
) -> None:
    """None stands for a field that is not sent."""
    found = body(request_, base_url, **fields)
    assert {name: found.get(name) for name in sent} == sent


def test_a_conversation_has_one_cache_key_if_the_provider_supports_it() -> None:
    later = ModelRequest("be brief", [*ASK.messages, AssistantMessage("Hello."), UserMessage("more")])
    other = ModelRequest("be brief", [UserMessage("other")])
    assert body()["prompt_cache_key"] == body(later)["prompt_cache_key"] != body(other)["prompt_cache_key"]
    assert "prompt_cache_key" not in body(base_url="https://api.groq.com/openai/v1")


def test_claude_behind_a_gateway_gets_cache_marks_on_texts_but_not_on_tool_results() -> None:
    call = CallRequest("c", "t", "{}")
    talk = ModelRequest(
        "be brief",
        [
            UserMessage("one"),
            AssistantMessage("two"),
            UserMessage("three"),
            AssistantMessage(calls=(call,)),
            ToolMessage("c", "t", "result"),
        ],
        [TOOL],
    )
    sent = body(talk, "https://openrouter.ai/api/v1", "anthropic/claude-sonnet-4.5")["messages"]
    marked = [one["content"][0]["text"] for one in sent if isinstance(one["content"], list)]
    assert marked == ["be brief", "two", "three"]
    assert sent[0]["content"][0]["cache_control"] == {"type": "ephemeral"}
    assert json.dumps(sent).count("cache_control") == 3
    refused = Learned(dropped={"cache_control"})
    for one in (
        body(talk, "https://openrouter.ai/api/v1", "anthropic/claude", learned=refused),
        body(talk, "https://api.anthropic.com/v1", "claude-sonnet-4-5"),
        body(talk, OPENAI, "gpt-5.1"),
    ):
        assert "cache_control" not in json.dumps(one)


def test_the_answer_format_is_sent_as_the_endpoint_supports_it() -> None:
    request = ModelRequest("", [UserMessage("hi")], answer_schema=SCHEMA)
    described = body(request)["response_format"]
    assert described == {"type": "json_schema", "json_schema": {"name": "answer", "schema": SCHEMA}}
    assert body(request, "https://api.deepseek.com/v1")["response_format"] == {"type": "json_object"}
    assert "response_format" not in body(request, learned=Learned(dropped={"response_format"}))


@pytest.mark.parametrize(
    ("base_url", "learned", "sent"),
    [
        (OPENAI, Learned(), True),
        (OPENAI, Learned(no_format_with_tools=True), False),
        ("https://api.groq.com/openai/v1", Learned(), False),
        ("http://127.0.0.1:8000/v1", Learned(), False),
    ],
)
def test_with_tools_the_answer_format_is_sent_only_where_it_does_no_harm(
    base_url: str, learned: Learned, sent: bool
) -> None:
    request = ModelRequest("", [UserMessage("hi")], [TOOL], answer_schema=SCHEMA)
    assert ("response_format" in body(request, base_url, learned=learned)) is sent


def test_a_closed_schema_is_strict() -> None:
    request = ModelRequest("", [UserMessage("hi")], answer_schema=CLOSED)
    assert body(request)["response_format"]["json_schema"]["strict"] is True
    nested = {**CLOSED, "properties": {"n": SCHEMA}}
    assert is_strict(CLOSED) and not is_strict(SCHEMA) and not is_strict(nested)
    assert is_strict({**CLOSED, "example": SCHEMA}) and not is_strict({**CLOSED, "$defs": {"title": SCHEMA}})
    assert is_strict({"type": "array", "items": CLOSED}) and not is_strict({"type": "array", "items": SCHEMA})


def test_adjacent_surrogate_halves_are_joined_and_lone_ones_replaced() -> None:
    assert sendable("a\ud83d\ude00b\ud83d") == "a😀b\ufffd"


def test_numbers_that_json_lacks_become_null() -> None:
    value = plain_json({"a": [math.inf, -math.inf, math.nan, 1.5, 2], "b": True})
    assert value == {"a": [None, None, None, 1.5, 2], "b": True}
    json.dumps(value, allow_nan=False)
