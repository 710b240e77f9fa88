"""Entries of any kind for hypothesis, which the processes that tests start need not load."""

from typing import Any

from hypothesis import strategies as st

from tui.core.traffic import Cause, Direction, Entry, Kind, Outcome, Redaction


def any_entries(text: st.SearchStrategy[str], **more: st.SearchStrategy[Any]) -> st.SearchStrategy[Entry]:
    """Return entries with number 1; `more` are members with other values."""
    numbers, ordinals = st.integers(0, 2**63 - 1), st.integers(0, 2**32 - 1)
    members = {
        **dict.fromkeys(("mono_ns", "wall_ns", "size"), numbers),
        **dict.fromkeys(("source", "method", "tool", "ident", "sha256"), text),
        "seq": st.just(1),
        **dict.fromkeys(("pair", "root"), st.just(0)),
        "direction": st.sampled_from(Direction),
        "kind": st.sampled_from(Kind),
        "outcome": st.sampled_from(Outcome),
        "cause": st.none() | st.builds(Cause, ordinals, ordinals, text),
        "redactions": st.lists(st.builds(Redaction, numbers, numbers, text), max_size=3).map(tuple),
        "body": st.binary(max_size=50),
    }
    return st.builds(Entry, **members | more)
