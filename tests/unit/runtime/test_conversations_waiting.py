"""A question waits for servers that start and for a model that loads."""

import asyncio

from tests.scripted_model import says
from tests.unit.core.stand_ins import ScriptedApprover
from tests.unit.runtime.stage import Make, Stage
from tui.core.events import EndReason, Event, Notice, Waiting
from tui.core.servers import ServerSpec, ServerState, ServerStatus


def starting(name: str) -> ServerStatus:
    return ServerStatus(name, ServerSpec(name, name), ServerState.STARTING, since_ns=1)


async def asked(one: Stage, question: str = "hi") -> list[Event]:
    return [event async for event in one.conversations.ask(question, ScriptedApprover()).events()]


def waiting(stage: Make, *names: str, ns: int = 1) -> Stage:
    """Return conversations with servers that have begun to start at 1 ns."""
    one = stage(says("Hello."), says("Again."))
    one.around.clock.ns, one.around.host.servers = ns, list(map(starting, names))
    return one


async def test_a_question_waits_for_servers_that_have_just_begun_to_start(stage: Make):
    one = waiting(stage, "notes")
    events = await asked(one)
    told = [event.message for event in events if isinstance(event, Waiting | Notice)]
    assert told[:2] == ["Waiting for 1 server to start: notes", ""] and told[2].startswith(
        "Still starting: notes"
    )
    assert events[-1].reason is EndReason.ANSWERED and one.around.clock.ns >= 8e9


async def test_the_waiting_message_is_updated_when_a_server_has_started(stage: Make):
    one = waiting(stage, "a", "b")
    told: list[str] = []
    async for event in one.conversations.ask("hi", ScriptedApprover()).events():
        if isinstance(event, Waiting):
            told.append(event.message)
            del one.around.host.servers[0:1]
    assert told[0] == "Waiting for 2 servers to start: a, b" and told[-1] == ""


async def test_each_queued_question_waits_like_the_first(stage: Make):
    one = waiting(stage, "npx")
    for question in ("hi", "again"):
        events = await asked(one, question)
        assert any(isinstance(event, Waiting) for event in events)
    assert one.around.clock.ns >= 16e9


async def test_a_slow_server_is_not_waited_for_at_each_question(stage: Make):
    one = waiting(stage, "npx", ns=21_000_000_000)
    events = await asked(one)
    assert not any(isinstance(event, Waiting | Notice) for event in events)


async def test_a_question_waits_for_a_model_that_is_not_loaded_yet(stage: Make, monkeypatch):
    one = stage(says("Hello."))
    loaded = asyncio.Event()

    async def load() -> None:
        loaded.set()

    monkeypatch.setattr(one.asked, "_unloaded", True)
    monkeypatch.setattr(one.asked, "load", load)
    events = await asked(one)
    assert events[:2] == [Waiting("Loading scripted"), Waiting("")]
    assert loaded.is_set() and events[-1].reason is EndReason.ANSWERED


async def test_a_question_can_be_cancelled_while_its_model_loads(stage: Make, monkeypatch):
    one = stage(says("Hello."))
    begun = asyncio.Event()

    async def load() -> None:
        begun.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(one.asked, "_unloaded", True)
    monkeypatch.setattr(one.asked, "load", load)
    turn = one.conversations.ask("hi", ScriptedApprover())

    async def all_events() -> list[Event]:
        return [event async for event in turn.events()]

    events = asyncio.create_task(all_events())
    await begun.wait()
    turn.cancel()
    assert (await events)[-1].reason is EndReason.CANCELLED
    assert one.model.requests == []
