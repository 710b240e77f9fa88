"""Sampling requests become model requests, and replies become results."""

import base64
import json
import re
import time
from typing import Any

import pytest

from tests.cases import each_case
from tests.media import png
from tui.core.context.sampling_messages import BadSampling, SampledReply, max_tokens_of, model_request
from tui.core.conversation.conversation import AssistantMessage, CallRequest, ToolMessage, UserMessage
from tui.core.ports import ReplyPart, TextPart, Usage

HELLO = {"role": "user", "content": {"type": "text", "text": "Hello"}}


def request(**params: Any) -> Any:
    return model_request({"messages": [HELLO], **params}, max_tokens=50)[0]


def test_messages_limits_and_the_system_prompt_are_passed_to_the_model() -> None:
    found = request(systemPrompt="Be brief.", temperature=0.5, stopSequences=["END", 5, ""])
    assert found.messages == [UserMessage("Hello")]
    assert (found.system, found.max_tokens, found.temperature, found.stop) == ("Be brief.", 50, 0.5, ("END",))
    found = request(includeContext="allServers")
    assert (found.system, found.tools, len(found.messages)) == ("", (), 1)


def test_images_and_audio_are_attached_with_the_type_of_their_bytes() -> None:
    lines = base64.encodebytes(png()).decode()
    content = [
        {"type": "text", "text": "Look"},
        {"type": "image", "data": lines, "mimeType": "image/jpeg; charset=binary"},
        {"type": "audio", "data": "", "mimeType": "audio/wav"},
    ]
    [message] = request(messages=[{"role": "user", "content": content}]).messages
    seen = [(one.kind, one.mime, one.data) for one in message.attachments]
    assert seen == [("image", "image/png", lines.replace("\n", "")), ("audio", "audio/wav", "")]


def test_tool_use_and_results_become_calls_and_tool_messages() -> None:
    use = {"type": "tool_use", "id": "c1", "name": "get.weather", "input": {"city": "Bern"}}
    done = {"type": "tool_result", "toolUseId": "c1", "content": [{"type": "text", "text": "rain"}]}
    found = request(
        messages=[HELLO, {"role": "assistant", "content": [use]}, {"role": "user", "content": [done]}],
        tools=[{"name": "get.weather", "inputSchema": {"type": "object"}}],
        toolChoice={"mode": "required"},
    )
    assert found.messages == [
        UserMessage("Hello"),
        AssistantMessage(calls=(CallRequest("c1", "get_weather", '{"city": "Bern"}'),)),
        ToolMessage("c1", "get_weather", "rain"),
    ]
    assert [tool.name for tool in found.tools] == ["get_weather"] and found.must_call
    assert request(tools=[{"name": "a"}], toolChoice={"mode": "none"}).tools == ()


@each_case(
    ("params", "problem"),
    [
        ({"messages": []}, "messages must be an array"),
        ({"messages": [{"role": "system"}]}, r"messages\[0\].role must be user or assistant"),
        ({"messages": [{"role": "user", "content": {"type": "video"}}]}, "unknown type: video"),
        ({"messages": [HELLO] * 201}, "201 messages"),
        ({"tools": "all"}, "tools must be an array"),
        ({"tools": [{}]}, r"tools\[0\].name must be a string"),
        ({"tools": [{"name": "a.b"}, {"name": "a.b"}]}, r"tools\[1\].name is not unique: a.b"),
        (
            {"tools": [{"name": "t", "inputSchema": {"properties": {"a\u200b": {}}}}]},
            r"tools\[0\].inputSchema is invalid \(invisible characters",
        ),
    ],
)
def test_malformed_parameters_are_reported_with_their_path(params: dict[str, Any], problem: str) -> None:
    with pytest.raises(BadSampling, match=problem):
        request(**params)


@each_case("wanted", [None, 0, -5, True, "10"])
def test_an_invalid_limit_is_rejected(wanted: Any) -> None:
    with pytest.raises(BadSampling, match="maxTokens must be a positive number"):
        max_tokens_of({"maxTokens": wanted})


def test_text_becomes_the_result() -> None:
    reply = SampledReply("qwen3", 100)
    reply.take(TextPart(" Hello "))
    reply.take(ReplyPart(usage=Usage(10, 5)))
    assert reply.result() == {
        "role": "assistant",
        "content": {"type": "text", "text": "Hello"},
        "model": "qwen3",
        "stopReason": "endTurn",
    }
    assert reply.tokens.usage(request()) == Usage(10, 5)


