"""Forms of any schema, filled with any value: bounded, and without loss."""

import json
import time

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.cases import each_case
from tui.core.forms.form import Form
from tui.core.forms.spec import MAX_FIELDS


def form(properties, required=(), **more):
    return Form({"type": "object", "properties": properties, "required": list(required), **more})


TEXT = {"type": "string"}
NUMBER = {"type": "number"}


def test_a_recursive_schema_expands_only_as_far_as_it_is_filled_in():
    node = {"type": "object", "properties": {"child": {"$ref": "#/$defs/node"}, "v": NUMBER}}
    made = form({"node": {"$ref": "#/$defs/node"}}, **{"$defs": {"node": node}})
    assert len(made.fields()) == 1
    made.set(("node", "child", "child", "v"), "1")
    assert made.value()[0] == {"node": {"child": {"child": {"v": 1}}}}


def test_a_schema_that_requires_itself_expands_to_a_bounded_form():
    both = {"$ref": "#/$defs/n"}
    node = {"type": "object", "properties": {"a": both, "b": both, "c": both}, "required": ["a", "b", "c"]}
    made = form({"n": both}, ["n"], **{"$defs": {"n": node}})
    assert len(made.fields()) <= MAX_FIELDS


def test_values_deeper_than_eight_levels_are_raw_json():
    schema = {"type": "object", "properties": {"d": {"$ref": "#"}}}
    made = Form(schema)
    value = {"d": {"d": {"d": {"d": {"d": {"d": {"d": {"d": {"d": {"d": {}}}}}}}}}}}
    made.load(value)
    assert made.value() == (value, {})
    assert max(row.depth for row in made.fields()) == 8


def test_properties_beyond_the_maximum_number_of_fields_are_added_by_name():
    made = form({f"p{number}": {"type": "integer"} for number in range(2000)})
    assert len(made.fields()) < MAX_FIELDS
    assert "not shown" in made.field(()).spec.note
    made.load({"p1999": 7})
    assert made.value() == ({"p1999": 7}, {})


def test_an_array_with_more_items_than_fields_is_raw_json():
    made = form({"a": {"type": "array", "items": TEXT}})
    value = {"a": ["x"] * 1000}
    made.load(value)
    assert made.value() == (value, {})
    assert len(made.fields()) == 1


def test_a_key_press_takes_less_than_a_millisecond_in_the_largest_form():
    made = form({f"p{number}": {"type": "string", "pattern": "^[a-z]+$"} for number in range(MAX_FIELDS)})
    row = made.fields()[200]
    best = 1.0
    for number in range(20):
        began = time.thread_time()
        made.set(row.path, "x" * number)
        made.field(row.path)
        best = min(best, time.thread_time() - began)
    assert best < 0.001


# ---- hostile schemas -------------------------------------------------------------------------------------


@each_case(
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
    made = Form(schema)
    value = {"a": 1, "b": [None, {"c": "x"}], "v": "a" * 40 + "!"}
    began = time.thread_time()
    made.load(value)
    assert made.value()[0] == value
    assert time.thread_time() - began < 1
    for row in made.fields():
        made.set(row.path, "1")
        made.include(row.path)
        made.add(row.path)
        made.null(row.path)
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


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(SCHEMAS, ANY_JSON)
def test_any_value_survives_any_form(schema, value):
    made = Form({**schema, "$defs": {"n": NODE}})
    made.load(value)
    exactly = json.dumps(value, sort_keys=True)
    assert json.dumps(made.value()[0], sort_keys=True) == exactly
    assert made.from_json(made.as_json()) == ""
    assert json.dumps(made.value()[0], sort_keys=True) == exactly


def fitting(schema):
    """Return a strategy for values that match a schema of the kinds below."""
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


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_values_that_match_the_schema_load_without_problems(data):
    schema = data.draw(VALID)
    value = data.draw(fitting(schema))
    made = Form({**schema, "$defs": {"n": NODE}})
    made.load(value)
    assert json.dumps(made.value()[0], sort_keys=True) == json.dumps(value, sort_keys=True)
    assert made.problems() == {}
