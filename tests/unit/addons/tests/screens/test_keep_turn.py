from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tui.addons.tests.screens.keep_list import SERVER
from tui.addons.tests.screens.keep_turn import place_of_call, selected_turn, turn_lines
from tui.addons.tests.turns.keep import MadeTurn, TurnKeeping
from tui.core.conversation.conversation import AssistantMessage, CallRequest, UserMessage
from tui.core.servers import ServerSpec
from tui.runtime.copies.origin import Origin
from tui.traffic.spans.span_values import TurnSpan
from tui.ui.keys.action_table import Context
from tui.ui.widgets.rows import text_of, width_of

TURN = MadeTurn(
    "Rain in Hangzhou?", (("weather", "get", {"place": "Hangzhou", "days": 2}), ("notes", "add", {}))
)


def keeping(folder: Path, *servers: str) -> TurnKeeping:
    origins = {
        name: Origin.of_spec(ServerSpec(name, "python"), str(folder), configured=True) for name in servers
    }
    return TurnKeeping.of(TURN, origins, folder, str)


def test_calls_and_their_arguments_can_be_switched_and_one_server_cannot(tmp_path: Path) -> None:
    made = keeping(tmp_path, "weather").switched(0, 1)
    chosen = [line for line in turn_lines(made, made.target(), 60) if line.key is not None]
    assert [line.key for line in chosen] == [(0,), (0, 0), (0, 1)]
    assert [text_of(line.row(60)).rstrip() for line in chosen] == [
        "● get place~Hangzhou days=2",
        "  ● place~Hangzhou",
        "  ● days=2                               not in the question",
    ]
    made = made.switched(0)
    assert [line.key for line in turn_lines(made, made.target(), 60) if line.key is not None] == [(0,)]


def test_of_several_servers_another_can_be_chosen(tmp_path: Path) -> None:
    made = keeping(tmp_path, "weather", "notes")
    lines = turn_lines(made, made.target(), 60)
    assert SERVER in [line.key for line in lines]
    assert all(width_of(line.row(cells)) <= cells for line in lines for cells in (20, 60, 100))


def test_sentences_are_wrapped_rather_than_truncated(tmp_path: Path) -> None:
    made = keeping(tmp_path, "weather")
    rows = [text_of(line.row(46)).rstrip() for line in turn_lines(made, made.target(), 46)]
    assert "EXPECTED CALLS" in rows and not any("…" in row for row in rows)
    assert "The answer is not compared." in " ".join(rows)


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
