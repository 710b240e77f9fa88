"""The trace of a saved conversation, derived from its messages."""

from hypothesis import given
from hypothesis import strategies as st

from tests.unit.storage.session_samples import FEW_IDS
from tests.unit.storage.session_samples import messages as any_messages
from tui.core.conversation.conversation import (
    AssistantMessage,
    CallRequest,
    Message,
    Remark,
    ToolMessage,
    Usage,
    UserMessage,
)
from tui.core.conversation.sessions import UNKNOWN_OUTCOME
from tui.core.events import EndReason
from tui.traffic.spans.past_turns import past_turns
from tui.traffic.spans.span_values import (
    CallSpan,
    CallState,
    NoteKind,
    NoteSpan,
    StepSpan,
    StepState,
    TurnSpan,
)

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
    assert (turn.steps, turn.calls, turn.usage.prompt) == (2, 1, 300)
    assert isinstance(first, StepSpan) and (first.state, first.ms, first.calls) == (StepState.DONE, 500.0, 1)
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
    assert [one.text for one in entries if isinstance(one, NoteSpan)] == [
        "HTTP 500", "answered",
    ]  # fmt: skip
    assert isinstance(entries[0], TurnSpan) and entries[0].reason is EndReason.MODEL_ERROR


def test_a_limit_comes_before_the_last_step():
    remarks = [Remark(3, "limit", "max_steps", value=1.0), Remark(4, "end", "limit")]
    assert kinds(past_turns(TURN, remarks)) == [
        "TurnSpan", "StepSpan", "CallSpan", "NoteSpan", "StepSpan", "NoteSpan",
    ]  # fmt: skip


def test_a_steering_message_is_not_a_turn_of_its_own():
    assert numbers(past_turns([*TURN[:3], UserMessage("in Celsius"), ANSWER])) == [(1, 0)]


def test_a_user_message_after_truncated_calls_is_a_turn():
    killed = ToolMessage("c1", "weather__get", UNKNOWN_OUTCOME, is_error=True)
    entries = past_turns([*TURN[:2], killed, *TURN])
    assert numbers(entries) == [(1, 0), (2, 0)]
    assert [one.state for one in entries if isinstance(one, CallSpan)] == [CallState.FAILED, CallState.DONE]


def test_a_user_message_after_a_stopped_call_is_a_turn():
    stopped = ToolMessage("c1", "weather__get", "cancelled by the user", is_error=True, why="cancelled")
    entries = past_turns([*TURN[:2], stopped, *TURN], [Remark(3, "end", "cancelled")])
    assert numbers(entries) == [(1, 0), (2, 0)]
    assert next(one.state for one in entries if isinstance(one, CallSpan)) is CallState.CANCELLED


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
