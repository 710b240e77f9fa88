"""A turn as lines."""

from collections.abc import AsyncIterator
from types import SimpleNamespace

from tests.unit.addons.plain.plain_stage import Stage
from tui.addons.plain.turn import TurnLines
from tui.core.events import (
    ApprovalGiven,
    CallJudged,
    EndReason,
    Event,
    LimitName,
    LimitReached,
    Notice,
    StepEnded,
    StepStarted,
    ToolCallEnded,
    ToolCallProposed,
    ToolProgress,
    TurnEnded,
    TurnError,
    TurnStarted,
)
from tui.core.ports import Answer, RetryPart, TextPart, Usage

END = TurnEnded(EndReason.ANSWERED, "", 1, 0, Usage(), 1.0)


async def lines_of(*events: Event) -> tuple[list[str], EndReason]:
    async def told() -> AsyncIterator[Event]:
        for event in events:
            yield event

    stage = Stage()
    lines = TurnLines(stage.transcript, lambda call: None)
    reason = await lines.show(SimpleNamespace(events=told))  # type: ignore[arg-type]
    return stage.lines, reason


async def test_a_turn_is_told_by_lines_with_a_word():
    found, reason = await lines_of(
        TurnStarted("m", 2),
        StepStarted(1, 5),
        StepEnded(1, 3.0, Usage(), "tool_calls", 1),
        ToolCallProposed(1, "c", "weather", "get_weather", {"location": "Rome"}),
        CallJudged(1, "c", "ask", rule="ask weather/*"),
        ApprovalGiven(1, "c", Answer.ONCE, ""),
        ToolCallEnded(1, "c", "weather", "get_weather", True, "no such place", 2.0, why="denied"),
        RetryPart(1, 3, 2.0, "overloaded"),
        TextPart("It rains. "),
        TextPart("Take a coat."),
        END,
    )
    assert reason is EndReason.ANSWERED
    assert found == [
        'call: weather › get_weather  location="Rome"',
        "call: rule: ask weather/*",
        "call: allowed once",
        "error: weather › get_weather: no such place",
        "progress: overloaded. Retrying in 2 s, 1 of 3.",
        "model: It rains. Take a coat.",
    ]


async def test_progress_is_a_line_every_few_seconds():
    found, _ = await lines_of(*(ToolProgress(1, "c", n, 100, "") for n in range(100)), END)
    assert len(found) == 1


async def test_what_ends_a_turn_early_is_said():
    found, reason = await lines_of(TextPart("It r"), TurnEnded(EndReason.CANCELLED, "", 1, 0, Usage(), 1.0))
    assert (found, reason) == (["model: It r", "progress: Stopped."], EndReason.CANCELLED)
    found, _ = await lines_of(LimitReached(LimitName.MAX_STEPS, 1), END)
    assert found == ["error: Limit reached: 1 step."]
    found, _ = await lines_of(Notice("Compacted."), TurnError("timeout", "model", "Try again."), END)
    assert found == ["progress: Compacted.", "error: model: timeout. Try again."]
