"""The last bodies in memory, for when nothing can be stored."""

import pytest

from tests.unit.traffic.tapped import seen
from tui.core.traffic import Direction, Entry, Finding, Kind, Severity
from tui.traffic.record import recorder
from tui.traffic.record.recorder import RecentEntries


def entry(seq: int, body: bytes) -> Entry:
    times = seen(body)[2:4]
    return Entry(seq, *times, "s", Direction.IN, Kind.NOT_JSON, size=len(body), body=body)


def test_recent_entries_are_read_like_a_store():
    ring = RecentEntries()
    findings = [Finding(seq, "x", Severity.HINT, "x") for seq in (5, 6, 7)]
    ring.add([entry(5, b"Hello"), entry(6, b"world"), entry(7, b"x")], findings)
    assert ring.columns(5, 10)[0].body == b""
    assert [(row.seq, row.body) for row in ring.whole(4, 2, 1)] == [(5, b""), (6, b"")]
    assert [(row.seq, row.body) for row in ring.whole(6, 2, 1)] == [(7, b"x")]
    found = ring.entry(5, body_limit=2)
    assert found is not None and (found.body, found.size) == (b"He", 5)
    assert (ring.body(6, 1, 2), ring.body(6, 3), ring.entry(8), ring.entry(4)) == (b"or", b"ld", None, None)
    assert ring.bodies(6, 9) == [(6, b"world"), (7, b"x")]
    assert ring.findings_of(6) == findings[1:2]


def test_the_oldest_are_dropped_beyond_the_limits_but_one_is_kept(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(recorder, "RING_BYTES", 100)
    monkeypatch.setattr(recorder, "RING_ENTRIES", 5)
    ring = RecentEntries()
    ring.add([entry(seq, b"x") for seq in range(1, 8)])
    assert [row.seq for row in ring.columns(0, 10)] == [3, 4, 5, 6, 7]
    ring.add([entry(8, b"x" * 98)])
    assert [row.seq for row in ring.columns(0, 10)] == [6, 7, 8]
    assert (ring.entry(1), ring.body(1)) == (None, b"")
    ring.add([entry(9, b"x" * 1000)])
    assert [len(row.body) for row in ring.whole(0, 10, 1000)] == [1000]
