"""The tree of a turn, as the trace pane reads it."""

import math
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.storage.session_samples import FEW_IDS
from tests.unit.storage.session_samples import messages as any_messages
from tui.core import events
from tui.core.conversation.conversation import (
    AssistantMessage,
    CallRequest,
    Message,
    Remark,
    ToolMessage,
    UserMessage,
)
from tui.core.conversation.sessions import UNKNOWN_OUTCOME
from tui.core.events import EndReason, LimitName
from tui.core.ports import Answer, ApprovalRequest, CallPart, ReasoningPart, RetryPart, TextPart, Usage
from tui.core.tools import TextContent, Tool, ToolResult
from tui.core.traffic import Cause
from tui.traffic.spans.span_values import (
    CallSpan,
    CallState,
    NoteKind,
    NoteSpan,
    StepSpan,
    StepState,
    TurnSpan,
)
from tui.traffic.spans.spans import Spans, past_turns

MS = 1_000_000
T = TypeVar("T")


class Script:
    """Passes events to spans, with its own clock."""

    def __init__(self) -> None:
        self.spans = Spans()
        self.now = 0

    def after(self, ms: float, event: events.Event) -> "Script":
        self.now += int(ms * MS)
        self.spans.apply(event, self.now)
        return self

    def turn(self) -> "Script":
        self.after(0, events.TurnStarted("demo", 3))
        return self.after(0, events.StepStarted(1, 10))

    def call(self, call_id: str = "a", **arguments: object) -> "Script":
        self.after(600, events.StepEnded(1, 600.0, Usage(200, 10, True), "tool_calls", 1))
        return self.after(0, events.ToolCallProposed(1, call_id, "weather", "get_weather", arguments))

    def ended(self, text: str = "sunny", **fields: object) -> "Script":
        values = {"is_error": False, "ms": 4.0} | fields
        return self.after(4, events.ToolCallEnded(1, "a", "weather", "get_weather", text=text, **values))

    def finish(self, reason: EndReason = EndReason.ANSWERED) -> "Script":
        return self.after(1, events.TurnEnded(reason, "", 1, 1, Usage(200, 10, True), self.now / MS))

    def only(self, kind: type[T]) -> T:
        (found,) = [entry for entry in self.spans.entries if isinstance(entry, kind)]
        return found


def only_call(script: Script) -> CallSpan:
    return script.only(CallSpan)


def test_entries_are_in_the_order_of_their_start() -> None:
    script = Script().turn().call()
    script.after(0, events.ToolCallProposed(1, "b", "notes", "list_notes", {}))
    script.ended().after(0, events.StepStarted(2, 10))
    kinds = [type(entry) for entry in script.spans.entries]
    assert kinds == [TurnSpan, StepSpan, CallSpan, CallSpan, StepSpan]


def test_a_call_goes_from_waiting_to_running_to_done() -> None:
    script = Script().turn().call(location="Beijing")
    call = only_call(script)
    assert call.state is CallState.WAITING
    script.after(1, events.ToolCallStarted(1, "a"))
    assert call.state is CallState.RUNNING
    script.ended("The weather is sunny.")
    assert call.state is CallState.DONE
    assert (call.ms, call.arguments) == (4.0, (("location", '"Beijing"'),))
    assert call.result.text == "The weather is sunny."


def test_the_wait_for_an_approval_is_measured_separately() -> None:
    script = Script().turn().call()
    request = ApprovalRequest("a", Tool("weather", "get_weather"), {}, "not read-only")
    script.after(0, events.ApprovalAsked(1, "a", request))
    call = only_call(script)
    assert (call.state, call.why) == (CallState.ASKING, "not read-only")
    script.after(2500, events.ApprovalGiven(1, "a", Answer.ONCE, ""))
    assert (call.state, call.answer, call.waited_ms) == (CallState.WAITING, Answer.ONCE, 2500.0)


def test_an_ended_call_has_the_state_of_its_reason() -> None:
    states = {}
    for why in ("", "is_error", "denied", "cancelled", "not run", "invalid arguments", "timeout"):
        fields = {"is_error": bool(why), "why": why if why != "is_error" else ""}
        states[why] = only_call(Script().turn().call().ended(**fields)).state
    assert states == {
        "": CallState.DONE,
        "is_error": CallState.FAILED,
        "denied": CallState.DENIED,
        "cancelled": CallState.CANCELLED,
        "not run": CallState.NOT_RUN,
        "invalid arguments": CallState.NOT_RUN,
        "timeout": CallState.FAILED,
    }


