"""Thinking tags are separated from the answer, however the text is split."""

import itertools
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.endpoint import chunk
from tests.streams import output_of
from tui.model.openai_api.accumulator import Accumulator

WORDS = ["\n", " ", "\n\n    ", *"<think> </think> <thinking> </thinking> < > think - ` ``` ~~~ é".split()]
PROSE = st.lists(st.sampled_from(WORDS), max_size=12).map("".join)


@settings(max_examples=40, deadline=None)
@given(PROSE, st.lists(st.integers(0, 40), max_size=8), st.booleans())
def test_splitting_the_text_does_not_change_the_reply(
    said: str, cuts: list[int], thinking_first: bool
) -> None:
    def heard(pieces: list[str]) -> tuple[str, str, object]:
        accumulator = Accumulator(thinking_first=thinking_first)
        result = output_of(accumulator, [*(chunk(content=piece) for piece in pieces), chunk("stop")])
        return result.text, result.reasoning, result.reply and result.reply.echo

    edges = [0, *sorted(min(cut, len(said)) for cut in cuts), len(said)]
    pieces = [said[start:end] for start, end in itertools.pairwise(edges)]
    assert heard([said]) == heard(pieces) == heard(list(said))


@pytest.mark.parametrize("said", ["`</think>` ", " ", "<", "</think", "\n```\n</think>\n"])
@pytest.mark.parametrize("start", ["<think>a", "```\n"])
def test_a_flood_of_tags_and_spaces_is_read_quickly(start: str, said: str) -> None:
    began = time.thread_time()
    heard = output_of(Accumulator(), [chunk(content=start), *[chunk(content=said)] * 10_000, chunk("stop")])
    assert heard.reply is not None
    assert time.thread_time() - began < 1.25
