"""Patterns of schemas are tested by RE2 as Python would, in linear time, or not at all."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.core.regex import MAX_PATTERN, found_in


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("^(a+)+$", "a" * 30_000 + "!", False),
        ("^(a+)+$", "a" * 30_000, True),
        ("(x+x+)+y", "x" * 30_000, False),
        ("[a-z]+", "123a", True),
        ("^[A-Z]$", "a", False),
        (r"\bé\b", "un é ici", True),
        (r"\bé\b", "été", False),
        ("^.$", "\ud800", True),
    ],
)
def test_a_pattern_may_match_anywhere_in_the_text(pattern: str, text: str, found: bool):
    assert found_in(pattern, text) is found


@pytest.mark.parametrize(
    "pattern", ["(?=a)", r"(a)\1", "([", r"\p{L}", "a{1001}", "(" * 5000, "a" * (MAX_PATTERN + 1)]
)
def test_an_unsupported_pattern_gives_no_verdict(pattern: str):
    assert found_in(pattern, "aa") is None


@given(st.text("ab(|)*+?{}1,\\[^]-.$", max_size=14), st.text("ab\n", max_size=6))
def test_a_verdict_agrees_with_python(pattern: str, text: str):
    found = found_in(pattern, text)
    if found is not None:
        assert found == (re.search(pattern, text) is not None)
