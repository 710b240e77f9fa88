"""A conversation that does not fit: shortened results, then a summary, with notices; and turn budgets."""

from dataclasses import replace

from tests.scripted_model import ScriptedModel, calls, says
from tests.unit.core.stand_ins import FunctionToolbox, call, ended, of_type, run, text, turn_of
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
    turn, _ = turn_of(model, talk=talk, context_meter=ContextMeter(window=8000))
    events = await run(turn)
    told = [m.text for m in model.requests[0].messages if isinstance(m, ToolMessage)]
    assert len(told[0]) < 500 and len(told[-1]) == 3000
    assert len(next(m.text for m in talk.messages if isinstance(m, ToolMessage))) == 3000
    assert len(of_type(events, Notice)) == 1 and talk.compaction.upto == 0


async def test_old_turns_are_summarized_up_to_a_user_message():
    model = ScriptedModel([says("they asked a lot"), says("done")])
    talk = long_talk()
    turn, _ = turn_of(model, talk=talk, context_meter=ContextMeter(window=6000))
    events = await run(turn)
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


def told_of_file(request, at=0):
    (file,) = request.messages[at].attachments
    return len(file.data)


async def test_a_rejection_without_a_number_truncates_to_a_share_of_the_rejected_size():
    model = ScriptedModel([Narrow(300_000, says("read"))] * 9)
    turn, _ = turn_with_file(model, 349_000)
    assert ended(await run(turn)).text == "read"
    assert len(model.requests) == 2 and 40_000 < told_of_file(model.requests[-1]) < 300_000


async def test_each_rejection_without_a_number_is_measured_again():
    model = ScriptedModel([Narrow(20_000, says("read"))] * 9)
    turn, _ = turn_with_file(model, 349_000)
    assert ended(await run(turn)).text == "read"
    assert len(model.requests) == 3 and 4_000 < told_of_file(model.requests[-1]) < 20_000


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
    turn, _ = turn_of(model, talk=long_talk())
    events = await run(turn)
    assert ended(events).reason is EndReason.MODEL_ERROR
    assert of_type(events, TurnError)[0].message == "too long"


async def test_without_a_known_window_nothing_is_compacted():
    model = ScriptedModel([says("done")])
    talk = long_talk(turns=200)
    turn, _ = turn_of(model, talk=talk)
    await run(turn)
    assert talk.compaction == Compaction()


def spends(*parts, tokens):
    return [*parts, ReplyPart(usage=Usage(tokens, 0))]


async def test_the_token_budget_ends_the_turn():
    step = [ReplyPart(calls=(call(1),), usage=Usage(900, 200))]
    model = ScriptedModel([step, spends(TextPart("what I know"), tokens=10)])
    turn, _ = turn_of(model, limits=Limits(turn_tokens=1000))
    end = ended(await run(turn))
    assert (end.reason, end.limit, end.text) == (EndReason.LIMIT, LimitName.TURN_TOKENS, "what I know")


async def test_the_cost_budget_ends_the_turn():
    model = ScriptedModel([calls(call(1)), says("what I know")])
    turn, _ = turn_of(model, limits=Limits(turn_cost=0.5), bill=lambda usage: 0.75)
    assert ended(await run(turn)).limit is LimitName.TURN_COST


async def test_summaries_count_towards_the_limits_of_a_turn():
    model = ScriptedModel([spends(TextPart("summary"), tokens=500), spends(TextPart("done"), tokens=100)])
    turn, _ = turn_of(model, talk=long_talk(), context_meter=ContextMeter(window=4000))
    assert ended(await run(turn)).usage.prompt == 600


async def test_several_rounds_of_compaction_give_one_notice():
    turn, _ = turn_with_file(ScriptedModel([Narrow(20_000, says("done"))] * 9), 349_000)
    events = await run(turn)
    notices = [one.message for one in of_type(events, Notice)]
    assert ended(events).text == "done" and len(notices) == len(set(notices)) == 1


async def test_nothing_is_said_to_be_shortened_if_nothing_was():
    model = ScriptedModel([[ModelError("too long", overflow=True)]] * 3)
    turn, _ = turn_of(model)
    events = await run(turn)
    assert of_type(events, Notice) == [] and len(model.requests) == 1
    assert of_type(events, TurnError)
