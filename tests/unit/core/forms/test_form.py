"""Filling in a form: states, paths, problems, and raw JSON at any time without loss."""

from tui.core.forms.form import Form
from tui.core.forms.spec import FieldKind, FieldState, FormField, Path


def form(properties, required=(), **more):
    return Form({"type": "object", "properties": properties, "required": list(required), **more})


def field_at(made: Form, path: Path) -> FormField:
    field = made.field(path)
    assert field is not None
    return field


TEXT = {"type": "string"}
NUMBER = {"type": "number"}
POINT = {"type": "object", "properties": {"x": NUMBER, "y": NUMBER}, "required": ["x"]}


# ---- states ----------------------------------------------------------------------------------------------


def test_a_required_default_is_filled_in_and_an_optional_one_is_left_to_the_server():
    made = form({"a": {"type": "integer", "default": 3}, "b": {"type": "integer", "default": 4}}, ["a"])
    assert made.value() == ({"a": 3}, {})
    made.include(("b",))
    assert made.value()[0] == {"a": 3, "b": 4}


def test_a_required_object_is_present_and_an_optional_one_is_absent():
    made = form({"a": POINT, "b": POINT}, ["a"])
    assert made.value() == ({"a": {}}, {("a", "x"): "is required"})
    assert [field.path for field in made.fields()] == [("a",), ("a", "x"), ("a", "y"), ("b",)]


def test_an_unknown_path_changes_nothing():
    made = form({"a": TEXT})
    for act in (made.clear, made.include, made.null, made.remove):
        act(("no", 3))
    assert made.set(("no",), "x") == ""
    assert made.add(("no",)) is None
    made.choose_arm(("a",), 7)
    assert made.field(("no",)) is None
    assert made.value() == ({}, {})


# ---- problems --------------------------------------------------------------------------------------------


def test_problems_are_reported_at_their_field_and_the_value_is_kept():
    made = form({"p": POINT})
    assert made.set(("p", "x"), "far") == "is not a number"
    assert made.value() == ({"p": {"x": "far"}}, {("p", "x"): "is not a number"})
    row = field_at(made, ("p", "x"))
    assert (row.text, row.problem) == ("far", "is not a number")


def test_choices_are_set_by_label_or_value():
    made = form({"c": {"oneOf": [{"const": 1, "title": "one"}, {"const": 2, "title": "two"}]}})
    for text in ("two", "2"):
        made.set(("c",), text)
        assert made.value() == ({"c": 2}, {})
    made.set(("c",), "three")
    assert made.problems() == {("c",): "is not an allowed value"}


def test_arrays_report_too_few_items_and_duplicates():
    made = form({"a": {"type": "array", "items": NUMBER, "minItems": 2, "uniqueItems": True}})
    made.add(("a",))
    made.set(("a", 0), "1")
    assert made.problems() == {("a",): "needs at least 2 items"}
    made.set(made.add(("a",)), "1.0")
    assert made.problems() == {("a",): "contains item 1 twice"}


# ---- arrays, maps, unions --------------------------------------------------------------------------------


def test_items_can_be_added_and_removed_and_an_empty_one_is_reported():
    made = form({"a": {"type": "array", "items": TEXT}})
    for text in "xyz":
        made.set(made.add(("a",)), text)
    made.remove(("a", 1))
    assert made.value()[0] == {"a": ["x", "z"]}
    assert [row.path for row in made.fields()] == [("a",), ("a", 0), ("a", 1)]
    made = form({"a": {"type": "array", "items": NUMBER}})
    made.add(("a",))
    assert made.value() == ({"a": []}, {("a", 0): "is empty"})


def test_a_second_entry_of_a_name_gets_a_number():
    made = form({"m": {"type": "object", "additionalProperties": {"type": "integer"}}})
    assert [made.add(("m",), "k"), made.add(("m",), "k")] == [("m", "k"), ("m", "k 2")]


def test_an_open_object_accepts_extra_entries_and_a_closed_one_reports_them():
    made = form({"a": TEXT})
    made.set(made.add((), "b"), "[1]")
    assert made.value() == ({"b": [1]}, {})
    made = form({"a": TEXT}, additionalProperties=False)
    made.load({"b": 1})
    assert made.value() == ({"b": 1}, {("b",): "is not in the schema"})


