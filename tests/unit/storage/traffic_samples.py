"""Entries for the tests of storage, and entries of any kind for hypothesis."""

from typing import Any

from hypothesis import strategies as st

from tui.core.traffic import Cause, Direction, Entry, Kind, Outcome, Redaction


def request(seq: int, body: bytes = b"", **more) -> Entry:
    """Return a small request."""
    values = {
        "mono_ns": seq * 1000,
        "wall_ns": 1_790_000_000_000_000_000 + seq * 1000,
        "source": "weather",
        "direction": Direction.OUT,
        "kind": Kind.REQUEST,
        "method": "tools/call",
        "ident": str(seq),
        "body": body or b'{"jsonrpc":"2.0","id":%d,"method":"tools/call"}' % seq,
    }
    values.update(more)
    return Entry(seq, size=len(values["body"]), **values)


def requests(first: int, count: int, padding: int = 0) -> list[Entry]:
    """Return requests with consecutive numbers, each with `padding` more bytes of body."""
    return [
        request(seq, b'{"id":%d,"pad":"%s"}' % (seq, b"x" * padding)) for seq in range(first, first + count)
    ]


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
