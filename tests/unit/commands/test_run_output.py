"""The output of `run` on stderr."""

import json

from tui.commands.run_output import arguments_line, as_object, error_object, line, trace_line
from tui.core.events import (
    CallForming,
    CallJudged,
    EndReason,
    LimitName,
    LimitReached,
    ReasoningDelta,
    RetryScheduled,
    StepStarted,
    TextDelta,
    ToolCallEnded,
    ToolCallProposed,
    TurnEnded,
    TurnError,
    TurnStarted,
)
from tui.core.ports import Usage


def test_a_call_and_its_result_are_one_line_each():
    assert trace_line(ToolCallProposed(1, "c", "weather", "get", {"location": "Oslo"})) == (
        '→ weather › get  location="Oslo"'
    )
    assert (
        trace_line(ToolCallEnded(1, "c", "weather", "get", False, "sunny", 4.2))
        == "✓ weather › get  4 ms  sunny"
    )
    assert trace_line(ToolCallEnded(1, "c", "", "ghost", True, "no such tool", 0)).startswith("✗ ghost")


def test_the_reason_of_a_call_that_did_not_run_is_shown_whole():
    why = "denied: needs approval" + ", and so on" * 14 + ". To allow it, use --approve all"
    assert trace_line(ToolCallEnded(1, "c", "w", "t", True, why, 0, why="denied")).endswith("--approve all")


def test_tools_omitted_from_the_request_are_reported():
    assert "72 tools were not offered" in trace_line(TurnStarted("m", 128, "72 tools were not offered"))


def test_a_retry_is_printed_with_its_delay_and_reason():
    assert trace_line(RetryScheduled(1, 2, 4, 12.0, "429")) == "· 429. Retrying in 12 s, 2 of 4"


def test_text_and_steps_print_nothing_on_stderr():
    assert trace_line(TextDelta(1, "x")) == trace_line(StepStarted(1, 10)) == ""


def test_hostile_text_is_cleaned_and_bounded():
    told = trace_line(ToolCallEnded(1, "c", "s\x1b[2J", "t", False, "\x1b]0;x\x07" + "y" * 10_000, 1))
    assert "\x1b" not in told and len(told) < 500


def test_arguments_are_one_line_of_bounded_length():
    assert arguments_line({"a": 1, "b": "x\ny"}) == 'a=1 b="x\\ny"'
    assert len(arguments_line({"a": "z" * 10_000})) == 120


def test_a_decision_names_its_rule():
    judged = CallJudged(1, "c", "deny", "a rule forbids it", "rule deny notes/*", "deny notes/*")
    assert trace_line(judged) == "  rule: deny notes/*"
    assert as_object(judged) == {
        "type": "decision",
        "step": 1,
        "id": "c",
        "decision": "deny",
        "why": "a rule forbids it",
        "by": "rule deny notes/*",
        "rule": "deny notes/*",
    }


def test_a_decision_without_a_rule_is_only_in_the_json():
    judged = CallJudged(1, "c", "allow", "", "default (read-only)")
    assert trace_line(judged) == ""
    assert as_object(judged) == {
        "type": "decision",
        "step": 1,
        "id": "c",
        "decision": "allow",
        "why": "",
        "by": "default (read-only)",
    }


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
