"""Sampling, reasoning, caching and the format of the answer in a request."""

import json
from typing import Any

import pytest

from tui.core.conversation.conversation import AssistantMessage, CallRequest, ToolMessage, UserMessage
from tui.core.ports import ModelRequest, ToolSpec
from tui.model.endpoints.learned_quirks import Learned
from tui.model.endpoints.profile import ModelProfile
from tui.model.openai_api.request import body_for, is_strict

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


def test_the_profile_options_are_sent() -> None:
    sent = body(top_p=0.9, seed=7, stop=("END",), extra_body={"service_tier": "flex", "top_p": 0.5})
    assert (sent["top_p"], sent["seed"], sent["stop"]) == (0.5, 7, ["END"])
    assert sent["service_tier"] == "flex"


def test_stop_texts_of_the_dialect_come_first_and_at_most_four_are_sent() -> None:
    request = ModelRequest("", [UserMessage("hi")], stop=("a", "b"))
    assert body(request, stop=("b", "c", "d", "e"))["stop"] == ["a", "b", "c", "d"]


def test_optional_parameters_are_not_sent_unless_configured() -> None:
    assert body(base_url="http://127.0.0.1:1/v1").keys() == {"model", "messages", "stream", "stream_options"}


def test_reasoning_effort_uses_the_field_of_the_provider_or_of_local_templates() -> None:
    assert body(effort="high")["reasoning_effort"] == "high"
    local = body(base_url="http://127.0.0.1:8000/v1", effort="none")
    assert local["chat_template_kwargs"] == {"enable_thinking": False}
    assert "chat_template_kwargs" not in body(base_url="http://127.0.0.1:11434/v1", effort="none")


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
    assert is_strict({"type": "array", "items": CLOSED}) and not is_strict({"type": "array", "items": SCHEMA})
