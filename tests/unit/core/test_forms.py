"""Filling in a form: states, paths, what is wrong, raw JSON at any moment, nothing ever lost."""

import json
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tui.core.forms import FieldKind, FieldState, form_of
from tui.core.forms_spec import MAX_FIELDS


def form(properties, required=(), **more):
    return form_of({"type": "object", "properties": properties, "required": list(required), **more})


TEXT = {"type": "string"}
NUMBER = {"type": "number"}
POINT = {"type": "object", "properties": {"x": NUMBER, "y": NUMBER}, "required": ["x"]}


# ---- states ----------------------------------------------------------------------------------------------


def test_an_empty_form_gives_no_arguments_and_asks_for_what_is_required():
    made = form({"a": TEXT, "b": TEXT}, ["a"])
    assert made.value() == ({}, {("a",): "is required"})


def test_an_empty_text_is_not_the_same_as_none():
    made = form({"a": TEXT})
    made.set(("a",), "")
    assert made.value()[0] == {"a": ""}
    made.clear(("a",))
    assert made.value()[0] == {}


def test_an_emptied_number_is_absent():
    made = form({"n": NUMBER})
    made.set(("n",), "1")
    made.set(("n",), "")
    assert made.value() == ({}, {})


def test_a_required_default_stands_there_and_an_optional_one_is_the_servers():
    made = form({"a": {"type": "integer", "default": 3}, "b": {"type": "integer", "default": 4}}, ["a"])
    assert made.value() == ({"a": 3}, {})
    made.include(("b",))
    assert made.value()[0] == {"a": 3, "b": 4}


def test_null_is_a_value_of_its_own():
    made = form({"a": {"type": ["string", "null"]}}, ["a"])
    made.null(("a",))
    assert made.value() == ({"a": None}, {})


def test_a_required_constant_need_not_be_filled_in():
    made = form({"kind": {"const": "circle"}}, ["kind"])
    assert made.value() == ({"kind": "circle"}, {})


def test_a_required_object_is_there_and_an_optional_one_is_not():
    made = form({"a": POINT, "b": POINT}, ["a"])
    assert made.value() == ({"a": {}}, {("a", "x"): "is required"})
    assert [field.path for field in made.fields()] == [("a",), ("a", "x"), ("a", "y"), ("b",)]


def test_setting_a_field_makes_what_is_above_it_be_there():
    made = form({"b": POINT})
    made.include(("b",))
    made.clear(("b",))
    made.set(("b", "x"), "1.5")
    assert made.value() == ({"b": {"x": 1.5}}, {})


def test_a_path_that_is_not_there_changes_nothing():
    made = form({"a": TEXT})
    for act in (made.clear, made.include, made.null, made.remove, made.to_raw, made.to_typed):
        act(("no", 3))
    assert made.set(("no",), "x") == ""
    assert made.add(("no",)) is None
    assert made.rename(("no",), "b") == ("no",)
    made.choose_arm(("a",), 7)
    assert made.field(("no",)) is None
    assert made.value() == ({}, {})


# ---- what is wrong ---------------------------------------------------------------------------------------


def test_what_is_wrong_is_said_where_it_is_and_sent_all_the_same():
    made = form({"p": POINT})
    assert made.set(("p", "x"), "far") == "is not a number"
    assert made.value() == ({"p": {"x": "far"}}, {("p", "x"): "is not a number"})
    row = made.field(("p", "x"))
    assert row is not None
    assert (row.text, row.problem) == ("far", "is not a number")


def test_choices_are_set_by_label_or_by_value():
    made = form({"c": {"oneOf": [{"const": 1, "title": "one"}, {"const": 2, "title": "two"}]}})
    for text in ("two", "2"):
        made.set(("c",), text)
        assert made.value() == ({"c": 2}, {})
    made.set(("c",), "three")
    assert made.problems() == {("c",): "is none of the values that are allowed"}