CIRCLE = {"properties": {"kind": {"const": "circle"}, "r": NUMBER}, "required": ["kind", "r"]}
SQUARE = {"properties": {"kind": {"const": "square"}, "a": NUMBER}, "required": ["kind", "a"]}
SHAPE = {"oneOf": [{"type": "object", **CIRCLE}, {"type": "object", **SQUARE}, {"type": "string"}]}


def test_switching_arms_keeps_values_that_fit():
    circle, square = (
        {"type": "object", "title": name, "properties": {"kind": {"const": name}, "at": POINT, "size": size}}
        for name, size in (("circle", NUMBER), ("square", TEXT))
    )
    made = form({"s": {"anyOf": [circle, square]}})
    made.load({"s": {"kind": "circle", "at": {"x": 1}, "size": 2}})
    made.choose_arm(("s",), 1)
    assert made.value()[0] == {"s": {"at": {"x": 1}}}


def test_switching_back_restores_the_content_of_an_arm():
    made = form({"v": {"type": ["string", "number"]}})
    made.set(("v",), "twelve")
    made.choose_arm(("v",), 1)
    assert made.value() == ({}, {})
    made.set(("v",), "12")
    made.choose_arm(("v",), 0)
    assert made.value()[0] == {"v": "twelve"}
    made.choose_arm(("v",), 1)
    assert made.value()[0] == {"v": 12}


def test_loading_a_value_selects_the_matching_arm():
    made = form({"s": SHAPE})
    for value, arm in (({"kind": "square", "a": 1}, 1), ("x", 2), ({"kind": "circle", "r": 0.5}, 0)):
        made.load({"s": value})
        row = field_at(made, ("s",))
        assert row.arm == arm
        assert made.value() == ({"s": value}, {})


# ---- raw JSON --------------------------------------------------------------------------------------------


def test_a_form_survives_a_round_trip_through_raw_json():
    made = form({"p": POINT, "t": TEXT})
    made.set(("p", "x"), "oops")
    made.set(("t",), "")
    before = made.value()
    assert made.from_json(made.as_json()) == ""
    assert made.value() == before
    row = field_at(made, ("p", "x"))
    assert row.state is FieldState.RAW


def test_invalid_json_changes_nothing_and_reports_the_position():
    made = form({"t": TEXT})
    made.set(("t",), "kept")
    assert made.from_json('{"t": }') == "is not JSON: a value is missing at line 1, column 7"
    assert made.from_json("[" * 100_000) == "is nested too deeply"
    assert made.from_json('{"t": NaN}') == "is not JSON: NaN is not a JSON value"
    assert made.value()[0] == {"t": "kept"}


def test_arguments_that_are_not_an_object_become_raw_json():
    made = form({"t": TEXT})
    made.load([1, 2])
    assert [row.path for row in made.fields()] == [()]
    assert made.value() == ([1, 2], {(): "is not an object"})


def test_an_object_can_be_edited_as_raw_json():
    made = form({"p": POINT})
    made.load({"p": {"x": 1}})
    assert made.set(("p",), '{"x": 1}') == ""
    row = field_at(made, ("p",))
    assert (row.kind, row.children) == (FieldKind.JSON, {})
    assert made.set(("p",), '{"x": 2, "y"') == "is not JSON: a colon is missing at line 1, column 13"
    assert made.set(("p",), '{"x": 2, "z": true}') == ""
    assert made.value()[0] == {"p": {"x": 2, "z": True}}


def test_a_value_that_does_not_fit_is_kept_raw_with_the_reason():
    made = form({"n": {"type": "integer"}})
    made.load({"n": "12"})
    row = field_at(made, ("n",))
    assert (row.state, row.text, row.problem) == (FieldState.RAW, '"12"', "is not an integer")
    assert made.value()[0] == {"n": "12"}


def test_a_tool_without_arguments_has_no_fields_and_one_that_accepts_any_entries_a_map():
    for more in ({}, {"properties": {}}, {"additionalProperties": False}):
        made = Form({"type": "object", **more})
        assert made.fields() == () and made.value() == ({}, {})
    made = Form({"type": "object", "additionalProperties": {"type": "integer"}})
    assert [row.kind for row in made.fields()] == [FieldKind.MAP]
    made.set(made.add((), "n"), "1")
    assert made.value() == ({"n": 1}, {})