def test_the_reason_of_a_denial_is_kept() -> None:
    script = Script().turn().call().after(9, events.ApprovalGiven(1, "a", Answer.NO, "wrong city"))
    call = only_call(script.ended(is_error=True, why="denied"))
    assert (call.state, call.why) == (CallState.DENIED, "wrong city")


def test_progress_is_kept_only_if_it_is_a_number() -> None:
    script = Script().turn().call().after(0, events.ToolCallStarted(1, "a"))
    call = only_call(script)
    script.after(5, events.ToolProgress(1, "a", 12, 30, "half\x1b[2J way"))
    assert (call.progress, call.total, call.message) == (12, 30, "half␛[2J way")
    script.after(5, events.ToolProgress(1, "a", math.nan, math.inf, ""))
    assert (call.progress, call.total) == (None, None)


def test_a_late_event_does_not_reopen_a_call() -> None:
    script = Script().turn().call().ended()
    before = script.spans.revision
    script.after(1, events.ToolProgress(1, "a", 1, 2, "late"))
    assert only_call(script).state is CallState.DONE
    assert script.spans.revision == before


def test_a_step_has_the_state_of_the_model() -> None:
    script = Script().turn()
    step = script.only(StepSpan)
    seen = [step.state]
    for ms, event in (
        (80, ReasoningPart("hm", step=1)),
        (5, TextPart("hello", step=1)),
        (5, CallPart("weather__get_weather", 3, step=1)),
    ):
        script.after(ms, event)
        seen.append(step.state)
    assert seen == [StepState.ASKED, StepState.THINKING, StepState.ANSWERING, StepState.CALLING]
    assert step.detail == "weather__get_weather"


def test_streamed_text_causes_no_redraw() -> None:
    script = Script().turn().after(1, TextPart("a", step=1))
    before = script.spans.revision
    for _ in range(100):
        script.after(1, TextPart("more", step=1))
    assert script.spans.revision == before


def test_a_retry_is_shown_with_its_reason() -> None:
    script = Script().turn().after(1, RetryPart(2, 3, 2.0, "429 rate limit", step=1))
    step = script.only(StepSpan)
    assert (step.state, step.detail) == (StepState.RETRYING, "attempt 2 of 3 in 2.0 s: 429 rate limit")


def test_a_cancelled_turn_closes_its_open_steps_and_calls() -> None:
    script = Script().turn().call()
    script.after(0, events.ToolCallProposed(1, "b", "notes", "add_note", {}))
    script.after(0, events.ToolCallStarted(1, "a")).after(30, events.LimitReached(LimitName.MAX_STEPS, 10))
    script.finish(EndReason.CANCELLED)
    calls = [entry for entry in script.spans.entries if isinstance(entry, CallSpan)]
    assert [call.state for call in calls] == [CallState.CANCELLED, CallState.NOT_RUN]
    assert calls[0].ms == 31.0


def test_a_turn_ends_with_a_note_of_the_reason() -> None:
    script = Script().turn().finish(EndReason.EMPTY)
    note = script.only(NoteSpan)
    assert (note.kind, note.text) == (NoteKind.ENDED, "empty reply")


@pytest.mark.parametrize(
    ("where", "said"), [("model (http://127.0.0.1:1/v1)", "it died"), ("weather", "weather: it died")]
)
def test_an_error_fails_its_step_and_is_reported_once(where: str, said: str) -> None:
    script = Script().turn().after(1, events.TurnError("it died", where, "Retry."))
    script.finish(EndReason.MODEL_ERROR)
    assert script.only(StepSpan).state is StepState.FAILED
    assert script.only(NoteSpan).text == said  # the next step is shown in the conversation
    assert script.only(TurnSpan).reason is EndReason.MODEL_ERROR


def test_a_stopped_step_or_call_gets_no_note() -> None:
    for script in (Script().turn(), Script().turn().call()):
        script.finish(EndReason.CANCELLED)
        assert not [one for one in script.spans.entries if isinstance(one, NoteSpan)]


def test_a_view_gets_only_the_changed_entries() -> None:
    script = Script().turn().call()
    seen = script.spans.revision
    assert script.spans.changed_since(seen) == []
    script.after(0, events.ToolCallStarted(1, "a"))
    assert script.spans.changed_since(seen) == [2]
    assert script.spans.changed_since(0) == [0, 1, 2]


