"""Values as TOML, readable in a diff."""

import json
import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import each_case
from tui.addons.tests.suite.toml_text import inline, json_literal, json_of, listed, text_literal

TRICKY = st.text(alphabet="a'\"\\\n\r\t \u200b\x00é😀${}<>", max_size=25)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TRICKY,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TRICKY, inner, max_size=3),
    max_leaves=8,
)


def read(literal: str) -> object:
    return tomllib.loads(f"k = {literal}")["k"]


@settings(max_examples=30)
@given(TRICKY, st.booleans())
def test_a_text_is_read_as_it_was(text: str, multi_line: bool):
    assert read(text_literal(text, multi_line=multi_line)) == text
    assert multi_line or "\n" not in text_literal(text, multi_line=False)


@settings(max_examples=30)
@given(JSON, st.booleans())
def test_a_result_is_read_as_it_was(value: object, multi_line: bool):
    assert json.loads(str(read(json_literal(value, multi_line=multi_line)))) == value


@each_case(
    ("text", "literal"),
    [
        ("light rain, <number> °C", '"light rain, <number> °C"'),
        ('say "yes"', "'say \"yes\"'"),
        ("C:\\dir", "'C:\\dir'"),
        ('it\'s "so"', '"it\'s \\"so\\""'),
        ("a\nb", "'''\na\nb'''"),
        ("a\n", '"a\\n"'),
        ("a \nb", '"""\na\\u0020\nb"""'),
        ("a\r\nb", '"""\na\\r\nb"""'),
        ("a'''\nb", '"""\na\'\'\'\nb"""'),
        ('a"""b\t\n"', '"""\na""\\"b\\t\n\\""""'),
        ("\u202ea", '"\\u202ea"'),
    ],
)
def test_a_text_is_written_readably_and_shows_what_is_hidden(text: str, literal: str):
    assert text_literal(text) == literal
    assert read(literal) == text


def test_half_of_a_surrogate_pair_is_replaced():
    assert text_literal("a\ud800") == '"a\ufffd"'


def test_a_short_result_is_one_line():
    assert json_literal({"id": "<id>", "items": [1, {}]}) == "'''{ \"id\": \"<id>\", \"items\": [1, {}] }'''"


def test_a_long_result_has_a_line_for_each_member():
    value = {"a": ["x" * 50, "y" * 50], "b": {"c": 1}}
    assert json_of(value).split("\n") == [
        "{",
        '  "a": [',
        f'    "{"x" * 50}",',
        f'    "{"y" * 50}"',
        "  ],",
        '  "b": { "c": 1 }',
        "}",
    ]


def test_tables_are_written_in_one_line():
    assert inline({"a b": [1, True, 0.5, "x"], "c": {}}) == '{ "a b" = [1, true, 0.5, "x"], c = {} }'


def test_null_cannot_be_written_in_a_table():
    with pytest.raises(ValueError, match="null"):
        inline({"a": None})


def test_a_long_list_has_a_line_for_each_item():
    assert listed(["1", "2"], 10) == "[1, 2]"
    assert listed(["1" * 9, "2"], 10) == "[\n  111111111,\n  2,\n]"
