"""Simpler values in place of one that breaks a tool."""

import json
from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tui.addons.tests.fuzz.shrink import causes, complexity, is_round, simpler


def shrunk(value: Any, breaks: Callable[[Any], bool]) -> Any:
    while True:
        for one in simpler(value):
            if complexity(one) < complexity(value) and breaks(one):
                value = one
                break
        else:
            return value


def depth(value: Any) -> int:
    return 1 + max(map(depth, value), default=0) if isinstance(value, list) else 0


@each_case(
    ("value", "breaks", "smallest"),
    [
        ({"text": "x" * 10_000, "n": 5}, lambda one: len(one.get("text", "")) > 3_000, {"text": "a" * 3_001}),
        ({"n": -(10**9)}, lambda one: one.get("n", 0) < 0, {"n": -1}),
        ({"n": 12_345_678}, lambda one: one.get("n", 0) >= 777, {"n": 777}),
        ("hello\x00world", lambda one: "\x00" in one, "\x00"),
        ("żółć 日", lambda one: not one.isascii(), "é"),
        ([[[[[[[[[[]]]]]]]]]], lambda one: depth(one) > 6, [[[[[[[]]]]]]]),
        ([3, 1, 4, 1, 5], lambda one: len(set(one)) < len(one), [0, 0]),
        ({"a": {"b": "text", "c": [1]}}, lambda one: "b" in one.get("a", {}), {"a": {"b": ""}}),
        ({"on": True, "size": 2.75}, lambda one: one.get("size", 0) > 1, {"size": 2}),
    ],
)
def test_a_value_shrinks_to_what_a_person_would_write(
    value: Any, breaks: Callable[[Any], bool], smallest: Any
):
    assert breaks(value)
    assert shrunk(value, breaks) == smallest


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(JSON)
def test_no_simpler_value_is_the_value_itself(value: Any):
    assert json.dumps(value) not in [json.dumps(one) for one in simpler(value)]


@given(JSON)
def test_a_value_has_what_it_has_itself(value: Any):
    assert causes(value, value)


@each_case(
    ("cause", "value", "is_one"),
    [
        ({"text": ""}, {"text": "", "n": 1}, True),
        ({"text": ""}, {"text": "a"}, False),
        ({"text": "\x00"}, {"text": "a\x00"}, True),
        ({"n": -1}, {"n": -7}, True),
        ({"n": 1_000}, {"n": 10_000}, True),
        ({"n": 0}, {"n": 5}, False),
        ({"items": [[[[]]]]}, {"items": [[[[[]]]]]}, True),
    ],
)
def test_larger_values_probably_break_a_tool_in_the_same_way(cause: Any, value: Any, is_one: bool):
    assert causes(cause, value) is is_one


def test_round_amounts_have_at_most_two_digits_before_their_zeros():
    assert is_round({"count": 250_000, "text": "a" * 100})
    assert not is_round({"count": 162_465})
