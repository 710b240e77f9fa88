"""Fields that a provider wants back with the next request."""

import time
from typing import Any

import pytest

from tests.endpoint import chunk
from tests.streams import output_of
from tui.core.conversation.conversation import AssistantMessage, CallRequest, ToolMessage, UserMessage
from tui.core.errors import ModelError
from tui.core.ports import ModelRequest
from tui.model.endpoints.learned_quirks import Learned
from tui.model.endpoints.profile import ModelProfile
from tui.model.openai_api.accumulator import Accumulator, EchoedFields
from tui.model.openai_api.call_slots import MAX_ID
from tui.model.openai_api.request import body_for

SIGNED = "call_9f2c__thought__CiQB"


def call(identity: str = "c1", **fields: Any) -> dict[str, Any]:
    return {"index": 0, "id": identity, "function": {"name": "a__b", "arguments": "{}"}, **fields}


def answered(
    *deltas: dict[str, Any], model: str = "m", later: bool = False, thinking_blocks: str = ""
) -> dict[str, Any]:
    """Return the body of the request after a reply with these deltas."""
    heard = output_of(Accumulator(["a__b"]), [*(chunk(**delta) for delta in deltas), chunk("tool_calls")])
    assert heard.reply is not None
    said = AssistantMessage(
        heard.text, reasoning=heard.reasoning, calls=heard.reply.calls, model=model, echo=heard.reply.echo
    )
    messages = [UserMessage("q"), said, *(ToolMessage(one.id, one.name, "r") for one in heard.reply.calls)]
    if later:
        messages += [AssistantMessage("done", model=model), UserMessage("next")]
    profile = ModelProfile("test", "http://host/v1", model, effort="high")
    return body_for(profile, ModelRequest("", messages), Learned(thinking_blocks=thinking_blocks))


def assistant(*deltas: dict[str, Any], **options: Any) -> dict[str, Any]:
    found: dict[str, Any] = answered(*deltas, **options)["messages"][1]
    return found


