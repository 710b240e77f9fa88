"""Arguments at the edges of a schema."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from tests.cases import each_case
from tui.addons.tests.fuzz.edges import MOST_GROUPS, argument_groups, plain_schema, simplest

SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "maxLength": 40},
        "days": {"type": "integer", "minimum": 1, "maximum": 14},
        "unit": {"enum": ["C", "F"]},
        "fresh": {"type": "boolean"},
        "tags": {"type": "array", "items": {"$ref": "#/$defs/tag"}},
    },
    "required": ["city"],
    "$defs": {"tag": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}},
}


def made(schema: dict[str, Any] = SCHEMA) -> list[dict[str, Any]]:
    plain = plain_schema(schema)
    return [one for group in argument_groups(plain, simplest(plain)) for one in group]


def test_the_first_arguments_are_valid():
    assert Draft202012Validator(SCHEMA).is_valid(made()[0])


@each_case(
    "found",
    [
        {},
        {"city": ""},
        {"city": "\x00"},
        {"city": "a" * 40},
        {"city": "a" * 41},
        {"city": "a" * 100_000},
        {"city": 5},
        {"city": "a", "days": 0},
        {"city": "a", "days": 14},
        {"city": "a", "days": 15},
        {"city": "a", "days": -1},
        {"city": "a", "days": "x"},
        {"city": "a", "unit": "F"},
        {"city": "a", "unit": "no such value"},
        {"city": "a", "unit": "F", "fresh": True},
        {"city": "a", "tags": []},
        {"city": "a", "tags": [{}]},
        {"city": "a", "tags": [{"name": ""}]},
        {"city": "a", "unknown_argument": "a"},
    ],
)
def test_each_argument_is_taken_to_its_edges(found: dict[str, Any]):
    assert found in made()


def test_nested_arrays_are_for_arguments_of_any_value():
    schema = {"type": "object", "properties": {"items": {"type": "array", "items": {}}}}
    assert {"items": [[[[]]]]} in made(schema)


def test_a_group_grows():
    plain = plain_schema(SCHEMA)
    texts = next(one for one in argument_groups(plain, {"city": "a"}) if len(one) > 10)
    lengths = [len(one["city"]) for one in texts]
    assert lengths == sorted(lengths)


SCHEMAS = st.recursive(
    st.sampled_from([True, {}, {"type": "string"}, {"type": "integer", "maximum": 3}, {"enum": [1, "a"]}]),
    lambda inner: st.one_of(
        st.builds(lambda one: {"type": "array", "items": one, "minItems": 1}, inner),
        st.builds(lambda one: {"anyOf": [one, {"type": "null"}]}, inner),
        st.builds(lambda one: {"type": "object", "properties": {"a": one}, "required": ["a"]}, inner),
    ),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from("abcd"), SCHEMAS, max_size=3))
def test_the_simplest_arguments_of_any_schema_are_valid_and_its_edges_bounded(members: dict[str, Any]):
    schema = {"type": "object", "properties": members, "required": [*members]}
    plain = plain_schema(schema)
    assert Draft202012Validator(schema).is_valid(simplest(plain))
    assert sum(1 for _ in argument_groups(plain, simplest(plain))) <= MOST_GROUPS + 101
