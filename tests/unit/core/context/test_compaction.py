"""Compacted conversations stay valid, and no message is lost."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from tui.core.context.compaction import (
    NEWEST,
    SHORT,
    boundary,
    limited,
    sent_messages,
    shrink,
    take_compaction,
)
from tui.core.context.context_meter import ContextMeter, estimate_messages
from tui.core.conversation.conversation import (
    AssistantMessage,
    Attachment,
    CallRequest,
    Compaction,
    Conversation,
    Message,
    ToolMessage,
    UserMessage,
    sanitised,
)


def talk(turns: list[tuple[int, int]]) -> list[Message]:
    """Return a conversation; each turn has a number of calls with results of a number of characters."""
    messages: list[Message] = []
    for number, (calls, size) in enumerate(turns):
        messages.append(UserMessage(f"question {number}"))
        if calls:
            made = tuple(CallRequest(f"c{number}-{at}", "t", "{}") for at in range(calls))
            messages.append(AssistantMessage(calls=made))
            messages.extend(ToolMessage(call.id, "t", "r" * size) for call in made)
        messages.append(AssistantMessage(f"answer {number}"))
    return messages


talks = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 5000)), min_size=1, max_size=12).map(talk)


@given(talks, st.integers(256, 20_000))
def test_every_compacted_conversation_is_valid_for_a_provider(messages, window):
    compaction = shrink(messages, Compaction(), window)
    upto = boundary(messages, compaction, window)
    compaction = Compaction(upto, "a summary" if upto else "", compaction.shrunk)
    seen = list(sent_messages(messages, compaction))
    assert sanitised(seen) == seen
    roles = [type(message) for message in seen]
    assert all((one, two) != (UserMessage, UserMessage) for one, two in itertools.pairwise(roles))


@given(talks, st.integers(256, 20_000))
def test_compaction_stops_before_a_user_message_and_keeps_the_newest_turn(messages, window):
    upto = boundary(messages, Compaction(), window)
    assert upto == 0 or isinstance(messages[upto], UserMessage)
    assert any(isinstance(one, UserMessage) for one in messages[upto:])


def test_a_compaction_and_its_undoing_change_the_meter_by_what_they_save():
    conversation = Conversation(messages=talk([(0, 0), (1, 4000), (1, 10)]))
    meter = ContextMeter(tokens=3000, estimated=False)
    saved = estimate_messages(conversation.messages)
    take_compaction(conversation, Compaction(6, "a summary", 0), meter)
    saved -= estimate_messages(sent_messages(conversation.messages, Compaction(6, "a summary", 0)))
    assert (meter.tokens, meter.estimated, saved > 1000) == (3000 - saved, True, True)
    take_compaction(conversation, Compaction(), meter)
    assert meter.tokens == 3000
    meter = ContextMeter()
    take_compaction(Conversation(messages=talk([(1, 4000), (1, 10)])), Compaction(4, "a summary", 0), meter)
    assert meter.tokens == 0


def test_an_old_result_is_reduced_to_its_head_size_and_name():
    message = ToolMessage("c", "t", "r" * 9000, kept="result-3")
    seen = sent_messages([message], Compaction(shrunk=1))[0].text
    assert seen.startswith("r" * SHORT) and "9000 characters" in seen and 'read_result("result-3")' in seen


def test_compaction_that_saves_nothing_is_not_done():
    before = Compaction()
    assert shrink(talk([(1, 10)] * 5), before, 10_000) is before
    assert limited(talk([(1, 500)]), before, 10_000) is before


def attached(size: int) -> Attachment:
    return Attachment("text", "text/plain", "big.txt", size, "line\n" * (size // 5))


def test_a_file_larger_than_the_window_is_truncated():
    messages = [UserMessage("read this", (attached(260_000), attached(300)))]
    compaction = limited(messages, Compaction(), 3000)
    (seen,) = sent_messages(messages, compaction)
    big, small = seen.attachments
    assert "bytes omitted" in big.data and small.data == attached(300).data
    assert estimate_messages([seen]) < 3000 * NEWEST and seen.text == "read this"


def test_space_that_small_results_do_not_use_goes_to_large_ones():
    messages = talk([(3, 10)])
    messages[2] = ToolMessage("c0-0", "t", "r" * 50_000)
    seen = sent_messages(messages, limited(messages, Compaction(), 10_000))
    assert 7000 < len(seen[2].text) <= 8200 and seen[3] == messages[3]


def test_the_limit_of_one_turn_does_not_apply_to_another():
    messages = [UserMessage("first", (attached(90_000),)), AssistantMessage("read")]
    compaction = limited(messages, Compaction(), 1_000)
    messages += [UserMessage("second", (attached(50_000),)), AssistantMessage("read too")]
    sizes = [len(one.attachments[0].data) for one in sent_messages(messages, compaction)[::2]]
    assert sizes[0] < 1_000 and sizes[1] == 50_000
    compaction = limited(messages, compaction, 20_000, 0.1)
    again = [len(one.attachments[0].data) for one in sent_messages(messages, compaction)[::2]]
    assert again[0] == sizes[0] and 10_000 < again[1] < 20_000


def test_the_limit_of_a_turn_also_applies_to_its_later_results():
    messages = [UserMessage("x" * 50_000)]
    compaction = limited(messages, Compaction(), 3_000)
    messages += [AssistantMessage(calls=(CallRequest("c", "t", "{}"),)), ToolMessage("c", "t", "r" * 50_000)]
    assert len(sent_messages(messages, compaction)[-1].text) < 3_000


def test_a_stopped_question_is_marked_as_unanswered():
    messages = [UserMessage("ping"), UserMessage("no: pong"), AssistantMessage("pong")]
    seen = [one.text for one in sent_messages(messages, Compaction(), {1, 3})]
    assert seen == ["ping", "(No answer: the turn ended early.)", "no: pong", "pong"]
    assert sent_messages(messages, Compaction(), {2}) is messages
    messages = [UserMessage("ping"), AssistantMessage("half"), UserMessage("again")]
    assert sent_messages(messages, Compaction(), {2}) is messages
