"""What is decided without the library is what the library would say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

from tests.cases import each_case
from tui.core.schemas.quick_checks import is_plainly_sound, plainly_matches
from tui.host.schemas.validation_worker import explain

NAMES = st.sampled_from(
    "type properties items required enum anyOf $defs additionalProperties minimum minLength title format "
    "default uniqueItems $ref not oneOf maxItems examples".split()
)
SOUND_OR_NOT = st.recursive(
    st.sampled_from([True, False, None, 3, -1, 2.5, "string", "object", "x", [], ["a"], ["a", "a"], {}]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)


@given(SOUND_OR_NOT)
def test_a_schema_that_the_quick_check_accepts_is_valid(schema):
    if is_plainly_sound(schema):
        try:
            Draft202012Validator.check_schema(schema)
        except SchemaError as error:
            raise AssertionError(f"{schema} is not: {error.message}") from error


LOCATION = {"type": "string", "title": "Location"}


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"location": LOCATION}, "required": ["location"]},
        {"properties": {"n": {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "null"}]}}},
        {"$defs": {"A": {"enum": [1, 2]}}, "type": "array", "items": {"$ref": "#/$defs/A"}},
        {"$schema": "http://json-schema.org/draft-07/schema#", "additionalProperties": False},
    ],
)
def test_everyday_schemas_pass_the_quick_check(schema):
    assert is_plainly_sound(schema)


@each_case("schema", [None, True, {"type": "text"}, {"required": "a"}, {"pattern": "["}])
def test_other_schemas_are_left_to_the_full_check(schema):
    assert not is_plainly_sound(schema)


VALUES = st.recursive(
    st.sampled_from([None, True, False, 0, 1, -1, 1.0, 2.5, "", "a", "b"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=5,
)
TYPES = st.sampled_from(["string", "integer", "number", "boolean", "object", "array", "null"])


def objects(inner):
    return st.fixed_dictionaries(
        {},
        optional={
            "type": TYPES | st.lists(TYPES, max_size=2) | VALUES,
            "properties": st.dictionaries(st.sampled_from("ab"), inner, max_size=2) | VALUES,
            "additionalProperties": inner,
            "required": st.lists(st.sampled_from("ab"), max_size=2) | VALUES,
            "items": inner,
            "anyOf": st.lists(inner, max_size=3) | VALUES,
            "enum": st.lists(VALUES, max_size=3) | VALUES,
            "minimum": VALUES,
            "maximum": VALUES,
            "minLength": VALUES,
            "not": inner,
            "title": VALUES,
        },
    )


SCHEMAS = st.recursive(st.booleans() | VALUES, objects, max_leaves=6)


@given(SCHEMAS, VALUES)
def test_a_value_that_the_quick_check_accepts_is_valid(schema, value):
    if plainly_matches(schema, value):
        assert explain(schema, value) == ("", "")


LOOK = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "title": "lookArguments",
    "properties": {
        "at": {"title": "At", "type": "integer", "minimum": 0},
        "unit": {"enum": ["c", "f"], "default": "c"},
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
        "places": {"type": "array", "items": {"type": ["string", "number"]}},
    },
    "required": ["at"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    "value", [{"at": 3}, {"at": 0, "unit": "f", "note": None, "places": ["x", 2.5]}, {"at": 1, "note": "x"}]
)
def test_everyday_arguments_pass_the_quick_check(value):
    assert plainly_matches(LOOK, value)


@each_case(
    "value", [{}, {"at": "3"}, {"at": True}, {"at": -1}, {"at": 1, "x": 1}, {"at": 1, "unit": "k"}, [], None]
)
def test_other_arguments_are_left_to_the_library(value):
    assert not plainly_matches(LOOK, value)
