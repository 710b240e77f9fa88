"""Whatever the fields of a chunk contain, only a model error is raised."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tui.core.errors import ModelError
from tui.core.ports import ReplyPart
from tui.model.openai_api.accumulator import Accumulator, cached_tokens

JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=5,
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


@settings(max_examples=100, deadline=None)
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
def test_no_chunk_raises_anything_but_a_model_error(chunks: list[Any]) -> None:
    accumulator = Accumulator(["search"])
    try:
        for value in chunks:
            accumulator.feed(value)
        parts = accumulator.finish()
    except ModelError:
        return
    assert isinstance(parts[-1], ReplyPart)


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens_details": {"cached_tokens": 7}},
        {"prompt_cache_hit_tokens": 7, "prompt_cache_miss_tokens": 1},
        {"cached_tokens": 7, "prompt_tokens_details": None},
        {"cache_read_input_tokens": 7},
        {"input_tokens_details": {"cached_tokens": 7}},
    ],
)
def test_cached_tokens_are_found_under_each_name(usage: dict[str, Any]) -> None:
    assert cached_tokens(usage) == 7 and cached_tokens({}) == 0
