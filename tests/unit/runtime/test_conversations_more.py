"""One thing at a time with a conversation: each command works on the one it began with."""

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from tests.conftest import until
from tests.unit.core.stand_ins import ScriptedApprover
from tests.unit.runtime.test_conversations import Stage, texts
from tui.core.errors import McptuiError
from tui.core.ports import ModelPart, ModelRequest
from tui.core.secrets.redact import Redactor
from tui.model.scripted import Reply, ScriptedModel, says
from tui.storage.recordings.liveness import is_live
from tui.storage.sessions.store import SessionStore


class SlowModel(ScriptedModel):
    """Waits for `gate`, if there is one, before it replies."""

    gate: asyncio.Event | None = None
    begun = 0

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelPart]:
        self.begun += 1
        if self.gate is not None:
            await self.gate.wait()
        async for part in super().stream(request):
            yield part


class SlowStage(Stage):
    """Conversations whose model and disk are as slow as a test wants."""

    def __init__(self, folder: Path, *replies: Reply) -> None:
        super().__init__(folder)
        self.folder = folder
        self.model = self.asked._model = SlowModel(replies)

    async def saved(self, *questions: str) -> str:
        """Save a conversation, leave it, and return its id."""
        for question in questions:
            await self.ask(question)
        session = self.chats.info.id
        await self.chats.new()
        return session

    async def begin(self, work: Awaitable[object]) -> "asyncio.Task[object]":
        """Begin something that asks the model, and return once it has."""
        self.model.gate = asyncio.Event()
        before = self.model.begun
        task = asyncio.ensure_future(work)
        await until(lambda: self.model.begun > before or task.done(), what="a request")
        return task

    def slow_reopen(self, monkeypatch: pytest.MonkeyPatch) -> tuple[threading.Event, threading.Event]:
        """Hold the thread that reads a session; return what says that it has, and what lets it go."""
        store = self.chats._store
        assert isinstance(store, SessionStore)
        read, go = threading.Event(), threading.Event()
        reopen = store._reopen

        def slow(session: str) -> object:
            found = reopen(session)
            read.set()
            go.wait(10)
            return found

        monkeypatch.setattr(store, "_reopen", slow)
        return read, go

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
        await one.chats.close()


Make = Callable[..., SlowStage]


async def _titles(one: SlowStage) -> dict[str, str]:
    return {info.id: info.title for info in await one.chats.sessions()}


# ---- commands that ask the model


async def test_a_title_from_the_model_names_the_conversation_it_was_asked_for(stage: Make):
    one = stage(says("One."), says("Two."), says("A fine title"))
    other = await one.saved("first")
    await one.ask("second")
    session = one.chats.info.id
    naming = await one.begin(one.chats.title_from_model())
    for replace in (one.chats.new, lambda: one.chats.resume(other), lambda: one.chats.branch(2)):
        with pytest.raises(McptuiError, match="the model is writing a title"):
            await replace()
    one.model.gate.set()
    assert await naming == "A fine title"
    assert await _titles(one) == {other: "first", session: "A fine title"}
    await one.chats.new()
    assert one.chats.info is None


async def test_a_summary_and_its_tokens_stay_in_the_conversation_that_was_summarised(stage: Make):
    one = stage(*(says("y" * 4000) for _ in range(6)), says("they talked"))
    for number in range(6):
        one.asked.gauge.window = None
        await one.ask(f"{number} " + "x" * 4000)
    one.asked.gauge.window = 24_000
    session, before = one.chats.info.id, one.chats.meters.tokens
    compacting = await one.begin(one.chats.compact())
    with pytest.raises(McptuiError, match="the conversation is being summarised"):
        await one.chats.new()
    one.model.gate.set()
    await compacting
    spent = one.chats.meters.tokens
    assert one.chats.compaction.summary == "they talked" and spent > before
    await one.chats.new()
    assert one.chats.meters.tokens == 0 and one.chats.compaction.summary == ""
    await one.chats.resume(session)
    assert one.chats.compaction.summary == "they talked" and one.chats.meters.tokens == spent


async def test_what_the_conversation_is_busy_with_is_said_until_it_is_done(stage: Make):
    one = stage(*(says("y" * 4000) for _ in range(6)), says("they talked"))
    for number in range(6):
        await one.ask(f"{number} " + "x" * 4000)
    compacting = await one.begin(one.chats.compact())
    assert one.chats.busy == "the conversation is being summarised"
    one.model.gate.set()
    await compacting
    assert one.chats.busy == ""


