"""The loop: think, act, observe; every way a turn can end leaves a history that a provider accepts."""

import asyncio

import pytest

from tests.conftest import until
from tests.scripted_model import ScriptedModel, Wait, calls, says
from tests.unit.core.stand_ins import (
    FunctionToolbox,
    HandClock,
    NotedJournal,
    call,
    ended,
    hang,
    of_type,
    played,
    run,
    text,
    turn_of,
)
from tui.core.context.context_meter import ContextMeter, estimate, estimate_messages, estimate_tool
from tui.core.conversation.conversation import (
    AssistantMessage,
    Conversation,
    ToolMessage,
    UserMessage,
    sanitised,
)
from tui.core.errors import ModelError
from tui.core.events import (
    EndReason,
    LimitName,
    Notice,
    StepEnded,
    ToolCallEnded,
    TurnEnded,
    TurnError,
    Waiting,
)
from tui.core.ports import ReasoningPart, ReplyPart, TextPart, Usage
from tui.core.servers import ServerState
from tui.core.time_limits import CallTimeout
from tui.core.tools import ToolResult
from tui.core.turn.limits import Limits
from tui.core.turn.loop import NUDGE
from tui.core.turn.model_step import ONLY_REASONING


async def test_read_only_calls_in_one_reply_run_in_parallel_and_results_keep_call_order():
    gate = asyncio.Event()

    async def slow(arguments):
        await gate.wait()
        return text("slow")

    async def fast(arguments):
        gate.set()
        return text("fast")

    model = ScriptedModel([calls(call(1, "srv__slow"), call(2, "srv__fast")), says("done")])
    toolbox = FunctionToolbox(slow=slow, fast=fast)
    await played(model, toolbox)
    assert toolbox.most_at_once == 2
    assert [m.text for m in model.requests[1].messages if isinstance(m, ToolMessage)] == ["slow", "fast"]


async def test_calls_in_the_final_reply_are_not_run_and_the_limit_is_reported():
    toolbox = FunctionToolbox()
    model = ScriptedModel([calls(call(1)), calls(call(2))])
    events, talk = await played(model, toolbox, limits=Limits(max_steps=1))
    assert toolbox.called == [] and "max_steps" in ended(events).text
    assert sanitised(talk.messages) == talk.messages


async def test_the_number_of_calls_in_a_turn_is_a_hard_limit():
    toolbox = FunctionToolbox()
    replies = [calls(call(f"{n}a", arguments=f'{{"text": "{n}"}}'), call(f"{n}b")) for n in range(5)]
    events, _ = await played(ScriptedModel([*replies]), toolbox, limits=Limits(max_tool_calls=3))
    assert len(toolbox.called) == 3 and ended(events).limit is LimitName.MAX_TOOL_CALLS


async def test_the_same_call_with_the_same_result_gets_a_note_and_then_ends_the_turn():
    model = ScriptedModel([*(calls(call(n)) for n in range(5)), says("sorry")])
    events, talk = await played(model)
    observed = [m.text for m in talk.messages if isinstance(m, ToolMessage)]
    assert "[note:" not in observed[1] and "3 times" in observed[2]
    assert ended(events).limit is LimitName.IDENTICAL_CALLS and ended(events).tool_calls == 5


async def test_consecutive_failing_steps_end_the_turn():
    async def fail(arguments):
        return text(f"no {arguments}", is_error=True)

    replies = [calls(call(n, "srv__fail", f'{{"n": {n}}}')) for n in range(3)]
    events, _ = await played(ScriptedModel([*replies, says("I give up")]), FunctionToolbox(fail=fail))
    assert ended(events).limit is LimitName.CONSECUTIVE_ERRORS and ended(events).text == "I give up"


async def test_time_used_up_by_the_model_ends_the_turn_and_keeps_its_output():
    model = ScriptedModel([[TextPart("so far"), Wait(None)], says("final")])
    events, talk = await played(model, limits=Limits(turn_seconds=0.05))
    assert ended(events).limit is LimitName.TURN_SECONDS and ended(events).text == "final"
    assert AssistantMessage("so far", model="scripted", partial=True) in talk.messages
    assert model.closed == 1


async def test_time_used_up_by_a_tool_ends_the_turn():
    clock = HandClock()
    model = ScriptedModel([calls(call(1, "srv__hang")), says("final")])
    turn, talk = turn_of(model, FunctionToolbox(hang=hang), limits=Limits(turn_seconds=0.05), clock=clock)
    events = []
    async for event in turn.events():
        events.append(event)
        if isinstance(event, ToolCallEnded):
            clock.ns += 10**9
    assert "time limit of the turn" in next(m for m in talk.messages if isinstance(m, ToolMessage)).text
    assert ended(events).text == "final"


