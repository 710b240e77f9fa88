"""Who decides whether a call runs, and the text for the model if it does not."""

import asyncio
import gc
import threading
from dataclasses import replace

import pytest

from tests.conftest import until
from tests.media import image, png
from tests.scripted_model import ScriptedModel, calls, says
from tests.unit.core.stand_ins import (
    YES,
    FunctionToolbox,
    HandClock,
    ScriptedApprover,
    call,
    ended,
    hang,
    of_type,
    played,
    policy_of,
    run,
    text,
    turn_of,
)
from tui.core.context.built_in_tools import ResultStore
from tui.core.context.context_meter import ASCII, ContextMeter, estimate
from tui.core.context.tool_results import observation
from tui.core.context.tool_selection import ToolSelection
from tui.core.conversation.conversation import ToolMessage
from tui.core.events import (
    ApprovalAsked,
    ApprovalGiven,
    CallJudged,
    EndReason,
    Notice,
    ToolCallEnded,
    ToolProgress,
)
from tui.core.permission.approval_policy import Mode, Policy
from tui.core.permission.rules import Rules
from tui.core.ports import MAX_TOOLS, Answer
from tui.core.tools import Tool, ToolResult
from tui.core.turn import tool_calls
from tui.core.turn.tool_calls import MANY_TOOLS


def asking(*replies):
    return ScriptedModel([*replies]), FunctionToolbox(read_only=False)


async def test_a_call_that_may_change_something_waits_for_approval():
    model, toolbox = asking(calls(call(1)), says("done"))
    approver = ScriptedApprover(YES)
    events, _ = await played(model, toolbox, approver=approver)
    assert approver.asked[0].tool.name == "echo" and approver.asked[0].arguments == {"text": "hi"}
    assert of_type(events, ApprovalAsked)[0].request.why == "may change something"
    assert of_type(events, ApprovalGiven)[0].answer is Answer.ONCE
    assert len(toolbox.called) == 1


async def test_calls_that_ask_run_one_at_a_time():
    model, toolbox = asking(calls(call(1), call(2)), says("done"))
    await played(model, toolbox, approver=ScriptedApprover(YES, YES))
    assert toolbox.most_at_once == 1


async def test_denials_do_not_count_as_errors_of_the_model():
    replies = [calls(call(n)) for n in range(4)]
    model, toolbox = asking(*replies, says("understood"))
    turn, _ = turn_of(model, toolbox, mode=Mode.READS)
    assert ended(await run(turn)).reason is EndReason.ANSWERED


async def test_cancelling_while_a_question_is_open_answers_the_call():
    model, toolbox = asking(calls(call(1)))
    approver = ScriptedApprover()
    turn, talk = turn_of(model, toolbox, approver=approver)
    task = asyncio.create_task(run(turn))
    await until(lambda: approver.asked)
    turn.cancel()
    assert ended(await task).reason is EndReason.CANCELLED
    assert talk.dangling() == () and toolbox.called == []


async def test_waiting_for_the_person_does_not_use_time_of_the_turn():
    clock = HandClock()

    class Slow(ScriptedApprover):
        async def ask(self, request):
            clock.ns += 3600 * 10**9
            return YES

    class Asking(FunctionToolbox):
        async def call(self, tool, arguments, *, seconds, progress, clocks):
            clocks.pause()
            clock.ns += 3600 * 10**9
            clocks.resume()
            return text("ok")

    model = ScriptedModel([calls(call(1)), says("done")])
    turn, _ = turn_of(model, Asking(read_only=False), approver=Slow(), clock=clock)
    assert ended(await run(turn)).reason is EndReason.ANSWERED
    assert turn.meter.time.seconds == 0


async def test_cancelled_calls_say_whether_they_were_sent():
    toolbox = FunctionToolbox(read_only=False, write=hang)
    model = ScriptedModel([calls(call(1, "srv__write", "{}"), call(2, "srv__write", "{}"))])
    turn, talk = turn_of(model, toolbox, approver=ScriptedApprover(YES))
    task = asyncio.create_task(run(turn))
    await until(lambda: toolbox.running)
    turn.cancel()
    await task
    sent, unsent = (message.text for message in talk.messages if isinstance(message, ToolMessage))
    assert sent.startswith("cancelled by the user after it was sent. It may or may not have taken effect")
    assert unsent == "not run: cancelled by the user"
    whys = [message.why for message in talk.messages if isinstance(message, ToolMessage)]
    assert whys == ["cancelled", "not run"]


