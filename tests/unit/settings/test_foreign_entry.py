"""One entry of another host's file, whatever is in it."""

from hypothesis import given
from hypothesis import strategies as st

from tui.settings.foreign_entry import in_one_shape, of_projects, with_braces

KEYS = st.sampled_from(
    [
        "command",
        "args",
        "env",
        "environment",
        "url",
        "httpUrl",
        "type",
        "oauth",
        "auth",
        "trust",
        "tools",
        "x",
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(KEYS, VALUES))
def test_nothing_in_it_is_an_error_here(entry):
    notes = []
    assert isinstance(in_one_shape(entry, notes.append), dict)
    assert all(isinstance(note, str) and "\n" not in note for note in notes)


def test_a_variable_with_a_dollar_becomes_a_reference_and_nothing_else_does():
    notes = []
    assert with_braces("$A b$B ${C} \\$D $1 $e $A", notes.append) == "${A} b$B ${C} \\$D $1 $e ${A}"
    assert notes == ["$A is read from the environment variable A"]


def test_projects_that_are_no_projects_are_ignored():
    assert list(of_projects({"projects": {"a": 1, "b": {"mcpServers": {}}}})) == []
    assert list(of_projects({"projects": []})) == []
