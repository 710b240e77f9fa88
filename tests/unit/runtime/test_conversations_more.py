"""One operation at a time: each works on the conversation it started with."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path

import pytest

from tests.conftest import until
from tests.scripted_model import Reply, ScriptedModel, says
from tests.unit.core.stand_ins import ScriptedApprover
from tests.unit.runtime.stage import Stage, texts
from tests.unit.storage.session_samples import slow_reopen
from tui.core.errors import McptuiError
from tui.core.permission.rules import Rules
from tui.core.ports import ModelPart, ModelRequest
from tui.storage.files.live_lock import is_live
from tui.storage.sessions.store import SessionStore


class SlowModel(ScriptedModel):
    """Waits for `gate`, if set, before it replies."""

    gate: asyncio.Event | None = None
    begun = 0

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelPart]:
        self.begun += 1
        if self.gate is not None:
            await self.gate.wait()
        async for part in super().stream(request):
            yield part


class SlowStage(Stage):
    """Conversations with a model and a disk as slow as the test sets."""

    def __init__(self, folder: Path, *replies: Reply) -> None:
        super().__init__(folder)
        self.folder = folder
        self.model = self.asked._model = SlowModel(replies)

    async def saved(self, *questions: str) -> str:
        """Save a conversation, leave it, and return its id."""
        for question in questions:
            await self.ask(question)
        session = self.conversations.info.id
        await self.conversations.new()
        return session

    async def begin(self, work: Awaitable[object]) -> "asyncio.Task[object]":
        """Start an operation that uses the model, and return once the model was called."""
        self.model.gate = asyncio.Event()
        before = self.model.begun
        task = asyncio.ensure_future(work)
        await until(lambda: self.model.begun > before or task.done(), what="a request")
        return task

    def slow_reopen(self, monkeypatch: pytest.MonkeyPatch) -> tuple[threading.Event, threading.Event]:
        store = self.conversations._store
        assert isinstance(store, SessionStore)
        return slow_reopen(store, monkeypatch)

    def is_locked(self, session: str) -> bool:
        return is_live(self.folder / f"{session}.mcpsession")


@pytest.fixture
async def stage(tmp_path: Path):
    made: list[SlowStage] = []

    def make(*replies: Reply) -> SlowStage:
        made.append(SlowStage(tmp_path / "sessions", *replies))
        return made[-1]

    yield make
    for one in made:
        await one.conversations.close()


Make = Callable[..., SlowStage]


async def _titles(one: SlowStage) -> dict[str, str]:
    return {info.id: info.title for info in await one.conversations.sessions()}


# ---- operations that use the model


async def test_a_title_from_the_model_goes_to_the_conversation_that_requested_it(stage: Make):
    one = stage(says("One."), says("Two."), says("A fine title"))
    other = await one.saved("first")
    await one.ask("second")
    session = one.conversations.info.id
    naming = await one.begin(one.conversations.title_from_model())
    for replace in (
        one.conversations.new,
        lambda: one.conversations.resume(other),
        lambda: one.conversations.branch(2),
    ):
        with pytest.raises(McptuiError, match="the model is writing a title"):
            await replace()
    one.model.gate.set()
    assert await naming == "A fine title"
    assert await _titles(one) == {other: "first", session: "A fine title"}
    await one.conversations.new()
    assert one.conversations.info is None


async def test_a_summary_and_its_tokens_belong_to_the_summarized_conversation(stage: Make):
    one = stage(*(says("y" * 4000) for _ in range(6)), says("they talked"))
    for number in range(6):
        one.asked.context_meter.window = None
        await one.ask(f"{number} " + "x" * 4000)
    one.asked.context_meter.window = 24_000
    session, before = one.conversations.info.id, one.conversations.meters.tokens
    compacting = await one.begin(one.conversations.compact())
    with pytest.raises(McptuiError, match="the conversation is being summarized"):
        await one.conversations.new()
    one.model.gate.set()
    await compacting
    assert one.conversations.busy == ""
    spent = one.conversations.meters.tokens
    assert one.conversations.compaction.summary == "they talked" and spent > before
    await one.conversations.new()
    assert one.conversations.meters.tokens == 0 and one.conversations.compaction.summary == ""
    await one.conversations.resume(session)
    assert one.conversations.compaction.summary == "they talked" and one.conversations.meters.tokens == spent


async def test_a_cancelled_command_no_longer_blocks_the_conversation(stage: Make):
    one = stage(says("One."))
    await one.ask("first")
    naming = await one.begin(one.conversations.title_from_model())
    naming.cancel()
    await asyncio.wait({naming})
    await one.conversations.new()
    assert one.conversations.info is None


async def test_a_turn_belongs_to_the_conversation_of_its_question(stage: Make):
    one = stage(says("One."), says("Two."))
    await one.ask("first")
    talk = one.conversations.now.talk.messages
    turn = one.conversations.ask("second", ScriptedApprover())
    await one.conversations.new()
    async for _ in turn.events():
        pass
    assert texts(talk) == ["first", "One.", "second", "Two."] and one.conversations.messages == []


# ---- opening another session


async def test_cancelling_opening_a_session_keeps_the_current_one_and_its_journal(stage: Make, monkeypatch):
    one = stage(says("One."), says("Two."), says("Three."))
    other = await one.saved("first")
    await one.ask("second")
    session = one.conversations.info.id
    read, go = one.slow_reopen(monkeypatch)
    opening = asyncio.create_task(one.conversations.resume(other))
    await asyncio.to_thread(read.wait, 10)
    opening.cancel()
    await asyncio.wait({opening})
    go.set()
    await until(lambda: not one.is_locked(other), what="the lock to be released")
    await one.ask("third")
    assert one.conversations.info.id == session and texts(one.conversations.messages)[-2:] == [
        "third",
        "Three.",
    ]
    assert sorted((await _titles(one)).values()) == ["first", "second"]


@pytest.mark.parametrize("how", ["new", "resume", "branch"])
async def test_cancelling_while_the_previous_conversation_closes_still_replaces_it(
    stage: Make, monkeypatch, how: str
):
    one = stage(says("One."), says("Two."), says("Three."))
    other = await one.saved("first")
    await one.ask("second")
    before, journal = one.conversations.info.id, one.conversations.now.talk.journal
    closing, go = asyncio.Event(), asyncio.Event()
    close = journal.close

    async def slow() -> None:
        closing.set()
        await go.wait()
        await close()

    monkeypatch.setattr(journal, "close", slow)
    replace = {
        "new": one.conversations.new,
        "resume": lambda: one.conversations.resume(other),
        "branch": lambda: one.conversations.branch(2),
    }
    replacing = asyncio.create_task(replace[how]())
    await closing.wait()
    replacing.cancel()
    go.set()
    await asyncio.wait({replacing})
    assert one.conversations.busy == "" and not one.is_locked(before)
    await one.ask("third")
    assert one.conversations.info.id != before and (one.conversations.info.id == other) is (how == "resume")
    titles = await _titles(one)
    assert one.conversations.problem == "" and len(titles) == (2 if how == "resume" else 3)


async def test_a_session_is_renamed_and_deleted_while_it_is_closing(stage: Make):
    one = stage(says("One."))
    await one.ask("first")
    session = one.conversations.info.id
    leaving = asyncio.create_task(one.conversations.new())
    await until(lambda: one.conversations.info is None, what="another conversation")
    await one.conversations.rename(session, "greetings")
    assert await _titles(one) == {session: "greetings"}
    await one.conversations.delete(session)
    await leaving
    assert await _titles(one) == {}


async def test_turns_keep_their_traffic_number_in_a_branch_and_after_reopening(stage: Make):
    one = stage(*(says(str(number)) for number in range(4)))
    await one.ask("first")
    await one.ask("second")
    session = one.conversations.info.id
    assert one.conversations.now.turn_numbers == {0: 1, 2: 2}
    await one.conversations.branch(2)
    await one.ask("another second")
    assert one.conversations.now.turn_numbers == {0: 1, 2: 3}
    await one.conversations.new()
    await one.ask("first")
    assert one.conversations.now.turn_numbers == {0: 4}
    await one.conversations.resume(session)
    assert one.conversations.now.turn_numbers == {0: 1, 2: 2}


async def test_a_tool_denied_by_a_rule_is_marked_and_uses_no_tokens(stage: Make):
    made = stage()
    [tool] = made.around.toolbox.tools()
    before = made.request.definition_tokens_of(tool.server)
    made.around.policy.rules = Rules.parsed([f"deny {tool.server}/*"])
    assert made.request.tool_marks() == {(tool.server, tool.name): f"not offered: deny {tool.server}/*"}
    assert before and not made.request.definition_tokens_of(tool.server)
