"""The history is always valid for a provider."""

import json
from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tui.core.conversation.conversation import (
    AssistantMessage,
    CallRequest,
    Compaction,
    Conversation,
    Message,
    Remark,
    RemarkKind,
    ToolMessage,
    UserMessage,
    sanitised,
)
from tui.core.conversation.message_json import remark_object, remark_of

CALL = CallRequest("c1", "weather__get", "{}")


def test_a_call_is_dangling_until_its_result_arrives():
    talk = Conversation()
    talk.say("hi")
    other = CallRequest("c2", "weather__get", "{}")
    talk.add(AssistantMessage(calls=(CALL, other)))
    talk.add(ToolMessage("c1", "weather__get", "ok"))
    assert talk.dangling() == (other,)
    talk.add(ToolMessage("c2", "weather__get", "ok"))
    assert talk.dangling() == ()


def test_a_missing_result_is_inserted_right_after_its_call():
    history: list[Message] = [AssistantMessage(calls=(CALL,)), UserMessage("next")]
    fixed = sanitised(history)
    assert isinstance(fixed[1], ToolMessage) and fixed[1].call_id == "c1" and fixed[1].is_error
    assert fixed[2] == UserMessage("next")


def test_a_result_in_the_wrong_place_does_not_count():
    late = ToolMessage("c1", "weather__get", "late")
    fixed = sanitised([AssistantMessage(calls=(CALL,)), UserMessage("next"), late])
    assert late not in fixed and len(fixed) == 3


def test_results_follow_the_order_of_their_calls():
    other = CallRequest("c2", "b", "{}")
    first, second = ToolMessage("c1", "a", "1"), ToolMessage("c2", "b", "2")
    fixed = sanitised([AssistantMessage(calls=(CALL, other)), second, first])
    assert fixed[1:] == [first, second]


def test_empty_assistant_messages_are_dropped():
    asked = [UserMessage("a"), UserMessage("b")]
    assert sanitised([asked[0], AssistantMessage(), asked[1]]) == asked


IDS = st.sampled_from(["a", "b", "c"])
MESSAGES = st.one_of(
    st.builds(UserMessage, st.text(max_size=3)),
    st.builds(
        AssistantMessage,
        text=st.text(max_size=3),
        calls=st.lists(IDS, unique=True, max_size=3).map(
            lambda ids: tuple(CallRequest(i, "t", "{}") for i in ids)
        ),
    ),
    st.builds(ToolMessage, IDS, st.just("t"), st.text(max_size=3)),
)


@given(st.lists(MESSAGES, max_size=12))
def test_in_any_history_every_call_is_answered_exactly_once_right_after_it(history: list[Message]):
    fixed = sanitised(history)
    assert sanitised(fixed) == fixed
    index = 0
    while index < len(fixed):
        message = fixed[index]
        index += 1
        assert not isinstance(message, ToolMessage)
        if isinstance(message, AssistantMessage):
            answers = fixed[index : index + len(message.calls)]
            assert [a.call_id for a in answers if isinstance(a, ToolMessage)] == [c.id for c in message.calls]
            index += len(message.calls)


def test_a_branch_drops_compaction_after_the_branch_point():
    compaction = Compaction(2, "They greeted.", 8, ((2, 900), (4, 700)))
    assert compaction.before(4) == Compaction(2, "They greeted.", 4, ((2, 900),))
    assert compaction.before(9) == compaction
    assert compaction.before(1) == Compaction()


KINDS = st.sampled_from(get_args(RemarkKind))


@given(st.builds(Remark, st.integers(0, 10**6), KINDS, *[st.text()] * 3, st.floats(0, 1e9)))
def test_a_remark_survives_a_round_trip(remark: Remark):
    found = remark_of(json.loads(json.dumps(remark_object(remark))), 7.0)
    assert found == remark and found.at == 7.0


@each_case(
    "change",
    [
        {"place": -1}, {"place": "1"}, {"place": True}, {"kind": "joke"}, {"kind": None}, {"kind": []},
        {"text": 5}, {"value": "x"}, {"where": None},
    ],
)  # fmt: skip
def test_invalid_remarks_are_ignored(change: dict[str, object]):
    assert remark_of(remark_object(Remark(1, "error", "gone")) | change) is None


def test_a_branch_keeps_the_remarks_before_it():
    talk = Conversation(remarks=[Remark(2, "end", "cancelled"), Remark(3, "error", "x")])
    assert talk.remarks_before(2) == [Remark(2, "end", "cancelled")]
