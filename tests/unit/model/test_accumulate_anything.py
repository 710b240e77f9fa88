"""Whatever comes, and however it is cut: nothing crashes the accumulator and no text changes."""

import itertools
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.endpoint import chunk
from tests.streams import heard_from
from tui.core.errors import ModelError
from tui.core.ports import ReplyPart
from tui.model.accumulate import Accumulator

JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)
FIELDS = st.sampled_from(
    "id index name arguments function content reasoning_content reasoning reasoning_details tool_calls role "
    "type text function_call refusal extra_content message delta finish_reason usage error object summary "
    "code".split()
)
ODD = st.recursive(
    JSON,
    lambda inner: st.dictionaries(FIELDS, inner | st.lists(inner, max_size=3), max_size=5),
    max_leaves=15,
)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.one_of(
            ODD,
            st.fixed_dictionaries({"choices": st.lists(ODD, max_size=2)}),
            ODD.map(lambda value: {"choices": [{"delta": value}]}),
            ODD.map(lambda value: {"choices": [{"delta": {"tool_calls": [value]}}]}),
        ),
        max_size=6,
    )
)
def test_nothing_but_a_model_error_comes_out_of_any_chunk(chunks: list[Any]) -> None:
    accumulator = Accumulator(["search"])
    try:
        for value in chunks:
            accumulator.feed(value)
        parts = accumulator.finish()
    except ModelError:
        return
    assert isinstance(parts[-1], ReplyPart)


PROSE = st.lists(
    st.sampled_from(
        [
            "<think>",
            "</think>",
            "<",
            ">",
            "think",
            "\n",
            " ",
            "`",
            "```",
            "a",
            "é",
            "<thinking>",
            "</thinking>",
        ]
    ),
    max_size=12,
).map("".join)


@settings(max_examples=300, deadline=None)
@given(PROSE, st.lists(st.integers(0, 40), max_size=8), st.booleans())
def test_how_text_is_cut_does_not_change_the_reply(said: str, cuts: list[int], thinking_first: bool) -> None:
    def heard(pieces: list[str]) -> tuple[str, str]:
        accumulator = Accumulator(thinking_first=thinking_first)
        result = heard_from(accumulator, [*(chunk(content=piece) for piece in pieces), chunk("stop")])
        return result.text, result.reasoning

    edges = [0, *sorted(min(cut, len(said)) for cut in cuts), len(said)]
    pieces = [said[start:end] for start, end in itertools.pairwise(edges)]
    assert heard([said]) == heard(pieces) == heard(list(said))


@pytest.mark.parametrize("said", ["`</think>` ", " ", "<", "</think", "\n```\n</think>\n"])
@pytest.mark.parametrize("start", ["<think>a", "```\n"])
def test_a_flood_of_tags_and_spaces_is_read_in_no_time(start: str, said: str) -> None:
    began = time.perf_counter()
    heard = heard_from(Accumulator(), [chunk(content=start), *[chunk(content=said)] * 20_000, chunk("stop")])
    assert heard.reply is not None
    assert time.perf_counter() - began < 5
