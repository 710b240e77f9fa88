"""The figures of an answer."""

import pytest

from tui.core.conversation.conversation import AssistantMessage, Message, ToolMessage, Usage, UserMessage
from tui.core.conversation.conversation import CallRequest as Call
from tui.core.events import EndReason
from tui.model.endpoints.profile import ModelProfile
from tui.traffic.spans.span_values import CallSpan, StepSpan, TurnSpan
from tui.traffic.spans.spans import past_turns
from tui.ui.chat.comparison import figures, last_turn

PRICED = ModelProfile("p", "http://127.0.0.1:9", "m", price_in=3.0, price_out=15.0)
SAVED: list[Message] = [
    UserMessage("which city?"),
    AssistantMessage("", calls=(Call("1", "a__b", "{}"),), model="m", seconds=0.5, usage=Usage(1000, 100)),
    ToolMessage("1", "a__b", "three", seconds=0.25),
    AssistantMessage("Oslo.", model="m", seconds=1.0, usage=Usage(3100, 210)),
]


def test_a_saved_answer_has_all_its_figures() -> None:
    found = figures(last_turn(past_turns(SAVED), past=True), "m", PRICED)
    assert found == ["m", "2 steps", "1 call", "4.1 k in", "310 out", "$0.017", "1.8 s"]


def test_without_prices_there_is_no_cost() -> None:
    found = figures(last_turn(past_turns(SAVED), past=True), "m", None)
    assert not any("$" in one for one in found)


def test_estimated_tokens_are_marked() -> None:
    saved = [UserMessage("hi"), AssistantMessage("Oslo.", usage=Usage(12, 3, estimated=True))]
    assert figures(last_turn(past_turns(saved), past=True), "m", PRICED)[2:5] == [
        "~12 in",
        "~3 out",
        "~$0.000081",
    ]


def test_an_answer_that_has_not_begun_is_waiting() -> None:
    assert figures(last_turn(past_turns(SAVED)), "gpt", None) == ["gpt", "waiting"]


@pytest.mark.parametrize(
    ("reason", "words"), [(EndReason.CANCELLED, ["stopped"]), (EndReason.ANSWERED, []), (None, [])]
)
def test_an_answer_says_how_it_ended_unless_it_is_complete(
    reason: EndReason | None, words: list[str]
) -> None:
    turn = TurnSpan(1, "m", 0, ms=7.0, reason=reason, steps=1)
    assert figures([turn, StepSpan(1, 1, 0, ms=7.0)], "m", None) == ["m", "1 step", "7 ms", *words]


def test_the_time_in_which_the_user_was_asked_does_not_count() -> None:
    call = CallSpan(1, 1, "1", "a", "b", (), asked_ns=0, answered_ns=9_000_000_000, ms=3.0)
    turn = TurnSpan(1, "m", 0, ms=9_010.0, reason=EndReason.ANSWERED)
    assert figures([turn, StepSpan(1, 1, 0, ms=7.0), call], "m", None)[-1] == "10 ms"


def test_only_the_last_turn_counts() -> None:
    spans = past_turns([*SAVED, UserMessage("and now?"), AssistantMessage("Rome.", model="n")])
    assert figures(last_turn(spans, past=True), "n", None) == ["n", "1 step"]


def test_a_hostile_model_label_stays_on_one_line() -> None:
    label = figures([], "m\x1b[31m\n" + "x" * 99, None)[0]
    assert "\n" not in label and "\x1b" not in label and len(label) <= 40
