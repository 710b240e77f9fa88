from typing import Any

from tests.cases import each_case
from tui.addons.tests.python.examples import example_arguments


def schema(required: str = "a", **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required.split()}


@each_case(
    ("field", "value"),
    [
        ({"type": "string", "examples": ["Hangzhou"]}, "Hangzhou"),
        ({"type": "string", "example": "Hangzhou"}, "Hangzhou"),
        ({"type": "string", "default": "metric"}, "metric"),
        ({"enum": ["celsius", "fahrenheit"]}, "celsius"),
        ({"const": 7}, 7),
        ({"type": "boolean"}, False),
        ({"type": "integer", "minimum": 1, "maximum": 9}, 1),
        ({"type": "string", "description": "Zone (e.g., 'Asia/Tokyo', 'UTC')"}, "Asia/Tokyo"),
        ({"type": "string", "description": 'A place, for example "Rome".'}, "Rome"),
        ({"type": "integer", "description": "A year, such as 2026"}, 2026),
        ({"type": "array", "items": {"enum": ["x", "y"]}}, ["x"]),
        ({"type": "array", "items": {"type": "string"}, "examples": [["p", "q"]]}, ["p", "q"]),
        ({"anyOf": [{"type": "string"}, {"type": "null"}], "examples": ["t"]}, "t"),
        (
            {"type": "object", "properties": {"b": {"type": "integer", "examples": [3]}}, "required": ["b"]},
            {"b": 3},
        ),
    ],
)
def test_a_required_argument_gets_a_value_from_its_schema(field: dict[str, Any], value: Any):
    assert example_arguments(schema(a=field)) == ({"a": value}, "")


@each_case(
    ("description", "found"),
    [
        ('Weather. Example: {"a": "Rome", "b": 2}', {"a": "Rome", "b": 2}),
        ('Weather.\nExample arguments:\n{"a": "Rome", "b": 2}', {"a": "Rome", "b": 2}),
        ("Weather.\n\nArgs:\n    a: City, e.g. 'Rome'\n    b (int): Days, such as 2", {"a": "Rome", "b": 2}),
        ("Weather.\n- `a`: City, e.g. 'Rome'\n- **b**: Days, such as 2", {"a": "Rome", "b": 2}),
        ('Example: {"a": 1, "b": "x"}', None),
        ("Example: {a: Rome}", None),
        ("Weather of a city, e.g. 'Rome'", None),
    ],
)
def test_examples_in_the_description_of_a_tool_are_used_where_they_are_plain(description: str, found: Any):
    whole = schema("a b", a={"type": "string"}, b={"type": "integer"})
    assert example_arguments(whole, description) == ((found, "") if found else ({}, "a"))


def test_an_example_in_the_description_of_a_tool_is_for_its_only_required_argument():
    whole = schema("a", a={"type": "string"}, b={"type": "integer"})
    assert example_arguments(whole, "Weather of a city, e.g. 'Rome'") == ({"a": "Rome"}, "")


def test_optional_arguments_are_left_out():
    assert example_arguments(schema("", a={"type": "string", "examples": ["x"]})) == ({}, "")


def test_examples_of_the_whole_schema_come_first():
    whole = schema(a={"type": "string", "examples": ["x"]}) | {"examples": [{"a": "whole"}]}
    assert example_arguments(whole) == ({"a": "whole"}, "")


@each_case(
    "field",
    [
        {"type": "string"},
        {"type": "string", "description": "The place"},
        {"type": "integer", "examples": ["many"]},
        {"type": "string", "format": "password", "examples": ["hunter2"]},
        {"type": "array", "items": {"type": "string"}, "minItems": 1},
        True,
        False,
    ],
)
def test_an_argument_without_an_example_is_named(field: Any):
    assert example_arguments(schema(a=field)) == ({}, "a")


def test_the_missing_member_of_an_object_is_named_with_its_path():
    inner = {"type": "object", "properties": {"b": {"type": "string"}}, "required": ["b"]}
    assert example_arguments(schema(a=inner)) == ({}, "a.b")
