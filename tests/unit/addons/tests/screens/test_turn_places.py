from types import SimpleNamespace
from typing import Any

import pytest

from tui.addons.tests.screens.turn_places import place_of_call, selected_turn
from tui.core.conversation.conversation import AssistantMessage, CallRequest, UserMessage
from tui.traffic.spans.span_values import TurnSpan
from tui.ui.keys.action_table import Context


def parts(
    focus: Context, *, marked_call: str = "", question: int | None = 4, span: Any = None
) -> SimpleNamespace:
    """Return what of the chat screen is asked for the selected turn."""
    talk = [UserMessage("a"), AssistantMessage("", calls=(CallRequest("1", "t", "{}"),)), UserMessage("b")]
    return SimpleNamespace(
        regions=SimpleNamespace(focus_context=focus, conversation=SimpleNamespace(marked_call=marked_call)),
        navigator=SimpleNamespace(selected=span, question=lambda: question),
        runtime=SimpleNamespace(
            conversations=SimpleNamespace(messages=talk, now=SimpleNamespace(turn_numbers={0: 1, 2: 5}))
        ),
    )


def chosen(found: SimpleNamespace) -> int | None:
    given: Any = found
    return selected_turn(given)


def test_in_the_conversation_a_message_stands_for_its_turn_and_a_call_for_itself() -> None:
    assert chosen(parts(Context.CONVERSATION)) == 4
    assert chosen(parts(Context.CONVERSATION, marked_call="call_1")) is None
    assert chosen(parts(Context.CONVERSATION, question=None)) is None


@pytest.mark.parametrize(("place", "traffic", "at"), [(7, 0, 7), (-1, 5, 2), (-1, 9, None)])
def test_in_the_trace_a_turn_is_found_by_its_question(place: int, traffic: int, at: int | None) -> None:
    span = TurnSpan(1, "m", 0, place=place, traffic=traffic)
    assert chosen(parts(Context.TRACE, span=span)) == at
    assert chosen(parts(Context.TRACE, span=None)) is None


def test_a_call_is_found_in_the_message_that_makes_it() -> None:
    found: Any = parts(Context.TRACE)
    span: Any = SimpleNamespace(id="1")
    assert place_of_call(found, span) == 1
    missing: Any = SimpleNamespace(id="2")
    assert place_of_call(found, missing) is None