@pytest.mark.parametrize("size", [300, 5_000, 200_000])
def test_a_call_id_with_a_signature_is_sent_back_unchanged(size: int) -> None:
    identity = SIGNED + "0123456789abcdef" * (size // 16)
    body = answered({"tool_calls": [call(identity)]})
    assert body["messages"][1]["tool_calls"][0]["id"] == body["messages"][2]["tool_call_id"] == identity


def test_ids_that_differ_only_at_their_end_belong_to_two_calls() -> None:
    begin = SIGNED + "A" * 5_000
    made = assistant({"tool_calls": [call(f"{begin}1"), call(f"{begin}2", index=1)]})["tool_calls"]
    assert [one["id"][-1] for one in made] == ["1", "2"]


def test_an_id_that_no_provider_makes_is_replaced() -> None:
    made = assistant({"tool_calls": [call("x" * (MAX_ID + 1))]})["tool_calls"]
    assert len(made[0]["id"]) < 100


def test_a_flood_of_long_ids_ends_the_reply() -> None:
    accumulator = Accumulator()
    with pytest.raises(ModelError, match="exceed"):
        for number in range(200):
            accumulator.feed(chunk(tool_calls=[call(f"{number}{'x' * 200_000}", index=number)]))


@pytest.mark.parametrize(
    "fields",
    [
        {"provider_specific_fields": {"thought_signature": "s"}},
        {"thought_signature": "s"},
        {"extra_content": {"google": {"thought_signature": "s"}}},
    ],
)
def test_a_signature_next_to_a_call_is_sent_back_where_it_was(fields: dict[str, Any]) -> None:
    made = assistant({"tool_calls": [call(**fields)]})["tool_calls"][0]
    assert {name: made[name] for name in fields} == fields


def test_of_litellms_own_fields_only_signatures_are_sent_back() -> None:
    fields = {"thought_signatures": ["s"], "citations": [1], "thinking_blocks": None}
    sent = assistant({"provider_specific_fields": fields}, {"tool_calls": [call()]})
    assert sent["provider_specific_fields"] == {"thought_signatures": ["s"]}


def test_an_opaque_text_of_the_message_is_sent_back() -> None:
    sent = assistant({"reasoning_text": "hm", "reasoning_opaque": "xyz"}, {"tool_calls": [call()]})
    assert (sent["reasoning_text"], sent["reasoning_opaque"]) == ("hm", "xyz")


BLOCKS: tuple[dict[str, Any], ...] = (
    {"reasoning_content": "I need", "thinking_blocks": [{"type": "thinking", "thinking": "I need"}]},
    {
        "reasoning_content": " it.",
        "thinking_blocks": [{"type": "thinking", "thinking": " it.", "signature": None}],
    },
    {"thinking_blocks": [{"type": "thinking", "thinking": "", "signature": "ErUB"}], "reasoning_content": ""},
    {"thinking_blocks": [{"type": "redacted_thinking", "data": "xx"}]},
    {"thinking_blocks": [{"type": "thinking", "thinking": "Now.", "signature": "ZZ"}]},
)


def test_thinking_blocks_are_joined_up_to_their_signature_and_sent_back() -> None:
    assert assistant(*BLOCKS, {"tool_calls": [call()]})["thinking_blocks"] == [
        {"type": "thinking", "thinking": "I need it.", "signature": "ErUB"},
        {"type": "redacted_thinking", "data": "xx"},
        {"type": "thinking", "thinking": "Now.", "signature": "ZZ"},
    ]


def test_thinking_that_comes_only_in_blocks_is_shown_once() -> None:
    block = {"thinking_blocks": [{"type": "thinking", "thinking": "hm", "signature": "s"}]}
    assert output_of(Accumulator(), [chunk(**block), chunk("stop", content="4")]).reasoning == "hm"
    assert (
        output_of(Accumulator(), [*(chunk(**one) for one in BLOCKS), chunk("stop")]).reasoning == "I need it."
    )


def test_where_thinking_blocks_are_missing_the_model_does_not_think() -> None:
    bare = {"tool_calls": [call()]}
    assert "reasoning_effort" in answered(bare)
    assert "reasoning_effort" not in answered(bare, thinking_blocks="required")
    assert "reasoning_effort" in answered(*BLOCKS, bare, thinking_blocks="required")
    assert "reasoning_effort" in answered(bare, later=True, thinking_blocks="required")


def test_thinking_blocks_that_were_rejected_are_not_sent_again() -> None:
    body = answered(*BLOCKS, {"tool_calls": [call()]}, thinking_blocks="refused")
    assert "reasoning_effort" not in body and "thinking_blocks" not in body["messages"][1]


THOUGHT = "<think>\nI need it.\n</think>\n\n"


@pytest.mark.parametrize("model", ["MiniMax-M2", "zai-org/GLM-4.6", "m"])
def test_thinking_in_tags_is_sent_back_in_them(model: str) -> None:
    sent = assistant({"content": f"{THOUGHT}Let me look."}, {"tool_calls": [call()]}, model=model)
    assert sent["content"] == f"{THOUGHT}Let me look."
    alone = assistant({"content": THOUGHT}, {"tool_calls": [call()]}, model=model)
    assert alone["content"] == THOUGHT


def test_thinking_in_tags_of_an_earlier_turn_is_sent_back_to_models_that_interleave() -> None:
    deltas: tuple[dict[str, Any], ...] = ({"content": f"{THOUGHT}Look."}, {"tool_calls": [call()]})
    assert assistant(*deltas, model="MiniMax-M2", later=True)["content"] == f"{THOUGHT}Look."
    assert assistant(*deltas, model="m", later=True)["content"] == "Look."


def test_a_tag_that_the_template_opened_is_completed() -> None:
    sent = assistant({"content": "I need it.</think>\n\nLook."}, {"tool_calls": [call()]}, model="MiniMax-M2")
    assert sent["content"] == "<think>\nI need it.</think>\n\nLook."


def test_a_model_that_requires_reasoning_content_gets_thinking_in_tags_there() -> None:
    sent = assistant({"content": f"{THOUGHT}Look."}, {"tool_calls": [call()]}, model="kimi-k2.5")
    assert (sent["content"], sent["reasoning_content"]) == ("Look.", "I need it.")


def test_growing_snapshots_of_a_thought_are_sent_back_once() -> None:
    texts = (
        "The user wants the weather",
        "The user wants the weather of Oslo",
        "The user wants the weather of Oslo.",
    )
    details = [
        {"reasoning_details": [{"type": "reasoning.text", "index": 0, "text": text}]} for text in texts
    ]
    (sent,) = assistant(*details, {"tool_calls": [call()]})["reasoning_details"]
    assert sent["text"] == texts[-1]
    assert (
        output_of(Accumulator(), [*(chunk(**one) for one in details), chunk("stop")]).reasoning == texts[-1]
    )


def test_a_signed_call_of_another_model_keeps_its_signature_to_itself() -> None:
    made = CallRequest("c1", "a__b", "{}", extra={"thought_signature": "s"})
    said = AssistantMessage("", calls=(made,), model="other", echo={"content": THOUGHT})
    request = ModelRequest("", [UserMessage("q"), said, ToolMessage("c1", "a__b", "r")])
    sent = body_for(ModelProfile("test", "http://host/v1", "m"), request, Learned())["messages"][1]
    assert "thought_signature" not in sent["tool_calls"][0] and sent["content"] is None


def test_thinking_of_many_pieces_is_joined_once() -> None:
    """Each piece was joined with all before it: 80,000 took 4 s, 160,000 four times as long."""

    def seconds(size: int) -> float:
        fields = EchoedFields(lambda text: None)
        began = time.thread_time()
        for _ in range(size):
            fields.take({"thinking_blocks": [{"type": "thinking", "thinking": "word "}]})
        assert fields.all()["thinking_blocks"] == [{"type": "thinking", "thinking": "word " * size}]
        return time.thread_time() - began

    assert seconds(80_000) < 12 * seconds(20_000) + 0.1


@pytest.mark.parametrize(
    "delta",
    [
        {"extra_content": {"google": {"thought_signature": "x" * 1_000}}},
        {"provider_specific_fields": {"thought_signatures": ["x" * 1_000]}},
        {"reasoning_details": [{"type": "other", "data": ["x" * 1_000]}]},
    ],
)
def test_fields_that_are_no_text_count_too(delta: dict[str, Any]) -> None:
    sizes: list[int] = []
    EchoedFields(lambda text: sizes.append(len(text))).take(delta)
    assert sum(sizes) > 1_000
