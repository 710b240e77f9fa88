"""One field of a form: its text, raw JSON, value and children."""

import pytest

from tui.core.forms.node import FieldNode, clear, gathered, raw, write, write_raw
from tui.core.forms.schema import SchemaReader
from tui.core.forms.spec import MAX_DEPTH, FieldKind, FieldState


def node(schema, **fields):
    return FieldNode(SchemaReader({}).spec(schema), 1, **fields)


def test_invalid_text_becomes_a_value_with_its_problem():
    number = node({"type": "integer", "maximum": 3})
    write(number, "7")
    assert (number.state, number.value) == (FieldState.SET, 7)
    problems = {}
    assert gathered(number, ("n",), problems) == 7
    assert "3" in problems["n",]


def test_clearing_removes_value_text_and_problem():
    number = node({"type": "integer"})
    write(number, "x")
    clear(number)
    assert (number.state, number.text, number.problem) == (FieldState.ABSENT, "", "")


@pytest.mark.parametrize("value", [{"a": [1]}, "text", None, 3])
def test_any_value_can_be_raw_json(value):
    field = node({"type": "integer"})
    raw(field, value)
    assert field.is_raw and field.kind is FieldKind.JSON
    assert gathered(field, (), {}) == value


def test_raw_text_that_is_not_json_is_reported():
    field = node({"type": "object", "properties": {}})
    write_raw(field, "{")
    assert field.is_raw and field.problem


def test_a_field_that_is_nested_too_deeply_is_edited_as_json():
    field = FieldNode(SchemaReader({}).spec({"type": "object", "properties": {"a": {}}}), MAX_DEPTH)
    assert field.kind is FieldKind.JSON


def test_nodes_include_the_node_and_all_descendants():
    whole = node({"type": "object"})
    whole.children = {"a": node({"type": "string"}), "b": node({"type": "string"})}
    assert len(list(whole.nodes())) == 3
