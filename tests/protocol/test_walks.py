"""After any sequence of actions every provider accepts the conversation, and a next question is answered.

Over HTTP, with an endpoint that refuses whatever real providers do. `WALKS=500 pytest` with this file goes
further than the usual few.
"""

import asyncio
import os
import sqlite3
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.endpoint import Answer, Reply, calls, chunk, refuses, says
from tests.media import base64_of, png
from tests.protocol.strict_stage import StrictStage, Watch, cancels, strict_stage
from tests.protocol.test_valid_conversations import ECHO, HANGS, NO, WAITS, writes
from tests.strict import FLAVOURS
from tests.unit.core.stand_ins import YES, ScriptedApprover, policy_of
from tui.core.conversation.conversation import Attachment, UserMessage
from tui.core.errors import McptuiError
from tui.core.events import (
    ApprovalAsked,
    Event,
    Notice,
    RetryScheduled,
    StepStarted,
    TextDelta,
    ToolCallEnded,
    ToolCallStarted,
)
from tui.core.permission.approval_policy import Mode
from tui.core.turn.limits import Limits
from tui.runtime.turn import PendingTurn

WALKS = int(os.environ.get("WALKS", "30"))

ANSWERS: Mapping[str, Callable[[], Reply]] = {
    "text": lambda: says("Yes. " * 200),
    "call": lambda: calls(ECHO),
    "calls": lambda: calls(ECHO, ("srv__fails", {}), ECHO, text="Let me look."),
    "much": lambda: calls(("srv__large", {})),
    "pictures": lambda: calls(("srv__draws", {}), ECHO, ("srv__draws", {})),
    "as text": lambda: says(XML),
    "nothing": lambda: Answer([chunk("stop", content="")]),
    "white space": lambda: Answer([chunk("stop", content=" \n")]),
    "no tool": lambda: writes(("no such tool!", "{}"), ("", '{"a": 1}')),
    "not JSON": lambda: writes(("srv__echo", '{"text": "h'), ("srv__echo", "[NaN]")),
    "same ids": lambda: Answer([chunk(tool_calls=[SAME, SAME | {"index": 1}]), chunk("tool_calls")]),
    "cut": lambda: says("I was about", done=False, reset=True),
    "cut in a call": lambda: writes(("srv__echo", '{"te'), text="So", done=False, reset=True),
    "busy": lambda: refuses(429, "slow down", headers={"retry-after": "1"}),
    "no": lambda: refuses(500, "no"),
    "too long": lambda: refuses(400, "This model's maximum context length is 8192 tokens."),
}  # fmt: skip
XML = (
    "<use_mcp_tool><server_name>srv</server_name><tool_name>echo</tool_name>"
    "<arguments>{}</arguments></use_mcp_tool>"
)
SAME = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "srv__echo", "arguments": "{}"}}
PICTURE = Attachment("image", "image/png", "p.png", len(png()), base64_of(png()))
LIMITS = (Limits(), Limits(max_steps=1), Limits(max_tool_calls=1), Limits(max_calls_per_reply=1))
EVENTS = (StepStarted, TextDelta, ToolCallStarted, ToolCallEnded, ApprovalAsked, RetryScheduled, Notice)
HELD: Sequence[Reply] = (calls(ECHO, WAITS, ECHO), HANGS, Answer(mute=True))

REPLIES = st.lists(st.sampled_from(sorted(ANSWERS)), max_size=4)
STEPS = st.one_of(
    st.tuples(st.just("ask"), REPLIES),
    st.tuples(st.just("show"), REPLIES),
    st.tuples(st.just("cancel"), REPLIES, st.sampled_from(EVENTS), st.integers(1, 3)),
    st.tuples(st.just("hold"), REPLIES, st.sampled_from(range(len(HELD)))),
    st.tuples(st.just("steer"), REPLIES, st.sampled_from(EVENTS)),
    st.tuples(st.just("approve"), REPLIES, st.lists(st.sampled_from((YES, NO)), max_size=4)),
    st.tuples(st.just("limit"), st.sampled_from(LIMITS)),
    st.tuples(st.just("switch"), st.sampled_from(sorted(FLAVOURS))),
    st.tuples(st.just("branch"), st.integers(0, 9)),
    st.tuples(st.just("narrow"), st.sampled_from((1500, 4000, 100_000))),
    st.tuples(st.just("compact")),
    st.tuples(st.just("uncompact")),
    st.tuples(st.just("reopen")),
    st.tuples(st.just("import_")),
    st.tuples(st.just("lose"), st.integers(0, 9)),
)


