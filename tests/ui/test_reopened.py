"""A reopened conversation looks as it did when it ran: everything on the screen is saved."""

import asyncio
import time
from collections.abc import AsyncGenerator
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.conftest import until
from tests.scripted_model import Reply, ScriptedModel, Wait, calls, says
from tests.ui.talk_stage import Talk, talk
from tests.unit.core.stand_ins import FunctionToolbox, HandClock, ScriptedApprover, call, policy_of, text
from tests.unit.storage.session_samples import store_in
from tui.core.conversation.conversation import Conversation, Remark
from tui.core.errors import ModelError
from tui.core.permission.approval_policy import Mode, TurnPermission
from tui.core.ports import (
    Answer,
    Decision,
    ModelPart,
    ModelRequest,
    ReasoningPart,
    ReplyPart,
    RetryPart,
    TextPart,
)
from tui.core.turn.limits import Limits
from tui.core.turn.loop import Turn
from tui.core.turn.tool_calls import TurnDeps, TurnModel, TurnTools
from tui.core.units import clock_time
from tui.storage.sessions.journal import SessionJournal
from tui.ui.chat.bridge import Bridge, note_of

KEYS = {"chat.continue": "ctrl+g", "chat.retry": "r", "chat.cancel": "esc"}
NOTICE = "the fine print"
FAILS = ModelError("HTTP 500: out of order", where="model", next_step="Retry.")


class SlowModel(ScriptedModel):
    """Takes two seconds for each part, and shows it before the next."""

    def __init__(self, clock: HandClock, bridge: Bridge, *replies: Reply) -> None:
        super().__init__(replies)
        self._clock, self._bridge, self._step = clock, bridge, 0

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelPart]:
        self._step += 1
        await until(lambda: self._bridge.step == self._step, what="the step on screen")
        async for part in super().stream(request):
            await self._clock.sleep(2)
            yield part
            for _ in range(20):
                await asyncio.sleep(0)


class Scene:
    """A conversation on screen that is saved as it happens."""

    def __init__(self, it: Talk, journal: SessionJournal, clock: HandClock) -> None:
        self.it, self.journal, self.clock = it, journal, clock
        regions = SimpleNamespace(conversation=it.pane, key_of=KEYS.__getitem__)
        self.bridge = Bridge(SimpleNamespace(model_notice=NOTICE), regions, lambda: clock.ns / 1e9)
        self.talk = Conversation(journal=journal)

    async def turn(self, *replies: Reply, limits: Limits | None = None, answer: Answer = Answer.ONCE) -> None:
        now = time.time()
        self.it.pane.add_user("go", clock_time(now, now))
        self.talk.say("go", at=now)

        async def broken(arguments: object) -> object:
            await self.clock.sleep(3)
            return text("no such town", is_error=True)

        async def echo(arguments: object) -> object:
            await self.clock.sleep(4)
            return text("25 degrees")

        deps = TurnDeps(
            TurnModel(SlowModel(self.clock, self.bridge, *replies)),
            TurnTools(FunctionToolbox(read_only=False, echo=echo, broken=broken)),
            TurnPermission(ScriptedApprover(*[Decision(answer)] * 9), policy_of(mode=Mode.ASK)),
            limits or Limits(),
            self.clock,
        )
        turn = Turn(self.talk, deps)
        async for event in turn.events():
            self.bridge.apply(event)
            if isinstance(event, TextPart) and event.text == "stop me":
                turn.cancel()

    def show(self, talk: Conversation, unknown: frozenset[str] = frozenset()) -> None:
        def note(remark: Remark) -> tuple[str, str]:
            return note_of(remark, KEYS["chat.continue"])

        self.it.pane.show_past(talk.messages, unknown, lambda model: NOTICE, talk.remarks, note)


TURNS = {
    "thinking": ([[ReasoningPart("hm"), ReasoningPart("so"), TextPart("It is **sunny**."), ReplyPart()]], {}),
    "calls": (
        [
            calls(call(1), call(2, "srv__broken"), text="Let me look."),
            calls(call(3), call(4, "srv__absent")),
            says("It is sunny."),
        ],
        {},
    ),
    "denied": ([calls(call(1)), says("Then not.")], {"answer": Answer.NO}),
    "failed in the middle": ([[TextPart("It is"), FAILS]], {}),
    "failed at once": ([[FAILS]], {}),
    "failed behind a call": ([calls(call(1)), [FAILS]], {}),
    "stopped": ([[TextPart("stop me"), Wait(None)]], {}),
    "stopped behind a call": ([calls(call(1)), [TextPart("stop me"), Wait(None)]], {}),
    "limit": ([calls(call(1)), says("So far.")], {"limits": Limits(max_steps=1)}),
    "asked again": ([[RetryPart(n, 4, 1.0, "429: too many") for n in (1, 2)] + [*says("At last.")]], {}),
    "silent": ([[ReplyPart()], [ReplyPart()]], {}),
    "cut": ([[TextPart("It is a very"), ReplyPart(finish="length")]], {}),
}


@pytest.mark.parametrize("name", TURNS)
async def test_a_reopened_turn_looks_as_before(tmp_path: Path, name: str):
    replies, how = TURNS[name]
    store, clock = store_in(tmp_path), HandClock()
    journal = await store.begin()
    async with talk(columns=100, rows=60, clock=lambda: clock.ns / 1e9) as it:
        scene = Scene(it, journal, clock)
        await scene.turn(*replies, **how)
        await scene.turn(says("Well."))
        live = await it.lines()
        scene.show(scene.talk)  # as in a branch
        assert await it.lines() == live
        await journal.close()
        found = await store.read(journal.id)
        scene.show(found.conversation, found.unknown)
        assert await it.lines() == live
        assert any(line.startswith("▌ go ") and line[-3] == ":" for line in live)


async def test_a_saved_branch_shows_only_its_own_turns_with_their_notes(tmp_path: Path):
    store, clock = store_in(tmp_path), HandClock()
    journal = await store.begin()
    async with talk(columns=100, rows=60, clock=lambda: clock.ns / 1e9) as it:
        scene = Scene(it, journal, clock)
        await scene.turn([FAILS])
        before, upto = await it.lines(), len(scene.talk.messages)
        await scene.turn([TextPart("stop me"), Wait(None)])
        branch = await store.begin(parent=journal.id, upto=upto)
        found = await store.read(branch.id)
        scene.show(found.conversation)
        assert await it.lines() == before
        await journal.close()
        await branch.close()