async def test_a_call_is_limited_to_the_time_allowed_for_one_call():
    toolbox = FunctionToolbox()
    await played(ScriptedModel([calls(call(1)), says("ok")]), toolbox, limits=Limits(tool_seconds=7))
    assert toolbox.called[0][2] == CallTimeout(7, most=900)


async def test_an_empty_reply_is_nudged_once_and_then_reported():
    model = ScriptedModel([[ReplyPart()], [ReplyPart()]])
    events, _ = await played(model)
    assert model.requests[1].messages[-1] == UserMessage(NUDGE)
    assert ended(events).reason is EndReason.EMPTY
    assert of_type(events, TurnError)[0].message == "the model returned nothing (scripted)"


def nudges(model):
    return [UserMessage(NUDGE) in request.messages for request in model.requests]


async def test_the_nudge_is_sent_with_only_one_request():
    model = ScriptedModel([[ReplyPart()], calls(call(1)), calls(call(2)), says("done")])
    turn, _ = turn_of(model)
    assert ended(await run(turn)).text == "done"
    assert nudges(model) == [False, True, False, False]


async def test_an_empty_reply_to_a_steering_message_gets_its_own_nudge():
    def steered(request):
        turn.steer("now this")
        return [ReplyPart()]

    model = ScriptedModel([[ReplyPart()], steered, [ReplyPart()], says("done")])
    turn, _ = turn_of(model)
    assert ended(await run(turn)).text == "done"
    assert nudges(model) == [False, True, False, True]


class Last:
    """The last reply of a model, and how many tokens its request was expected to have."""

    def __init__(self):
        self.meter, self.expected = ContextMeter(window=100_000), None

    def __call__(self, request):
        self.expected = self.meter.expects(request)
        return says("done")


@pytest.mark.parametrize("empty", [0, 1])
async def test_the_next_result_counts_as_new_whether_or_not_the_model_was_nudged(empty):
    async def big(arguments):
        return text("row " * 5_000)

    last = Last()
    step = [ReplyPart(calls=(call(1, "srv__big"),), usage=Usage(900, 100))]
    model = ScriptedModel([*[[ReplyPart(usage=Usage(900, 0))]] * empty, step, last])
    _, talk = await played(model, FunctionToolbox(big=big), context_meter=last.meter)
    assert last.expected == 1_000 + estimate_messages([talk.messages[-2]])


async def test_a_message_sent_after_an_empty_reply_counts_as_new():
    def steered(request):
        turn.steer("word " * 5_000)
        return [ReplyPart(usage=Usage(900, 0))]

    last = Last()
    turn, talk = turn_of(ScriptedModel([steered, last]), context_meter=last.meter)
    await run(turn)
    assert last.expected == 900 + estimate_messages([talk.messages[-2]])


async def test_the_first_message_after_a_turn_that_reached_its_limit_counts_as_new():
    last = Last()
    model = ScriptedModel([calls(call(1)), [TextPart("what I know"), ReplyPart(usage=Usage(900, 100))], last])
    first, talk = turn_of(model, context_meter=last.meter, limits=Limits(max_steps=1))
    await run(first)
    second, _ = turn_of(model, context_meter=last.meter, talk=talk)
    await run(second)
    tools = sum(map(estimate_tool, model.requests[-1].tools))
    assert last.expected == 1_000 + estimate_messages([UserMessage("go")]) + tools


async def test_cancelling_while_the_model_streams_closes_the_stream_and_keeps_the_text():
    model = ScriptedModel([[TextPart("half"), Wait(None)]])
    turn, talk = turn_of(model)
    events = []
    async for event in turn.events():
        events.append(event)
        if isinstance(event, TextPart):
            turn.cancel()
    assert ended(events).reason is EndReason.CANCELLED and model.closed == 1
    assert talk.messages[-1] == AssistantMessage("half", model="scripted", partial=True)


LONG = "word " * 2_000


