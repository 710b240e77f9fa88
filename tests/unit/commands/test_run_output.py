"""The output of `run` on stderr."""

from tui.commands.run_output import arguments_line, as_object, trace_line
from tui.core.events import (
    CallJudged,
    RetryScheduled,
    StepStarted,
    TextDelta,
    ToolCallEnded,
    ToolCallProposed,
    TurnStarted,
)


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
