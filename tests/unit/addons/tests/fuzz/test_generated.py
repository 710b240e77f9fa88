"""Arguments that Hypothesis generates from a schema."""

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tui.addons.tests.fuzz.generated import arguments

SCHEMA = {
    "type": "object",
    "properties": {
        "code": {"type": "string", "pattern": "^[A-Z]{3}-[0-9]{4}$"},
        "day": {"type": "string", "format": "date"},
        "size": {"type": "integer", "exclusiveMinimum": 0, "maximum": 100},
        "share": {"type": "number", "minimum": 0, "maximum": 1},
        "names": {"type": "array", "items": {"type": "string"}, "minItems": 1, "uniqueItems": True},
        "place": {"anyOf": [{"type": "string", "maxLength": 5}, {"type": "null"}]},
        "more": {"type": "object", "additionalProperties": {"type": "boolean"}},
    },
    "required": ["code", "size"],
}


def test_about_half_of_the_arguments_are_valid():
    made = arguments(SCHEMA, 60, 1)
    valid = sum(Draft202012Validator(SCHEMA).is_valid(one) for one in made)
    assert len(made) == 60
    assert 15 <= valid <= 45


def test_a_seed_gives_the_same_arguments():
    assert arguments(SCHEMA, 20, 7) == arguments(SCHEMA, 20, 7)


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "object"},
        {"properties": {"a": {"type": "string", "pattern": "(?<=x"}, "b": True, "c": {"type": "weird"}}},
        {"properties": {"a": {"type": "array", "prefixItems": [{"type": "null"}]}, "b": {"const": 3}}},
    ],
)
def test_unusual_schemas_have_arguments_too(schema: dict[str, Any]):
    assert arguments(schema, 5, 1)
