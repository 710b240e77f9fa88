"""An answer that a model wrote only as reasoning."""

import pytest

from tests.scripted_model import ScriptedModel, calls, says
from tests.unit.core.stand_ins import call, ended, of_type, run, turn_of
from tui.core.events import EndReason, Notice, TextDelta
from tui.core.ports import ReasoningPart, ReplyPart, TextPart
from tui.core.turn.loop import NUDGE
from tui.core.turn.model_step import ONLY_REASONING


def thinks(thought, finish="stop"):
    return [ReasoningPart(thought), ReplyPart(finish=finish)]


async def test_reasoning_is_the_answer_of_a_model_that_writes_nothing_else():
    turn, talk = turn_of(ScriptedModel([thinks("Hm."), thinks("It is Oslo.\n")]))
    events = await run(turn)
    assert (ended(events).reason, ended(events).text) == (EndReason.ANSWERED, "It is Oslo.")
    assert [delta.text for delta in of_type(events, TextDelta)] == ["It is Oslo."]
    assert of_type(events, Notice)[-1].message == ONLY_REASONING
    assert (talk.messages[-1].text, talk.messages[-1].reasoning) == ("It is Oslo.", "")


async def test_the_reasoning_of_the_first_reply_is_the_answer_if_the_second_is_empty():
    turn, _ = turn_of(ScriptedModel([thinks("It is Oslo."), [ReplyPart()]]))
    assert ended(await run(turn)).text == "It is Oslo."


async def test_a_model_that_answers_when_it_is_asked_again_keeps_its_reasoning():
    model = ScriptedModel([thinks("Hm."), [ReasoningPart("Oh."), TextPart("Oslo"), ReplyPart()]])
    turn, talk = turn_of(model)
    assert ended(await run(turn)).text == "Oslo"
    assert talk.messages[-1].reasoning == "Oh." and model.requests[1].messages[-1].text == NUDGE


@pytest.mark.parametrize("finish", ["length", "content_filter"])
async def test_reasoning_that_was_cut_off_is_not_an_answer(finish):
    turn, _ = turn_of(ScriptedModel([thinks("Hm.", "length"), thinks("Hm, so", finish)]))
    events = await run(turn)
    assert ended(events).text == "" and not of_type(events, TextDelta)


async def test_reasoning_before_calls_is_not_an_answer():
    made = [ReasoningPart("I look."), *calls(call(1))]
    turn, _ = turn_of(ScriptedModel([[ReplyPart()], made, says("done")]))
    events = await run(turn)
    assert [delta.text for delta in of_type(events, TextDelta)] == ["done"]
