"""Thinking tags around a dialect."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.texts import TOOLS, Read
from tui.core.conversation.conversation import CallRequest
from tui.model.dialects.dialect import DIALECTS
from tui.model.dialects.text_tools import Thoughts

CALL = '{"tool": "now", "arguments": {}}'


def thoughts(pieces: list[str], *, opened: bool = False, dialect: str = "json") -> tuple[Read, Thoughts]:
    maker = DIALECTS[dialect].maker(TOOLS, ())
    found = Thoughts(lambda: DIALECTS[dialect].parser(maker), opened=opened)
    read = Read()
    parts = [part for piece in pieces for part in found.feed(piece)] + found.end()
    for part in parts:
        if isinstance(part, CallRequest):
            read.calls.append(part)
        else:
            read.take([part])
    return read, found


@pytest.mark.parametrize(
    ("text", "thinking", "shown", "calls"),
    [
        (f"<think>\nHm.\n</think>\n\n{CALL}", "Hm.", "", 1),
        ("\n<thinking>Hm.</thinking>Ok. </think>", "Hm.", "Ok. </think>", 0),
        (f"<thought>{CALL}</thought>Ok.", CALL, "Ok.", 0),
        ("<think>never closed", "never closed", "", 0),
        ("Ok <think>b</think>", "Ok <think>b", "", 0),
        (f"Hm.\n</think>\n{CALL}", "Hm.", "", 1),
        (f"{CALL}\nNo.\n</think>\nOk.", f"{CALL}\nNo.", "Ok.", 1),
        ("Write `</think>` and\n```\n</think>\n```", "", "Write `</think>` and\n```\n</think>\n```", 0),
        ('{"tool": "search", "arguments": {"query": "</think>"}}', "", "", 1),
        ("<thin", "", "<thin", 0),
    ],
)
def test_thinking_is_separated_from_the_text(text: str, thinking: str, shown: str, calls: int) -> None:
    for pieces in ([text], list(text)):
        read, _ = thoughts(pieces)
        assert (read.thinking, read.text, len(read.calls)) == (thinking, shown, calls)


def test_for_a_model_that_omits_the_opening_tag_the_reply_begins_with_thinking() -> None:
    read, found = thoughts(list(f"Hm.\n</think>\nOk.\n{CALL}"), opened=True)
    assert (read.thinking, read.text, len(read.calls)) == ("Hm.", "Ok.", 1)
    assert found.tags.close_only is False and not found.tags.never_closed


def test_a_reply_without_thinking_is_read_completely() -> None:
    read, found = thoughts(list(f"Ok.\n{CALL}"), opened=True)
    assert (read.text, len(read.calls)) == ("Ok.", 1) and found.tags.never_closed


TAGS = st.sampled_from(
    ["<think>", "</think>", "</thinking>", "<thinking>", "<thi", "`", "```\n", "\n", " ", "a", CALL]
)


@given(st.lists(TAGS, max_size=12).map("".join), st.booleans(), st.sampled_from(list(DIALECTS)))
def test_the_result_is_the_same_however_the_text_is_split(text: str, opened: bool, dialect: str) -> None:
    whole, _ = thoughts([text], opened=opened, dialect=dialect)
    single, _ = thoughts(list(text), opened=opened, dialect=dialect)
    assert whole == single
