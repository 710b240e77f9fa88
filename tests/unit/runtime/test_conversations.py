"""Conversations: saved as they happen, resumed, branched, resent, with another model."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.conftest import until
from tests.scripted_model import ScriptedModel, calls, says
from tests.unit.core.stand_ins import FunctionToolbox, ScriptedApprover, call
from tests.unit.runtime.stage import Make, configuration_of, texts
from tui.core.conversation.conversation import (
    AssistantMessage,
    Compaction,
    SessionMeta,
    ToolMessage,
    UserMessage,
)
from tui.core.errors import McptuiError, ModelError
from tui.core.events import EndReason, Event, TurnStarted
from tui.core.ports import ModelPart, ModelRequest, ReplyPart, TextPart, Usage
from tui.core.questions import SamplingMeter
from tui.core.tools import TextContent, Tool, ToolResult
from tui.core.turn.limits import Limits
from tui.model.endpoints.profile import ModelProfile
from tui.runtime.active_model import ModelSampler
from tui.runtime.conversations import SYSTEM
from tui.runtime.turn import PendingTurn


@pytest.fixture
def blocked(tmp_path: Path) -> Path:
    """A file where the folder of sessions would be."""
    place = tmp_path / "sessions"
    place.write_text("in the way")
    return place


async def _all(turn: PendingTurn) -> list[Event]:
    return [event async for event in turn.events()]


async def test_a_conversation_is_first_saved_with_its_first_question(stage: Make):
    one = stage(says("Hello."))
    assert one.conversations.info is None and await one.conversations.sessions() == []
    await one.ask("What is a monad? I mean it.")
    assert one.conversations.info is not None
    assert [info.title for info in await one.conversations.sessions()] == ["What is a monad?"]


async def test_a_conversation_continues_in_another_run(stage: Make):
    one = stage(calls(call(1)), says("It echoes."))
    await one.ask("try it")
    two = await one.next_run(stage(says("As I said.")))
    await two.ask("again?")
    assert [type(message) for message in two.conversations.messages] == [
        UserMessage, AssistantMessage, ToolMessage, AssistantMessage, UserMessage, AssistantMessage,
    ]  # fmt: skip
    assert texts(two.model.requests[0].messages)[2:] == ["echo hi", "It echoes.", "again?"]


async def test_a_resumed_conversation_continues_with_its_model_and_a_note(stage: Make, monkeypatch):
    one = stage(says("Hello."), profile=ModelProfile("small", "http://127.0.0.1:9/v1", "tiny"))
    await one.ask("hi")
    session = one.conversations.info.id
    await one.conversations.close()
    two = stage()
    asked: list[tuple[str, str]] = []

    async def continue_with(about: SessionMeta) -> str:
        asked.append((about.profile or "", about.model or ""))
        return "tiny goes on."

    monkeypatch.setattr(two.asked, "continue_with", continue_with)
    await two.conversations.resume(session)
    assert (asked, two.conversations.remarks[-1].text) == ([("small", "scripted")], "tiny goes on.")


async def test_a_new_conversation_leaves_the_previous_one_unchanged(stage: Make):
    one = stage(says("One."), says("Two."))
    await one.ask("first")
    await one.conversations.new()
    await one.ask("second")
    assert texts(one.model.requests[1].messages) == ["second"]
    assert sorted(info.title for info in await one.conversations.sessions()) == ["first", "second"]


async def test_a_branch_has_the_earlier_messages_and_its_parent_is_unchanged(stage: Make):
    one = stage(says("One."), says("Two."), says("Other two."))
    await one.ask("first")
    await one.ask("second")
    parent = one.conversations.info
    text, _ = await one.conversations.again()
    assert text == "second" and texts(one.conversations.messages) == ["first", "One."]
    await one.ask("another second")
    assert one.conversations.info.parent == parent.id and one.conversations.info.id != parent.id
    assert texts(one.model.requests[2].messages) == ["first", "One.", "another second"]
    await one.conversations.resume(parent.id)
    assert texts(one.conversations.messages) == ["first", "One.", "second", "Two."]


async def test_resending_the_first_question_makes_a_branch_with_its_parent(stage: Make):
    one = stage(says("One."), says("Other."), says("Third."))
    await one.ask("first")
    parent = one.conversations.info
    await one.conversations.again(0)
    assert one.conversations.messages == [] and one.conversations.info is None
    await one.ask("first, better")
    branch = one.conversations.info
    assert branch.parent == parent.id and branch.title == "first, better"
    listed = {info.id: info for info in await one.conversations.sessions()}
    assert listed[branch.id].parent == parent.id and len(listed) == 2
    two = await one.next_run(stage(says("Third.")))
    assert texts(two.conversations.messages) == ["first, better", "Other."]


async def test_a_resent_question_is_not_truncated_to_the_limit_of_the_previous_turn(stage: Make):
    too_long = [ModelError("too long", overflow=True)]
    one = stage(says("One."), too_long, says("Two."), says("Other two."))
    await one.ask("first")
    await one.ask("second " + "x" * 90_000)
    assert len(one.model.requests[2].messages[-1].text) < 60_000
    text, _ = await one.conversations.again()
    await one.ask(text)
    assert one.model.requests[3].messages[-1].text == text


async def test_a_branch_of_a_deleted_session_is_saved(stage: Make):
    one = stage(says("One."), says("Other."))
    await one.ask("first")
    parent = one.conversations.info
    await one.conversations.again(0)
    await one.conversations.delete(parent.id)
    await one.ask("first, better")
    assert one.conversations.problem == ""
    assert [info.title for info in await one.conversations.sessions()] == ["first, better"]


async def test_a_session_can_be_named_before_it_is_saved_and_found_by_its_title(stage: Make):
    one = stage(says("One."))
    await one.conversations.resume_named("trip", begin=True)
    await one.ask("hello")
    session = one.conversations.info
    assert session.title == "trip"
    await one.conversations.new()
    await one.conversations.resume_named("Trip")
    assert one.conversations.info.id == session.id
    with pytest.raises(McptuiError, match="session not found"):
        await one.conversations.resume_named("nowhere")


async def test_the_open_session_can_be_renamed_but_not_deleted(stage: Make):
    one = stage(says("One."))
    await one.ask("hello")
    session = one.conversations.info.id
    await one.conversations.rename(session, "greetings")
    assert [info.title for info in await one.conversations.sessions()] == ["greetings"]
    with pytest.raises(McptuiError, match="open"):
        await one.conversations.delete(session)
    await one.conversations.new()
    await one.conversations.delete(session)
    assert await one.conversations.sessions() == []
    await one.conversations.restore(session)
    assert len(await one.conversations.sessions()) == 1


async def test_the_system_text_of_the_conversation_overrides_that_of_the_profile(stage: Make):
    profile = ModelProfile("p", "http://127.0.0.1:1/v1", "m", system="Be brief.")
    one = stage(says("a"), says("b"), says("c"), profile=profile)
    await one.ask("1")
    await one.conversations.set_system("Talk like a pirate.")
    await one.ask("2")
    await one.conversations.set_system("")
    await one.ask("3")
    assert [request.system for request in one.model.requests] == [
        "Be brief.", "Talk like a pirate.", "Be brief.",
    ]  # fmt: skip
    one.asked.profile = None
    assert one.conversations.system == SYSTEM


async def test_a_system_text_of_its_own_is_saved_with_a_conversation(stage: Make):
    one = stage(says("a"))
    await one.conversations.set_system("Talk like a pirate.")
    await one.ask("1")
    session = one.conversations.info.id
    await one.conversations.new()
    assert one.conversations.system == SYSTEM
    await one.conversations.resume(session)
    assert one.conversations.system == "Talk like a pirate."


async def test_tokens_and_cost_are_summed_over_the_whole_conversation(stage: Make):
    profile = ModelProfile("p", "http://127.0.0.1:1/v1", "m", price_in=2.0, price_out=10.0)
    reply = [TextPart("a"), ReplyPart(usage=Usage(1_000_000, 100_000))]
    one = stage(reply, reply, profile=profile)
    await one.ask("1")
    await one.ask("2")
    meters = one.conversations.meters
    assert (meters.tokens, meters.cost, meters.context) == (2_200_000, 6.0, 1_100_000)
    await one.reopen()
    assert one.conversations.meters.cost == 6.0


async def test_cached_tokens_cost_less_in_the_conversation_and_in_the_budget_of_a_turn(stage: Make):
    profile = ModelProfile("p", "http://127.0.0.1:1/v1", "m", price_in=2.0, price_cached=0.2, price_out=10.0)
    usage = Usage(1_000_000, 0, cached=1_000_000)
    step = [ReplyPart(calls=(call(1),), usage=usage)]
    one = stage(step, [TextPart("a"), ReplyPart(usage=usage)], profile=profile)
    one.around.limits = Limits(turn_cost=1.0)
    assert (await one.ask("1")).reason is EndReason.ANSWERED
    assert one.conversations.meters.cost == pytest.approx(0.4)


async def test_a_summary_is_saved_and_can_be_undone(stage: Make):
    one = stage(*(says("y" * 4000) for _ in range(6)), says("they talked"), says("done"))
    one.asked.context_meter.window = 24_000
    for number in range(6):
        one.asked.context_meter.window = None
        await one.ask(f"{number} " + "x" * 4000)
    one.asked.context_meter.window = 24_000
    await one.conversations.compact()
    assert one.conversations.compaction.summary == "they talked"
    await one.reopen()
    assert one.conversations.compaction.summary == "they talked" and len(one.conversations.messages) == 12
    one.conversations.uncompact()
    assert one.conversations.compaction == Compaction()


async def test_an_unwritable_folder_does_not_stop_the_conversation(stage: Make, blocked: Path):
    one = stage(says("Hello."))
    assert (await one.ask("hi")).reason is EndReason.ANSWERED
    assert one.conversations.problem == f"cannot write to {blocked}: Not a directory"
    await one.conversations.new()
    assert "Not a directory" in one.conversations.lost()
    assert one.conversations.lost() == ""


async def test_a_saved_conversation_and_an_empty_one_are_not_reported_as_lost(stage: Make):
    one = stage(says("Hello."))
    await one.conversations.new()
    assert one.conversations.lost() == ""
    await one.ask("hi")
    await one.conversations.new()
    assert one.conversations.lost() == ""


async def test_branching_an_unsaved_conversation_reports_it_and_sets_no_parent(stage: Make, blocked: Path):
    one = stage(says("Hello."), says("Again."))
    await one.ask("hi")
    await one.conversations.branch(2)
    assert "Not a directory" in one.conversations.lost()
    assert "Not a directory" in one.conversations.problem
    assert [message.text for message in one.conversations.messages] == ["hi", "Hello."]
    await one.conversations.again()
    await one.ask("hi")
    assert one.conversations.info is not None and one.conversations.info.parent == ""


@pytest.mark.usefixtures("blocked")
async def test_a_branch_is_saved_in_full_once_the_disk_recovers(stage: Make, tmp_path: Path):
    one = stage(says("Hello."), says("More."))
    await one.ask("hi")
    await one.conversations.branch(2)
    (tmp_path / "sessions").unlink()
    await one.ask("more")
    assert one.conversations.problem == ""
    await one.reopen()
    assert [message.text for message in one.conversations.messages] == ["hi", "Hello.", "more", "More."]


# ---- what the model can call and read


async def test_no_more_tools_are_offered_than_the_model_accepts(stage: Make):
    one = stage(says("ok"), says("ok"))
    one.around.toolbox.offered = [Tool("srv", f"t{number}", digest=str(number)) for number in range(200)]
    await one.ask("one")
    one.model.max_tools = 20
    await one.ask("two")
    assert [len(request.tools) for request in one.model.requests] == [127, 19]
    told = [event.notice for event in one.around.seen if isinstance(event, TurnStarted)]
    assert "it accepts 128" in told[0] and "it accepts 20" in told[1]


async def test_a_large_result_can_be_read_in_later_turns_and_in_another_run(stage: Make):
    async def log(arguments: object) -> ToolResult:
        return ToolResult((TextContent("\n".join(f"line {number}" for number in range(20_000))),))

    one = stage(calls(call(1, "srv__log")), says("long"))
    one.around.host.toolbox = FunctionToolbox(log=log)
    await one.ask("what is in the log?")
    assert one.conversations.result("result-1").endswith("line 19999")
    read = call(2, "mcptui__read_result", '{"name": "result-1", "grep": "line 12345"}')
    two = await one.next_run(stage(calls(read), says("there")))
    await two.ask("and line 12345?")
    told = [message.text for message in two.conversations.messages if isinstance(message, ToolMessage)]
    assert "line 12345\n" in told[-1]


async def test_a_branch_without_new_messages_can_be_exported(stage: Make, tmp_path: Path):
    one = stage(says("One."), says("Two."))
    await one.ask("first")
    await one.ask("second")
    await one.conversations.branch(2)
    await one.conversations.stored().export(one.conversations.info.id, "markdown", tmp_path / "branch.md")
    assert "first" in (tmp_path / "branch.md").read_text("utf-8")


async def test_the_model_writes_a_title_only_on_request(stage: Make):
    one = stage(says("One."), says("**Greetings from afar**\n\nand more"))
    await one.ask("hello")
    assert len(one.model.requests) == 1
    assert await one.conversations.title_from_model() == "Greetings from afar"
    assert [info.title for info in await one.conversations.sessions()] == ["Greetings from afar"]
    assert len(one.conversations.messages) == 2


async def test_a_profile_can_have_the_model_write_the_title_after_its_first_answer(stage: Make):
    profile = ModelProfile("p", "http://127.0.0.1", "m", writes_titles=True)
    one = stage(says("One."), says("Greetings from afar"), says("Two."), profile=profile)
    await one.ask("hello")
    await until(lambda: one.conversations.info.title == "Greetings from afar")
    await one.ask("again")
    await one.conversations.close()
    assert len(one.model.requests) == 3


async def test_a_title_changed_meanwhile_is_kept(stage: Make):
    profile = ModelProfile("p", "http://127.0.0.1", "m", writes_titles=True)
    one = stage(says("One."), says("Greetings from afar"), profile=profile)
    await one.ask("hello")
    await one.conversations.rename(one.conversations.info.id, "Mine")
    await until(lambda: len(one.model.requests) == 2)
    await one.conversations.close()
    assert [info.title for info in await one.conversations.sessions()] == ["Mine"]


async def test_a_stopped_question_is_marked_as_unanswered_in_the_next_request(stage: Make):
    one = stage(says("Pong."))
    turn = one.conversations.ask("ping", ScriptedApprover())
    turn.cancel()
    assert (await _all(turn))[-1].reason is EndReason.CANCELLED
    await one.ask("no: pong")
    asked = texts(one.model.requests[-1].messages)
    assert asked == ["ping", "(No answer: the turn ended early.)", "no: pong"]
    assert texts(one.conversations.messages) == ["ping", "no: pong", "Pong."]


async def test_server_instructions_follow_the_system_text_and_are_not_part_of_it(stage: Make):
    one = stage(says("Hello."))
    one.around.host.told = {"srv": "be kind."}
    await one.ask("Hi")
    (request,) = one.model.requests
    assert request.system.startswith(f"{SYSTEM}\n\n") and "Server srv:\n" in request.system
    assert one.conversations.system == SYSTEM


# ---- the cost of each request, at the prices of its model


PRICED = ModelProfile("p", "http://127.0.0.1:1/v1", "m", price_in=2.0, price_out=10.0)
DEARER = replace(PRICED, name="dearer", price_in=200.0)
REPLY = [TextPart("a"), ReplyPart(usage=Usage(1_000_000, 100_000))]


class Waiting(ScriptedModel):
    """Replies when the test allows it."""

    def __init__(self) -> None:
        super().__init__([REPLY])
        self.may_reply = asyncio.Event()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelPart]:
        self.requests.append(request)
        await self.may_reply.wait()
        for part in REPLY:
            yield part


async def test_a_reply_costs_what_its_own_model_costs_if_another_one_was_selected_meanwhile(stage: Make):
    one = stage(profile=PRICED)
    one.asked._model = model = Waiting()
    turn = asyncio.create_task(one.ask("hi"))
    await until(lambda: model.requests)
    one.asked._model, one.asked.profile = ScriptedModel([], label="dearer"), DEARER
    model.may_reply.set()
    await turn
    assert (one.conversations.meters.tokens, one.conversations.meters.cost) == (1_100_000, 3.0)
    assert not one.asked._has_answered


async def test_a_reply_for_a_server_costs_what_its_own_model_costs(stage: Make):
    one = stage(profile=PRICED)
    one.asked._model = model = Waiting()

    sampler = ModelSampler(one.asked, configuration_of(Path("missing.toml")), one.conversations.biller)
    message = {"role": "user", "content": {"type": "text", "text": "Hello"}}
    request = sampler.sample({"messages": [message]}, max_tokens=50, meter=SamplingMeter())
    sampling = asyncio.create_task(request)
    await until(lambda: model.requests)
    one.asked._model, one.asked.profile = ScriptedModel([], label="dearer"), DEARER
    model.may_reply.set()
    await sampling
    assert (one.conversations.meters.tokens, one.conversations.meters.cost) == (1_100_000, 3.0)


async def test_tokens_used_by_a_server_before_the_first_message_are_saved(stage: Make):
    one = stage(REPLY, says("Title"), profile=PRICED)
    bill = one.conversations.biller()
    bill(Usage(250_000, 0))
    bill(Usage(250_000, 0, estimated=True))
    await one.ask("hi")
    meters = one.conversations.meters
    (info,) = await one.conversations.sessions()
    assert (
        (info.tokens, info.cost, info.estimated)
        == (meters.tokens, meters.cost, True)
        == (1_600_000, 4.0, True)
    )
