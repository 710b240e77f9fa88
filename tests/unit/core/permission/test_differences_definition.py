"""Which parts of a tool are its definition, and what changes its digest."""

import json

from hypothesis import given
from hypothesis import strategies as st

from tui.core.permission.differences import definition_of, digest_of

TOOL = {
    "name": "add",
    "description": "Adds.",
    "inputSchema": {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}},
}


def digest(**more):
    return digest_of(definition_of({**TOOL, **more}))


def test_every_part_that_the_model_reads_changes_the_digest():
    changes = [
        {"name": "plus"},
        {"title": "Add"},
        {"description": "Adds. "},
        {"inputSchema": {"type": "object"}},
        {"outputSchema": {"type": "object"}},
        {"annotations": {"readOnlyHint": True}},
    ]
    assert len({digest(), *(digest(**change) for change in changes)}) == len(changes) + 1


def test_metadata_and_icons_do_not_change_the_digest():
    assert digest(_meta={"at": 1}, icons=[{"src": "x"}]) == digest(_meta={"at": 2})


def test_composed_and_decomposed_letters_have_different_digests():
    assert digest(description="caf\u00e9") != digest(description="cafe\u0301")


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


def turned(value):
    if isinstance(value, dict):
        return {key: turned(one) for key, one in reversed(value.items())}
    return [turned(one) for one in value] if isinstance(value, list) else value


@given(values)
def test_the_order_of_keys_does_not_change_the_digest(value):
    assert digest_of({"inputSchema": turned(value)}) == digest_of({"inputSchema": value})


@given(values, values)
def test_digests_are_equal_only_for_equal_json(one, other):
    same = json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    assert (digest_of({"x": one}) == digest_of({"x": other})) is same
