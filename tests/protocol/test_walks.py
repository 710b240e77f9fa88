"""After certain and after any sequences of actions every provider accepts the conversation, and answers.

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
from tests.strict import FLAVOURS
from tests.unit.core.stand_ins import YES, ScriptedApprover, policy_of
from tui.core.conversation.conversation import Attachment, UserMessage
from tui.core.errors import McptuiError
from tui.core.events import (
    ApprovalAsked,
    EndReason,
    Event,
    Notice,
    StepStarted,
    ToolCallEnded,
    ToolCallStarted,
)
from tui.core.permission.approval_policy import Mode
from tui.core.ports import Answer as Said
from tui.core.ports import Decision, RetryPart, TextPart
from tui.core.turn.limits import Limits
from tui.runtime.turn import PendingTurn

NO = Decision(Said.NO, "not now")
ECHO, WAITS = ("srv__echo", {"text": "hi"}), ("srv__waits", {})
HANGS = says("I was about to say", hang=True, done=False)


def piece(number: int, name: str, arguments: str) -> dict[str, object]:
    function = {"name": name, "arguments": arguments}
    return {"index": number, "id": f"call_{number}", "type": "function", "function": function}


def writes(*made: tuple[str, str], text: str | None = None, **options: object) -> Answer:
    """Return an answer with calls whose arguments are any text."""
    pieces = [piece(number, *one) for number, one in enumerate(made)]
    return Answer([chunk(content=text), chunk(tool_calls=pieces), chunk("tool_calls")], **options)


INVALID = (
    *(("srv__echo", text) for text in ('{"text": "h', "[1]", '{"text": NaN}', "not JSON", "{}{}")),
    *(("srv__echo", '"{\\"text\\": \\"a\\"}"'), ("工具", '{"a": 1}'), ("", '{"text": "hi"}')),
    *((name, "{}") for name in ("no such tool!", "server/tool.name", "9lives", "x" * 90)),
)
WALKS = int(os.environ.get("WALKS", "20"))

ANSWERS: dict[str, Callable[[], Reply]] = {
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
    "invalid": lambda: writes(*INVALID),
    "cut": lambda: says("I was about", done=False, reset=True),
    "cut in a call": lambda: writes(("srv__echo", '{"te'), text="So", done=False, reset=True),
    "cut without a word": lambda: Answer([chunk(tool_calls=[piece(0, "srv__echo", '{"te')])], done=False),
    "error": lambda: Answer([chunk(content="So"), {"error": {"message": "gone", "code": 500}}]),
    "busy": lambda: refuses(429, "slow down", headers={"retry-after": "1"}),
    "no": lambda: refuses(500, "no"),
    "pay": lambda: refuses(402, "no"),
    "too long": lambda: refuses(400, "This model's maximum context length is 8192 tokens."),
}  # fmt: skip
XML = (
    "<use_mcp_tool><server_name>srv</server_name><tool_name>echo</tool_name>"
    "<arguments>{}</arguments></use_mcp_tool>"
)
SAME = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "srv__echo", "arguments": "{}"}}
PICTURE = Attachment("image", "image/png", "p.png", len(png()), base64_of(png()))
LIMITS = (
    *(Limits(), Limits(max_steps=1), Limits(max_steps=2), Limits(max_tool_calls=1)),
    *(Limits(max_calls_per_reply=1), Limits(consecutive_errors=1), Limits(turn_tokens=1)),
    Limits(identical_calls_note=1, identical_calls_stop=2),
)
EVENTS = (StepStarted, TextPart, ToolCallStarted, ToolCallEnded, ApprovalAsked, RetryPart, Notice)
HELD: Sequence[Reply] = (calls(ECHO, WAITS, ECHO), HANGS, Answer(mute=True))
ENDLESS = {"waits": lambda: HELD[0], "hangs": lambda: HANGS, "mute": lambda: Answer(mute=True)}
"""For turns that are cancelled only."""

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
        self.reasons: set[EndReason] = set()

    async def ask(self, names: Sequence[str], watch: Watch | None = None, *more: Reply) -> None:
        replies = [*((ANSWERS | ENDLESS)[name]() for name in names), *more]
        ended = await self.stage.ask("go", *replies, **({"watch": watch} if watch else {}))
        self.reasons.add(ended.reason)
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
        ended = await self.stage.ask(
            "go", *replies, approver=approver, watch=cancels(ApprovalAsked, len(decisions) + 1)
        )
        self.reasons.add(ended.reason)
        self.stage.strict.forget()
        around.toolbox.offered, around.policy = toolbox, policy

    async def go_on(self) -> None:
        await self.stage.goes_on()

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


async def walk(steps: Sequence[Sequence[object]]) -> set[EndReason]:
    """Take steps, and one more. Return how the turns of these steps ended."""
    with tempfile.TemporaryDirectory() as name:
        async with strict_stage(Path(name) / "sessions") as stage:
            one = Walk(stage, Path(name))
            for kind, *values in steps:
                await getattr(one, str(kind))(*values)
                stage.blameless()
            stage.around.limits = Limits()
            await stage.narrow(100_000)
            await stage.goes_on()
            return one.reasons


@pytest.mark.timeout(60 + 3 * WALKS)
@settings(max_examples=WALKS, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(STEPS, min_size=3, max_size=12))
def test_any_sequence_of_actions_leaves_a_conversation_that_continues(steps: list[Sequence[object]]) -> None:
    asyncio.run(walk(steps))


def limited(limits: Limits) -> Sequence[Sequence[object]]:
    turns = (["calls"] * 3, ["calls", "nothing", "calls"], ["calls", "no", "pay"])
    texts = [["as text" if name == "calls" else name for name in names] for names in turns]
    walked = [("switch", "mistral"), *(("ask", names) for names in turns)]
    return [("limit", limits), *walked, ("switch", "template"), *(("ask", names) for names in texts)]


STORIES: Mapping[str, Sequence[Sequence[object]]] = {
    "parallel calls": [("ask", ["calls", "call"])],
    "invalid calls": [("ask", ["invalid"])],
    "denied calls": [("approve", ["calls", "text"], [NO, YES, NO])],
    "cancelled during approval": [("approve", ["calls"], [YES])],
    "cancelled before the first word": [("cancel", ["mute"], StepStarted, 1)],
    "cancelled in its text": [("cancel", ["hangs"], TextPart, 1)],
    "the end of white space": [("cancel", ["white space"], TextPart, 1)],
    "cancelled in calls": [("cancel", ["waits"], ToolCallStarted, 3)],
    "cancelled between calls": [("cancel", ["waits"], ToolCallEnded, 2)],
    "cancelled after calls": [("cancel", ["call", "hangs"], TextPart, 1)],
    "cancelled in the second step": [("cancel", ["call", "mute"], StepStarted, 2)],
    "cancelled at a retry": [("cancel", ["busy", "mute"], RetryPart, 1)],
    **{f"cancelled while {number} hangs": [("hold", ["call"], number)] for number in range(len(HELD))},
    **{name: [("ask", [name])] for name in ("cut", "cut in a call", "cut without a word", "error")},
    "cut after calls": [("ask", ["call", "cut"])],
    "empty answers": [("ask", ["nothing"] * 2), ("ask", ["call", *["nothing"] * 2])],
    "blank answers": [("ask", ["white space"] * 2), ("ask", ["call", *["white space"] * 2])],
    "steering after calls": [("steer", ["call", "calls", "text", "text"], ToolCallEnded)],
    "steering in text": [("steer", ["call", "text", "text"], TextPart)],
    "an import": [("ask", ["calls", "no tool"]), ("import_",)],
    "every model after every other": [
        step
        for name in [*FLAVOURS, *reversed(FLAVOURS)]
        for step in (("switch", name), ("ask", ["as text" if name == "template" else "calls", "text"]))
    ],
}
ENDS = {
    "cancelled": EndReason.CANCELLED,
    **dict.fromkeys(("empty", "blank"), EndReason.EMPTY),
    **dict.fromkeys(("denied", "steering", "every"), EndReason.ANSWERED),
}
"""How each turn of a story ends, by the first word of its name."""


@pytest.mark.parametrize("story", STORIES)
async def test_a_story_leaves_a_conversation_that_continues(story: str) -> None:
    steps = STORIES[story]
    if steps[0][0] != "switch":
        models = ("mistral", "gemini")  # which have rules of their own
        steps = [step for model in models for step in (("switch", model), *steps, ("go_on",))]
    reasons = await walk(steps)
    assert story.split()[0] not in ENDS or reasons == {ENDS[story.split()[0]]}


@pytest.mark.parametrize("limits", LIMITS[1:], ids=str)
async def test_a_limit_leaves_a_conversation_that_continues(limits: Limits) -> None:
    await walk(limited(limits))
