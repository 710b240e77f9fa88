"""Forms that servers request: shown, filled with their defaults, answered and validated."""

from typing import Any

from tests.cases import each_case
from tui.core.forms.elicitation import (
    blank_form,
    content_of,
    content_problem,
    default_content,
    schema_problem,
    secret_fields,
)

PERSON: dict[str, Any] = {
    "type": "object",
    "required": ["name", "languages"],
    "properties": {
        "name": {"type": "string", "minLength": 2},
        "mail": {"type": "string", "format": "email", "default": "a@b.example"},
        "age": {"type": "integer", "maximum": 150},
        "share": {"type": "number", "default": 0.5},
        "agree": {"type": "boolean", "default": True},
        "color": {
            "type": "string",
            "oneOf": [{"const": "#f00", "title": "Red"}, {"const": "#0f0", "title": "Green"}],
            "default": "#0f0",
        },
        "size": {"type": "string", "enum": ["s", "l"], "enumNames": ["Small", "Large"]},
        "languages": {"type": "array", "minItems": 1, "items": {"type": "string", "enum": ["py", "js"]}},
        "days": {
            "type": "array",
            "items": {"anyOf": [{"const": 1, "title": "Mon"}, {"const": 2, "title": "Tue"}]},
            "default": [2],
        },
    },
}


def test_every_default_is_filled_in() -> None:
    assert default_content(PERSON) == {
        "mail": "a@b.example",
        "share": 0.5,
        "agree": True,
        "color": "#0f0",
        "languages": [],
        "days": [2],
    }


def test_a_multiple_choice_is_a_checkbox_for_each_value_and_a_choice_is_set_by_title() -> None:
    form = blank_form(PERSON)
    form.set(("days", "Mon"), "true")
    form.set(("languages", "js"), "true")
    form.set(("color",), "Red")  # by title; sent is the value
    form.set(("size",), "Large")
    content = content_of(PERSON, form.value()[0])
    assert (content["days"], content["languages"]) == ([1, 2], ["js"])
    assert (content["color"], content["size"]) == ("#f00", "l")
    schema = {"properties": {"a": {"type": "array", "items": {"enum": ["x", "y"]}}}}
    assert content_of(schema, blank_form(schema).value()[0]) == {}


@each_case(
    ("change", "problem"),
    [
        ({"name": "x"}, "name needs at least 2 characters"),
        ({"languages": []}, "languages needs at least 1 item"),
        ({"languages": ["rb"]}, "languages 1 is not an allowed value"),
        ({"age": 200}, "age must be at most 150"),
        ({"age": "5"}, "age is not an integer"),
        ({"color": "Red"}, "color is not an allowed value"),
        ({"mail": "nobody"}, "mail is not an email"),
        ({"nmae": "Ada"}, "“nmae” is not a field of the form. Fields: name, mail"),
    ],
)
def test_an_invalid_answer_is_reported_with_its_field(change: dict[str, Any], problem: str) -> None:
    right = {"name": "Ada", "languages": ["py"]}
    assert content_problem(PERSON, right) == ""
    assert problem in content_problem(PERSON, right | change)
    assert content_problem(PERSON, default_content(PERSON)) == "name is required"


@each_case(
    ("schema", "problem"),
    [
        ([], "must be an object"),
        ({"type": "array"}, '"type": "object"'),
        ({"properties": {f"f{number}": {} for number in range(201)}}, "has 201 fields (limit: 200)"),
        ({"properties": {"a": {"type": "object", "properties": {"b": {}}}}}, "“a” may not be an object"),
        (
            {"properties": {"a": {"type": "array", "items": {"type": "object"}}}},
            "“a” may not be of type array",
        ),
    ],
)
def test_a_schema_that_elicitation_does_not_allow_is_reported(schema: Any, problem: str) -> None:
    assert problem in schema_problem(schema)


def test_any_flat_schema_is_allowed() -> None:
    for schema in ({}, {"type": "object"}, {"type": "object", "properties": {}}, PERSON):
        assert schema_problem(schema) == ""


FAR = "x" * 100_000


def test_fields_that_seem_to_ask_for_a_secret_in_the_texts_that_a_form_shows_are_reported() -> None:
    fields = {
        "api_key": {"type": "string"},
        "card": {"type": "string", "description": "credit card"},
        "city": {"type": "string"},
        "pinned": {"type": "boolean"},
        "far": {"type": "string", "title": f"City {FAR} password", "description": f"City {FAR} password"},
        "near": {"type": "string", "description": f"Your password {FAR} is not needed"},
        "split": {"type": "string", "title": "API\n  key"},
    }
    assert secret_fields({"properties": fields}) == ["api_key", "card", "near", "split"]


def test_an_optional_field_whose_default_is_null_is_left_out_of_the_answer() -> None:
    null = {"type": "null"}
    optional = {
        "tags": {"type": "array", "items": {"type": "string"}},
        "days": {"type": "array", "items": {"enum": ["mo", "tu"]}},
        "count": {"type": "integer"},
        "colour": {"enum": ["red", "blue"]},
    }
    fields = {name: {"anyOf": [one, null], "default": None, "title": name} for name, one in optional.items()}
    schema = {"type": "object", "properties": fields}
    assert schema_problem(schema) == "" and default_content(schema) == {}
    form = blank_form(schema)
    form.set(form.add(("tags",)) or (), "x")
    form.set(("days", "tu"), "true")
    content = content_of(schema, form.value()[0])
    assert content == {"tags": ["x"], "days": ["tu"]}
    assert content_problem(schema, content) == ""
