"""What is learned from a rejection, how it is used, and how it is stored."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tui.core.schemas.schema_forms import SchemaForm
from tui.model.endpoints.learned_quirks import Learned
from tui.model.endpoints.provider_traits import Echo, Traits

SENT = tuple("model messages stream_options temperature max_tokens tools stop images audio".split())
TOOLS = ("a__one", "a__two")


def test_a_tool_is_rejected_by_its_name_or_its_place() -> None:
    for words, key in (("Invalid schema for function 'a__two'", 1), ("tools[0].function.parameters: bad", 0)):
        known = Learned()
        assert known.take_refusal(400, words, SENT, TOOLS)
        assert known == Learned(strict_tools={TOOLS[key]}) and known.facts


@each_case(
    ("status", "words"),
    [
        (400, "bad request"),
        (500, "stream_options"),
        (400, "a__one and a__two"),
        (400, "tools[7]"),
        (400, "This model's maximum context length is 8192 tokens"),
        (429, "temperature"),
        (400, "Invalid image data: the picture is damaged"),
        (400, "The image is too large: 30 MB, the maximum is 20 MB"),
    ],
)
def test_other_rejections_teach_nothing(status: int, words: str) -> None:
    known = Learned()
    assert known.take_refusal(status, words, SENT, TOOLS) == ""
    assert known == Learned()


def test_a_parameter_that_was_not_sent_is_not_learned() -> None:
    known = Learned()
    assert known.take_refusal(400, "this model does not support image input", ("model",), ()) == ""
    assert known.take_refusal(400, "temperature is not supported", ("model",), ()) == ""


def test_a_tool_rejected_once_is_tried_again_and_not_remembered_as_rejected() -> None:
    known = Learned()
    words = "Invalid schema for function 'a__one'"
    for _ in range(2):
        known.take_refusal(400, words, SENT, ["a__one#1"])
    known.begin()
    assert known.left_out == set() and known.tool_marks == {"a__one": "simplified schema for this endpoint"}
    known.take_refusal(400, words, SENT, ["a__one#1"])
    known.begin()
    assert known.left_out == {"a__one#1"}
    assert Learned.from_json(json.loads(json.dumps(known.to_json()))) == Learned(strict_tools={"a__one#1"})


@pytest.mark.parametrize(
    "words",
    [
        "Failed to call a function. Please adjust your prompt. <function=a__one{}</function> tool_use_failed",
        "Tool call validation failed: parameters for tool a__one did not match schema: errors: [`/days`]",
        "attempted to call tool 'a__one' which was not in request.tools",
        "Failed to parse input at pos 0: <tool_call>a__one",
        "a__one could not be handled",
        "The function a__one is not what was asked for",
        "messages[3].tool_calls[0].function.name: a__one",
    ],
)
@pytest.mark.parametrize("schema", [SchemaForm.PLAIN, SchemaForm.GEMINI])
def test_a_rejection_that_merely_mentions_a_tool_teaches_nothing(words: str, schema: SchemaForm) -> None:
    known = Learned()
    assert known.take_refusal(400, words, SENT, TOOLS, Traits(schema=schema)) == ""
    assert known == Learned()


@pytest.mark.parametrize(
    "words",
    [
        "tools.0.function.name: String should have at most 1 characters",
        "Invalid 'tools[0].function.name': string too long. Expected a maximum length 1, but got 7",
        "tools: schema nesting depth exceeds the limit of 1",
    ],
)
def test_another_limit_is_not_a_limit_on_tools(words: str) -> None:
    known = Learned()
    known.take_refusal(400, words, SENT, TOOLS)
    assert known.max_tools == 0


def test_the_levels_of_effort_that_a_rejection_names_are_learned_and_stored() -> None:
    known, words = (
        Learned(),
        "'reasoning_effort' is invalid. Supported values are: 'low', 'medium', and 'high'.",
    )
    assert known.take_refusal(400, words, (*SENT, "reasoning_effort"), TOOLS)
    assert known == Learned(efforts={"low", "medium", "high"})
    assert Learned.from_json(json.loads(json.dumps(known.to_json()))) == known


def test_the_answer_format_is_given_up_in_steps() -> None:
    known, sent = Learned(), ("tools", "response_format", "answer schema")
    words = "json mode cannot be combined with tool/function calling"
    known.take_refusal(400, words, (*sent, "format with tools"), TOOLS)
    assert known == Learned(no_format_with_tools=True)
    for _ in range(2):
        known.take_refusal(400, "response_format is not supported", sent, TOOLS, known.applied(Traits()))
    assert known.answer_format == "json_object" and known.dropped == {"response_format"}


def test_a_property_named_like_a_parameter_is_not_a_parameter() -> None:
    known = Learned()
    words = "Invalid schema for function 'a__one': In context=('properties', 'temperature'), 'stop' is bad"
    assert known.take_refusal(400, words, SENT, TOOLS)
    assert known == Learned(strict_tools={"a__one"})


def test_for_google_the_index_of_a_tool_is_that_in_its_list() -> None:
    known = Learned()
    words = "Invalid value at 'tools[0].function_declarations[1].parameters': Cannot find field."
    known.take_refusal(400, words, SENT, TOOLS, Traits(schema=SchemaForm.GEMINI))
    assert known.left_out == {"a__two"}


def test_if_all_schemas_are_already_simple_a_rejected_tool_is_omitted_at_once() -> None:
    known = Learned()
    traits = Traits(schema=SchemaForm.GEMINI)
    assert "without this tool" in known.take_refusal(400, "schema of a__one is invalid", SENT, TOOLS, traits)


def test_a_tool_schema_that_cannot_be_parsed_is_not_a_call_that_cannot_be_parsed() -> None:
    known = Learned()
    assert known.take_refusal(400, "Failed to parse tool schema of a__one", SENT, TOOLS)
    assert known == Learned(strict_tools={"a__one"})


def test_learned_facts_change_the_request() -> None:
    known = Learned(dropped={"stop"}, form="kimi", no_images=True, fill_reasoning=True, max_tools=5)
    asked = known.applied(Traits(refuses=frozenset({"stream_options"}), images=True))
    assert asked.refuses == {"stop", "stream_options"} and asked.schema is SchemaForm.KIMI
    assert asked.images is False and asked.reasoning is Echo.FILLED and asked.max_tools == 5
    assert Learned(no_echo=True).applied(Traits()).reasoning is Echo.NEVER


def test_the_longest_reply_is_stored_and_the_room_that_one_conversation_leaves_is_not() -> None:
    known = Learned()
    most = "max_tokens is too large: 32000. This model supports at most 4096 completion tokens"
    assert "4,096" in known.take_refusal(400, most, SENT, (), limit=32_000)
    assert known == Learned(max_reply=4096) == Learned.from_json(known.to_json())
    left = (
        "This model's maximum context length is 8192 tokens. However, you requested 11192 tokens (7192 in "
        "the messages, 4000 in the completion)."
    )
    assert "1,000" in known.take_refusal(400, left, SENT, (), limit=4000)
    assert known.to_json() == {"max_reply": 4096} and known.applied(Traits()).reply_room == 1000
    known.begin()
    assert known == Learned(max_reply=4096)


def test_a_reply_is_shortened_again_if_the_first_number_was_too_large() -> None:
    words = (
        "This model's maximum context length is 16384 tokens. However, you requested 8000 output tokens and "
        "your prompt contains at least 8385 input tokens, for a total of at least 16385 tokens."
    )
    known, limits = Learned(), [8000]
    while known.take_refusal(400, words.replace("8000", str(limits[-1])), SENT, (), limit=limits[-1]):
        limits.append(known.reply_room)
    assert limits == [8000, 4000, 2000, 1000, 500]


def test_what_may_change_by_the_next_run_is_not_stored() -> None:
    assert Learned(no_stream=True, plain_json=True, thinking_first=True).to_json() == {}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4) | st.sampled_from(["stop", "kimi"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from(list(Learned.__dataclass_fields__)), JSON) | JSON)
def test_no_stored_value_makes_a_request_impossible(kept: Any) -> None:
    known = Learned.from_json(kept)
    asked = known.applied(Traits())
    assert not asked.refuses & {"model", "messages", "tools", "stream"} and asked.max_tools > 0
    assert all(known.facts)


@pytest.mark.parametrize(
    ("words", "learned"),
    [
        (
            "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. "
            "When `thinking` is enabled, a final `assistant` message must start with a thinking block",
            "required",
        ),
        ("messages.1.content.0: Invalid `signature` in `thinking` block", "refused"),
        (
            "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.",
            "refused",
        ),
    ],
)
def test_thinking_blocks_that_are_missing_or_invalid_are_learned_apart_from_parameters(
    words: str, learned: str
) -> None:
    known = Learned()
    assert known.take_refusal(400, words, (*SENT, "reasoning_effort", "thinking"), TOOLS)
    assert known == Learned(thinking_blocks=learned)
    known.begin()
    assert known.thinking_blocks == Learned.from_json(known.to_json()).thinking_blocks == "required"
