"""Patterns are checked while typing only if they cannot take long."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.core.forms.checks import matches, quick_pattern


@pytest.mark.parametrize(
    "pattern",
    [
        "^(a+)+$",
        "(a*)*b",
        "^(a|a)*$",
        "(.*)(.*)\\1",
        "^(?=a+)a+$",
        "(a{1,9}){5}",
        "([",
        "a" * 600,
        "\\p{L}",
        "",
    ],
)
def test_patterns_without_a_known_time_bound_are_checked_only_before_the_call(pattern):
    assert quick_pattern(pattern) is None


@pytest.mark.parametrize(
    ("pattern", "good", "bad"),
    [
        ("^[a-z]+$", "abc", "aB"),
        ("^\\d{4}-\\d{2}-\\d{2}$", "2026-01-31", "2026-1-31"),
        ("^(\\d{3}-)?\\d{4}$", "123-4567", "123-456"),
        ("^(?:red|green)$", "red", "blue"),
        ("[]x]", "]", "y"),
        ("\\+$", "1+", "1-"),
        ("^#?[0-9a-f]{6}$", "#aabbcc", "#aabbc"),
    ],
)
def test_everyday_patterns_are_matched(pattern, good, bad):
    compiled = quick_pattern(pattern)
    assert compiled is not None
    assert matches(compiled, good)
    assert not matches(compiled, bad)


@pytest.mark.parametrize(
    "pattern", ["a*a*a*a*a*a*b", "^.*.*.*x$", "(a?a?a?a?a?a?){1}", "^a{0,99}a{0,99}a{0,99}$"]
)
def test_patterns_with_many_quantifiers_take_bounded_time(pattern):
    compiled = quick_pattern(pattern)
    if compiled is not None:
        began = time.thread_time()
        assert matches(compiled, "a" * 5_000) in (True, False)
        assert time.thread_time() - began < 1


@given(st.text("ab(|)*+?{}1,\\[^]-.$", max_size=14), st.text("ab", max_size=300))
def test_no_pattern_takes_long(pattern, text):
    compiled = quick_pattern(pattern)
    if compiled is None:
        return
    began = time.thread_time()
    found = matches(compiled, text)
    assert time.thread_time() - began < 1
    if len(text) < 8:
        assert found == (re.search(pattern, text) is not None) or found
