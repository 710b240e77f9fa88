"""Schemas that make a tool unusable."""

import json

from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tui.core.schemas.schema_faults import MAX_DEPTH, schema_fault


def nested(levels):
    schema = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"x": schema}}
    return schema


TREE = {
    "type": "object",
    "properties": {"children": {"type": "array", "items": {"$ref": "#"}}},
}

FINE = {
    "empty": {},
    "a recursion that takes a smaller value each time": TREE,
    "a reference by id inside the document": {
        "$defs": {"a": {"$id": "https://example.test/a", "type": "string"}},
        "properties": {"x": {"$ref": "https://example.test/a"}},
    },
    "a property that is called $ref": {"properties": {"$ref": {"type": "string"}}},
    "a default that looks like an external reference": {"default": {"$ref": "http://127.0.0.1:9/x"}},
    "two ways to the same definition": {
        "$defs": {"a": {"type": "string"}},
        "allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}],
    },
}


@each_case("schema", FINE.values())
def test_a_usable_schema_has_no_fault(schema):
    assert schema_fault(schema) == ""


BAD = {
    "none": (None, "null"),
    "a list": ([], "an array"),
    "text": ("object", "text"),
    "an http reference in a property “enum”": ({"properties": {"enum": {"$ref": "http:x"}}}, "external $ref"),
    "a file reference": ({"items": [{"$ref": "file:///etc/passwd#/x"}]}, "external $ref"),
    "a dynamic reference to elsewhere": ({"$dynamicRef": "https://example.test/x"}, "external $ref"),
    "a reference that is no text": ({"$ref": 7}, "not a string"),
    "a reference to itself": ({"$ref": "#"}, "circular reference"),
    "a circle in a property “const”": ({"properties": {"const": {"$ref": "#/properties/const"}}}, "circular"),
    "a mutual reference in definitions": (
        {"$defs": {"a": {"anyOf": [{"$ref": "#b"}]}, "b": {"$anchor": "b", "not": {"$ref": "#/$defs/a"}}}},
        "circular reference",
    ),
    "depth": (nested(MAX_DEPTH), "deeper"),
    "size": ({"enum": list(range(30_000))}, "more than"),
}


@each_case(("schema", "why"), BAD.values())
def test_an_unusable_schema_has_a_fault_with_the_reason(schema, why):
    assert why in schema_fault(schema)


def test_a_schema_nested_as_deep_as_json_allows_is_rejected_without_recursion():
    deep = nested(50_000)
    assert "deeper" in schema_fault(deep)
    while deep:  # taken apart by hand: the interpreter would recurse to free it
        deep = deep.get("properties", {}).get("x", {})


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=8)
    | st.sampled_from(["#", "#/$defs/a", "http://x"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["$ref", "$id", "allOf", "not", "$defs", "a", "properties", "if", "type", "~1"]),
            inner,
        )
    ),
    max_leaves=30,
)


@given(json_values)
def test_any_json_value_can_be_checked(value):
    assert isinstance(schema_fault(json.loads(json.dumps(value))), str)