def test_calls_are_returned_under_their_original_names() -> None:
    reply = SampledReply("qwen3", 100, True, {"get_weather": "get.weather"})
    whole, cut = CallRequest("c1", "get_weather", '{"city": "Bern"}'), CallRequest("c2", "x", "{", True)
    reply.take(ReplyPart((whole, cut), finish="tool_calls"))
    use = {"type": "tool_use", "id": "c1", "name": "get.weather", "input": {"city": "Bern"}}
    assert reply.result()["stopReason"] == "toolUse" and reply.result()["content"] == [use]


def test_a_reply_is_truncated_at_the_limit_even_if_the_endpoint_ignores_it() -> None:
    reply = SampledReply("qwen3", 10)
    assert reply.take(TextPart("word "))
    assert not reply.take(TextPart("word " * 100))
    assert reply.result()["stopReason"] == "maxTokens"


LIKE_ALIKE = ("files.delete", "files_delete", "files/delete", "1", "_1", *("x" * 70 + y for y in "ab字文"))


def test_tools_with_similar_names_get_names_of_their_own() -> None:
    tools = [{"name": name, "inputSchema": {"type": "object"}} for name in LIKE_ALIKE]
    for listed in (tools, tools[::-1]):
        found, names, _ = model_request({"messages": [HELLO], "tools": listed}, max_tokens=5)
        assert {names[tool.name] for tool in found.tools} == set(LIKE_ALIKE)
        assert all(re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}", tool.name) for tool in found.tools)
        assert names["files_delete"] == "files_delete"


@each_case("given", [[1, 2], "text", 7, True, 0, "", False, []])
def test_arguments_of_an_earlier_call_must_be_an_object(given: Any) -> None:
    use = {"type": "tool_use", "id": "1", "name": "x", "input": given}
    with pytest.raises(BadSampling, match=r"messages\[1\].content: input of a tool_use must be an object"):
        model_request({"messages": [HELLO, {"role": "assistant", "content": [use]}]}, max_tokens=5)


@pytest.mark.parametrize("given", [None, {}, {"a": [1]}])
def test_an_earlier_call_may_have_no_arguments(given: Any) -> None:
    use = {"type": "tool_use", "id": "1", "name": "x", "input": given}
    result = {"type": "tool_result", "toolUseId": "1", "content": []}
    talk = [HELLO, {"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    said = model_request({"messages": talk}, max_tokens=5)[0].messages[1]
    assert isinstance(said, AssistantMessage) and json.loads(said.calls[0].arguments) == (given or {})


@each_case("written", ["[1, 2]", "7", '"text"', "null", "{", "[" * 100_000])
def test_a_call_whose_arguments_are_not_an_object_is_not_passed_on(written: str) -> None:
    reply = SampledReply("m", 100, True)
    reply.take(ReplyPart((CallRequest("1", "x", written), CallRequest("2", "y", " "))))
    assert [use["name"] for use in reply.result()["content"]] == ["y"]
    assert reply.result()["content"][0]["input"] == {}


def test_the_time_for_a_piece_does_not_grow_with_the_reply() -> None:
    reply, piece = SampledReply("m", 10**9), TextPart("字字")
    began = time.process_time()
    for _ in range(200_000):
        reply.take(piece)
    assert time.process_time() - began < 10 and len(reply.text) == 400_000


def test_invisible_characters_from_a_server_never_reach_the_model():
    bad = "\u200b\u2063\u202e\x1b[8m\U000e0041"
    schema = {"type": "object", "properties": {"a": {"default": [bad], "x-note": bad}}}
    result = {"type": "tool_result", "toolUseId": "1", "structuredContent": {"k": bad}}
    params = {
        "systemPrompt": f"s{bad}",
        "messages": [
            {"role": "user", "content": {"type": "text", "text": f"u{bad}"}},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "t", "input": {}}]},
            {"role": "user", "content": [result]},
        ],
        "tools": [{"name": "t", "description": bad, "inputSchema": schema}],
    }
    request, _, _ = model_request(params, max_tokens=9)
    assert not set(str(request)) & set("\u200b\u2063\u202e\x1b\U000e0041")
    assert request.system == "s␛[8m" and "\\x1b" not in str(request)