@pytest.mark.parametrize(
    ("rest", "cancels"),
    [(Wait(None), True), (ModelError("connection lost during the reply"), False)],
    ids=["stopped by the user", "broken stream"],
)
async def test_a_reply_that_breaks_off_is_paid_for(rest: object, cancels: bool):
    paid: list[Usage] = []
    turn, talk = turn_of(ScriptedModel([[TextPart(LONG), rest]]), bill=paid.append)
    async for event in turn.events():
        if cancels and isinstance(event, TextPart):
            turn.cancel()
    assert len(paid) == 1 and paid[0].prompt > 0 and paid[0].completion == estimate(LONG)
    assert event.usage == paid[0] == talk.messages[-1].usage


async def test_a_reply_cut_off_by_the_time_limit_counts_towards_the_token_limit_and_the_total():
    paid: list[Usage] = []
    model = ScriptedModel([[TextPart(LONG), Wait(None)], says("x")])
    turn, _ = turn_of(model, limits=Limits(turn_seconds=0.05), bill=paid.append)
    usage = ended(await run(turn)).usage
    assert len(paid) == 2 and usage.completion == sum(each.completion for each in paid) >= estimate(LONG)
    assert turn.meter.tokens == usage.prompt + usage.completion


async def test_a_request_that_the_endpoint_refuses_is_not_paid_for():
    paid: list[Usage] = []
    turn, _ = turn_of(ScriptedModel([[ModelError("401")]]), bill=paid.append)
    assert ended(await run(turn)).usage == Usage() and not paid


async def test_cancelling_while_tools_run_cancels_them_and_answers_every_call():
    cancelled = []

    async def hang(arguments):
        try:
            await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError:
            cancelled.append(arguments)
            raise
        return text("never")

    toolbox = FunctionToolbox(hang=hang)
    model = ScriptedModel([calls(call(1, "srv__hang"), call(2, "srv__hang", "{}"))])
    turn, talk = turn_of(model, toolbox)
    events = []
    async for event in turn.events():
        events.append(event)
        if toolbox.running == 2 and not cancelled:
            turn.cancel()
            turn.cancel()
    assert len(cancelled) == 2
    assert [event.why for event in of_type(events, ToolCallEnded)] == ["cancelled", "cancelled"]
    assert sanitised(talk.messages) == talk.messages and talk.dangling() == ()


async def test_abandoning_the_events_ends_the_turn_and_leaves_the_history_valid():
    turn, talk = turn_of(ScriptedModel([calls(call(1, "srv__hang"))]), FunctionToolbox(hang=hang))
    task = asyncio.create_task(run(turn))
    await until(lambda: turn.meter.steps == 1 and talk.dangling())
    task.cancel()
    await asyncio.wait({task})
    assert talk.dangling() == ()


async def test_a_bug_in_a_port_ends_the_turn_with_a_message_and_a_valid_history():
    async def broken(arguments) -> ToolResult:
        raise RuntimeError("boom")

    events, talk = await played(
        ScriptedModel([calls(call(1, "srv__broken"))]), FunctionToolbox(broken=broken)
    )
    assert isinstance(events[-1], TurnEnded) and "internal error" in of_type(events, TurnError)[0].message
    assert talk.dangling() == ()


async def test_tools_that_appear_during_a_turn_can_be_called_in_the_next_step():
    toolbox = FunctionToolbox()

    async def late(arguments):
        return text("late")

    def appear(request):
        toolbox._handlers["late"] = late
        toolbox.offered = [*FunctionToolbox(late=late).offered, *toolbox.offered]
        return calls(call(1))

    model = ScriptedModel([appear, calls(call(2, "srv__late", "{}")), says("ok")])
    await played(model, toolbox)
    assert [name for name, *_ in toolbox.called] == ["echo", "late"]


@pytest.mark.parametrize(
    ("finish", "reason"),
    [("length", EndReason.CUT), ("content_filter", EndReason.FILTERED), ("stop", EndReason.ANSWERED)],
)
async def test_an_incomplete_answer_is_marked(finish, reason):
    turn, _ = turn_of(ScriptedModel([[TextPart("Half of the answ"), ReplyPart(finish=finish)]]))
    end = ended(await run(turn))
    assert (end.reason, end.text) == (reason, "Half of the answ")


async def test_a_final_answer_that_quotes_a_failure_ends_with_one_full_stop():
    failed = [ModelError("model not found", next_step="Check the profile's model and base_url.")]
    model = ScriptedModel([calls(call(1)), failed])
    turn, _ = turn_of(model, limits=Limits(max_steps=1))
    answer = ended(await run(turn)).text
    assert answer.endswith("model and base_url.") and ".." not in answer