def test_arrays_say_how_many_items_they_need_and_that_each_is_another():
    made = form({"a": {"type": "array", "items": NUMBER, "minItems": 2, "uniqueItems": True}})
    made.add(("a",))
    made.set(("a", 0), "1")
    assert made.problems() == {("a",): "needs at least 2 items"}
    made.set(made.add(("a",)), "1.0")
    assert made.problems() == {("a",): "has item 1 twice"}


# ---- arrays, maps, unions --------------------------------------------------------------------------------


def test_items_are_added_and_removed_and_the_later_ones_move_up():
    made = form({"a": {"type": "array", "items": TEXT}})
    for text in "xyz":
        made.set(made.add(("a",)), text)
    made.remove(("a", 1))
    assert made.value()[0] == {"a": ["x", "z"]}
    assert [row.path for row in made.fields()] == [("a",), ("a", 0), ("a", 1)]


def test_an_item_that_is_empty_is_said():
    made = form({"a": {"type": "array", "items": NUMBER}})
    made.add(("a",))
    assert made.value() == ({"a": []}, {("a", 0): "is empty"})


def test_entries_of_a_map_have_names_that_can_change():
    made = form({"m": {"type": "object", "additionalProperties": {"type": "integer"}}})
    path = made.add(("m",), "k")
    assert made.add(("m",), "k") == ("m", "k 2")
    made.set(path, "1")
    assert made.rename(path, "k 2") == path
    path = made.rename(path, "first")
    made.set(("m", "k 2"), "2")
    assert json.dumps(made.value()[0]) == '{"m": {"first": 1, "k 2": 2}}'


def test_an_open_object_takes_entries_that_are_not_in_the_schema_and_a_closed_one_says_so():
    made = form({"a": TEXT})
    made.set(made.add((), "b"), "[1]")
    assert made.value() == ({"b": [1]}, {})
    made = form({"a": TEXT}, additionalProperties=False)
    made.load({"b": 1})
    assert made.value() == ({"b": 1}, {("b",): "is not in the schema"})


CIRCLE = {"properties": {"kind": {"const": "circle"}, "r": NUMBER}, "required": ["kind", "r"]}
SQUARE = {"properties": {"kind": {"const": "square"}, "a": NUMBER}, "required": ["kind", "a"]}
SHAPE = {"oneOf": [{"type": "object", **CIRCLE}, {"type": "object", **SQUARE}, {"type": "string"}]}


def test_a_union_is_a_choice_of_its_arms():
    made = form({"s": SHAPE}, ["s"])
    row = made.field(("s",))
    assert row is not None
    assert row.arms == ("kind: circle", "kind: square", "text")
    made.choose_arm(("s",), 1)
    made.set(("s", "a"), "2")
    assert made.value() == ({"s": {"kind": "square", "a": 2}}, {})
    made.choose_arm(("s",), 2)
    made.set(("s",), "round")
    assert made.value() == ({"s": "round"}, {})


def test_another_arm_begins_with_what_fits_it_too():
    circle, square = (
        {"type": "object", "title": name, "properties": {"kind": {"const": name}, "at": POINT, "size": size}}
        for name, size in (("circle", NUMBER), ("square", TEXT))
    )
    made = form({"s": {"anyOf": [circle, square]}})
    made.load({"s": {"kind": "circle", "at": {"x": 1}, "size": 2}})
    made.choose_arm(("s",), 1)
    assert made.value()[0] == {"s": {"at": {"x": 1}}}


def test_what_stood_in_an_arm_is_there_again_when_it_is_taken_again():
    made = form({"v": {"type": ["string", "number"]}})
    made.set(("v",), "twelve")
    made.choose_arm(("v",), 1)
    assert made.value() == ({}, {})
    made.set(("v",), "12")
    made.choose_arm(("v",), 0)
    assert made.value()[0] == {"v": "twelve"}
    made.choose_arm(("v",), 1)
    assert made.value()[0] == {"v": 12}