def test_after_clear_a_view_must_start_over() -> None:
    script = Script().turn()
    seen = script.spans.revision
    script.spans.clear()
    assert script.spans.changed_since(seen) is None
    assert script.spans.entries == []
    script.turn()
    assert script.spans.turns == 1


def test_a_result_of_many_megabytes_is_kept_as_a_short_preview() -> None:
    call = only_call(Script().turn().call().ended("x" * 3_000_000))
    assert len(call.result.text) <= 2_000
    assert call.result.omitted >= 2_990_000


def test_a_warning_about_the_result_is_kept() -> None:
    result = ToolResult((TextContent("1"),), warning="does not match outputSchema: count is a string")
    call = only_call(Script().turn().call().ended(result=result))
    assert call.warning == "does not match outputSchema: count is a string"


_ids = st.sampled_from(["a", "b"])
_events = st.one_of(
    st.just(events.TurnStarted("m", 1)),
    st.builds(events.StepStarted, st.integers(1, 3), st.just(10)),
    st.builds(TextPart, st.text(max_size=3), st.integers(1, 3)),
    st.floats(0, 9).map(lambda ms: events.StepEnded(1, ms, Usage(1, 1), "stop", 1)),
    st.builds(events.ToolCallProposed, st.just(1), _ids, st.text(), st.text(), st.just({})),
    st.builds(events.ToolCallStarted, st.just(1), _ids),
    st.builds(events.ToolProgress, st.just(1), _ids, st.floats(), st.none() | st.floats(), st.text()),
    st.builds(
        events.ToolCallEnded, st.just(1), _ids, st.text(), st.text(), st.booleans(), st.text(), st.just(1.0)
    ),
    st.builds(events.TurnError, st.text(), st.text()),
    st.sampled_from(EndReason).map(lambda reason: events.TurnEnded(reason, "", 1, 1, Usage(), 1.0)),
)


@given(st.lists(_events, max_size=40))
def test_events_in_any_order_are_accepted_and_nothing_is_open_after_the_end(
    stream: list[events.Event],
) -> None:
    script = Script()
    mirror: list[object] = []
    for event in stream:
        seen = script.spans.revision
        script.after(1, event)
        changed = script.spans.changed_since(seen)
        assert changed is not None
        assert all(index in changed for index in range(len(mirror), len(script.spans.entries)))
        mirror = list(script.spans.entries)
    script.after(1, events.TurnStarted("m", 1)).finish()
    last_turn = script.spans.turns
    for entry in script.spans.entries:
        if isinstance(entry, CallSpan) and entry.turn == last_turn:
            assert entry.state.over


def test_turns_count_from_one_in_each_conversation_and_keep_their_number_in_the_traffic():
    spans = Spans()
    for traffic in (1, 2):
        spans.apply(events.TurnStarted("m", 1, turn=traffic), 0)
    spans.clear()
    spans.apply(events.TurnStarted("m", 1, turn=3), 0)
    (turn,) = spans.entries
    assert (turn.number, turn.traffic, spans.turns) == (1, 3, 1)
    assert spans.cause_of(turn) == Cause(3)


def test_turn_numbers_continue_those_of_an_opened_conversation():
    spans = Spans()
    past = [TurnSpan(1, "m", 0, past=True), TurnSpan(2, "m", 0, past=True, traffic=7)]
    spans.clear(past)
    seen = spans.revision
    spans.apply(events.TurnStarted("m", 1, turn=9), 0)
    assert [entry.number for entry in spans.entries] == [1, 2, 3]
    assert [spans.cause_of(entry).turn for entry in spans.entries] == [0, 7, 9]
    assert spans.changed_since(seen) == [2]


def test_a_call_has_the_same_cause_as_its_traffic():
    spans = Script().turn().call().spans
    call = next(entry for entry in spans.entries if isinstance(entry, CallSpan))
    step = next(entry for entry in spans.entries if isinstance(entry, StepSpan))
    assert (spans.cause_of(call), spans.cause_of(step)) == (Cause(1, 1, "a"), Cause(1, 1))


def test_a_call_has_the_rule_that_decided_it() -> None:
    script = Script().turn().call().after(1, events.CallJudged(1, "a", "deny", rule="deny a/\x1b*"))
    assert only_call(script).rule == "deny a/␛*"


# ---- the turns of a saved conversation --------------------------------------------------------------------


