"""The quick check accepts only matching values; common calls need no library."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.host.schemas.validation import plainly_matches
from tui.host.schemas.validation_worker import explain

VALUES = st.recursive(
    st.sampled_from([None, True, False, 0, 1, -1, 1.0, 2.5, "", "a", "b"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=5,
)
TYPES = st.sampled_from(["string", "integer", "number", "boolean", "object", "array", "null"])


def objects(inner):
    return st.fixed_dictionaries(
        {},
        optional={
            "type": TYPES | st.lists(TYPES, max_size=2) | VALUES,
            "properties": st.dictionaries(st.sampled_from("ab"), inner, max_size=2) | VALUES,
            "additionalProperties": inner,
            "required": st.lists(st.sampled_from("ab"), max_size=2) | VALUES,
            "items": inner,
            "anyOf": st.lists(inner, max_size=3) | VALUES,
            "enum": st.lists(VALUES, max_size=3) | VALUES,
            "minimum": VALUES,
            "maximum": VALUES,
            "minLength": VALUES,
            "not": inner,
            "title": VALUES,
        },
    )


SCHEMAS = st.recursive(st.booleans() | VALUES, objects, max_leaves=6)


@given(SCHEMAS, VALUES)
def test_a_value_that_the_quick_check_accepts_is_valid(schema, value):
    if plainly_matches(schema, value):
        assert explain(schema, value) == ("", "")


LOOK = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "title": "lookArguments",
    "properties": {
        "at": {"title": "At", "type": "integer", "minimum": 0},
        "unit": {"enum": ["c", "f"], "default": "c"},
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
        "places": {"type": "array", "items": {"type": ["string", "number"]}},
    },
    "required": ["at"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    "value", [{"at": 3}, {"at": 0, "unit": "f", "note": None, "places": ["x", 2.5]}, {"at": 1, "note": "x"}]
)
def test_everyday_arguments_pass_the_quick_check(value):
    assert plainly_matches(LOOK, value)


@pytest.mark.parametrize(
    "value", [{}, {"at": "3"}, {"at": True}, {"at": -1}, {"at": 1, "x": 1}, {"at": 1, "unit": "k"}, [], None]
)
def test_other_arguments_are_left_to_the_library(value):
    assert not plainly_matches(LOOK, value)


def test_an_everyday_call_is_checked_without_the_library():
    check = (
        "import asyncio, sys\n"
        "from tui.host.schemas.validation import SchemaChecker, SchemaVerdict\n"
        f"schema = {LOOK!r}\n"
        "assert asyncio.run(SchemaChecker().check(schema, {'at': 3})) == SchemaVerdict()\n"
        "assert 'jsonschema' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", check], check=True)
