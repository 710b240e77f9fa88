"""The output of `run` on stderr."""

import json

import pytest

from tests.cases import each_case
from tui.commands.run_output import arguments_line, as_object, error_object, print_object, trace_line
from tui.core.events import (
    CallJudged,
    EndReason,
    Event,
    LimitName,
    LimitReached,
    StepStarted,
    ToolCallEnded,
    ToolCallProposed,
    ToolProgress,
    TurnEnded,
    TurnError,
    TurnStarted,
    Waiting,
)
from tui.core.ports import CallPart, ReasoningPart, RetryPart, TextPart, Usage

WHY = "denied: needs approval" + ", and so on" * 14 + ". To allow it, use --approve all"


@each_case(
    ("event", "told"),
    [
        (
            ToolCallProposed(1, "c", "weather", "get", {"location": "Oslo", "b": "x\ny", "a": 1}),
            '→ weather › get  location="Oslo" b="x\\ny" a=1',
        ),
        (ToolCallEnded(1, "c", "weather", "get", False, "sunny", 4.2), "✓ weather › get  4 ms  sunny"),
        (ToolCallEnded(1, "c", "", "ghost", True, "no such tool", 0), "✗ ghost  0 ms  no such tool"),
        (ToolCallEnded(1, "c", "w", "t", True, WHY, 0, why="denied"), f"✗ w › t  0 ms  {WHY}"),
        (ToolProgress(1, "c", 4, 4, "all\x1b[2J done"), "  … 4 of 4 all␛[2J done"),
        (TurnStarted("m", 128, "72 not offered"), "· m, 128 tools · 72 not offered"),
        (RetryPart(2, 4, 12.0, "429", step=1), "· 429. Retrying in 12 s, 2 of 4"),
        (TextPart("x", step=1), ""),
        (StepStarted(1, 10), ""),
    ],
)
def test_an_event_is_one_line_or_none(event: Event, told: str):
    assert trace_line(event) == told


def test_hostile_text_is_cleaned_and_bounded():
    told = trace_line(ToolCallEnded(1, "c", "s\x1b[2J", "t", False, "\x1b]0;x\x07" + "y" * 10_000, 1))
    assert "\x1b" not in told and len(told) < 500
    assert len(arguments_line({"a": "z" * 10_000})) == 120


@pytest.mark.parametrize("rule", ["", "deny notes/*"])
def test_a_decision_names_its_rule_if_there_is_one(rule: str):
    judged = CallJudged(1, "c", "deny", "a rule forbids it", "rule deny notes/*", rule)
    assert trace_line(judged) == (f"  rule: {rule}" if rule else "")
    found = {"decision": "deny", "why": "a rule forbids it", "by": "rule deny notes/*"}
    assert as_object(judged) == {"type": "decision", "step": 1, "id": "c"} | found | (
        {"rule": rule} if rule else {}
    )


TOKENS = {"prompt": 10, "completion": 5, "total": 15}


@each_case(
    ("event", "kind", "fields"),
    [
        (TurnStarted("demo", 3), "turn_started", {"model": "demo", "tools": 3}),
        (TurnStarted("demo", 3, "full"), "turn_started", {"model": "demo", "tools": 3, "notice": "full"}),
        (StepStarted(1, 10), "step_started", {"step": 1}),
        (TextPart("a", step=1), "text", {"step": 1, "text": "a"}),
        (ReasoningPart("a", step=1), "reasoning", {"step": 1, "text": "a"}),
        (LimitReached(LimitName.MAX_STEPS, 2), "limit_reached", {"limit": "max_steps", "value": 2}),
        (LimitReached(LimitName.TURN_COST, 5e-5), "limit_reached", {"limit": "turn_cost", "value": 5e-5}),
        (TurnError("no", "model"), "error", {"message": "no", "where": "model"}),
        (TurnError("no", "m", "go"), "error", {"message": "no", "where": "m", "next_step": "go"}),
        (Waiting("for room"), "notice", {"kind": "info", "message": "for room"}),
        (
            RetryPart(2, 4, 12.3456, "429", step=1),
            "retry",
            {"step": 1, "attempt": 2, "attempts": 4, "delay": 12.346, "reason": "429"},
        ),
        (
            ToolCallProposed(1, "c1", "weather", "get", {"location": "Oslo"}),
            "tool_call",
            {"step": 1, "id": "c1", "server": "weather", "tool": "get", "arguments": {"location": "Oslo"}},
        ),
        (
            ToolCallEnded(1, "c", "w", "get", True, "ERROR: no", 12.3456, None, "timeout"),
            "tool_result",
            {"step": 1, "id": "c", "server": "w", "tool": "get", "is_error": True, "text": "ERROR: no"}
            | {"ms": 12.346, "why": "timeout"},
        ),
        (
            TurnEnded(EndReason.LIMIT, "hi", 2, 1, Usage(10, 5), 100.0, LimitName.MAX_STEPS),
            "turn_ended",
            {"reason": "limit", "limit": "max_steps", "text": "hi", "steps": 2, "tool_calls": 1, "ms": 100.0}
            | {
                "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15, "estimated": False}
            },
        ),
    ],
)
def test_each_event_has_its_type_and_its_fields(event: Event, kind: str, fields: dict[str, object]):
    assert as_object(event) == {"type": kind} | fields


def test_events_for_a_screen_only_are_omitted():
    assert as_object(CallPart("weather__get", 10, step=1)) is None


def test_any_event_is_one_line_of_ascii(capsys: pytest.CaptureFixture[str]):
    print_object(error_object("\ud800 \x9b31m \n 北京", "model"))
    text = capsys.readouterr().out
    assert text.isascii() and text.count("\n") == 1 and json.loads(text)["message"].endswith("北京")
