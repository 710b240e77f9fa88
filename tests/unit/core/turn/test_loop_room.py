"""A conversation that does not fit: shortened results, then a summary, with notices; and turn budgets."""

from dataclasses import replace

import pytest

from tests.scripted_model import ScriptedModel, calls, says
from tests.unit.core.stand_ins import FunctionToolbox, call, ended, of_type, played, run, text, turn_of
from tui.core.context.context_meter import ContextMeter
from tui.core.context.summaries import SUMMARISE
from tui.core.conversation.conversation import (
    AssistantMessage,
    Attachment,
    Compaction,
    Conversation,
    ToolMessage,
    UserMessage,
)
from tui.core.errors import ModelError
from tui.core.events import EndReason, LimitName, Notice, TurnError
from tui.core.ports import ReplyPart, TextPart, Usage
from tui.core.turn.limits import Limits


def long_talk(turns=20, size=400):
    talk = Conversation()
    for number in range(turns):
        talk.say(f"question {number} " + "x" * size)
        talk.add(AssistantMessage(f"answer {number} " + "y" * size))
    return talk


def talk_with_results(turns=10, size=3000):
    talk = Conversation()
    for number in range(turns):
        talk.say(f"question {number}")
        talk.add(AssistantMessage(calls=(call(f"old{number}"),)))
        talk.add(ToolMessage(f"cold{number}", "srv__echo", "z" * size))
        talk.add(AssistantMessage("seen"))
    return talk


async def test_old_results_are_shortened_before_anything_is_summarized():
    model = ScriptedModel([says("done")])
    talk = talk_with_results()
    events, _ = await played(model, talk=talk, context_meter=ContextMeter(window=8000))
    told = [m.text for m in model.requests[0].messages if isinstance(m, ToolMessage)]
    assert len(told[0]) < 500 and len(told[-1]) == 3000
    assert len(next(m.text for m in talk.messages if isinstance(m, ToolMessage))) == 3000
    assert len(of_type(events, Notice)) == 1 and talk.compaction.upto == 0


async def test_old_turns_are_summarized_up_to_a_user_message():
    model = ScriptedModel([says("they asked a lot"), says("done")])
    talk = long_talk()
    events, _ = await played(model, talk=talk, context_meter=ContextMeter(window=6000))
    asked = model.requests[0]
    assert asked.messages[-1] == UserMessage(SUMMARISE) and asked.tools == ()
    assert isinstance(talk.messages[talk.compaction.upto], UserMessage)
    assert talk.compaction.summary == "they asked a lot"
    first, second, third, *_ = model.requests[1].messages
    assert "they asked a lot" in first.text and isinstance(second, AssistantMessage)
    assert third is talk.messages[talk.compaction.upto]
    assert "summarized" in of_type(events, Notice)[0].message
    assert len(talk.messages) == 42


async def test_an_oversize_newest_result_is_truncated_without_a_summary():
    talk = Conversation()

    async def big(arguments):
        return text("row\n" * 6000)

    refused = [ModelError("too long", overflow=True, window=5000)]
    model = ScriptedModel([calls(call(1, "srv__big")), refused, says("done")])
    context_meter = ContextMeter()
    turn, _ = turn_of(model, FunctionToolbox(big=big), talk=talk, context_meter=context_meter)
    assert ended(await run(turn)).text == "done"
    (result,) = [m.text for m in model.requests[2].messages if isinstance(m, ToolMessage)]
    assert len(result) < 6000 and "bytes" in result
    assert (len(model.requests), context_meter.window, talk.compaction.upto) == (3, 5000, 0)


class Narrow:
    """Rejects requests above a number of characters without naming the number."""

    def __init__(self, characters, *replies):
        self._characters, self._replies = characters, iter(replies)

    def __call__(self, request):
        size = sum(
            len(m.text) + sum(len(one.data) for one in getattr(m, "attachments", ()))
            for m in request.messages
        )
        return [ModelError("too long", overflow=True)] if size > self._characters else next(self._replies)