async def test_a_cancelled_command_leaves_the_conversation_free(stage: Make):
    one = stage(says("One."))
    await one.ask("first")
    naming = await one.begin(one.chats.title_from_model())
    naming.cancel()
    await asyncio.wait({naming})
    await one.chats.new()
    assert one.chats.info is None


async def test_a_turn_goes_to_the_conversation_in_which_it_was_asked(stage: Make):
    one = stage(says("One."), says("Two."))
    await one.ask("first")
    talk = one.chats.messages
    turn = one.chats.ask("second", ScriptedApprover())
    await one.chats.new()
    async for _ in turn.events():
        pass
    assert texts(talk) == ["first", "One.", "second", "Two."] and one.chats.messages == []


# ---- opening another one


async def test_cancelling_an_open_keeps_the_conversation_on_screen_and_its_journal(stage: Make, monkeypatch):
    one = stage(says("One."), says("Two."), says("Three."))
    other = await one.saved("first")
    await one.ask("second")
    session = one.chats.info.id
    read, go = one.slow_reopen(monkeypatch)
    opening = asyncio.create_task(one.chats.resume(other))
    await asyncio.to_thread(read.wait, 10)
    opening.cancel()
    await asyncio.wait({opening})
    go.set()
    await until(lambda: not one.is_locked(other), what="the lock to be released")
    await one.ask("third")
    assert one.chats.info.id == session and texts(one.chats.messages)[-2:] == ["third", "Three."]
    assert sorted((await _titles(one)).values()) == ["first", "second"]


async def test_another_process_can_open_what_was_given_up_here(stage: Make, tmp_path: Path, monkeypatch):
    one = stage(says("One."))
    other = await one.saved("first")
    read, go = one.slow_reopen(monkeypatch)
    opening = asyncio.create_task(one.chats.resume(other))
    await asyncio.to_thread(read.wait, 10)
    opening.cancel()
    go.set()
    await asyncio.wait({opening})
    await until(lambda: not one.is_locked(other), what="the lock to be released")
    found, journal = await SessionStore(tmp_path / "sessions", Redactor).reopen(other)
    await journal.close()
    assert texts(found.conversation.messages) == ["first", "One."]


@pytest.mark.parametrize("how", ["new", "resume", "branch"])
async def test_cancelling_while_the_one_before_is_left_replaces_it_all_the_same(
    stage: Make, monkeypatch, how: str
):
    one = stage(says("One."), says("Two."), says("Three."))
    other = await one.saved("first")
    await one.ask("second")
    before, journal = one.chats.info.id, one.chats._now.journal
    closing, go = asyncio.Event(), asyncio.Event()
    close = journal.close

    async def slow() -> None:
        closing.set()
        await go.wait()
        await close()

    monkeypatch.setattr(journal, "close", slow)
    replace = {
        "new": one.chats.new,
        "resume": lambda: one.chats.resume(other),
        "branch": lambda: one.chats.branch(2),
    }
    replacing = asyncio.create_task(replace[how]())
    await closing.wait()
    replacing.cancel()
    go.set()
    await asyncio.wait({replacing})
    assert one.chats.busy == "" and not one.is_locked(before)
    await one.ask("third")
    assert one.chats.info.id != before and (one.chats.info.id == other) is (how == "resume")
    titles = await _titles(one)
    assert one.chats.problem == "" and len(titles) == (2 if how == "resume" else 3)


async def test_a_session_is_renamed_and_deleted_while_it_is_closing(stage: Make):
    one = stage(says("One."))
    await one.ask("first")
    session = one.chats.info.id
    leaving = asyncio.create_task(one.chats.new())
    await until(lambda: one.chats.info is None, what="another conversation")
    await one.chats.rename(session, "greetings")
    assert await _titles(one) == {session: "greetings"}
    await one.chats.delete(session)
    await leaving
    assert await _titles(one) == {}


async def test_turns_keep_their_number_in_the_traffic_in_a_branch_and_when_opened_again(stage: Make):
    one = stage(*(says(str(number)) for number in range(4)))
    await one.ask("first")
    await one.ask("second")
    session = one.chats.info.id
    assert one.chats.turn_numbers == {0: 1, 2: 2}
    await one.chats.branch(2)
    await one.ask("another second")
    assert one.chats.turn_numbers == {0: 1, 2: 3}
    await one.chats.new()
    await one.ask("first")
    assert one.chats.turn_numbers == {0: 4}
    await one.chats.resume(session)
    assert one.chats.turn_numbers == {0: 1, 2: 2}
