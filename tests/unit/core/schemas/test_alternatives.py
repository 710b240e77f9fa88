"""Schemas as alternatives without references."""

import pytest

from tests.cases import each_case
from tui.core.schemas.alternatives import SchemaTree
from tui.core.schemas.schemas import SchemaTooLarge


def alternatives(schema, root=None):
    tree = SchemaTree(root if root is not None else schema, ())
    node = tree.node(schema, ())
    assert node is not None
    return [
        (one.kind, sorted(one.values) if one.values is not None else None) for one in tree.alternatives(node)
    ]


@each_case(
    ("schema", "found"),
    [
        ({}, [("", None)]),
        (True, [("", None)]),
        ({"type": ["string", "null"]}, [("string", None), ("null", None)]),
        ({"type": "string", "nullable": True}, [("string", None), ("null", None)]),
        ({"enum": ["a", 1]}, [("string", ['"a"']), ("integer", ["1"])]),
        ({"anyOf": [{"const": "a"}, {"const": "b"}]}, [("string", ['"a"', '"b"'])]),
        ({"type": "string", "anyOf": [{"minLength": 2}, {"maxLength": 1}]}, [("string", None)] * 2),
        ({"oneOf": [{"type": "string"}, {"not": {}}]}, [("string", None)]),
        ({"enum": [True, False]}, [("boolean", None)]),
        ({"properties": {"a": {}}}, [("object", None)]),
    ],
)
def test_a_schema_has_an_alternative_for_each_type(schema, found):
    assert alternatives(schema) == found


def test_a_reference_keeps_the_place_of_each_keyword():
    root = {"$defs": {"A": {"type": "string", "minLength": 1}}}
    tree = SchemaTree(root, ("inputSchema",))
    node = tree.node({"$ref": "#/$defs/A", "description": "d"}, ("inputSchema", "properties", "a"))
    assert node is not None and node.schema == {"type": "string", "minLength": 1, "description": "d"}
    assert node.place("minLength") == ("inputSchema", "$defs", "A", "minLength")
    assert node.place("description") == ("inputSchema", "properties", "a", "description")


def test_parts_that_cannot_be_united_stay_apart():
    tree = SchemaTree({}, ())
    node = tree.node({"minimum": 1, "allOf": [{"minimum": 5, "type": "integer"}]}, ())
    assert node is not None
    assert node.schema == {"minimum": 1, "type": "integer", "allOf": [{"minimum": 5}]}


def test_no_schema_is_no_node():
    assert SchemaTree({}, ()).node("string", ()) is None


def test_references_that_lead_in_circles_end():
    root = {"$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}}}
    assert alternatives({"$ref": "#/$defs/A"}, root) == [("", None)]
    many = {"$defs": {"A": {"allOf": [{"$ref": "#/$defs/A"}] * 32}}}
    with pytest.raises(SchemaTooLarge):
        SchemaTree(many, ()).node({"$ref": "#/$defs/A"}, ())