def file_of(size):
    return Attachment("text", "text/plain", "rows.txt", size, "row\n" * (size // 4))


def turn_with_file(model, size, toolbox=None, **more):
    """Return a turn in which the person has just attached a file of the given size."""
    turn, talk = turn_of(model, toolbox, **more)
    talk.messages[-1] = UserMessage("Read this.", (file_of(size),))
    return turn, talk


@pytest.mark.parametrize(("most", "requests", "least"), [(300_000, 2, 40_000), (20_000, 3, 4_000)])
async def test_each_rejection_without_a_number_truncates_to_a_share_of_the_rejected_size(
    most, requests, least
):
    model = ScriptedModel([Narrow(most, says("read"))] * 9)
    turn, _ = turn_with_file(model, 349_000)
    assert ended(await run(turn)).text == "read"
    (file,) = model.requests[-1].messages[0].attachments
    assert len(model.requests) == requests and least < len(file.data) < most


async def test_large_tool_definitions_do_not_prevent_truncating_a_rejected_message():
    toolbox = FunctionToolbox()
    toolbox.offered = [
        replace(toolbox.offered[0], name=f"t{number}", description="word " * 200) for number in range(100)
    ]
    model = ScriptedModel([Narrow(9_000, says("read"))] * 9)
    turn, _ = turn_with_file(model, 10_000, toolbox)
    assert ended(await run(turn)).text == "read"


async def test_a_known_window_does_not_prevent_truncating_a_rejected_message():
    model = ScriptedModel([Narrow(50_000, says("read"))] * 9)
    turn, _ = turn_with_file(model, 60_000, context_meter=ContextMeter(window=128_000))
    assert ended(await run(turn)).text == "read"


async def test_a_second_rejection_ends_the_turn():
    refused = [ModelError("too long", overflow=True)]
    model = ScriptedModel([refused, says("a summary"), refused])
    events, _ = await played(model, talk=long_talk())
    assert ended(events).reason is EndReason.MODEL_ERROR
    assert of_type(events, TurnError)[0].message == "too long"


async def test_without_a_known_window_nothing_is_compacted():
    model = ScriptedModel([says("done")])
    talk = long_talk(turns=200)
    await played(model, talk=talk)
    assert talk.compaction == Compaction()


@pytest.mark.parametrize(
    ("limits", "limit"),
    [(Limits(turn_tokens=1000), LimitName.TURN_TOKENS), (Limits(turn_cost=0.5), LimitName.TURN_COST)],
)
async def test_the_budget_of_tokens_or_cost_ends_the_turn(limits, limit):
    step = [ReplyPart(calls=(call(1),), usage=Usage(900, 200))]
    turn, _ = turn_of(ScriptedModel([step, says("what I know")]), limits=limits, bill=lambda usage: 0.75)
    end = ended(await run(turn))
    assert (end.reason, end.limit, end.text) == (EndReason.LIMIT, limit, "what I know")


async def test_summaries_count_towards_the_limits_of_a_turn():
    model = ScriptedModel([[TextPart("x"), ReplyPart(usage=Usage(each, 0))] for each in (500, 100)])
    turn, _ = turn_of(model, talk=long_talk(), context_meter=ContextMeter(window=4000))
    assert ended(await run(turn)).usage.prompt == 600


async def test_several_rounds_of_compaction_give_one_notice():
    turn, _ = turn_with_file(ScriptedModel([Narrow(20_000, says("done"))] * 9), 349_000)
    events = await run(turn)
    notices = [one.message for one in of_type(events, Notice)]
    assert ended(events).text == "done" and len(notices) == len(set(notices)) == 1


async def test_nothing_is_said_to_be_shortened_if_nothing_was():
    model = ScriptedModel([[ModelError("too long", overflow=True)]] * 3)
    events, _ = await played(model)
    assert of_type(events, Notice) == [] and len(model.requests) == 1
    assert of_type(events, TurnError)
