"""The last bodies in memory, for when nothing can be stored."""

from tests.unit.traffic.tapped import seen
from tui.core.traffic import Direction, Entry, Finding, Kind, Severity
from tui.traffic.record.recorder import RecentEntries


def entry(seq: int, body: bytes) -> Entry:
    captured = seen(body)
    return Entry(
        seq,
        captured.mono_ns,
        captured.wall_ns,
        captured.source,
        Direction.IN,
        Kind.NOT_JSON,
        size=len(body),
        body=body,
    )


def test_whole_entries_are_returned_in_pages_without_large_bodies():
    ring = RecentEntries()
    ring.add([entry(1, b"x"), entry(2, b"xx"), entry(3, b"y")])
    assert [(row.seq, row.body) for row in ring.whole(0, 2, 1)] == [(1, b"x"), (2, b"")]
    assert [(row.seq, row.body) for row in ring.whole(2, 2, 1)] == [(3, b"y")]


def test_the_oldest_are_dropped_beyond_the_limits():
    ring = RecentEntries(max_bytes=100, max_entries=5)
    ring.add([entry(seq, b"x") for seq in range(1, 8)])
    assert [row.seq for row in ring.columns(0, 10)] == [3, 4, 5, 6, 7]
    ring.add([entry(8, b"x" * 98)])
    assert [row.seq for row in ring.columns(0, 10)] == [6, 7, 8]
    assert ring.entry(1) is None
    assert ring.body(1) == b""


def test_one_entry_is_always_kept():
    ring = RecentEntries(max_bytes=10)
    ring.add([entry(1, b"x" * 1000)])
    assert len(ring.body(1)) == 1000


def test_recent_entries_are_read_like_a_store():
    ring = RecentEntries()
    ring.add([entry(5, b"Hello"), entry(6, b"world")])
    assert ring.columns(5, 10)[0].body == b""
    assert [row.seq for row in ring.columns(4, 1)] == [5]
    found = ring.entry(5, body_limit=2)
    assert found is not None and (found.body, found.size) == (b"He", 5)
    assert (ring.body(6, 1, 2), ring.body(6, 3), ring.entry(7), ring.entry(4)) == (b"or", b"ld", None, None)


def test_bodies_are_returned_with_their_numbers():
    ring = RecentEntries()
    ring.add([entry(1, b"a"), entry(2, b"b"), entry(3, b"c")])
    assert ring.bodies(2, 9) == [(2, b"b"), (3, b"c")]


def test_findings_are_kept_in_order():
    ring = RecentEntries()
    findings = [Finding(seq, "x", Severity.HINT, "x") for seq in (1, 2, 3)]
    ring.add([], findings)
    assert ring.findings_of(2) == findings[1:2]
