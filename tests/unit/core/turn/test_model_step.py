"""A reply becomes calls that are safe to run and a message that is safe to store."""

import time
from collections.abc import AsyncGenerator

import pytest

from tests.cases import each_case
from tests.scripted_model import ScriptedModel
from tests.unit.core.stand_ins import HandClock
from tui.core.conversation.conversation import CallRequest
from tui.core.ports import ModelPart, ModelRequest, ReasoningPart, ReplyPart, TextPart, Usage
from tui.core.turn.model_step import (
    Reply,
    parse_arguments,
    storable,
    think,
    unique_calls,
)


async def test_parts_are_emitted_as_they_arrive_and_joined():
    model = ScriptedModel([[ReasoningPart("hm"), TextPart("a"), TextPart("b"), ReplyPart(usage=Usage(5, 2))]])
    reply, told = Reply(), []
    await think(model, ModelRequest("", []), 1, reply, told.append, HandClock())
    assert (reply.text, reply.reasoning, reply.usage) == ("ab", "hm", Usage(5, 2))
    assert [event.text for event in told] == ["hm", "a", "b"]


async def test_text_that_turns_out_to_be_thinking_is_removed_from_the_answer():
    thought = ReasoningPart("let me think", replaces_text=True)
    model, reply = ScriptedModel([[TextPart("let me"), thought, TextPart("42"), ReplyPart()]]), Reply()
    await think(model, ModelRequest("", []), 1, reply, lambda event: None, HandClock())
    assert (reply.text, reply.reasoning) == ("42", "let me think")


@pytest.mark.parametrize("kind", [TextPart, ReasoningPart])
async def test_the_time_for_a_long_reply_is_proportional_to_its_length(kind: type[ModelPart]):
    class Long(ScriptedModel):
        async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelPart]:
            for _ in range(50_000):
                yield kind("x" * 100)

    reply, before = Reply(), time.process_time()
    await think(Long([]), ModelRequest("", []), 1, reply, lambda event: None, HandClock())
    assert len(reply.text + reply.reasoning) == 5_000_000
    assert time.process_time() - before < 5


async def test_the_thinking_time_is_measured_without_that_of_the_answer():
    clock, reply = HandClock(), Reply()

    class Slow(ScriptedModel):
        async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelPart]:
            thinks = [ReasoningPart("h"), ReasoningPart("m")]
            for part in (*thinks, TextPart("a"), ReasoningPart("so"), ReplyPart()):
                yield part
                await clock.sleep(2)

    await think(Slow([]), ModelRequest("", []), 1, reply, lambda event: None, clock)
    assert reply.thought == 8
    said = reply.message("m", partial=False)
    assert (said.thought, said.reasoning, said.text) == (8, "hmso", "a")


async def test_a_refusal_is_shown_as_the_answer():
    model, reply, told = ScriptedModel([[ReplyPart(refusal="I can't")]]), Reply(), []
    await think(model, ModelRequest("", []), 1, reply, told.append, HandClock())
    assert reply.text == "I can't" and told[0].text == "I can't"


def test_unique_ids_are_kept_and_empty_and_repeated_ones_replaced_deterministically():
    calls = (CallRequest("functions.a:0", "a", "{}"), CallRequest("functions.a:1", "a", "{}"))
    assert unique_calls(calls, set()) == calls
    calls = (CallRequest("0", "a", "{}"), CallRequest("0", "b", "{}"), CallRequest("", "c", "{}"))
    fresh = unique_calls(calls, {"0"})
    assert len({call.id for call in fresh} | {"0"}) == 4
    assert fresh == unique_calls(calls, {"0"})


def test_absent_arguments_may_be_written_in_several_ways():
    assert [parse_arguments(text) for text in ("", "  ", "null", "{}")] == [{}] * 4


@each_case(
    "text",
    ["[1]", '"x"', "{", '{"a": NaN}', '{"a": Infinity}', '{"a": 1e999}', '{"a": [-1E400]}', "[" * 100_000],
)
def test_arguments_that_are_not_one_json_object_are_rejected(text: str):
    with pytest.raises(ValueError):
        parse_arguments(text)


def test_invalid_arguments_are_stored_as_an_empty_object():
    assert storable(CallRequest("1", "a", "{bad")).arguments == "{}"
    assert storable(CallRequest("1", "a", "")).arguments == "{}"
    assert storable(CallRequest("1", "a", " \n")).arguments == "{}"
    good = CallRequest("1", "a", '{"x": 1}')
    assert storable(good) is good