@pytest.mark.parametrize("first", [ServerState.STARTING, ServerState.STOPPING])
async def test_a_call_waits_for_a_server_that_is_starting(first):
    clock, toolbox = HandClock(), FunctionToolbox()
    starting = list(toolbox.offered)
    toolbox.offered = []

    def absent() -> dict[str, ServerState]:
        if clock.ns < 3e9:
            return {"srv": first if clock.ns < 1e9 else ServerState.STARTING}
        toolbox.offered = starting
        return {}

    events, _ = await played(
        ScriptedModel([calls(call(1)), says("done")]), toolbox, clock=clock, absent=absent
    )
    assert [event.message for event in of_type(events, Waiting)] == ["Waiting for 1 server to start: srv", ""]
    assert len(toolbox.called) == 1


async def test_the_wait_for_a_server_is_bounded():
    clock, toolbox = HandClock(), FunctionToolbox()
    toolbox.offered = []
    model = ScriptedModel([calls(call(1)), says("done")])
    events, _ = await played(model, toolbox, clock=clock, absent=lambda: {"srv": ServerState.STARTING})
    assert of_type(events, ToolCallEnded)[0].why == "server not running" and clock.ns >= 8e9


def thinks(thought, finish="stop"):
    return [ReasoningPart(thought), ReplyPart(finish=finish)]


@pytest.mark.parametrize("replies", [["Hm.", "It is Oslo.\n"], ["It is Oslo.", ""]])
async def test_reasoning_is_the_answer_of_a_model_that_writes_nothing_else(replies):
    events, talk = await played(ScriptedModel([thinks(thought) for thought in replies]))
    assert (ended(events).reason, ended(events).text) == (EndReason.ANSWERED, "It is Oslo.")
    assert [delta.text for delta in of_type(events, TextPart)] == ["It is Oslo."]
    assert of_type(events, Notice)[-1].message == ONLY_REASONING
    assert (talk.messages[-1].text, talk.messages[-1].reasoning) == ("It is Oslo.", "")


async def test_a_model_that_answers_when_it_is_asked_again_keeps_its_reasoning():
    model = ScriptedModel([thinks("Hm."), [ReasoningPart("Oh."), TextPart("Oslo"), ReplyPart()]])
    turn, talk = turn_of(model)
    assert ended(await run(turn)).text == "Oslo"
    assert talk.messages[-1].reasoning == "Oh." and model.requests[1].messages[-1].text == NUDGE


@pytest.mark.parametrize("finish", ["length", "content_filter"])
async def test_reasoning_that_was_cut_off_is_not_an_answer(finish):
    events, _ = await played(ScriptedModel([thinks("Hm.", "length"), thinks("Hm, so", finish)]))
    assert ended(events).text == "" and not of_type(events, TextPart)


async def test_reasoning_before_calls_is_not_an_answer():
    made = [ReasoningPart("I look."), *calls(call(1))]
    events, _ = await played(ScriptedModel([[ReplyPart()], made, says("done")]))
    assert [delta.text for delta in of_type(events, TextPart)] == ["done"]


async def test_an_event_is_emitted_only_after_its_messages_are_on_disk():
    journal = NotedJournal()
    model = ScriptedModel([calls(call(1)), says("done")])
    turn, talk = turn_of(model, talk=Conversation(journal=journal))
    async for event in turn.events():
        written = [entry[2] for entry in journal.on_disk if entry[0] == "message"]
        match event:
            case StepEnded(step=2) | TurnEnded():
                assert written == talk.messages
            case ToolCallEnded():
                assert ToolMessage("c1", "srv__echo", "echo hi") in written
            case _:
                pass


async def test_a_draft_of_a_slow_reply_is_saved_about_every_second():
    journal, clock = NotedJournal(), HandClock()

    class Slow(ScriptedModel):
        async def stream(self, request):
            for piece in "abcdef":
                clock.ns += 400_000_000
                yield TextPart(piece)
            yield ReplyPart()

    turn, _ = turn_of(Slow([]), clock=clock, talk=Conversation(journal=journal))
    [event async for event in turn.events()]
    assert [entry[1] for entry in journal.told if entry[0] == "draft"] == ["abc", "abcdef"]


async def test_steering_during_the_last_reply_leads_to_one_more_request():
    model = ScriptedModel([lambda request: turn.steer("and Lisbon?") or says("rain"), says("sun")])
    turn, _ = turn_of(model)
    events = await run(turn)
    assert (ended(events).reason, ended(events).text) == (EndReason.ANSWERED, "sun")
