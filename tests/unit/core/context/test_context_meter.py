"""How full the window is: the endpoint's count for old messages, an estimate for new ones."""

from hypothesis import given
from hypothesis import strategies as st

from tui.core.context.context_meter import (
    Calibration,
    ContextMeter,
    RequestTokens,
    estimate,
    estimate_message,
    estimate_messages,
    estimate_request,
    estimate_tool,
    tail_within,
)
from tui.core.conversation.conversation import AssistantMessage, Attachment, Message, UserMessage
from tui.core.errors import ModelError
from tui.core.ports import (
    CallPart,
    ModelPart,
    ModelRequest,
    ReasoningPart,
    ReplyPart,
    RetryPart,
    TextPart,
    ToolSpec,
    Usage,
)


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


def test_without_a_known_window_or_compaction_the_context_is_never_full():
    messages: list[Message] = [UserMessage("x" * 100_000)]
    assert not ContextMeter().is_full(request(messages), 0.8)
    assert not ContextMeter(window=4096, patient=True).is_full(request(messages), 0.8)
    assert ContextMeter(window=4096).is_full(request(messages), 0.8)
    assert not ContextMeter(window=200_000).is_full(request(messages), 0.8)


def test_a_tail_is_as_long_as_its_token_budget_allows():
    messages = [UserMessage("x" * 100) for _ in range(10)]
    one = estimate_messages(messages[:1])
    assert tail_within(messages, one * 3) == 7
    assert tail_within(messages, 0) == 10
    assert tail_within(messages, one * 99) == 0


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
    earlier = [UserMessage("earlier"), AssistantMessage("a", usage=Usage(9_000, 1))]
    last = [AssistantMessage("b", usage=Usage(700, 10)), AssistantMessage("c", usage=Usage(300, 10, True))]
    meter.recall([*earlier, UserMessage("now"), *last])
    assert (meter.tokens, meter.estimated) == (710, False)


def test_ten_ascii_characters_are_about_three_tokens_and_ten_chinese_ones_more_than_ten() -> None:
    assert (estimate("a" * 100), estimate("北京天气如何")) == (30, 8)


def test_an_image_counts_the_same_whatever_its_bytes_a_text_file_its_text_and_a_blob_its_name() -> None:
    picture = Attachment("image", "image/png", "a.png", 9, "A" * 1_000_000)
    assert 1000 <= estimate_message(UserMessage("", (picture,))) <= 3000
    text = Attachment("text", "text/plain", "a", 1000, "a" * 1000)
    blob = Attachment("blob", "application/pdf", "a", 10**6, "A" * 1000)
    assert estimate_message(UserMessage("", (text,))) > 300 > 10 > estimate_message(UserMessage("", (blob,)))


def test_a_schema_is_counted_in_the_form_that_is_sent_even_if_it_cannot_be_serialized() -> None:
    assert estimate_tool(ToolSpec("t", "", {"a": ["é"]})) == estimate('t{"a":["é"]}') + 4
    deep: dict[str, object] = {}
    for _ in range(50):
        deep = {"a": deep}
    assert estimate_tool(ToolSpec("t", "", {**deep, "b": object()})) > 50


def test_the_first_count_sets_the_calibration_and_later_ones_adjust_it() -> None:
    calibration = Calibration()
    calibration.learn(1000, 1500)
    assert calibration(100) == 150
    calibration.learn(1000, 1000)
    assert 100 < calibration(100) < 150


def test_implausible_counts_are_ignored() -> None:
    calibration = Calibration()
    for counted in (10, 100, 9000):
        calibration.learn(1000, counted)
    calibration.learn(10, 20)
    assert calibration.ratio == 1.0 and calibration.samples == 0


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**7)), max_size=20))
def test_the_calibration_stays_within_bounds_for_any_counts(counts: list[tuple[int, int]]) -> None:
    calibration = Calibration()
    for estimated, counted in counts:
        calibration.learn(estimated, counted)
    assert 400 <= calibration(1000) <= 2500


REQUEST = ModelRequest("be brief", [UserMessage("x" * 1_000)])


def tokens_of(*parts: ModelPart, error: ModelError | None = None) -> Usage | None:
    tokens = RequestTokens()
    for part in parts:
        tokens.take(part)
    if error is not None:
        tokens.failed(error)
    return tokens.usage(REQUEST)


def test_the_count_of_the_endpoint_is_used_if_there_is_one_that_is_not_zero() -> None:
    assert tokens_of(TextPart("hello"), ReplyPart(usage=Usage(7, 2))) == Usage(7, 2)
    usage = tokens_of(TextPart("hello there"), ReplyPart(usage=Usage(0, 0)))
    assert usage == Usage(estimate_request(REQUEST), estimate("hello there"), estimated=True)


def test_a_reply_that_breaks_off_costs_its_prompt_text_thinking_and_unfinished_calls() -> None:
    text, thinking = "a" * 500, "字" * 50
    parts = (ReasoningPart(thinking), TextPart(text), CallPart("t", 100), CallPart("t", 300))
    usage = tokens_of(*parts, error=ModelError("lost"))
    expected = estimate(text) + estimate(thinking) + estimate("x" * 300)
    assert usage == Usage(estimate_request(REQUEST), expected, estimated=True)


def test_a_request_that_was_refused_costs_nothing_and_one_without_a_reply_yet_its_prompt() -> None:
    assert tokens_of(error=ModelError("401")) is None
    assert tokens_of(RetryPart(2, 4, 1.0, "busy")) is None
    assert tokens_of() == Usage(estimate_request(REQUEST), 0, estimated=True)


def test_a_call_that_the_endpoint_could_not_parse_costs_its_text() -> None:
    error = ModelError("tool_use_failed")
    error.generation = "x" * 100
    usage = tokens_of(error=error)
    assert usage is not None and usage.completion == estimate("x" * 100)


def test_text_that_turns_out_to_be_thinking_is_counted_once() -> None:
    usage = tokens_of(TextPart("x" * 100), ReasoningPart("x" * 100, replaces_text=True), TextPart("y" * 100))
    assert usage is not None and usage.completion == estimate("x" * 200)


@given(st.lists(st.text(max_size=40), max_size=20))
def test_the_estimate_does_not_depend_on_how_a_reply_is_split(pieces: list[str]) -> None:
    usage = tokens_of(*map(TextPart, pieces))
    assert usage is not None and abs(usage.completion - estimate("".join(pieces))) <= 1
