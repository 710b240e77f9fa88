"""Events of a turn, applied to the conversation pane."""

from types import SimpleNamespace
from typing import Any

import pytest

from tui.core import events
from tui.core.conversation.conversation import Remark
from tui.core.events import EndReason, LimitName
from tui.core.ports import ApprovalRequest, RetryPart, TextPart, Usage
from tui.core.tools import Annotations, BinaryContent, CallFailure, LinkContent, TextContent, Tool, ToolResult
from tui.core.turn.prepared_calls import EXAMPLE
from tui.ui.chat.bridge import Bridge, ended_at_limit, note_of

NOTICE = "demo model: rule-based, not a language model"
TOOL = Tool("notes", "delete_note")
KEYS = {"chat.continue": "ctrl+g", "chat.cancel": "esc", "chat.retry": "r"}
REQUEST = ApprovalRequest("c1", TOOL, {"id": 1}, "may delete or overwrite data, according to the server")


class Recorder:
    """Records every call."""

    def __init__(self) -> None:
        self.done: list[tuple[Any, ...]] = []

    def __getattr__(self, name: str) -> Any:
        def record(*args: Any, **kwargs: Any) -> Any:
            self.done.append((name, *args, *kwargs.values()))
            return next(iter(args), None)

        return record

    def names(self) -> list[str]:
        return [entry[0] for entry in self.done]


@pytest.fixture
def view() -> Recorder:
    return Recorder()


