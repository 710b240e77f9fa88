"""Stored bodies are read in batches, and individually only where they may match."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from threading import Event

import pytest

from tui.core.traffic import BodyTerm
from tui.storage.recordings import stored_bodies
from tui.storage.recordings.body_search import Body, TermSearch
from tui.storage.recordings.stored_bodies import SHORT, TOGETHER, StoredBodies

Stored = Callable[..., sqlite3.Connection]


def search_for(needle: str, stop: Event | None = None) -> TermSearch:
    return TermSearch([BodyTerm(needle)], lambda *_: b"", stop or Event())


@pytest.fixture
def stored() -> Iterator[Stored]:
    """Return a function that stores bodies by sequence number."""
    with closing(sqlite3.connect(":memory:")) as connection:

        def store(bodies: dict[int, bytes], encoding: str = "UTF-8") -> sqlite3.Connection:
            connection.execute(f"PRAGMA encoding = '{encoding}'")
            connection.execute("CREATE TABLE bodies (seq INTEGER PRIMARY KEY, body BLOB NOT NULL)")
            connection.executemany("INSERT INTO bodies VALUES (?, ?)", bodies.items())
            return connection

        yield store


def test_only_parts_with_a_match_are_read(stored: Stored):
    bodies = {seq: b"needle" if seq == 2 * TOGETHER else b"hay" for seq in range(1, 5 * TOGETHER)}
    read = list(StoredBodies(stored(bodies)).between(1, 5 * TOGETHER, search_for("needle")))
    assert read == [(seq, bodies[seq]) for seq in range(TOGETHER + 1, 2 * TOGETHER + 1)]


def test_only_the_requested_range_is_read(stored: Stored):
    connection = stored(dict.fromkeys(range(1, 10), b"needle"))
    assert [seq for seq, _ in StoredBodies(connection).between(3, 5, search_for("needle"))] == [3, 4, 5]


def test_long_bodies_are_always_read_and_large_ones_returned_as_their_length(
    stored: Stored, monkeypatch: pytest.MonkeyPatch
):
    long, large = b"x" * (SHORT + 1), b"y" * 2_000_000
    connection = stored({1: b"hay", 2: long, 3: large, 4: b"hay"})
    assert list(StoredBodies(connection).between(1, 4, search_for("needle"))) == [(2, long), (3, len(large))]


def test_long_bodies_keep_their_order_among_the_others(stored: Stored):
    long = b"x" * (SHORT + 1)
    connection = stored({1: b"needle", 2: long, 3: b"hay"})
    read = list(StoredBodies(connection).between(1, 3, search_for("needle")))
    assert read == [(1, b"needle"), (2, long), (3, b"hay")]


def test_if_most_parts_match_they_are_read_without_checking_first(
    stored: Stored, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(stored_bodies, "TOGETHER", 2)
    looked: list[bytes] = []
    search = search_for("needle")
    may_match = search.may_match
    monkeypatch.setattr(search, "may_match", lambda joined: looked.append(joined) or may_match(joined))
    connection = stored(dict.fromkeys(range(1, 1001), b"needle"))
    assert len(list(StoredBodies(connection).between(1, 1000, search))) == 1000
    assert len(looked) < 20


def test_gaps_in_the_sequence_numbers_are_skipped_at_once(stored: Stored):
    connection = stored({1: b"needle", 1 << 60: b"needle", (1 << 62): b"hay"})
    read = list(StoredBodies(connection).between(1, 1 << 62, search_for("needle")))
    assert read == [(1, b"needle"), (1 << 60, b"needle")]


def test_no_further_batch_is_read_after_a_stop(stored: Stored, monkeypatch: pytest.MonkeyPatch):
    stop = Event()
    connection = stored(dict.fromkeys(range(1, 5 * TOGETHER), b"needle"))
    read: list[Body] = []
    for body in StoredBodies(connection).between(1, 5 * TOGETHER, search_for("needle", stop)):
        read.append(body)
        stop.set()
    assert len(read) == TOGETHER


@pytest.mark.parametrize("encoding", ["UTF-8", "UTF-16le"])
def test_binary_bodies_are_read_unchanged(stored: Stored, encoding: str):
    bodies = {1: b"\x00\xffneedle", 2: b"", 3: b"\xc3"}
    read = list(StoredBodies(stored(bodies, encoding)).between(1, 3, search_for("needle")))
    assert dict(read) == bodies


def test_every_body_is_read_if_sqlite_cannot_join_bytes(stored: Stored, monkeypatch: pytest.MonkeyPatch):
    bodies = {1: b"hay", 2: b"hay"}
    with monkeypatch.context() as patch:
        patch.setattr(stored_bodies, "_PROBED", b"cut off at a NUL")
        assert dict(StoredBodies(stored(bodies)).between(1, 2, search_for("needle"))) == bodies
