import re
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import each_case
from tui.addons.tests.turns.call_pattern import (
    ArgumentPattern,
    CallPattern,
    argument_at,
    as_pattern,
    pattern_of,
)


def matches(
    text: str, tool: str = "t", named: Mapping[str, object] | None = None, **arguments: object
) -> bool:
    return pattern_of(text).matches(tool, named or arguments)


def test_a_pattern_is_a_tool_and_its_arguments() -> None:
    assert pattern_of("get_weather location~Hangzhou days=3") == CallPattern(
        "get_weather",
        (
            ArgumentPattern("location", "Hangzhou", part=True),
            ArgumentPattern("days", 3, written="3"),
        ),
    )


def test_arguments_that_are_not_named_do_not_matter() -> None:
    assert matches("t a=1", a=1, b=2)
    assert matches("t", a=1)


def test_a_tool_may_be_a_pattern() -> None:
    assert matches("get_*", "get_weather")
    assert not matches("get_*", "set_weather")


def test_a_part_is_found_anywhere_and_without_regard_to_case() -> None:
    assert matches("t a~hangzhou", a="Hangzhou, China")
    assert matches("t a~hangzhou", a=["Paris", {"city": "HANGZHOU"}])
    assert matches("t a~12", a=4123)
    assert not matches("t a~hangzhou", a="Paris")
    assert not matches("t a~hangzhou", b="Hangzhou")


def test_a_value_without_quotes_is_json_if_it_can_be() -> None:
    assert matches("t a=3", a=3)
    assert matches("t a=3", a=3.0)
    assert matches("t a=true", a=True)
    assert not matches("t a=true", a=1)
    assert matches("t a=null", a=None)
    assert matches('t a={"x": [1, 2]}', a={"x": [1, 2], "y": 1})
    assert not matches('t a={"x": [1, 2]}', a={"x": [1, 2, 3]})
    assert matches("t a=NaN", a="NaN")


def test_a_number_without_quotes_also_equals_its_text() -> None:
    assert matches("t zip=01234", zip="01234")
    assert matches("t zip=1234", zip="1234")
    assert not matches('t zip="1234"', zip=1234)


def test_quotes_keep_spaces_together() -> None:
    assert matches('t a="New York"', a="New York")
    assert matches("t a='New \"York\"'", a='New "York"')
    assert matches(r't a="a \"b\" \\ c"', a='a "b" \\ c')
    assert matches('t "a name"=1', named={"a name": 1})
    assert matches("t a~'new york'", a="in New York City")


def test_values_may_have_placeholders() -> None:
    assert matches("t a=<number>", a=5)
    assert matches('t a="at <time>"', a="at 2026-11-28")
    assert not matches("t a=<number>", a="five")
    assert matches('t a={"at": "<time>"}', a={"at": "2026-11-28T10:00:00Z"})


def test_a_dotted_name_is_a_path_unless_an_argument_has_that_name() -> None:
    assert matches("t options.units=metric", options={"units": "metric"})
    assert matches("t items.1.sku=B", items=[{"sku": "A"}, {"sku": "B"}])
    assert matches("t a.b=1", named={"a.b": 1})
    assert not matches("t a.b.c=1", a={"b": "text"})


def test_a_problem_says_the_argument_and_its_value() -> None:
    pattern = pattern_of("t a=1 b~x c=2")
    assert pattern.problems("t", {"a": 2, "b": "y"}) == ["a is 2", 'b is "y"', "c is missing"]
    assert pattern.problems("u", {}) == ["the tool is u"]


@each_case(
    ("text", "sentence"),
    [
        ("", "column 1: the name of a tool is missing. Write, for example: get_weather"),
        ("   ", "column 4: the name of a tool is missing"),
        ("=3", "column 1: the name of a tool is missing"),
        ("t=3", "column 2: a space is missing after the tool t"),
        ("t a", "column 3: a must be ARGUMENT=VALUE or ARGUMENT~PART. Put a value with spaces in quotes"),
        ("t a=New York", "column 9: York must be ARGUMENT=VALUE or ARGUMENT~PART"),
        ('t a="x', 'column 5: the closing " is missing'),
        ("t a='x", "column 5: the closing ' is missing"),
        ('t a="x"y', "column 8: a space is missing"),
        ("t a={b", "column 5: the JSON value that starts with { is not complete"),
        ('t a={"b":1}c', "column 12: a space is missing"),
        ("t a= b=1", 'column 5: the value is missing. "" is an empty text'),
        ("t a~ b=1", "column 5: the text that a~ contains is missing"),
        ("t a=1 a=2", "a is compared twice. Delete one"),
        ("t " + "a" * 4000, "has more than 4,000 characters"),
        ("t a=" + "[" * 3000, "column 5: the JSON value that starts with [ is not complete"),
    ],
)
def test_a_text_that_is_no_pattern_is_an_error_with_its_column(text: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}"):
        pattern_of(text)


NAMES = st.text(min_size=1, max_size=8).filter(str.strip)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=20)
@given(NAMES, st.dictionaries(NAMES, VALUES, max_size=3), st.text(min_size=1, max_size=8))
def test_a_pattern_as_text_is_read_as_the_same_pattern(
    tool: str, arguments: dict[str, object], part: str
) -> None:
    pattern = CallPattern(
        tool,
        (
            *(ArgumentPattern(name, value) for name, value in arguments.items()),
            ArgumentPattern("part", part, part=True),
        ),
    )
    read = pattern_of(str(pattern))
    assert [(one.name, one.value, one.part) for one in read.arguments] == [
        (one.name, one.value, one.part) for one in pattern.arguments
    ]
    assert read.tool == tool


@settings(max_examples=20)
@given(st.text(max_size=40))
def test_every_text_is_a_pattern_or_an_error(text: str) -> None:
    try:
        pattern = pattern_of(text)
    except ValueError:
        return
    assert pattern_of(str(pattern)).tool == pattern.tool


def test_an_empty_object_has_no_argument() -> None:
    assert argument_at({}, "a") is argument_at({}, "b")


def test_a_value_that_is_nested_too_deeply_is_said_so() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    assert as_pattern("t", {"a": deep}) == "t a=(nested too deeply)"
    assert not matches("t a=1", a=deep)
