"""One entry of another host's file, whatever is in it."""

from hypothesis import given
from hypothesis import strategies as st

from tui.settings.foreign.entry import in_common_format

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
def test_an_entry_of_any_shape_raises_no_error(entry):
    notes = []
    assert isinstance(in_common_format(entry, notes.append), dict)
    assert all(isinstance(note, str) and "\n" not in note for note in notes)
