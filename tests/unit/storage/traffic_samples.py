"""Entries for the tests of storage."""

from tui.core.traffic import Direction, Entry, Kind


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
