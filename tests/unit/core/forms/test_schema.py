"""The kind of field for each schema."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tests.foreign import FOREIGN
from tui.core.forms.checks import read_text, size_problem, text_problem
from tui.core.forms.schema import SchemaReader
from tui.core.forms.spec import MISSING, FieldKind, bound_words


def spec_of(schema, **root):
    return SchemaReader({**root, "properties": {"v": schema}}).spec(schema)


@each_case(
    ("schema", "kind"),
    [
        ({"type": "string"}, FieldKind.TEXT),
        ({"type": "integer"}, FieldKind.INTEGER),
        ({"type": "number"}, FieldKind.NUMBER),
        ({"type": "boolean"}, FieldKind.BOOLEAN),
        ({"type": "array"}, FieldKind.ARRAY),
        ({"type": "object", "properties": {"a": {}}}, FieldKind.OBJECT),
        ({"properties": {"a": {}}}, FieldKind.OBJECT),
        ({"items": {}}, FieldKind.ARRAY),
        ({"type": "object"}, FieldKind.MAP),
        ({"type": "object", "additionalProperties": {"type": "string"}}, FieldKind.MAP),
        ({"enum": ["a"]}, FieldKind.CHOICE),
        ({"const": 1}, FieldKind.CONST),
        ({"type": "null"}, FieldKind.CONST),
        ({"type": "spell"}, FieldKind.JSON),
        ({"minimum": 1}, FieldKind.NUMBER),
        ({"enum": []}, FieldKind.JSON),
        ({"not": {}}, FieldKind.JSON),
        ({}, FieldKind.JSON),
        (True, FieldKind.JSON),
        (7, FieldKind.JSON),
    ],
)
def test_each_schema_has_a_kind_of_field(schema, kind):
    assert spec_of(schema).kind is kind


def test_titles_and_descriptions_are_kept_unchanged():
    said = {"title": "T\x1b", "description": "d", "default": None, "format": "uri"}
    spec = spec_of({"type": "string", "examples": [1, 2], **said})
    assert {name: getattr(spec, name) for name in said} == said and spec.examples == (1, 2)
    assert spec_of({"type": "string", "title": 3}).title == ""
    assert spec_of({"type": "string"}).default is MISSING


@each_case(
    "schema",
    [
        {"type": ["string", "null"]},
        {"anyOf": [{"type": "string"}, {"type": "null"}]},
        {"oneOf": [{"type": "null"}, {"type": "string"}]},
        {"type": "string", "nullable": True},
        {"anyOf": [{"$ref": "#/$defs/s"}, {"const": None}]},
    ],
)
def test_a_nullable_type_is_not_a_union(schema):
    spec = spec_of(schema, **{"$defs": {"s": {"type": "string"}}})
    assert (spec.kind, spec.nullable, spec.arms) == (FieldKind.TEXT, True, ())


@each_case(
    ("schema", "labels"),
    [
        ({"enum": ["a", 1, None]}, ["a", "1", "null"]),
        ({"enum": [1, "1"]}, ["1 #1", "1 #2"]),
        ({"enum": ["a", "b"], "enumNames": ["Ah", "Be"]}, ["Ah", "Be"]),
        ({"enum": ["a", "b"], "enumNames": ["Ah"]}, ["a", "b"]),
        ({"oneOf": [{"const": "a", "title": "Ah"}, {"const": "b"}]}, ["Ah", "b"]),
        (
            {"type": "string", "anyOf": [{"const": "a", "title": "Ah"}, {"const": "b", "title": "Be"}]},
            ["Ah", "Be"],
        ),
    ],
)
def test_choices_have_unique_labels(schema, labels):
    spec = spec_of(schema)
    assert spec.kind is FieldKind.CHOICE
    assert [choice.label for choice in spec.choices] == labels


def test_an_enumeration_too_long_to_choose_from_becomes_a_text_field():
    assert spec_of({"type": "string", "enum": [f"{n}" for n in range(10_000)]}).kind is FieldKind.TEXT


@each_case(
    ("schema", "labels"),
    [
        ({"type": ["string", "integer"]}, ["text", "integer"]),
        ({"anyOf": [{"type": "string", "title": "Name"}, {"type": "integer"}]}, ["Name", "integer"]),
        ({"anyOf": [{"type": "string"}, {"type": "string", "format": "uri"}]}, ["text", "uri"]),
        ({"anyOf": [{"type": "object"}, {"type": "object"}]}, ["object 1", "object 2"]),
        ({"anyOf": [{"anyOf": [{"type": "string"}, {"items": {}}]}, {"const": 1}]}, ["text", "array", "1"]),
    ],
)
def test_the_arms_of_a_union_are_labeled(schema, labels):
    assert [arm.label for arm in spec_of(schema).arms] == labels


def test_keywords_next_to_a_union_apply_to_each_arm():
    spec = spec_of(
        {
            "type": "object",
            "title": "Where",
            "properties": {"a": {"type": "string"}},
            "anyOf": [{"title": "x", "required": ["a"]}, {"title": "y", "properties": {"b": {}}}],
        }
    )
    reader = SchemaReader({})
    assert spec.title == "Where"
    assert [reader.properties(arm) for arm in spec.arms] == [{"a": True}, {"a": False, "b": False}]


def test_references_are_followed_and_keywords_next_to_them_take_precedence():
    root = {
        "$defs": {
            "a": {"$ref": "#/$defs/b", "title": "A"},
            "b": {"type": "string", "title": "B"},
        }
    }
    assert spec_of({"$ref": "#/$defs/a"}, **root).title == "A"
    assert spec_of({"$ref": "#/$defs/a", "title": "mine"}, **root).title == "mine"
    escaped = {"$defs": {"a~b/c": {"type": "boolean"}}}
    assert spec_of({"$ref": "#/%24defs/a~0b~1c"}, **escaped).kind is FieldKind.BOOLEAN


@pytest.mark.parametrize(
    ("schema", "note"),
    [
        ({"$ref": "#/$defs/loop"}, "refers only to itself"),
        ({"$ref": "#/$defs/none"}, ", which it does not contain"),
        ({"$ref": "https://example.org/x"}, "https://example.org/x"),
        ({"allOf": [{"$ref": "#/$defs/again"}]}, "the schema has too many references"),
    ],
)
def test_an_unresolvable_reference_is_raw_json_with_a_note(schema, note):
    root = {"$defs": {"loop": {"$ref": "#/$defs/loop"}, "again": {"allOf": [{"$ref": "#/$defs/again"}]}}}
    spec = spec_of(schema, **root)
    assert spec.kind is FieldKind.JSON
    assert note in spec.note


def test_all_of_is_merged():
    parts = {
        "a": {"type": "object", "properties": {"x": {}}, "required": ["x"]},
        "b": {"properties": {"y": {}}, "required": ["y"]},
    }
    both = {"allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}], "required": ["x"]}
    assert SchemaReader({}).properties(spec_of(both, **{"$defs": parts})) == {"x": True, "y": True}


def test_array_items_have_a_schema_by_position_and_then_a_common_one():
    reader = SchemaReader({})
    spec = reader.spec({"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "integer"}})
    kinds = [reader.child(spec, place).kind for place in (0, 1, 9)]
    assert kinds == [FieldKind.TEXT, FieldKind.INTEGER, FieldKind.INTEGER]


def test_a_secret_field_is_recognized():
    assert spec_of({"type": "string", "format": "password"}).secret
    assert spec_of({"type": "string", "writeOnly": True}).secret
    assert not spec_of({"type": "string"}).secret


_KEYS = "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems"


@given(
    st.sampled_from(["integer", "number", "string", "array"]),
    st.dictionaries(st.sampled_from(_KEYS.split()), FOREIGN),
    st.sampled_from(["", "7", "-0.5", "1e308", "word", "9" * 400, "9" * 5000]),
)
def test_any_bounds_can_be_shown_and_checked(kind: str, bounds: dict[str, Any], text: str):
    spec = SchemaReader({}).spec({"type": kind, **bounds})
    assert isinstance(read_text(spec, text)[1], str)
    assert isinstance(text_problem(spec, text) + size_problem(spec, 5), str)
    assert len(bound_words(spec, is_number=kind != "string")) < 200


@pytest.mark.parametrize(("key", "limit"), [("minimum", -(10**400)), ("maximum", 10**400)])
def test_a_limit_that_no_float_can_hold_limits_nothing(key: str, limit: int):
    spec = SchemaReader({}).spec({"type": "number", key: limit})
    assert read_text(spec, "7") == (7, "")
    assert bound_words(spec, is_number=True) == ""