async def test_progress_events_are_throttled():
    clock = HandClock()
    turn, _ = turn_of(ScriptedModel([calls(call(1)), says("ok")]), clock=clock)
    assert len(of_type(await run(turn), ToolProgress)) == 1

    class Chatty(FunctionToolbox):
        async def call(self, tool, arguments, *, seconds, progress, clocks=None):
            for number in range(1000):
                progress(number, None, "x")
            return text("ok")

    turn, _ = turn_of(ScriptedModel([calls(call(1)), says("ok")]), Chatty(), clock=clock)
    assert len(of_type(await run(turn), ToolProgress)) == 1


# ---- results as the model reads them


async def large(arguments):
    return text("\n".join(f"line {number}" for number in range(20_000)))


async def test_a_large_result_is_prepared_in_a_thread_and_stored_on_the_event_loop(
    monkeypatch: pytest.MonkeyPatch,
):
    def is_main() -> bool:
        return threading.current_thread() is threading.main_thread()

    where: list[tuple[str, bool]] = []

    def watched(*given):
        where.append(("read", is_main()))
        return observation(*given)

    class Store(ResultStore):
        def keep(self, text: str) -> str:
            where.append(("kept", is_main()))
            return super().keep(text)

    monkeypatch.setattr(tool_calls, "observation", watched)
    model = ScriptedModel([calls(call(1, "srv__log")), calls(call(2, "srv__small")), says("done")])

    async def small(arguments):
        return text("small")

    await played(model, FunctionToolbox(log=large, small=small), result_store=Store())
    assert where == [("read", False), ("kept", True), ("read", True)]


async def test_pages_of_a_stored_result_are_not_stored_again():
    result_store = ResultStore({"result-1": "日" * 9000})
    read = call(1, "mcptui__read_result", '{"name": "result-1"}')
    model = ScriptedModel([calls(read), says("done")])
    _, talk = await played(model, result_store=result_store, context_meter=ContextMeter(window=4096))
    told = next(message for message in talk.messages if isinstance(message, ToolMessage))
    assert not told.is_error and told.kept == "" and len(result_store) == 1
    assert 350 < estimate(told.text) <= 409 and "omitted" not in told.text


async def test_the_same_large_result_is_stored_once():
    result_store = ResultStore()
    model = ScriptedModel([calls(call(1, "srv__log"), call(2, "srv__log")), says("done")])
    await played(model, FunctionToolbox(log=large), result_store=result_store)
    assert result_store.names() == ("result-1",)


async def test_all_results_of_one_reply_share_the_window():
    requests = [call(number, "srv__log", f'{{"n": {number}}}') for number in range(12)]
    model = ScriptedModel([calls(*requests), says("done")])
    _, talk = await played(model, FunctionToolbox(log=large), context_meter=ContextMeter(window=8192))
    told = [message.text for message in talk.messages if isinstance(message, ToolMessage)]
    assert len(told) == 12 and sum(map(len, told)) <= 8192 * 0.6 / ASCII
    assert all(len(one) <= 8192 * 0.1 / ASCII for one in told)


async def test_results_with_different_images_are_not_identical():
    seen = 0

    async def look(arguments):
        nonlocal seen
        seen += 1
        return ToolResult((image(png() + bytes([seen])),))

    model = ScriptedModel([*[calls(call(n, "srv__look")) for n in range(6)], says("done")])
    turn, talk = turn_of(model, FunctionToolbox(look=look))
    assert ended(await run(turn)).reason is EndReason.ANSWERED
    assert not any("the same call" in message.text for message in talk.messages)


async def test_a_call_cancelled_before_it_starts_is_cleaned_up(recwarn):
    async def look(arguments):
        return text("fine")

    turn, _ = turn_of(ScriptedModel([calls(call(1, "srv__look")), says("done")]), FunctionToolbox(look=look))
    created = asyncio.create_task

    def cancelled_at_once(work, **names):
        task = created(work, **names)
        if names.get("name") == "call c1":
            task.cancel()
        return task

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(asyncio, "create_task", cancelled_at_once)
        events = await run(turn)
    gc.collect()
    assert [event.why for event in of_type(events, ToolCallEnded)] == ["cancelled"]
    assert not recwarn.list


async def test_cancelling_one_call_does_not_end_the_turn():
    gone = []

    async def stuck(arguments):
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            gone.append("stuck")
            raise

    model = ScriptedModel([calls(call(1, "srv__stuck", "{}"), call(2, "srv__other", "{}")), says("I see")])
    turn, _ = turn_of(model, FunctionToolbox(stuck=stuck, other=lambda arguments: _soon(text("fine"))))
    task = asyncio.create_task(run(turn))
    await until(lambda: turn.calls.running == ("c1",), what="the other call done")
    turn.calls.cancel("c1")
    events = await task
    assert gone == ["stuck"] and turn.calls.running == ()
    assert ended(events).reason is EndReason.ANSWERED
    whys = {event.id: event.why for event in of_type(events, ToolCallEnded)}
    assert whys == {"c1": "cancelled", "c2": ""}
    told = [one.text for one in model.requests[1].messages if isinstance(one, ToolMessage)]
    assert any("cancelled by the user" in one and "may not have taken effect" in one for one in told)


