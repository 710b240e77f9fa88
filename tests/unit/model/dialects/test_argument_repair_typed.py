"""Values written as plain text."""

from typing import Any

import pytest

from tui.model.dialects.argument_repair import bracket_end, keywords, sole_property, typed


@pytest.mark.parametrize(
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
        ("5", {"anyOf": [{"type": "integer"}, {"type": "null"}]}, 5),
        ("5", {"anyOf": [{"type": "integer"}, {"type": "string"}]}, "5"),
        ("1", {"enum": ["1", "2"]}, "1"),
        ("1", {"enum": [1, 2]}, 1),
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


@pytest.mark.parametrize(
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
