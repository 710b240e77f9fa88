"""The smallest edits of JSON texts."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from tui.addons.tests.suite.value_edits import edited_json
from tui.core.comparison.placeholders import same

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(alphabet='a"\\\n é', max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=6,
)


def test_only_the_leaf_that_differs_is_written():
    text = '{"a" : 1,\n   "b":[ 2,3 ] }'
    assert edited_json(text, {"a": 1, "b": [2, "<number>"]}) == '{"a" : 1,\n   "b":[ 2,"<number>" ] }'


def test_an_object_with_other_members_is_written_as_a_whole():
    text = '{\n  "a": { "x": 1 },\n  "b": 2\n}'
    assert edited_json(text, {"a": {"x": 1, "y": 2}, "b": 2}) == '{\n  "a": { "x": 1, "y": 2 },\n  "b": 2\n}'


@settings(max_examples=30)
@given(JSON, JSON, st.sampled_from([None, 2]))
def test_an_edited_text_has_the_value(before: object, after: object, indent: int | None):
    text = json.dumps(before, indent=indent)
    assert same(json.loads(edited_json(text, after)), after)


@settings(max_examples=20)
@given(JSON)
def test_an_equal_value_leaves_the_text_as_it_is(value: object):
    text = json.dumps(value, indent=3)
    assert edited_json(text, value) == text