def test_loading_finds_the_arm_that_fits():
    made = form({"s": SHAPE})
    for value, arm in (({"kind": "square", "a": 1}, 1), ("x", 2), ({"kind": "circle", "r": 0.5}, 0)):
        made.load({"s": value})
        row = made.field(("s",))
        assert row is not None
        assert row.arm == arm
        assert made.value() == ({"s": value}, {})


# ---- raw JSON --------------------------------------------------------------------------------------------


def test_the_whole_form_is_raw_json_and_back_at_any_moment():
    made = form({"p": POINT, "t": TEXT})
    made.set(("p", "x"), "oops")
    made.set(("t",), "")
    before = made.value()
    assert made.from_json(made.as_json()) == ""
    assert made.value() == before
    row = made.field(("p", "x"))
    assert row is not None
    assert row.state is FieldState.RAW


def test_text_that_is_no_json_changes_nothing_and_says_where():
    made = form({"t": TEXT})
    made.set(("t",), "kept")
    assert made.from_json('{"t": }') == "is not JSON: Expecting value at line 1, column 7"
    assert made.from_json("[" * 100_000) == "is nested too deeply"
    assert made.from_json('{"t": NaN}') == "is not JSON: NaN is no number"
    assert made.value()[0] == {"t": "kept"}


def test_arguments_that_are_no_object_stand_as_raw_json_of_the_whole():
    made = form({"t": TEXT})
    made.load([1, 2])
    assert [row.path for row in made.fields()] == [()]
    assert made.value() == ([1, 2], {(): "is not an object"})


def test_one_field_is_raw_json_and_back():
    made = form({"p": POINT})
    made.load({"p": {"x": 1}})
    made.to_raw(("p",))
    row = made.field(("p",))
    assert row is not None
    assert (row.kind, row.children) == (FieldKind.JSON, 0)
    assert made.set(("p",), '{"x": 2, "y"') == "is not JSON: Expecting ':' delimiter at line 1, column 13"
    assert made.to_typed(("p",)).startswith("is not JSON")
    made.set(("p",), '{"x": 2, "z": true}')
    assert made.to_typed(("p",)) == ""
    assert made.value()[0] == {"p": {"x": 2, "z": True}}


def test_what_does_not_fit_stays_raw_and_says_why():
    made = form({"n": {"type": "integer"}})
    made.load({"n": "12"})
    row = made.field(("n",))
    assert row is not None
    assert (row.state, row.text, row.problem) == (FieldState.RAW, '"12"', "is not a whole number")
    assert made.to_typed(("n",)) == "is not a whole number"
    assert made.value()[0] == {"n": "12"}


@pytest.mark.parametrize("more", [{}, {"properties": {}}, {"additionalProperties": False}])
def test_a_tool_without_arguments_has_nothing_to_fill_in(more):
    made = form_of({"type": "object", **more})
    assert made.fields() == ()
    assert made.value() == ({}, {})


def test_a_tool_that_takes_any_entries_is_a_map():
    made = form_of({"type": "object", "additionalProperties": {"type": "integer"}})
    assert [row.kind for row in made.fields()] == [FieldKind.MAP]
    made.set(made.add((), "n"), "1")
    assert made.value() == ({"n": 1}, {})


# ---- bounds ----------------------------------------------------------------------------------------------


def test_a_schema_that_contains_itself_grows_only_as_far_as_it_is_filled_in():
    node = {"type": "object", "properties": {"child": {"$ref": "#/$defs/node"}, "v": NUMBER}}
    made = form({"node": {"$ref": "#/$defs/node"}}, **{"$defs": {"node": node}})
    assert len(made.fields()) == 1
    made.set(("node", "child", "child", "v"), "1")
    assert made.value()[0] == {"node": {"child": {"child": {"v": 1}}}}