async def _soon(result):
    return result


def many_tools(count: int = 40) -> FunctionToolbox:
    async def answer(arguments):
        return text("done")

    return FunctionToolbox(**{f"tool_{number}": answer for number in range(count)})


def offered(request) -> set[str]:
    return {spec.tool for spec in request.tools}


async def test_a_tool_loaded_by_a_search_is_offered_in_the_next_step_and_can_be_called():
    model = ScriptedModel(
        [
            calls(call(1, "mcptui__find_tools", '{"query": "tool_33", "limit": 1}')),
            calls(call(2, "srv__tool_33", "{}")),
            says("done"),
        ]
    )
    toolbox = many_tools()
    await played(model, toolbox, tool_selection=ToolSelection(max_tools=10))
    assert "tool_33" not in offered(model.requests[0])
    assert all({"tool_33", "find_tools"} <= offered(request) for request in model.requests[1:])
    assert [name for name, *_ in toolbox.called] == ["tool_33"]
    assert model.requests[1].messages[-1].text.startswith("Loaded 1 tool:")


async def test_a_tool_that_was_not_loaded_is_loaded_and_called_when_the_model_names_it():
    model, toolbox = ScriptedModel([calls(call(1, "srv__tool_33", "{}")), says("done")]), many_tools()
    events, _ = await played(model, toolbox, tool_selection=ToolSelection(max_tools=10))
    assert [name for name, *_ in toolbox.called] == ["tool_33"]
    assert "tool_33" in offered(model.requests[1])
    assert "Loaded srv › tool_33: the model called it by name." in [
        notice.message for notice in of_type(events, Notice)
    ]


async def test_a_tool_whose_definition_is_never_sent_can_be_called_by_name_but_is_not_loaded():
    model, toolbox = ScriptedModel([calls(call(1, "srv__tool_3", "{}")), says("done")]), many_tools(5)
    properties = {f"p{number}": {"type": "string"} for number in range(9_000)}
    toolbox.offered[3] = replace(toolbox.offered[3], schema={"type": "object", "properties": properties})
    events, _ = await played(model, toolbox)
    assert [name for name, *_ in toolbox.called] == ["tool_3"]
    assert not any(notice.message.startswith("Loaded") for notice in of_type(events, Notice))


def ruled(*rules: str, mode: Mode = Mode.ASK) -> Policy:
    return policy_of(Rules.parsed(rules), mode)


async def test_a_tool_that_a_rule_denies_is_not_offered_and_calls_to_it_are_denied():
    model, toolbox = asking(calls(call(1)), says("ok"))
    events, _ = await played(model, toolbox, policy=ruled("deny srv/echo", mode=Mode.ALL))
    assert [tool.name for tool in model.requests[0].tools] == []
    assert toolbox.called == [] and not of_type(events, Notice)
    assert model.requests[1].messages[-1].text == "denied: a rule in the configuration forbids this call"
    assert of_type(events, CallJudged)[0].rule == "deny srv/echo"
    assert of_type(events, ToolCallEnded)[0].server == "srv"


async def test_a_rule_added_while_a_call_waits_for_approval_denies_it():
    model, toolbox = asking(calls(call(1)), says("ok"))
    policy = policy_of()

    class Adding(ScriptedApprover):
        async def ask(self, request):
            policy.rules = Rules.parsed(["deny srv/*"])
            return YES

    await played(model, toolbox, approver=Adding(), policy=policy)
    assert toolbox.called == []


@pytest.mark.parametrize(("count", "in_thread"), [(MANY_TOOLS, False), (MANY_TOOLS + 1, True)])
async def test_many_tools_are_selected_off_the_event_loop(monkeypatch, count, in_thread):
    threads = []

    def choose(self, *arguments, **more):
        threads.append(threading.current_thread() is not threading.main_thread())
        return offer(self, *arguments, **more)

    offer = ToolSelection.offer
    monkeypatch.setattr(ToolSelection, "offer", choose)
    toolbox = FunctionToolbox()
    toolbox.offered += [Tool("srv", f"t{number}", digest=f"{number}") for number in range(count - 1)]
    model = ScriptedModel([says("hello")])
    turn, _ = turn_of(model, toolbox)
    assert ended(await run(turn)).text == "hello"
    assert threads == [in_thread]
    assert len(model.requests[0].tools) == MAX_TOOLS - 1  # one slot is reserved for `read_result`
    assert set(model.requests[0].best) == {spec.name for spec in model.requests[0].tools}
