"""What mcptui reads from an endpoint's error message."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.core.errors import ModelError
from tui.model.endpoints.failures import reply_error, words_of


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"error": {"message": "no"}}, "no"),
        ({"error": "no"}, "no"),
        ({"message": "no"}, "no"),
        ([{"error": {"message": "no"}}], "no"),
        ('{"error":{"message":"no"}}', "no"),
        (
            {"error": {"message": "Provider returned error", "metadata": {"raw": "quota"}}},
            "Provider returned error: quota",
        ),
        ("<html><head><title>502 Bad Gateway</title></head></html>", "502 Bad Gateway"),
        ("<html><body>Nothing <b>here</b></body></html>", "Nothing here"),
        ("plain", "plain"),
        ("two\nlines", "two lines"),
        (None, ""),
        ({}, ""),
        ([[[[[[["deep"]]]]]]], ""),
    ],
)
def test_the_error_message_is_found_wherever_a_provider_puts_it(body: Any, words: str) -> None:
    assert words_of(body) == words


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["error", "message", "code", "object", "detail", "choices", "base_resp"]), inner
        )
    ),
    max_leaves=12,
)


@given(
    st.dictionaries(
        st.sampled_from(["error", "message", "object", "choices", "base_resp", "detail", "code"]), JSON
    )
)
def test_any_body_can_be_searched_for_an_error(body: dict[str, Any]) -> None:
    assert len(words_of(body)) <= 300
    assert reply_error(body) is None or isinstance(reply_error(body), ModelError)