def test_a_schema_that_must_contain_itself_ends():
    both = {"$ref": "#/$defs/n"}
    node = {"type": "object", "properties": {"a": both, "b": both, "c": both}, "required": ["a", "b", "c"]}
    made = form({"n": both}, ["n"], **{"$defs": {"n": node}})
    assert len(made.fields()) <= MAX_FIELDS


def test_what_is_deeper_than_eight_levels_is_raw_json():
    schema = {"type": "object", "properties": {"d": {"$ref": "#"}}}
    made = form_of(schema)
    value = {"d": {"d": {"d": {"d": {"d": {"d": {"d": {"d": {"d": {"d": {}}}}}}}}}}}
    made.load(value)
    assert made.value() == (value, {})
    assert max(row.depth for row in made.fields()) == 8


def test_more_properties_than_fields_are_added_by_name():
    made = form({f"p{number}": {"type": "integer"} for number in range(2000)})
    assert len(made.fields()) < MAX_FIELDS
    assert "not shown" in made.field(()).spec.note
    made.load({"p1999": 7})
    assert made.value() == ({"p1999": 7}, {})


def test_more_items_than_fields_are_raw_json_of_the_array():
    made = form({"a": {"type": "array", "items": TEXT}})
    value = {"a": ["x"] * 1000}
    made.load(value)
    assert made.value() == (value, {})
    assert len(made.fields()) == 1


def test_a_key_pressed_costs_less_than_a_millisecond_in_the_largest_form():
    made = form({f"p{number}": {"type": "string", "pattern": "^[a-z]+$"} for number in range(MAX_FIELDS)})
    row = made.fields()[200]
    best = 1.0
    for number in range(20):
        began = time.perf_counter()
        made.set(row.path, "x" * number)
        made.field(row.path)
        best = min(best, time.perf_counter() - began)
    assert best < 0.001


# ---- hostile schemas -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "schema",
    [
        None, True, False, [], 3, "x", {},
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}},
        {"properties": {"a": {"$ref": "http://127.0.0.1:9/x"}, "b": {"$ref": "file:///etc/passwd"}}},
        {"type": "object", "properties": ["a"], "required": "a"},
        {"properties": {"a": None, "b": {"type": 3, "enum": 7, "anyOf": {}}}, "required": [1]},
        {"type": "object", "allOf": [{"$ref": "#"}, {"$ref": "#"}]},
        {"type": "object", "anyOf": [{"$ref": "#"}, {"$ref": "#"}]},
        {"type": "object", "properties": {"v": {"type": "string", "pattern": "^(a+)+$", "minLength": "x"}}},
        {"type": "object", "properties": {"v": {"type": "string", "pattern": "(["}}},
        {"type": "object", "properties": {"v": {"enum": [{}, [], None, 1, True, "1", "1"]}}},
        {"type": "object", "properties": {"v": {"type": "array", "prefixItems": [1, None], "items": False}}},
        {"type": "object", "properties": {"v": {"type": "integer", "minimum": "a", "multipleOf": 0}}},
    ],
)  # fmt: skip
def test_no_schema_makes_a_form_fail(schema):
    made = form_of(schema)
    value = {"a": 1, "b": [None, {"c": "x"}], "v": "a" * 40 + "!"}
    began = time.perf_counter()
    made.load(value)
    assert made.value()[0] == value
    assert time.perf_counter() - began < 1
    for row in made.fields():
        made.set(row.path, "1")
        made.include(row.path)
        made.add(row.path)
        made.null(row.path)
        made.to_raw(row.path)
        made.to_typed(row.path)
    json.dumps(made.value()[0])


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=15,
)
SIMPLE = st.sampled_from(
    [
        {}, {"type": "string"}, {"type": "integer"}, {"type": "number"}, {"type": "boolean"},
        {"type": "null"},
        {"enum": ["a", 1, None, True, "1", 1.5]}, {"const": {"k": [1]}}, {"type": ["string", "null"]},
        {"type": "string", "format": "date"}, {"type": ["integer", "string", "array"]}, {"$ref": "#/$defs/n"},
        {"enum": ["x", "y"], "enumNames": ["same", "same"]},
    ]
)  # fmt: skip
SCHEMAS = st.recursive(
    SIMPLE,
    lambda inner: (
        st.fixed_dictionaries(
            {
                "type": st.just("object"),
                "properties": st.dictionaries(st.text("abc", max_size=2), inner, max_size=4),
                "required": st.lists(st.text("abc", max_size=2), max_size=3),
                "additionalProperties": st.booleans() | inner,
            }
        )
        | st.fixed_dictionaries(
            {"type": st.just("array"), "items": inner, "prefixItems": st.lists(inner, max_size=2)}
        )
        | st.fixed_dictionaries({"anyOf": st.lists(inner, max_size=4)})
        | st.fixed_dictionaries({"allOf": st.lists(inner, max_size=2), "oneOf": st.lists(inner, max_size=2)})
    ),
    max_leaves=12,
)
NODE = {"type": "object", "properties": {"n": {"$ref": "#/$defs/n"}, "v": {"type": "integer"}}}


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(SCHEMAS, ANY_JSON)
def test_any_value_survives_any_form(schema, value):
    made = form_of({**schema, "$defs": {"n": NODE}})
    made.load(value)
    exactly = json.dumps(value, sort_keys=True)
    assert json.dumps(made.value()[0], sort_keys=True) == exactly
    assert made.from_json(made.as_json()) == ""
    assert json.dumps(made.value()[0], sort_keys=True) == exactly


