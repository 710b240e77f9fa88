"""Whatever happened in a conversation, the next request is valid for every provider and is answered.

Real conversations over HTTP. The endpoint refuses what real ones refuse, see tests/strict.py.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

import pytest

from tests.endpoint import Answer, Reply, calls, chunk, refuses, says
from tests.protocol.strict_stage import StrictStage, Watch, cancels, strict_stage
from tests.unit.core.stand_ins import YES, ScriptedApprover
from tui.core.events import (
    ApprovalAsked,
    EndReason,
    Event,
    RetryScheduled,
    StepStarted,
    TextDelta,
    ToolCallEnded,
    ToolCallStarted,
)
from tui.core.permission.approval_policy import Mode, Policy
from tui.core.ports import Answer as Said
from tui.core.ports import Decision
from tui.core.turn.limits import Limits
from tui.runtime.turn import PendingTurn

NO = Decision(Said.NO, "not now")
ECHO = ("srv__echo", {"text": "hi"})
WAITS = ("srv__waits", {})
ASKED = ("mistral", "gemini")
"""The model in use. The requests for the others are checked as well."""


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[StrictStage]:
    async with strict_stage(tmp_path / "sessions") as one:
        yield one


@pytest.fixture(params=ASKED)
async def native(stage: StrictStage, request: pytest.FixtureRequest) -> StrictStage:
    """A stage with one of the providers that have rules of their own."""
    await stage.conversations.switch(request.param)
    return stage


def piece(number: int, name: str, arguments: str, identity: str = "") -> dict[str, object]:
    function = {"name": name, "arguments": arguments}
    return {"index": number, "id": identity or f"call_{number}", "type": "function", "function": function}


def writes(*made: tuple[str, str], text: str | None = None, **options: object) -> Answer:
    """Return an answer with calls whose arguments are any text."""
    pieces = [piece(number, *one) for number, one in enumerate(made)]
    return Answer([chunk(content=text), chunk(tool_calls=pieces), chunk("tool_calls")], **options)


# ---- calls -----------------------------------------------------------------------------------------------


async def test_a_history_with_parallel_calls_and_results_out_of_order_is_valid(native: StrictStage) -> None:
    await native.ask("go", calls(ECHO, ("srv__fails", {}), ECHO, text="Let me look."), calls(ECHO))
    await native.goes_on()


@pytest.mark.parametrize(
    "made",
    [
        ("srv__echo", '{"text": "h'),
        ("srv__echo", "[1]"),
        ("srv__echo", '{"text": NaN}'),
        ("srv__echo", "not JSON"),
        ("srv__echo", '"{\\"text\\": \\"a\\"}"'),
        ("srv__echo", "{}{}"),
        ("no such tool!", "{}"),
        ("server/tool.name", "{}"),
        ("工具", '{"a": 1}'),
        ("9lives", "{}"),
        ("x" * 90, "{}"),
        ("", '{"text": "hi"}'),
    ],
    ids=str,
)
async def test_a_history_with_an_invalid_call_is_valid(stage: StrictStage, made: tuple[str, str]) -> None:
    await stage.ask("go", writes(made))
    await stage.goes_on()


async def test_a_history_with_denied_calls_is_valid(native: StrictStage) -> None:
    native.around.host.toolbox = type(native.around.toolbox)(read_only=False)
    native.around.policy = Policy(mode=Mode.ASK)
    await native.ask("go", calls(ECHO, ECHO), approver=ScriptedApprover(NO, YES))
    await native.goes_on()


@pytest.mark.parametrize(
    "limits",
    [
        Limits(max_steps=1),
        Limits(max_steps=2),
        Limits(max_tool_calls=1),
        Limits(max_calls_per_reply=1),
        Limits(consecutive_errors=1),
        Limits(identical_calls_note=1, identical_calls_stop=2),
        Limits(turn_tokens=1),
    ],
    ids=str,
)
@pytest.mark.parametrize("model", ["mistral", "template"])
async def test_a_history_after_limits_is_valid(stage: StrictStage, limits: Limits, model: str) -> None:
    await stage.conversations.switch(model)
    stage.around.limits = limits
    many = xml("fails") if model == "template" else calls(("srv__fails", {}), ECHO, ECHO)
    await stage.ask("go", many, many, many)
    await stage.ask("again", many, says("", pieces=1), many)
    await stage.ask("again", many, refuses(500, "no"), refuses(402, "no"))
    stage.around.limits = Limits()
    await stage.goes_on()


def xml(tool: str) -> Answer:
    call = f"<server_name>srv</server_name><tool_name>{tool}</tool_name><arguments>{{}}</arguments>"
    return says(f"<use_mcp_tool>{call}</use_mcp_tool>")


# ---- interrupted turns -------------------------------------------------------------------------------------

HANGS = says("I was about to say", hang=True, done=False)
CUTS: dict[str, tuple[Sequence[Reply], Watch | Callable[[], Watch]]] = {
    "before the first word": ([Answer(mute=True)], lambda: cancels(StepStarted)),
    "in its text": ([HANGS], lambda: cancels(TextDelta)),
    "in white space": ([says("\n\n", pieces=1, hang=True)], lambda: cancels(TextDelta)),
    "in calls": ([calls(ECHO, WAITS, ECHO)], lambda: cancels(ToolCallStarted, 3)),
    "between calls": ([calls(ECHO, WAITS, ECHO)], lambda: cancels(ToolCallEnded, 2)),
    "after calls": ([calls(ECHO), HANGS], lambda: cancels(TextDelta)),
    "in the second step": ([calls(ECHO), Answer(mute=True)], lambda: cancels(StepStarted, 2)),
}


@pytest.mark.parametrize("name", CUTS)
async def test_a_history_with_a_cancelled_turn_is_valid(native: StrictStage, name: str) -> None:
    replies, watch = CUTS[name]
    ended = await native.ask("go", *replies, watch=watch())
    if name != "in white space":
        assert ended.reason is EndReason.CANCELLED
    await native.goes_on()


async def test_a_history_with_a_turn_cancelled_before_a_retry_is_valid(
    native: StrictStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def until_cancelled(seconds: float) -> None:
        await asyncio.Event().wait()

    with monkeypatch.context() as patch:
        patch.setattr(native.clock, "sleep", until_cancelled)
        ended = await native.ask("go", refuses(429, "slow down"), watch=cancels(RetryScheduled))
    assert ended.reason is EndReason.CANCELLED
    await native.goes_on()


async def test_a_history_with_a_turn_cancelled_during_approval_is_valid(native: StrictStage) -> None:
    native.around.host.toolbox = type(native.around.toolbox)(read_only=False)
    native.around.policy = Policy(mode=Mode.ASK)
    await native.ask(
        "go", calls(ECHO, ECHO, ECHO), approver=ScriptedApprover(YES), watch=cancels(ApprovalAsked, 2)
    )
    await native.goes_on()


BROKEN: dict[str, Sequence[Reply]] = {
    "in text": [says("I was about", done=False, reset=True)],
    "in arguments": [writes(("srv__echo", '{"text": "h'), text="Let me", done=False, reset=True)],
    "in arguments, without a word": [Answer([chunk(tool_calls=[piece(0, "srv__echo", '{"te')])], done=False)],
    "after calls": [calls(ECHO), says("So", done=False, reset=True)],
    "with an error": [Answer([chunk(content="So"), {"error": {"message": "gone", "code": 500}}])],
}


@pytest.mark.parametrize("name", BROKEN)
async def test_a_history_after_a_lost_connection_is_valid(native: StrictStage, name: str) -> None:
    await native.ask("go", *BROKEN[name])
    await native.goes_on()


@pytest.mark.parametrize("empty", ["", " ", "\n\n"], ids=repr)
async def test_a_history_with_empty_answers_is_valid(native: StrictStage, empty: str) -> None:
    nothing = Answer([chunk("stop", content=empty)])
    ended = await native.ask("go", nothing, nothing)
    assert ended.reason is EndReason.EMPTY
    await native.ask("go on", calls(ECHO), nothing, nothing)
    await native.goes_on()


async def test_a_history_with_steering_messages_is_valid(native: StrictStage) -> None:
    def steer(event: Event, turn: PendingTurn) -> None:
        if isinstance(event, ToolCallEnded | TextDelta) and len(native.endpoint.requests) < 4:
            turn.steer("and mind the gap")

    ended = await native.ask(
        "go", calls(ECHO), calls(ECHO, ECHO), says("Done.", pieces=1), says("Yes."), watch=steer
    )
    assert ended.reason is EndReason.ANSWERED
    await native.goes_on()