class Hand:
    """A clock set by the test."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Hand:
    return Hand()


@pytest.fixture
def bridge(view: Recorder, clock: Hand) -> Bridge:
    regions = SimpleNamespace(conversation=view, key_of=KEYS.__getitem__)
    bridge = Bridge(SimpleNamespace(model_notice=NOTICE), regions, clock)
    bridge.apply(events.TurnStarted("demo", 2))
    bridge.apply(events.StepStarted(1, 10))
    return bridge


def ended(reason: EndReason, limit: LimitName | None = None) -> events.TurnEnded:
    return events.TurnEnded(reason, "", 1, 0, Usage(), 5.0, limit)


def call_ended(**fields: Any) -> events.ToolCallEnded:
    base = {"is_error": False, "text": "told the model", "ms": 4.0}
    return events.ToolCallEnded(1, "c1", "notes", "delete_note", **{**base, **fields})


def test_a_question_is_shown_once_its_card_exists(bridge, view):
    bridge.question(REQUEST)
    assert "ask" not in view.names()
    bridge.apply(events.ToolCallProposed(1, "c1", "notes", "delete_note", {"id": 1}))
    bridge.apply(events.ApprovalAsked(1, "c1", REQUEST))
    assert view.done[-1] == ("ask", REQUEST)


@pytest.mark.parametrize("end", [lambda bridge: bridge.apply(ended(EndReason.ANSWERED)), Bridge.abandon])
def test_a_question_with_a_call_id_of_an_earlier_turn_waits_for_its_own_card(bridge, view, end):
    bridge.apply(events.ToolCallProposed(1, "c1", "notes", "delete_note", {"id": 1}))
    end(bridge)
    bridge.question(REQUEST)
    assert "ask" not in view.names()
    bridge.apply(events.TurnStarted("demo", 2))
    bridge.apply(events.ToolCallProposed(1, "c1", "notes", "delete_note", {"id": 1}))
    bridge.apply(events.ApprovalAsked(1, "c1", REQUEST))
    assert view.names().count("ask") == 1


def test_only_the_visible_question_is_shown(bridge, view):
    bridge.apply(events.ToolCallProposed(1, "c1", "notes", "delete_note", {"id": 1}))
    bridge.apply(events.ApprovalAsked(1, "c1", REQUEST))
    assert "ask" not in view.names()


GONE = "The server “slow” was stopped during the call."
LOST = ToolResult.failed(GONE, CallFailure.SERVER_DIED)


@pytest.mark.parametrize(
    ("event", "state", "note", "preview"),
    [
        (call_ended(result=ToolResult((TextContent("25 °C"),))), "done", "", "25 °C"),
        (
            call_ended(is_error=True, text=f"not run: no files.{EXAMPLE}<call/>", why="invalid call"),
            "unsent",
            "invalid call",
            "not run: no files.",
        ),
        (
            call_ended(result=ToolResult((TextContent("{}"),), warning="does not match")),
            "done",
            "does not match",
            "{}",
        ),
        (call_ended(is_error=True, why="timeout"), "failed", "timeout", "told the model"),
        (
            call_ended(text=f"ERROR: {GONE}", is_error=True, result=LOST, why="server died"),
            "failed",
            "",
            GONE,
        ),
        (call_ended(is_error=True, why="denied"), "denied", "", "told the model"),
        (call_ended(is_error=True, why="cancelled"), "cancelled", "", "told the model"),
        (call_ended(is_error=True, why="unknown tool"), "unsent", "unknown tool", "told the model"),
    ],
)
def test_the_outcome_of_a_call_is_set_with_a_short_note(bridge, view, event, state, note, preview):
    bridge.apply(event)
    assert view.done[-1] == ("set_call", "c1", state, note, 4.0, preview)


PICTURE = ToolResult((BinaryContent("image", "image/png", 3, "AAAA"),))
FOR_THE_USER = LinkContent("a://1", "chart", annotations=Annotations(("user",)))
HIDDEN = call_ended(result=ToolResult((TextContent("see"), FOR_THE_USER)), text="see\n[1 item …]")


@pytest.mark.parametrize(
    ("event", "shown"),
    [
        (
            events.ToolProgress(1, "c1", 12, 30, "reading\x1b[2J"),
            ("set_call", "c1", "running", "12 of 30 reading␛[2J", 0.4),
        ),
        (
            events.ToolCallProposed(1, "c1", "notes", "add", {}, recovered=True),
            ("add_call", "c1", "notes", "add", {}, True),
        ),
        (events.CallJudged(1, "c1", "deny", rule="deny notes/*"), ("show_rule", "c1", "deny notes/*")),
        (call_ended(result=PICTURE), ("give_result", "c1", PICTURE)),
        (HIDDEN, ("set_call", "c1", "done", "", 4.0, "see\n[resource chart: a://1]")),
        (events.Notice("12 turns were summarized"), ("add_note", "12 turns were summarized", "info")),
        (events.Notice("careful", "warn"), ("add_note", "careful", "warn")),
        (events.Steered(2, "no, the other one"), ("add_user", "no, the other one")),
    ],
)
def test_an_event_is_shown(bridge, view, event, shown):
    bridge.apply(event)
    assert shown in view.done


def test_a_rule_that_is_not_named_is_not_shown(bridge, view):
    bridge.apply(events.CallJudged(1, "c1", "allow"))
    assert "show_rule" not in view.names()


def test_started_calls_are_counted_per_turn(bridge):
    bridge.apply(events.ToolCallStarted(1, "c1"))
    assert bridge.calls_begun == 1
    bridge.apply(events.TurnStarted("demo", 2))
    assert bridge.calls_begun == 0


def test_after_a_limit_continuing_is_offered_until_the_next_turn(bridge, view):
    bridge.apply(events.LimitReached(LimitName.MAX_STEPS, 10))
    bridge.apply(ended(EndReason.LIMIT, LimitName.MAX_STEPS))
    assert view.done[0] == ("add_note", "Limit reached: 10 steps (max_steps in [limits]).", "warn")
    assert "ctrl+g" in view.done[3][1]
    assert bridge.can_continue
    bridge.apply(events.TurnStarted("demo", 2))
    assert not bridge.can_continue


def test_a_cancelled_reply_keeps_its_duration_and_is_noted_as_stopped_once(bridge, view, clock):
    bridge.apply(TextPart("Hel", step=1))
    clock.now += 8
    bridge.apply(ended(EndReason.CANCELLED))
    assert view.done[2:] == [
        ("end_reply", 8.0, NOTICE),
        ("sign_reply",),
        ("add_note", "Stopped.", "info"),
    ]


def test_the_reply_of_an_abandoned_turn_is_marked_as_truncated(bridge, view):
    bridge.apply(TextPart("Hel", step=1))
    bridge.abandon()
    assert view.done[2] == ("end_reply", None, True)


def test_a_failure_is_noted_once_when_its_retries_fail_too(bridge, view):
    bridge.apply(RetryPart(2, 4, 1.0, "HTTP 429: slow down", step=1))
    bridge.apply(RetryPart(3, 4, 1.0, "HTTP 429: slow down", step=1))
    assert view.done == [("add_note", "HTTP 429: slow down", "warn")]
    bridge.apply(events.TurnError("HTTP 429: slow down", "model", "Wait, then retry."))
    assert bridge.activity == ""
    bridge.apply(ended(EndReason.MODEL_ERROR))
    assert [call for call in view.done if call[0] in ("add_note", "drop_note")][1:] == [
        ("drop_note", "HTTP 429: slow down"),
        ("add_note", "HTTP 429: slow down. Wait, then retry.", "bad"),
        ("add_note", "Enter /retry to ask again.", "info"),
    ]


def test_the_activity_is_empty_between_turns(bridge):
    assert bridge.activity
    bridge.apply(ended(EndReason.ANSWERED))
    assert (bridge.activity, bridge.step) == ("", 0)


# ---- a stalled model ----


def test_a_stalled_stream_shows_the_seconds_and_the_key_that_stops_it(bridge, clock):
    bridge.apply(TextPart("I begin", step=1))
    clock.now += 4
    assert bridge.activity == "answering"
    clock.now += 8
    assert bridge.activity == "no data for 12 s · esc stops · answering"
    assert bridge.is_stalled
    bridge.apply(TextPart(" and continue", step=1))
    assert bridge.activity == "answering"
    assert not bridge.is_stalled


def test_a_slow_tool_does_not_count_as_a_stalled_stream(bridge, clock):
    bridge.apply(events.ToolCallStarted(1, "c1"))
    clock.now += 60
    assert bridge.activity == "waiting for a tool"


def test_a_wait_before_a_turn_is_shown_and_then_removed(bridge, view):
    bridge.apply(events.Waiting("Waiting for 1 server to start: notes"))
    assert bridge.activity == "Waiting for 1 server to start: notes"
    bridge.apply(events.Waiting(""))
    assert view.done[-2:] == [("show_waiting", "Waiting for 1 server to start: notes"), ("show_waiting", "")]


# ---- retries ----


def retry(delay: float = 12.0) -> RetryPart:
    return RetryPart(2, 4, delay, "ollama answered 503: loading the model", step=1)


def test_a_retry_shows_a_countdown_and_the_key_that_stops_it(bridge, clock):
    bridge.apply(retry())
    assert bridge.activity == ("attempt 2 of 4 in 12 s · esc stops · ollama answered 503: loading the model")
    clock.now += 11.2
    assert bridge.activity.startswith("attempt 2 of 4 in 1 s")
    clock.now += 5
    assert bridge.activity.startswith("attempt 2 of 4 in 0 s")


def test_the_next_event_ends_the_countdown(bridge):
    bridge.apply(retry())
    bridge.apply(TextPart("Hello", step=1))
    assert bridge.activity == "answering"
    bridge.apply(retry())
    bridge.apply(ended(EndReason.CANCELLED))
    assert bridge.activity == ""


def test_text_from_an_endpoint_is_cleaned(bridge):
    bridge.apply(RetryPart(1, 4, 1.0, "busy\x1b[2J", step=1))
    assert "\x1b" not in bridge.activity


# ---- notes at the end of a turn ----


@pytest.mark.parametrize("reason", list(EndReason))
def test_each_end_reason_but_an_answer_adds_one_note_with_its_keys_filled_in(bridge, view, reason: EndReason):
    bridge.apply(ended(reason))
    notes = [entry[1] for entry in view.done if entry[0] == "add_note"]
    assert len(notes) == (0 if reason is EndReason.ANSWERED else 1)
    sentence, _ = note_of(Remark(0, "end", reason.value), "ctrl+g")
    assert sentence[0].isupper() or sentence[0] == "r"
    assert sentence.endswith(".") and "{" not in sentence and reason.value not in sentence.split()


def test_a_remark_has_the_severity_of_its_kind():
    assert note_of(
        Remark(1, "error", "it does not support response_format with tools; retrying without"), "ctrl+g"
    ) == ("it does not support response_format with tools; retrying without", "bad")
    assert note_of(Remark(1, "warn", "careful"), "ctrl+g") == ("careful", "warn")
    assert note_of(Remark(1, "notice", "limit"), "ctrl+g") == ("limit", "info")


def test_a_turn_can_continue_only_if_the_last_one_ended_at_a_limit():
    met = [Remark(2, "limit", "max_steps", value=3), Remark(4, "end", "limit")]
    assert ended_at_limit(met, 4)
    assert not ended_at_limit(met, 6) and not ended_at_limit([], 0)
    assert not ended_at_limit([Remark(4, "end", "cancelled")], 4)
