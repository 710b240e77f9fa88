"""A conversation that does not fit: results in short, then a summary, visibly; and budgets of a turn."""

from tests.unit.core.stand_ins import FunctionToolbox, call, ended, of_type, run, text, turn_of
from tui.core.conversation import AssistantMessage, Compaction, Conversation, ToolMessage, UserMessage
from tui.core.errors import ModelError
from tui.core.events import EndReason, LimitName, Notice, TurnError
from tui.core.gauge import Gauge
from tui.core.limits import Limits
from tui.core.ports import ReplyPart, TextPart, Usage
from tui.core.summarising import SUMMARISE
from tui.model.scripted import ScriptedModel, calls, says


def long_talk(turns=20, size=400):
    talk = Conversation()
    for number in range(turns):
        talk.say(f"question {number} " + "x" * size)
        talk.reply(AssistantMessage(f"answer {number} " + "y" * size))
    return talk


def talk_with_results(turns=10, size=3000):
    talk = Conversation()
    for number in range(turns):
        talk.say(f"question {number}")
        talk.reply(AssistantMessage(calls=(call(f"old{number}"),)))
        talk.observe(ToolMessage(f"cold{number}", "srv__echo", "z" * size))
        talk.reply(AssistantMessage("seen"))
    return talk


async def test_old_results_are_told_in_short_before_anything_is_summarised():
    model = ScriptedModel([says("done")])
    talk = talk_with_results()
    turn, _ = turn_of(model, talk=talk, gauge=Gauge(window=8000))
    events = await run(turn)
    told = [m.text for m in model.requests[0].messages if isinstance(m, ToolMessage)]
    assert len(told[0]) < 500 and len(told[-1]) == 3000
    assert len(next(m.text for m in talk.messages if isinstance(m, ToolMessage))) == 3000
    assert len(of_type(events, Notice)) == 1 and talk.compaction.upto == 0


async def test_old_turns_become_a_summary_at_a_message_of_the_person():
    model = ScriptedModel([says("they asked a lot"), says("done")])
    talk = long_talk()
    turn, _ = turn_of(model, talk=talk, gauge=Gauge(window=6000))
    events = await run(turn)
    asked = model.requests[0]
    assert asked.messages[-1] == UserMessage(SUMMARISE) and asked.tools == ()
    assert isinstance(talk.messages[talk.compaction.upto], UserMessage)
    assert talk.compaction.summary == "they asked a lot"
    first, second, third, *_ = model.requests[1].messages
    assert "they asked a lot" in first.text and isinstance(second, AssistantMessage)
    assert third is talk.messages[talk.compaction.upto]
    assert "summarised" in of_type(events, Notice)[0].message
    assert len(talk.messages) == 42


async def test_a_refusal_as_too_long_makes_room_once_and_asks_again():
    refused = [ModelError("too long", overflow=True)]
    model = ScriptedModel([refused, says("a summary"), says("done")])
    turn, _ = turn_of(model, talk=long_talk())
    assert ended(await run(turn)).text == "done"


async def test_the_newest_result_is_cut_where_it_alone_is_too_much_and_no_summary_is_paid_for():
    talk = Conversation()

    async def big(arguments):
        return text("row\n" * 6000)

    refused = [ModelError("too long", overflow=True, window=5000)]
    model = ScriptedModel([calls(call(1, "srv__big")), refused, says("done")])
    gauge = Gauge()
    turn, _ = turn_of(model, FunctionToolbox(big=big), talk=talk, gauge=gauge)
    assert ended(await run(turn)).text == "done"
    (result,) = [m.text for m in model.requests[2].messages if isinstance(m, ToolMessage)]
    assert len(result) < 6000 and "bytes" in result
    assert (len(model.requests), gauge.window, talk.compaction.upto) == (3, 5000, 0)


async def test_a_second_refusal_ends_the_turn():
    refused = [ModelError("too long", overflow=True)]
    model = ScriptedModel([refused, says("a summary"), refused])
    turn, _ = turn_of(model, talk=long_talk())
    events = await run(turn)
    assert ended(events).reason is EndReason.MODEL_ERROR
    assert of_type(events, TurnError)[0].message == "too long"


async def test_a_summary_that_fails_is_told_and_the_question_is_asked_all_the_same():
    model = ScriptedModel([[ModelError("busy")], says("done")])
    talk = long_talk()
    turn, _ = turn_of(model, talk=talk, gauge=Gauge(window=4000))
    events = await run(turn)
    assert "busy" in of_type(events, Notice)[0].message
    assert ended(events).text == "done" and talk.compaction == Compaction()


async def test_without_a_known_window_nothing_is_compacted():
    model = ScriptedModel([says("done")])
    talk = long_talk(turns=200)
    turn, _ = turn_of(model, talk=talk)
    await run(turn)
    assert talk.compaction == Compaction()


def spends(*parts, tokens):
    return [*parts, ReplyPart(usage=Usage(tokens, 0))]


async def test_a_budget_of_tokens_ends_the_turn():
    step = [ReplyPart(calls=(call(1),), usage=Usage(900, 200))]
    model = ScriptedModel([step, spends(TextPart("what I know"), tokens=10)])
    turn, _ = turn_of(model, limits=Limits(turn_tokens=1000))
    end = ended(await run(turn))
    assert (end.reason, end.limit, end.text) == (EndReason.LIMIT, LimitName.TURN_TOKENS, "what I know")


async def test_a_budget_of_money_ends_the_turn():
    model = ScriptedModel([calls(call(1)), says("what I know")])
    turn, _ = turn_of(model, limits=Limits(turn_cost=0.5), bill=lambda usage: 0.75)
    assert ended(await run(turn)).limit is LimitName.TURN_COST


async def test_summaries_are_part_of_what_a_turn_used_up():
    model = ScriptedModel([spends(TextPart("summary"), tokens=500), spends(TextPart("done"), tokens=100)])
    turn, _ = turn_of(model, talk=long_talk(), gauge=Gauge(window=4000))
    assert ended(await run(turn)).usage.prompt == 600