ASKING = AssistantMessage(
    "Let me see.",
    calls=(CallRequest("c1", "weather__get", '{"city": "Oslo"}'),),
    model="demo",
    seconds=0.5,
    usage=Usage(100, 20),
)
RESULT = ToolMessage("c1", "weather__get", "sunny, 25 °C", seconds=0.25)
ANSWER = AssistantMessage("It is sunny.", model="demo", seconds=0.5, usage=Usage(200, 30))
TURN: list[Message] = [UserMessage("How is it?"), ASKING, RESULT, ANSWER]


def kinds(entries: list[object]) -> list[str]:
    return [type(entry).__name__ for entry in entries]


def numbers(entries: list[object]) -> list[tuple[int, int]]:
    return [(one.number, one.traffic) for one in entries if isinstance(one, TurnSpan)]


def test_a_turn_has_its_steps_and_calls_with_arguments_result_and_time():
    turn, first, call, second, note = past_turns(TURN)
    assert isinstance(turn, TurnSpan) and turn.past and (turn.number, turn.traffic) == (1, 0)
    assert (turn.steps, turn.calls) == (2, 1)
    assert isinstance(first, StepSpan) and (first.state, first.ms) == (StepState.DONE, 500.0)
    assert isinstance(call, CallSpan) and (call.server, call.tool, call.step) == ("weather", "get", 1)
    assert call.arguments == (("city", '"Oslo"'),)
    assert (call.state, call.ms, call.result.text) == (CallState.DONE, 250.0, "sunny, 25 °C")
    assert isinstance(second, StepSpan) and second.number == 2
    assert isinstance(note, NoteSpan) and (note.kind, note.text) == (NoteKind.ENDED, "answered")


def test_each_user_message_is_a_turn_with_its_number_in_the_traffic():
    assert numbers(past_turns([*TURN, *TURN], (), {4: 9})) == [(1, 0), (2, 9)]


def test_the_end_reason_of_a_turn_is_taken_from_its_remark():
    remarks = [Remark(1, "error", "HTTP 500", "model"), Remark(1, "end", "model_error")]
    entries = past_turns([UserMessage("a"), *TURN], remarks)
    assert [one.text for one in entries if isinstance(one, NoteSpan)] == ["HTTP 500", "answered"]
    assert isinstance(entries[0], TurnSpan) and entries[0].reason is EndReason.MODEL_ERROR


def test_a_limit_comes_before_the_last_step():
    remarks = [Remark(3, "limit", "max_steps", value=1.0), Remark(4, "end", "limit")]
    assert kinds(past_turns(TURN, remarks)) == [
        "TurnSpan", "StepSpan", "CallSpan", "NoteSpan", "StepSpan", "NoteSpan",
    ]  # fmt: skip


def test_a_steering_message_is_not_a_turn_of_its_own():
    assert numbers(past_turns([*TURN[:3], UserMessage("in Celsius"), ANSWER])) == [(1, 0)]


@pytest.mark.parametrize(
    ("result", "remarks", "state"),
    [
        (ToolMessage("c1", "weather__get", UNKNOWN_OUTCOME, is_error=True), [], CallState.FAILED),
        (
            ToolMessage("c1", "weather__get", "cancelled by the user", is_error=True, why="cancelled"),
            [Remark(3, "end", "cancelled")],
            CallState.CANCELLED,
        ),
    ],
    ids=["truncated", "stopped"],
)
def test_a_user_message_after_a_call_that_did_not_complete_is_a_turn(
    result: ToolMessage, remarks: list[Remark], state: CallState
):
    entries = past_turns([*TURN[:2], result, *TURN], remarks)
    assert numbers(entries) == [(1, 0), (2, 0)]
    assert [one.state for one in entries if isinstance(one, CallSpan)] == [state, CallState.DONE]


def test_an_unknown_tool_keeps_the_name_written_by_the_model():
    unknown = ToolMessage("c1", "weather__get", "there is no such tool", is_error=True, why="unknown tool")
    call = past_turns([*TURN[:2], unknown])[2]
    assert isinstance(call, CallSpan) and (call.server, call.tool) == ("", "weather__get")


@given(st.lists(any_messages(FEW_IDS), max_size=12), st.dictionaries(st.integers(0, 9), st.integers(1, 9)))
def test_any_conversation_has_a_trace(said: list[Message], known: dict[int, int]):
    entries = past_turns(said, (), known)
    turns = [one.number for one in entries if isinstance(one, TurnSpan)]
    assert turns == list(range(1, len(turns) + 1))
    assert all(getattr(one, "turn", 1) in (1, *turns) for one in entries)
