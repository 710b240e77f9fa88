"""A schema sent to a model is bounded, free of references, and an object at its root."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tui.core.schemas.schema_faults import schema_fault
from tui.core.schemas.schemas import MAX_NODES, SchemaRefused, SchemaTooLarge, kinds_of, model_schema
from tui.core.secrets.named_values import secret_names
from tui.core.text import visible


def test_a_plain_schema_is_sent_unchanged_but_for_missing_and_unknown_properties():
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    assert model_schema(schema) == schema
    assert model_schema({"type": "object"}) == {"type": "object", "properties": {}}
    assert "required" not in model_schema({"type": "object", "required": ["ghost"]})
    named = {"definitions": {"type": "string"}, "$id": {"type": "string"}}
    assert set(model_schema({"type": "object", "properties": named})["properties"]) == set(named)


@pytest.mark.parametrize("ref", [{"$ref": "#/$defs/Point"}, {"$ref": "#point"}, {"$dynamicRef": "#point"}])
def test_local_references_are_inlined(ref):
    point = {"$anchor": "point", "type": "object", "properties": {"x": {"type": "number"}}}
    beside = {**ref, "description": "where", "properties": {"y": {}}}
    schema = {"properties": {"p": beside}, "$defs": {"Point": point}}
    sent = model_schema(schema)
    assert sent["properties"]["p"]["properties"] == {"x": {"type": "number"}, "y": {}}
    assert sent["properties"]["p"]["description"] == "where" and "$defs" not in sent


def test_a_recursive_reference_is_cut_off_and_a_remote_one_never_followed():
    schema = {"type": "object", "properties": {"child": {"$ref": "#"}}}
    assert model_schema(schema)["properties"]["child"]["properties"]["child"] == {}
    assert model_schema({"properties": {"a": {"$ref": "http://127.0.0.1:9/x"}}})["properties"]["a"] == {}


def test_a_huge_schema_and_references_that_expand_exponentially_are_rejected():
    with pytest.raises(SchemaTooLarge):
        model_schema({"properties": {str(n): {"type": "string"} for n in range(MAX_NODES)}})
    defs = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 4} for n in range(20)}
    with pytest.raises(SchemaTooLarge):
        model_schema({"properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": defs})


def test_alternatives_at_the_root_become_one_object():
    one, other = (
        {"properties": {"id": {"type": "string"}, name: {}}, "required": ["id", name]} for name in "xy"
    )
    sent = model_schema({"anyOf": [one, {"allOf": [other]}]})
    assert set(sent["properties"]) == {"id", "x", "y"} and sent["required"] == ["id"] and "anyOf" not in sent


@each_case(
    ("schema", "kinds"),
    [
        ({"allOf": [{"type": "integer"}]}, "integer"),
        ({"enum": [1, "a", None]}, "integer string null"),
        ({"type": ["integer", "null"]}, "integer null"),
        ({"anyOf": [{"patternProperties": {}}, {"items": {}}]}, "object array"),
        ({"oneOf": [{"not": {}}, {"anyOf": [{"minimum": 1}, {"const": None}]}]}, "number null"),
        ({"type": "object", "anyOf": [{"required": ["a"]}, {"title": "b"}]}, "object"),
        ({"anyOf": [{"type": "integer"}, {}]}, ""),
        ({"type": "spell"}, ""),
        (True, ""),
    ],
)
def test_the_types_that_a_schema_accepts_are_named_listed_or_implied(schema, kinds):
    assert " ".join(kinds_of(schema)) == kinds


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6).map(visible), inner, max_size=4)
    ),
    max_leaves=20,
)


KEYWORDS = "type properties required anyOf allOf $ref $defs not items".split()


@given(st.dictionaries(st.sampled_from(KEYWORDS), JSON))
def test_any_schema_becomes_an_object(schema: dict):
    sent = model_schema(schema)
    assert sent["type"] == "object" and isinstance(sent["properties"], dict)


def test_values_that_look_like_keywords_are_unchanged_and_invalid_keywords_dropped():
    value = {"$ref": "#/x", "definitions": 1, "type": 5}
    sent = model_schema({"properties": {"a": {"default": value, "enum": [value]}}})
    assert sent["properties"]["a"] == {"default": value, "enum": [value]}
    odd = {"type": 5, "required": "a", "enum": [], "description": 3, "anyOf": [], "title": "kept"}
    assert model_schema({"properties": {"a": odd}})["properties"]["a"] == {"title": "kept"}


@given(JSON, st.sampled_from(["\u200b", "\U000e0041", "\u202e", "\x1b[8m", "\u2063", "\u200d", "\x9b"]))
def test_invisible_characters_are_removed_from_every_keyword(value, hidden):
    def poisoned(node):
        if isinstance(node, dict):
            return {key: poisoned(inner) for key, inner in node.items()}
        return [poisoned(inner) for inner in node] if isinstance(node, list) else f"{node}{hidden}"

    bad = poisoned(value)
    places = "default const x-note type contentMediaType pattern _meta dependentRequired".split()
    schema = dict.fromkeys(places, bad) | {"enum": [bad], "examples": [[bad]]}
    made = model_schema({"properties": {"a": schema}})
    assert hidden not in str(made) and hidden.encode("unicode_escape").decode() not in str(made)


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a\u200b": {"type": "string"}}},
        {"properties": {"a": {"properties": {"b\U000e0041": {}}}}},
        {"x-\u2063": 1},
        {"properties": {"a": {"default": {"k\x1b[8m": 1}}}},
    ],
)
def test_a_schema_with_invisible_characters_in_a_name_is_rejected(schema):
    with pytest.raises(SchemaRefused, match="invisible characters in the name"):
        model_schema(schema)


@pytest.mark.parametrize("place", ["9" * 5000, "\u00b2", "-1"])
def test_a_reference_to_a_place_that_no_list_has_is_not_followed(place: str):
    reference = {"$ref": f"#/allOf/{place}"}
    schema = {"type": "object", "properties": {"password": reference}, "allOf": [reference]}
    assert model_schema(schema)["type"] == "object"
    assert secret_names(schema) == frozenset()
    assert isinstance(schema_fault(schema), str)


def test_an_array_has_items_because_providers_reject_one_without():
    schema = {"type": "object", "properties": {"a": {"type": "array"}, "b": {"type": ["array", "null"]}}}
    made = model_schema(schema)["properties"]
    assert made == {"a": {"type": "array", "items": {}}, "b": {"type": ["array", "null"], "items": {}}}
    named = {"type": "object", "properties": {"type": {"enum": ["array"]}}}
    assert model_schema(named) == named
