"""How full the window is: the endpoint's count for old messages, an estimate for new ones."""

from tui.core.context.context_meter import ContextMeter, estimate_messages, tail_within
from tui.core.conversation.conversation import AssistantMessage, Message, UserMessage
from tui.core.ports import ModelRequest, ToolSpec, Usage


def request(messages: list[Message]) -> ModelRequest:
    return ModelRequest("", messages)


def test_messages_that_the_endpoint_counted_are_not_estimated_again():
    context_meter, messages = ContextMeter(), [UserMessage("x" * 1000)]
    context_meter.answered(request(messages), Usage(50_000, 500), lasting=2)
    more = [*messages, AssistantMessage("yes"), UserMessage("and now?")]
    assert context_meter.expects(request(more)) == 50_500 + estimate_messages(more[2:])


def test_changed_old_messages_are_estimated_again():
    context_meter, messages = ContextMeter(), [UserMessage("one")]
    context_meter.answered(request(messages), Usage(50_000, 500), lasting=2)
    assert context_meter.expects(request([UserMessage("two"), AssistantMessage("a"), UserMessage("b")])) < 100
    context_meter.forget()
    assert context_meter.expects(request(messages)) < 100


def test_without_a_known_window_the_context_is_never_full():
    messages: list[Message] = [UserMessage("x" * 100_000)]
    assert not ContextMeter().is_full(request(messages), 0.8)
    assert ContextMeter(window=4096).is_full(request(messages), 0.8)
    assert not ContextMeter(window=200_000).is_full(request(messages), 0.8)


def test_a_tail_is_as_long_as_its_token_budget_allows():
    messages = [UserMessage("x" * 100) for _ in range(10)]
    one = estimate_messages(messages[:1])
    assert tail_within(messages, one * 3) == 7
    assert tail_within(messages, 0) == 10
    assert tail_within(messages, one * 99) == 0


def test_with_compaction_turned_off_the_context_is_never_full():
    messages: list[Message] = [UserMessage("x" * 100_000)]
    assert not ContextMeter(window=4096, patient=True).is_full(request(messages), 0.8)


def test_a_final_request_without_tools_does_not_lower_the_meter():
    tool = ToolSpec("weather__get", "The weather of a city. " * 40, {"type": "object"})
    talk = [UserMessage("x" * 1000)]
    meter = ContextMeter()
    meter.answered(ModelRequest("", talk, [tool]), Usage(600, 10), 2)
    before = meter.tokens
    meter.answered(ModelRequest("", talk), Usage(320, 10), 2, [tool])
    assert meter.tokens >= before and meter.estimated


def test_a_reopened_conversation_shows_the_largest_request_of_its_last_turn():
    meter = ContextMeter()
    meter.recall(
        [
            UserMessage("earlier"),
            AssistantMessage("a", usage=Usage(9_000, 1)),
            UserMessage("now"),
            AssistantMessage("b", usage=Usage(700, 10)),
            AssistantMessage("without tools", usage=Usage(300, 10, estimated=True)),
        ]
    )
    assert (meter.tokens, meter.estimated) == (710, False)
