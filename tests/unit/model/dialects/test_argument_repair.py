"""Malformed JSON from models."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tui.model.dialects.argument_repair import (
    MAX_MENDED,
    UnreadableJson,
    answers_in,
    bracket_end,
    keywords,
    mend,
    read_json,
    sole_property,
    typed,
)

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@each_case(
    ("text", "values"),
    [
        ('\ufeff{"a": 1}', [{"a": 1}]),
        (" 42 ", [42]),
        ("Here it is:\n\n```\n[1, 2]\n```\nDone.", [[1, 2]]),
        ("It is\n```\n42\n```", [42]),
        ('The answer is {"a": {"b": 1}}.', [{"a": {"b": 1}}]),
        ('As in [1], the answer is {"a": 1}', [{"a": 1}, [1]]),
        ('See [the documents]: {"a": 1}', [{"a": 1}, ["the documents"]]),
        ('{"a": "one\ntwo"}', [{"a": "one\ntwo"}]),
        ("```json\n{'a': 1,}\n```", [{"a": 1}]),
        *((text, []) for text in ("", "Windy.", '{"a": ', '{"a": [1]', '[{"a": 1}', "[" * 100_000)),
        *((text, []) for text in ('{"a": NaN}', 'Result: {"a": 1e999}', '{"a": {"b": 1}, "c": 1e999}')),
    ],
)
def test_the_json_values_in_an_answer_are_found(text: str, values: list[Any]) -> None:
    assert answers_in(text) == values


@given(VALUES)
def test_valid_json_is_read_unchanged(value: object) -> None:
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False, indent=1)):
        assert mend(f" {text}\n").value == value and not mend(text).guessed


@each_case(
    ("text", "value"),
    [
        ('{"a": "one\n\ttwo"}', {"a": "one\n\ttwo"}),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('```\n{"a": "```"}\n```', {"a": "```"}),
        ('<![CDATA[{"a": "]]>"}]]>', {"a": "]]>"}),
        ('<![CDATA[\n```json\n{"a": 1}\n```\n]]>', {"a": 1}),
    ],
)
def test_removing_text_around_json_does_not_count_as_a_guess(text: str, value: object) -> None:
    assert mend(text).value == value and not mend(text).guessed


@each_case(
    ("text", "value"),
    [
        ("{'a': 'it is', 'b': True, 'c': None}", {"a": "it is", "b": True, "c": None}),
        ("{'a': 'NaN'}", {"a": "NaN"}),
        ("{'a': \"it's\"}", {"a": "it's"}),
        ('{"a": 1,}', {"a": 1}),
        ('{a: 1, "b": [1, 2,]}', {"a": 1, "b": [1, 2]}),
        (r'{"a": "C:\Users\new\x"}', {"a": r"C:\Users\new\x"}),
        (r'{"a": "\d+\s\"x\"", "b": "one\ntwo"}', {"a": r'\d+\s"x"', "b": "one\ntwo"}),
        (r'{"a": "it\'s\nfine"}', {"a": "it's\nfine"}),
        ("{&quot;a&quot;: &quot;b &amp; c&quot;}", {"a": "b & c"}),
        ('{"a": "say "hi" now"}', {"a": 'say "hi" now'}),
    ],
)
def test_malformed_but_complete_json_is_repaired_and_marked(text: str, value: object) -> None:
    assert mend(text).value == value and mend(text).guessed


@each_case("text", ['{"a": "x', '{"a": 1', '{"a": [1, 2', '{"a": {"b": 1}', "{'a': 'x", '"{'])
def test_truncated_json_is_never_repaired(text: str) -> None:
    with pytest.raises(UnreadableJson):
        mend(text)


@given(st.dictionaries(st.text(max_size=4), st.text(max_size=6), min_size=1, max_size=3), st.data())
def test_no_prefix_of_an_object_is_repaired(value: dict[str, str], data: st.DataObject) -> None:
    text = json.dumps(value)
    end = data.draw(st.integers(1, len(text) - 1))
    with pytest.raises(UnreadableJson):
        mend(text[:end])


@each_case(
    "text",
    ['{"a": NaN}', '{"a": -Infinity}', "{'a': NaN}", '{"a": 1e999}', "{'a': '" + "x" * MAX_MENDED + "'}"],
)
def test_numbers_that_json_lacks_and_long_texts_are_not_repaired(text: str) -> None:
    with pytest.raises(UnreadableJson):
        mend(text)


def test_a_problem_is_reported_with_its_position() -> None:
    with pytest.raises(UnreadableJson, match="a value is missing at line 2, column 6"):
        read_json('{\n"a": }')


@given(st.text(alphabet="{}[]\"'\\:,0aNu \n`", max_size=40))
def test_any_text_is_read_or_rejected(text: str) -> None:
    try:
        value = mend(text).value
    except UnreadableJson:
        return
    json.dumps(value, allow_nan=False)


@each_case(
    ("text", "schema", "value"),
    [
        ("42", {"type": "string"}, "42"),
        ("42", {"type": "integer"}, 42),
        ("42.0", {"type": "integer"}, 42),
        ("4.5", {"type": "number"}, 4.5),
        ("True", {"type": "boolean"}, True),
        ("false", {"type": "boolean"}, False),
        ("[1, 2]", {"type": "array"}, [1, 2]),
        ("{'a': 1}", {"type": "object"}, {"a": 1}),
        ("null", {"type": ["string", "null"]}, None),
        ("null", {"type": "string"}, "null"),
        ("5", {"anyOf": [{"type": "integer"}, {"type": "string"}]}, "5"),
        ("1", {"enum": ["1", "2"]}, "1"),
        ("3", {"const": 3}, 3),
        ("five", {"type": "integer"}, "five"),
        ("5", {"type": "array"}, "5"),
        ("5", None, 5),
        ("Oslo", {}, "Oslo"),
        ("007", {}, "007"),
        (" two  spaces\n", {"type": "string"}, " two  spaces\n"),
        ("NaN", {"type": "number"}, "NaN"),
    ],
)
def test_text_is_converted_to_the_type_in_the_schema(text: str, schema: Any, value: Any) -> None:
    found = typed(text, schema)
    assert found == value and type(found) is type(value)


@each_case(
    ("names", "required", "sole"),
    [
        (["a"], [], "a"),
        (["a", "b"], ["b"], "b"),
        (["a", "b"], [], ""),
        (["a", "b"], ["a", "b"], ""),
        ([], [], ""),
    ],
)
def test_bare_text_is_assigned_to_the_only_required_argument(
    names: list[str], required: list[str], sole: str
) -> None:
    schema = {"properties": {name: {"type": "string"} for name in names}, "required": required}
    assert sole_property(schema) == sole


def test_arguments_in_python_syntax_are_parsed() -> None:
    assert keywords('city="Oslo", days=2') == {"city": "Oslo", "days": 2}
    assert keywords('"cats"') == {"0": "cats"}
    assert keywords("cats and dogs") is None and keywords("x=open('/etc/passwd')") is None


def test_words_of_json_count_in_program_syntax() -> None:
    assert keywords("sure=true, no=[false], none=null") == {"sure": True, "no": [False], "none": None}
    assert keywords("city=Oslo") is None


def test_a_bracket_in_a_string_does_not_close_anything() -> None:
    assert bracket_end('("a)" + (b))c', 0) == 12
    assert bracket_end("(it's)", 0) == -1 and bracket_end("((a)", 0) == -1