def fitting(schema):
    """Return a strategy for values that a schema of the kinds below allows."""
    match schema:
        case {"$ref": _}:
            return fitting(NODE)
        case {"enum": values}:
            return st.sampled_from(values)
        case {"const": value}:
            return st.just(value)
        case {"anyOf": [_, *_] as arms}:
            return st.one_of(*map(fitting, arms))
        case {"type": "object"}:
            known = schema.get("properties", {})
            needed = {name: fitting(known[name]) for name in schema.get("required", ()) if name in known}
            missing = {name: ANY_JSON for name in schema.get("required", ()) if name not in known}
            rest = {
                name: fitting(one) for name, one in known.items() if name not in needed and "$ref" not in one
            }
            return st.fixed_dictionaries({**needed, **missing}, optional=rest)
        case {"type": "array"}:
            return st.lists(fitting(schema["items"]), max_size=3)
        case {"type": list(names)}:
            return st.one_of(*(fitting({"type": name, "items": {}}) for name in names))
        case {"type": name}:
            return {
                "string": st.text(st.characters(exclude_categories=["Cs"])),
                "integer": st.integers(),
                "number": st.floats(allow_nan=False, allow_infinity=False) | st.integers(),
                "boolean": st.booleans(),
                "null": st.none(),
            }[name]
    return ANY_JSON


VALID = st.recursive(
    SIMPLE.filter(lambda schema: "format" not in schema),
    lambda inner: (
        st.fixed_dictionaries(
            {
                "type": st.just("object"),
                "properties": st.dictionaries(st.text("abc", max_size=2), inner, max_size=4),
                "required": st.lists(st.text("abc", max_size=2), max_size=3),
            }
        )
        | st.fixed_dictionaries({"type": st.just("array"), "items": inner})
        | st.fixed_dictionaries({"anyOf": st.lists(inner, min_size=1, max_size=4)})
    ),
    max_leaves=10,
)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_values_that_a_schema_allows_are_loaded_without_complaint(data):
    schema = data.draw(VALID)
    value = data.draw(fitting(schema))
    made = form_of({**schema, "$defs": {"n": NODE}})
    made.load(value)
    assert json.dumps(made.value()[0], sort_keys=True) == json.dumps(value, sort_keys=True)
    assert made.problems() == {}
