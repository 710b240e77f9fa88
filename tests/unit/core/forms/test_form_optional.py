"""Optional lists, maps, objects and unions, in every way that Pydantic, zod and others write them."""

from typing import Any

import pytest

from tests.cases import each_case
from tui.core.forms.form import Form
from tui.core.forms.spec import FieldKind, FormField, Path

NULL = {"type": "null"}
TEXTS = {"type": "array", "items": {"type": "string"}}
COUNTS = {"type": "object", "additionalProperties": {"type": "integer"}}
SIZE = {
    "title": "Size",
    "type": "object",
    "properties": {"width": {"type": "integer"}, "height": {"type": "integer"}},
    "required": ["width"],
}
REF = {"$ref": "#/$defs/Size"}


def optional_forms(inner: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the ways to write `inner` or null, with and without a default."""
    ways = [
        {"anyOf": [inner, NULL]},
        {"anyOf": [NULL, inner]},
        {"oneOf": [inner, NULL]},
        {"anyOf": [inner, {"const": None}]},
        {"anyOf": [{"anyOf": [inner, NULL]}, NULL]},
        {"anyOf": [{"allOf": [inner]}, NULL]},
        {"allOf": [inner], "nullable": True},
        {**inner, "nullable": True},
    ]
    if isinstance(inner.get("type"), str):
        ways += [{**inner, "type": [inner["type"], "null"]}, {**inner, "type": ["null", inner["type"]]}]
    return [*ways, *({**way, "default": None} for way in [*ways, inner])]


def form(schema: Any, **more: Any) -> Form:
    return Form({"type": "object", "properties": {"a": schema}, "$defs": {"Size": SIZE}, **more})


def field_at(made: Form, path: Path) -> FormField:
    field = made.field(path)
    assert field is not None
    return field


def set_in(made: Form, path: Any, text: str) -> None:
    assert path is not None
    assert made.set(path, text) == ""


@each_case("schema", optional_forms(TEXTS))
def test_an_item_can_be_added_to_an_optional_list(schema: dict[str, Any]) -> None:
    made = form(schema)
    set_in(made, made.add(("a",)), "x")
    set_in(made, made.add(("a",)), "y")
    assert made.value() == ({"a": ["x", "y"]}, {})


@each_case("schema", optional_forms(COUNTS))
def test_an_entry_can_be_added_to_an_optional_map(schema: dict[str, Any]) -> None:
    made = form(schema)
    set_in(made, made.add(("a",), "k"), "1")
    assert made.value() == ({"a": {"k": 1}}, {})


@each_case("schema", [SIZE, *optional_forms(SIZE), *optional_forms(REF)])
def test_an_optional_object_opens_with_its_properties(schema: dict[str, Any]) -> None:
    made = form(schema)
    assert made.add(("a",)) == ("a",)
    assert made.add(("a",), "width") == ("a", "width")  # that property, not another entry
    assert [field.path for field in made.fields()] == [("a",), ("a", "width"), ("a", "height")]
    set_in(made, ("a", "width"), "4")
    assert made.value() == ({"a": {"width": 4}}, {})
    made = form(schema)
    assert made.add(("a",), "width") == ("a", "width")


@pytest.mark.parametrize("inner", [TEXTS, COUNTS, SIZE, REF])
def test_an_optional_field_is_absent_at_first_and_again_after_it_is_removed(inner: dict[str, Any]) -> None:
    for schema in optional_forms(inner):
        made = form(schema)
        assert made.value() == ({}, {})
        made.add(("a",), "k")
        made.remove(("a",))
        assert made.value() == ({}, {})


@pytest.mark.parametrize("inner", [TEXTS, COUNTS, SIZE, REF])
def test_null_puts_the_content_aside_and_what_follows_restores_it(inner: dict[str, Any]) -> None:
    for schema in optional_forms(inner)[:8]:
        made = form(schema)
        path = made.add(("a",), "width")
        set_in(made, path, "4")
        before = made.value()
        made.null(("a",))
        made.null(("a",))
        assert made.value() == ({"a": None}, {})
        made.not_null(("a",))
        assert made.value() == before


def test_a_null_object_list_or_map_gets_content_when_it_is_added_to() -> None:
    for inner, value in ((TEXTS, []), (COUNTS, {}), (SIZE, {})):
        made = form({"anyOf": [inner, NULL]})
        made.load({"a": None})
        made.include(("a",))
        assert made.value()[0] == {"a": value}


def test_a_default_list_is_added_to_and_a_required_default_of_null_is_null() -> None:
    made = form({**TEXTS, "default": ["x"]})
    set_in(made, made.add(("a",)), "y")
    assert made.value() == ({"a": ["x", "y"]}, {})
    made = form({"anyOf": [TEXTS, NULL], "default": None}, required=["a"])
    assert made.value() == ({"a": None}, {})


def test_the_description_of_a_field_takes_precedence_over_that_of_its_type() -> None:
    made = form({"anyOf": [{**SIZE, "description": "Any size"}, NULL], "description": "Of the box"})
    field = field_at(made, ("a",))
    assert (field.spec.description, field.nullable) == ("Of the box", True)


# ---- unions ----------------------------------------------------------------------------------------------

CAT = {
    "title": "Cat",
    "type": "object",
    "properties": {"kind": {"const": "cat"}, "lives": {"type": "integer"}},
}
DOG = {
    "title": "Dog",
    "type": "object",
    "properties": {"kind": {"const": "dog"}, "barks": {"type": "boolean"}},
}
for one in (CAT, DOG):
    one["required"] = ["kind"]
PET = {"oneOf": [CAT, DOG], "discriminator": {"propertyName": "kind"}}


@pytest.mark.parametrize(
    "schema", [{"anyOf": [PET, NULL], "default": None}, {"anyOf": [CAT, DOG, NULL]}, {"anyOf": [NULL, PET]}]
)
def test_each_variant_of_an_optional_union_can_be_chosen_and_null_again(schema: dict[str, Any]) -> None:
    made = form(schema)
    made.choose_arm(("a",), 1)
    set_in(made, ("a", "barks"), "true")
    assert made.value() == ({"a": {"kind": "dog", "barks": True}}, {})
    made.null(("a",))
    made.choose_arm(("a",), 0)
    set_in(made, ("a", "lives"), "9")
    assert made.value() == ({"a": {"kind": "cat", "lives": 9}}, {})
    made.choose_arm(("a",), 1)
    assert made.value()[0] == {"a": {"kind": "dog", "barks": True}}


def test_a_variant_can_be_chosen_of_an_absent_union_whatever_its_default() -> None:
    made = form({"anyOf": [CAT, DOG, NULL], "default": None})
    made.choose_arm(("a",), 0)
    assert made.value() == ({"a": {"kind": "cat"}}, {})
    made = form({"anyOf": [{"type": "integer"}, TEXTS], "default": 5})
    made.choose_arm(("a",), 1)
    assert made.value() == ({"a": []}, {})
    made = form({"anyOf": [{"type": "integer"}, TEXTS], "default": ["x"]})
    made.include(("a",))
    assert made.value() == ({"a": ["x"]}, {})


@pytest.mark.parametrize(
    "schema",
    [
        {"anyOf": [{"enum": ["x", "y"]}, NULL], "default": None},
        {"anyOf": [{"const": "x"}, {"const": "y"}, NULL]},
        {"enum": ["x", "y"], "nullable": True},
        {"type": ["string", "null"], "enum": ["x", "y"]},
    ],
)
def test_an_optional_choice_offers_its_values(schema: dict[str, Any]) -> None:
    made = form(schema)
    field = field_at(made, ("a",))
    assert (field.kind, [one.label for one in field.spec.choices]) == (FieldKind.CHOICE, ["x", "y"])
    set_in(made, ("a",), "y")
    assert made.value() == ({"a": "y"}, {})


def test_an_optional_choice_can_be_null_and_variants_are_not_named_after_the_field() -> None:
    for schema in ({"enum": ["x"], "nullable": True}, {"anyOf": [{"const": "x"}, NULL]}):
        assert field_at(form(schema), ("a",)).nullable
    made = form({"anyOf": [{"type": "integer"}, TEXTS, NULL], "title": "Either"})
    assert tuple(field_at(made, ("a",)).arms) == ("integer", "array")


# ---- nested ----------------------------------------------------------------------------------------------


def test_an_optional_list_of_the_same_model_opens_level_by_level() -> None:
    node = {
        "type": "object",
        "properties": {"children": {"anyOf": [{"type": "array", "items": {"$ref": "#/$defs/N"}}, NULL]}},
    }
    made = Form({"type": "object", "properties": {"a": {"$ref": "#/$defs/N"}}, "$defs": {"N": node}})
    path = made.add(("a", "children"))
    assert path == ("a", "children", 0)
    assert made.add((*path, "children")) == ("a", "children", 0, "children", 0)
    assert made.value() == ({"a": {"children": [{"children": [{}]}]}}, {})


PAIR = [{"type": "integer"}, {"type": "string"}]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "prefixItems": PAIR, "minItems": 2, "maxItems": 2},
        {"type": "array", "items": PAIR, "minItems": 2, "maxItems": 2},
        {"type": "array", "items": PAIR, "additionalItems": False, "minItems": 2},
        {"type": "array", "prefixItems": PAIR, "items": False, "minItems": 2},
    ],
)
def test_a_tuple_opens_with_all_of_its_items(schema: dict[str, Any]) -> None:
    made = form({"anyOf": [schema, NULL], "default": None})
    assert made.add(("a",)) == ("a", 0)
    assert [field.kind for field in made.fields()[1:]] == [FieldKind.INTEGER, FieldKind.TEXT]
    set_in(made, ("a", 0), "1")
    set_in(made, ("a", 1), "1")
    assert made.value() == ({"a": [1, "1"]}, {})
    made.set(made.add(("a",)) or (), "2")
    assert made.problems()


def test_entries_are_of_the_pattern_that_their_name_matches() -> None:
    made = form(
        {
            "type": "object",
            "patternProperties": {"^n_": {"type": "integer"}, "^t_": {"type": "string"}},
            "additionalProperties": False,
        }
    )
    set_in(made, made.add(("a",), "n_x"), "1")
    set_in(made, made.add(("a",), "t_x"), "1")
    assert made.value() == ({"a": {"n_x": 1, "t_x": "1"}}, {})
    path = made.add(("a",), "other")
    assert path == ("a", "other")
    made.set(path, "1")
    assert made.problems() == {path: "is not in the schema"}


@pytest.mark.parametrize("nothing", [{"not": {}}, False])
def test_a_variant_without_any_value_is_not_offered(nothing: Any) -> None:
    made = form({"anyOf": [nothing, TEXTS, NULL]})
    field = field_at(made, ("a",))
    assert (field.kind, field.arms) == (FieldKind.ARRAY, ())
