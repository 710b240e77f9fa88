"""Who decides whether a call runs, and what the model is told when it does not."""

import asyncio

from tests.conftest import until
from tests.unit.core.stand_ins import (
    YES,
    FunctionToolbox,
    HandClock,
    ScriptedApprover,
    call,
    ended,
    of_type,
    run,
    text,
    turn_of,
)
from tui.core.events import ApprovalAsked, ApprovalGiven, EndReason, ToolCallEnded, ToolProgress
from tui.core.policy import Mode
from tui.core.ports import Answer, Decision
from tui.model.scripted import ScriptedModel, calls, says


def asking(*replies):
    return ScriptedModel([*replies]), FunctionToolbox(read_only=False)


async def test_a_call_that_may_change_something_waits_for_a_yes():
    model, toolbox = asking(calls(call(1)), says("done"))
    approver = ScriptedApprover(YES)
    turn, _ = turn_of(model, toolbox, approver=approver)
    events = await run(turn)
    assert approver.asked[0].tool.name == "echo" and approver.asked[0].arguments == {"text": "hi"}
    assert of_type(events, ApprovalAsked)[0].request.why == "may change something"
    assert of_type(events, ApprovalGiven)[0].answer is Answer.ONCE
    assert len(toolbox.called) == 1


async def test_a_no_with_a_reason_is_what_the_model_reads():
    model, toolbox = asking(calls(call(1)), says("ok"))
    turn, _ = turn_of(model, toolbox, approver=ScriptedApprover(Decision(Answer.NO, "not on a Sunday")))
    events = await run(turn)
    assert toolbox.called == []
    assert model.requests[1].messages[-1].text == "denied by the person: not on a Sunday"
    assert of_type(events, ToolCallEnded)[0].why == "denied"


async def test_a_no_that_no_person_gave_is_not_said_to_be_a_persons():
    model, toolbox = asking(calls(call(1)), says("ok"))
    answer = Decision(Answer.NO, "nobody is there", by_person=False)
    turn, _ = turn_of(model, toolbox, approver=ScriptedApprover(answer))
    await run(turn)
    assert model.requests[1].messages[-1].text == "denied: nobody is there"


async def test_a_yes_for_the_session_is_not_asked_again():
    model, toolbox = asking(calls(call(1), call(2, arguments="{}")), says("done"))
    approver = ScriptedApprover(Decision(Answer.SESSION))
    turn, _ = turn_of(model, toolbox, approver=approver)
    await run(turn)
    assert len(approver.asked) == 1 and len(toolbox.called) == 2


async def test_calls_that_ask_run_one_after_the_other():
    model, toolbox = asking(calls(call(1), call(2)), says("done"))
    turn, _ = turn_of(model, toolbox, approver=ScriptedApprover(YES, YES))
    await run(turn)
    assert toolbox.most_at_once == 1


async def test_what_the_mode_forbids_is_denied_without_a_question():
    model, toolbox = asking(calls(call(1)), says("ok"))
    approver = ScriptedApprover()
    turn, _ = turn_of(model, toolbox, approver=approver, mode=Mode.READS)
    await run(turn)
    assert approver.asked == [] and "only read-only tools" in model.requests[1].messages[-1].text


async def test_denials_do_not_count_as_errors_of_the_model():
    replies = [calls(call(n)) for n in range(4)]
    model, toolbox = asking(*replies, says("understood"))
    turn, _ = turn_of(model, toolbox, mode=Mode.READS)
    assert ended(await run(turn)).reason is EndReason.ANSWERED


async def test_waiting_for_the_person_is_not_counted_as_time_of_the_turn():
    clock = HandClock()

    class Slow(ScriptedApprover):
        async def ask(self, request):
            clock.ns += 3600 * 10**9
            return YES

    model, toolbox = asking(calls(call(1)), says("done"))
    turn, _ = turn_of(model, toolbox, approver=Slow(), clock=clock)
    assert ended(await run(turn)).reason is EndReason.ANSWERED
    assert turn.meter.used_seconds(clock.ns) == 0


async def test_cancelling_while_a_question_is_open_answers_the_call():
    model, toolbox = asking(calls(call(1)))
    approver = ScriptedApprover()
    turn, talk = turn_of(model, toolbox, approver=approver)
    task = asyncio.create_task(run(turn))
    await until(lambda: approver.asked)
    turn.cancel()
    assert ended(await task).reason is EndReason.CANCELLED
    assert talk.dangling() == () and toolbox.called == []


async def test_progress_is_told_but_not_more_often_than_an_eye_can_follow():
    clock = HandClock()
    turn, _ = turn_of(ScriptedModel([calls(call(1)), says("ok")]), clock=clock)
    assert len(of_type(await run(turn), ToolProgress)) == 1

    class Chatty(FunctionToolbox):
        async def call(self, tool, arguments, *, seconds, progress):
            for number in range(1000):
                progress(number, None, "x")
            return text("ok")

    turn, _ = turn_of(ScriptedModel([calls(call(1)), says("ok")]), Chatty(), clock=clock)
    assert len(of_type(await run(turn), ToolProgress)) == 1
