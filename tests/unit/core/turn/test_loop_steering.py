"""A message sent while a turn runs is included in the next step."""

from tests.scripted_model import ScriptedModel, calls, says
from tests.unit.core.stand_ins import FunctionToolbox, call, ended, of_type, run, text, turn_of
from tui.core.conversation.conversation import AssistantMessage, ToolMessage, UserMessage
from tui.core.events import EndReason, Steered
from tui.core.turn.limits import Limits


async def test_steering_follows_the_results_and_the_next_step_includes_it():
    async def look(arguments):
        turn.steer("in metres, please")
        return text("11 ft")

    model = ScriptedModel([calls(call(1, "srv__look")), says("3.4 m")])
    turn, talk = turn_of(model, FunctionToolbox(look=look))
    events = await run(turn)
    assert [type(message) for message in talk.messages] == [
        UserMessage, AssistantMessage, ToolMessage, UserMessage, AssistantMessage,
    ]  # fmt: skip
    assert model.requests[1].messages[-1] == UserMessage("in metres, please")
    assert of_type(events, Steered) == [Steered(2, "in metres, please")]


async def test_steering_during_the_last_reply_leads_to_one_more_request():
    model = ScriptedModel([lambda request: turn.steer("and Lisbon?") or says("rain"), says("sun")])
    turn, _ = turn_of(model)
    events = await run(turn)
    assert (ended(events).reason, ended(events).text) == (EndReason.ANSWERED, "sun")
    assert turn.unsaid == ()


async def test_unsent_steering_remains_available():
    model = ScriptedModel([lambda request: turn.steer("more") or says("first"), says("last words")])
    turn, _ = turn_of(model, limits=Limits(max_steps=1))
    await run(turn)
    assert turn.unsaid == ("more",)
