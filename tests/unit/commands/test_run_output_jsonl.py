"""`run --json`: one object per line, whatever a server or model says."""

import json

from tui.commands.run_output import as_object, error_object, line
from tui.core.events import (
    CallForming,
    EndReason,
    LimitName,
    LimitReached,
    ReasoningDelta,
    StepStarted,
    TextDelta,
    ToolCallEnded,
    ToolCallProposed,
    TurnEnded,
    TurnError,
    TurnStarted,
)
from tui.core.ports import Usage


def test_each_event_has_its_type_and_its_fields():
    assert as_object(TurnStarted("demo", 3)) == {"type": "turn_started", "model": "demo", "tools": 3}
    assert as_object(StepStarted(1, 10)) == {"type": "step_started", "step": 1}
    assert as_object(TextDelta(1, "a")) == {"type": "text", "step": 1, "text": "a"}
    assert as_object(ReasoningDelta(1, "a")) == {"type": "reasoning", "step": 1, "text": "a"}
    assert as_object(LimitReached(LimitName.MAX_STEPS, 2)) == {
        "type": "limit_reached",
        "limit": "max_steps",
        "value": 2,
    }
    assert as_object(TurnError("no", "model")) == {"type": "error", "message": "no", "where": "model"}


def test_arguments_are_an_object_not_text():
    event = ToolCallProposed(1, "c1", "weather", "get", {"location": "Oslo"})
    assert as_object(event) == {
        "type": "tool_call",
        "step": 1,
        "id": "c1",
        "server": "weather",
        "tool": "get",
        "arguments": {"location": "Oslo"},
    }


def test_a_result_has_its_outcome_and_duration():
    value = as_object(ToolCallEnded(1, "c1", "weather", "get", True, "ERROR: no", 12.3456, None, "timeout"))
    assert value is not None
    assert (value["type"], value["is_error"], value["text"], value["ms"]) == (
        "tool_result",
        True,
        "ERROR: no",
        12.346,
    )


def test_the_last_line_has_reason_text_counts_and_usage():
    value = as_object(TurnEnded(EndReason.ANSWERED, "hi", 2, 1, Usage(10, 5), 100.0))
    assert value is not None
    assert {"reason": "answered", "text": "hi", "steps": 2, "tool_calls": 1}.items() <= value.items()
    assert value["usage"]["total_tokens"] == 15


def test_events_for_a_screen_only_are_omitted():
    assert as_object(CallForming(1, "weather__get", 10)) is None


def test_any_event_is_one_line_of_ascii():
    text = line(error_object("\ud800 \x9b31m \n 北京", "model"))
    assert text.isascii() and "\n" not in text and json.loads(text)["message"].endswith("北京")
