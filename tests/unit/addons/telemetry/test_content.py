"""What requests and replies say, in the form of the conventions."""

import json
from typing import Any

from tui.addons.telemetry.content import (
    MAX_MESSAGES,
    TEXT_CHARS,
    answer_in,
    facts_in,
    messages_in,
    read_reply,
    settings_in,
)


def sent(*messages: Any) -> Any:
    return json.loads(str(messages_in({"messages": list(messages)})["gen_ai.input.messages"]))


def test_messages_have_roles_and_parts():
    function = {"name": "echo", "arguments": '{"a":1}'}
    assert sent(
        {"role": "user", "content": [{"type": "text", "text": "Hi"}, {"type": "image_url"}]},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "function": function}]},
        {"role": "tool", "tool_call_id": "c", "content": "done"},
    ) == [
        {"role": "user", "parts": [{"type": "text", "content": "Hi"}]},
        {
            "role": "assistant",
            "parts": [{"type": "tool_call", "id": "c", "name": "echo", "arguments": {"a": 1}}],
        },
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c", "response": "done"}]},
    ]


def test_the_system_prompt_has_an_attribute_of_its_own():
    request = {"messages": [{"role": "system", "content": "Be brief."}]}
    assert json.loads(str(messages_in(request)["gen_ai.system_instructions"])) == [
        {"type": "text", "content": "Be brief."}
    ]


def test_only_the_last_messages_are_kept_and_long_texts_are_cut():
    found = sent(*({"role": "user", "content": "x" * (TEXT_CHARS + 1)} for _ in range(MAX_MESSAGES + 1)))
    assert len(found) == MAX_MESSAGES
    assert found[0]["parts"][0]["content"] == "x" * TEXT_CHARS + "…"


def test_the_settings_of_a_request_have_the_names_of_the_conventions():
    request = {
        "temperature": 1,
        "max_completion_tokens": 9,
        "seed": 7,
        "reasoning_effort": "low",
        "stream": True,
    }
    assert settings_in(request) == {
        "gen_ai.request.temperature": 1.0,
        "gen_ai.request.max_tokens": 9,
        "gen_ai.request.seed": 7,
        "gen_ai.request.reasoning.level": "low",
        "gen_ai.request.stream": True,
    }


def test_what_is_not_as_expected_is_left_out():
    assert messages_in({"messages": {"role": 1}}) == {}
    assert settings_in({"temperature": "hot", "seed": [], "max_tokens": -1, "stream": 1}) == {}
    assert facts_in({"usage": [], "id": 7, "finish_reason": {}}) == {}
    assert answer_in(read_reply(b"[1]")) == {}
    assert answer_in(read_reply(b'{"choices": [7]}')) == {}


def test_an_answer_has_its_calls():
    body = {"choices": [{"message": {"tool_calls": [{"function": {"name": "echo", "arguments": "{}"}}]}}]}
    (said,) = json.loads(str(answer_in(read_reply(json.dumps(body).encode()))["gen_ai.output.messages"]))
    assert said["parts"] == [{"type": "tool_call", "id": None, "name": "echo", "arguments": {}}]
