"""The quick check accepts common schemas, and only those that the meta-schema accepts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

from tui.host.schemas.judge import is_plainly_sound

NAMES = st.sampled_from(
    "type properties items required enum anyOf $defs additionalProperties minimum minLength title format "
    "default uniqueItems $ref not oneOf maxItems examples".split()
)
SCHEMAS = st.recursive(
    st.sampled_from([True, False, None, 3, -1, 2.5, "string", "object", "x", [], ["a"], ["a", "a"], {}]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)


@given(SCHEMAS)
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


@pytest.mark.parametrize("schema", [None, True, {"type": "text"}, {"required": "a"}, {"pattern": "["}])
def test_other_schemas_are_left_to_the_full_check(schema):
    assert not is_plainly_sound(schema)