class Walk:
    """Takes the steps of one walk."""

    def __init__(self, stage: StrictStage, folder: Path) -> None:
        self.stage, self.folder = stage, folder

    async def ask(self, names: Sequence[str], watch: Watch | None = None, *more: Reply) -> None:
        replies = [*(ANSWERS[name]() for name in names), *more]
        await self.stage.ask("go", *replies, **({"watch": watch} if watch else {}))
        self.stage.strict.forget()

    async def show(self, names: Sequence[str]) -> None:
        """Ask with an image and no text."""
        await self.stage.ask("", *(ANSWERS[name]() for name in names), attachments=(PICTURE,))
        self.stage.strict.forget()

    async def cancel(self, names: Sequence[str], kind: type[Event], number: int) -> None:
        await self.ask(names, cancels(kind, number))

    async def hold(self, names: Sequence[str], number: int) -> None:
        """Cancel while a call, a reply or the endpoint hangs."""
        loop, script, over = asyncio.get_running_loop(), self.stage.strict, False

        def look(turn: PendingTurn) -> None:
            if not over:
                loop.call_later(0.02, look if script.left else PendingTurn.cancel, turn)

        def watch(event: Event, turn: PendingTurn) -> None:
            if isinstance(event, StepStarted) and event.step == 1:
                look(turn)

        await self.ask(names, watch, HELD[number])
        over = True

    async def steer(self, names: Sequence[str], kind: type[Event]) -> None:
        left = 2

        def watch(event: Event, turn: PendingTurn) -> None:
            nonlocal left
            if isinstance(event, kind) and left:
                left -= 1
                turn.steer("and mind the gap")

        await self.ask(names, watch)

    async def approve(self, names: Sequence[str], decisions: Sequence[object]) -> None:
        """Require approval for every call, and cancel without an answer."""
        around, approver = self.stage.around, ScriptedApprover(*decisions)
        toolbox, policy = around.toolbox.offered, around.policy
        around.toolbox.offered = [replace(tool, read_only=False) for tool in toolbox]
        around.policy = policy_of(mode=Mode.ASK)
        replies = [ANSWERS[name]() for name in names]
        await self.stage.ask(
            "go", *replies, approver=approver, watch=cancels(ApprovalAsked, len(decisions) + 1)
        )
        self.stage.strict.forget()
        around.toolbox.offered, around.policy = toolbox, policy

    async def limit(self, limits: Limits) -> None:
        self.stage.around.limits = limits

    async def switch(self, name: str) -> None:
        await self.stage.conversations.switch(name)

    async def branch(self, number: int) -> None:
        asked = [
            at for at, one in enumerate(self.stage.conversations.messages) if isinstance(one, UserMessage)
        ]
        if asked:
            await self.stage.conversations.branch(asked[number % len(asked)])

    async def narrow(self, window: int) -> None:
        await self.stage.narrow(window)

    async def compact(self) -> None:
        with suppress(McptuiError):
            await self.stage.conversations.compact()

    async def uncompact(self) -> None:
        self.stage.conversations.uncompact()

    async def reopen(self) -> None:
        if session := await self.left():
            await self.stage.conversations.resume(session)

    async def left(self) -> str:
        """Close the conversation and return its session, "" if it was empty and not saved."""
        info = self.stage.conversations.info
        await self.stage.conversations.new()
        kept = [one.id for one in await self.stage.conversations.sessions()]
        return info.id if info is not None and info.id in kept else ""

    async def import_(self) -> None:
        if (session := self.stage.conversations.info) is not None:
            await self.stage.conversations.stored().export(session.id, "json", self.folder / "talk.json")
            await self.stage.conversations.resume(
                (await self.stage.store.import_json(self.folder / "talk.json")).info.id
            )

    async def lose(self, number: int) -> None:
        """Delete a message of the saved conversation, and continue with the rest."""
        if not (session := await self.left()):
            return
        (path,) = (self.folder / "sessions").glob(f"{session}*")
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("DELETE FROM messages WHERE place % 10 = ?", (number,))
        await self.stage.conversations.resume(session)


async def walk(steps: Sequence[Sequence[object]]) -> None:
    with tempfile.TemporaryDirectory() as name:
        async with strict_stage(Path(name) / "sessions") as stage:
            one = Walk(stage, Path(name))
            for kind, *values in steps:
                await getattr(one, str(kind))(*values)
                stage.blameless()
            stage.around.limits = Limits()
            await stage.narrow(100_000)
            await stage.goes_on()


@pytest.mark.timeout(60 + 3 * WALKS)
@settings(max_examples=WALKS, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(STEPS, min_size=3, max_size=12))
def test_any_sequence_of_actions_leaves_a_conversation_that_continues(steps: list[Sequence[object]]) -> None:
    asyncio.run(walk(steps))
