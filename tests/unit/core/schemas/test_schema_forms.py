"""A schema converted for a strict provider follows its rules, whatever the original."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.core.schemas.schema_forms import KEY, SchemaForm, in_form, renamed_keys, with_plain_keys
from tui.core.schemas.schemas import model_schema
from tui.core.text import visible

TYPES = ("string", "number", "integer", "boolean", "array", "object")


def form(properties: dict[str, Any], kind: SchemaForm) -> dict[str, Any]:
    return in_form(model_schema({"type": "object", "properties": properties}), kind)["properties"]


def assert_moonshot_takes(node: Any) -> None:
    """Every node has one type, or `anyOf` and no type; required properties exist; defaults match."""
    assert isinstance(node, dict)
    assert ("type" in node) != ("anyOf" in node)
    assert not node.keys() & {"$ref", "oneOf", "allOf", "not", "const", "if", "patternProperties"}
    for branch in node.get("anyOf", ()):
        assert "anyOf" not in branch
        assert_moonshot_takes(branch)
    if "anyOf" not in node:
        assert node["type"] in (*TYPES, "null")
    if node.get("type") == "array":
        assert_moonshot_takes(node["items"])
    if node.get("type") == "object":
        assert set(node.get("required", ())) <= set(node["properties"])
        for inner in node["properties"].values():
            assert_moonshot_takes(inner)


GOOGLE = {
    "type", "properties", "required", "items", "anyOf", "enum", "description", "title", "nullable", "format",
    "minimum", "maximum", "minItems", "maxItems", "minLength", "maxLength", "pattern", "minProperties",
    "maxProperties",
}  # fmt: skip


def assert_google_takes(node: Any) -> None:
    """Only supported keywords, one type per node, nothing next to `anyOf`, enums of strings."""
    assert isinstance(node, dict) and node.keys() <= GOOGLE
    if "anyOf" in node:
        assert node.keys() == {"anyOf"} and len(node["anyOf"]) > 1
        for branch in node["anyOf"]:
            assert_google_takes(branch)
        return
    assert node["type"] in TYPES
    assert all(isinstance(value, str) for value in node.get("enum", ()))
    assert "enum" not in node or node["type"] == "string"
    if node["type"] == "array":
        assert_google_takes(node["items"])
    if node["type"] == "object":
        assert set(node.get("required", ())) <= set(node.get("properties", {}))
        for inner in node.get("properties", {}).values():
            assert_google_takes(inner)


RULES = {SchemaForm.KIMI: assert_moonshot_takes, SchemaForm.GEMINI: assert_google_takes}

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.sampled_from(TYPES),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3).map(visible), inner, max_size=3)
    ),
    max_leaves=8,
)
KEYWORDS = st.sampled_from(
    ["type", "properties", "required", "anyOf", "oneOf", "allOf", "not", "items", "enum", "const", "default",
     "additionalProperties", "minimum", "maxLength", "description", "format", "nullable", "pattern"]
)  # fmt: skip
SCHEMA = st.recursive(
    st.dictionaries(KEYWORDS, JSON, max_size=4),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from([*TYPES, "null", ["string", "null"], ["array", "object"]]),
            "properties": st.dictionaries(st.sampled_from(["a", "$b", "c d"]), inner, max_size=3),
            "required": st.lists(st.sampled_from(["a", "$b", "ghost"]), max_size=2),
            "anyOf": st.lists(inner, max_size=3),
            "oneOf": st.lists(inner, max_size=3),
            "allOf": st.lists(inner, max_size=2),
            "items": inner,
            "enum": st.lists(st.none() | st.integers() | st.text(max_size=2), max_size=3),
            "description": st.text(max_size=5),
            "additionalProperties": inner | st.booleans(),
        },
    ),
    max_leaves=10,
)


@pytest.mark.parametrize("kind", RULES, ids=str)
@given(schema=SCHEMA)
def test_any_converted_schema_follows_the_rules_of_its_provider_and_is_not_converted_again(
    kind: SchemaForm, schema: dict[str, Any]
) -> None:
    made = in_form(model_schema(schema), kind)
    assert made["type"] == "object" and "properties" in made
    RULES[kind](made)
    assert in_form(made, kind) == made


def test_the_plain_form_changes_nothing_and_accepted_names_stay() -> None:
    schema = {"type": "object", "properties": {"a": {"oneOf": [{"const": 1}, {"$comment": "x"}]}}}
    assert in_form(schema, SchemaForm.PLAIN) == schema
    schema = {"type": "object", "properties": {"a.b-c_1": {}}}
    assert with_plain_keys(schema) == (schema, {})


def test_what_stands_next_to_any_of_applies_to_each_alternative_but_for_its_type() -> None:
    field = {"type": ["object", "null"], "properties": {"x": {"type": "null"}}, "maxProperties": 5}
    arms = [{"required": ["x"], "maxProperties": 9}, {"type": "string"}]
    made = form({"a": field | {"anyOf": arms}}, SchemaForm.KIMI)["a"]["anyOf"]
    assert made == [field | {"type": "object", "required": ["x"]}, {"type": "null"}, {"type": "string"}]


@pytest.mark.parametrize(
    ("more", "sent"), [(True, True), (False, False), ({}, True), ({"type": "null"}, {"type": "null"})]
)
def test_moonshot_gets_additional_properties(more: Any, sent: Any) -> None:
    (made,) = form({"a": {"type": "object", "additionalProperties": more}}, SchemaForm.KIMI).values()
    assert made["additionalProperties"] == sent


def test_google_gets_nullable_instead_of_null() -> None:
    optional = {"anyOf": [{"type": "integer"}, {"type": "null"}]}
    three = {"type": ["string", "integer", "null"]}
    text = {"type": ["string", "null"], "description": "who"}
    made = form({"a": text, "b": optional, "c": three}, SchemaForm.GEMINI)
    assert made["a"] == {"type": "string", "nullable": True, "description": "who"}
    assert made["b"] == {"type": "integer", "nullable": True}
    arms = [{"type": kind, "nullable": True} for kind in ("string", "integer")]
    assert made["c"] == {"anyOf": arms}


def test_google_gets_constants_as_enums_and_numbers_in_the_description() -> None:
    made = form({"a": {"const": "x"}, "b": {"enum": [1, 2], "description": "How many."}}, SchemaForm.GEMINI)
    assert made["a"] == {"type": "string", "enum": ["x"]}
    assert made["b"] == {"type": "integer", "description": "How many. One of: 1, 2."}


def test_google_gets_only_keywords_that_it_supports() -> None:
    number, text = {"type": "number", "minimum": 1}, {"type": "string"}
    beside = {"additionalProperties": False, "patternProperties": {".": {}}, "propertyNames": {}}
    members = {"type": "object", "properties": {"n": number | {"exclusiveMinimum": 0}}} | beside
    made = form({"a": members, "b": text | {"format": "uri", "default": "x"}}, SchemaForm.GEMINI)
    assert made == {"a": {"type": "object", "properties": {"n": number}}, "b": text}


def test_all_of_is_merged_and_what_stands_next_to_it_wins() -> None:
    parts = [{"properties": {"x": {}}, "required": ["x"]}, {"properties": {"y": {}}, "maxProperties": 9}]
    field = {"allOf": parts, "properties": {"x": {"type": "null"}}, "required": ["y"], "maxProperties": 5}
    made = form({"a": field}, SchemaForm.KIMI)["a"]
    assert made["properties"] == {"x": {"type": "null"}, "y": {"type": "string"}}
    assert set(made["required"]) == {"x", "y"} and made["maxProperties"] == 5


def test_a_schema_that_grows_too_large_is_reduced_to_its_first_level() -> None:
    node: dict[str, Any] = {"type": "string"}
    for _ in range(12):
        node = {"properties": {"p": node}, "anyOf": [{"required": ["p"]}] * 4 + [{"title": str(_)}] * 4}
    made = in_form(model_schema({"properties": {"deep": node, "flat": {"type": "integer"}}}), SchemaForm.KIMI)
    assert made["properties"]["flat"] == {"type": "integer"}
    assert_moonshot_takes(made)


def names_in(node: Any) -> list[str]:
    if isinstance(node, dict):
        found = list(node.get("properties", {}))
        return found + [name for inner in node.get("properties", {}).values() for name in names_in(inner)]
    return []


def test_names_are_changed_at_any_depth_and_in_required() -> None:
    schema = {
        "type": "object",
        "properties": {"$top": {"properties": {"filter[id]": {"enum": ["$top"]}}}, "a": {}},
        "patternProperties": {"default": {"properties": {"$top": {}}}},
        "required": ["$top"],
    }
    made, keys = with_plain_keys(schema)
    assert made["patternProperties"] == {"default": {"properties": {"_top": {}}}}
    assert made["required"] == ["_top"] and keys == {"_top": "$top", "filter_id_": "filter[id]"}
    assert made["properties"]["_top"]["properties"]["filter_id_"] == {"enum": ["$top"]}


def test_a_new_name_never_collides_with_an_existing_one_and_is_changed_back_in_arguments() -> None:
    made, keys = with_plain_keys({"properties": {"$a": {}, "_a": {}, "?a": {}}})
    assert len(made["properties"]) == 3 and sorted(keys.values()) == ["$a", "?a"]
    assert "_a" not in keys
    keys = {"_top": "$top"}
    assert renamed_keys({"_top": [{"_top": 1}], "x": "_top"}, keys) == {"$top": [{"$top": 1}], "x": "_top"}


NAMES = st.text(max_size=80)


@given(st.dictionaries(NAMES, st.dictionaries(NAMES, st.just({}), max_size=3), max_size=4))
def test_any_names_become_acceptable_and_can_be_restored(properties: dict[str, Any]) -> None:
    schema = {"properties": {name: {"properties": inner} for name, inner in properties.items()}}
    made, keys = with_plain_keys(schema)
    assert all(KEY.fullmatch(name) for name in names_in(made))
    assert len(names_in(made)) == len(names_in(schema))
    arguments = {name: dict.fromkeys(inner, 1) for name, inner in properties.items()}
    back = {old: new for new, old in keys.items()}
    assert renamed_keys(renamed_keys(arguments, back), keys) == arguments
