"""The readable part of a damaged recording is read and the rest counted."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.unit.storage.damage import leaves, overwrite
from tests.unit.storage.recordings.test_reader import recorded
from tests.unit.storage.traffic_samples import requests
from tui.core import units
from tui.core.errors import StorageError
from tui.core.traffic import DROPPED, Kind
from tui.storage.recordings.reader import RecordingReader
from tui.storage.recordings.salvage import without_gaps


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "r.mcptrace"


def all_rows(reader: RecordingReader, page: int = 300) -> list[tuple]:
    found: list[tuple] = []
    while rows := reader.column_rows(found[-1][0] if found else 0, page):
        found += rows
    return found


def lost_of(rows: list[tuple]) -> int:
    return sum(row[6] == "unreadable" for row in rows)


@pytest.mark.parametrize("fill", [b"\0", b"\xff", b"\x0d"])
def test_rows_between_damaged_pages_are_read_and_lost_ones_counted(path: Path, fill: bytes):
    recorded(path, requests(1, 2000))
    pages = leaves(path, "entries")
    overwrite(path, pages[0], pages[5], pages[9], fill=fill)
    with closing(RecordingReader(path)) as reader:
        found = all_rows(reader)
        assert [row[0] for row in found] == list(range(1, 2001))
        assert 0 < lost_of(found) < 300
        assert reader.damage == f"the recording is damaged: {lost_of(found)} of its entries could not be read"
        entries = reader.columns(0, 5000)
        assert [(entry.seq, entry.method) for entry in entries] == [(row[0], row[6]) for row in found]


def test_an_unreadable_entry_becomes_an_event_with_the_time_of_its_neighbor(path: Path):
    recorded(path, requests(1, 2000))
    overwrite(path, leaves(path, "entries")[5])
    with closing(RecordingReader(path)) as reader:
        found = reader.columns(0, 5000)
        at = next(index for index, entry in enumerate(found) if entry.method == "unreadable")
        assert (found[at].kind, found[at].wall_ns) == (Kind.EVENT, found[at - 1].wall_ns)


def test_an_entry_known_to_be_unreadable_is_returned_without_a_query(path: Path):
    recorded(path, requests(1, 2000))
    overwrite(path, leaves(path, "entries")[5])
    with closing(RecordingReader(path)) as reader:
        lost = [entry for entry in reader.columns(0, 5000) if entry.method == "unreadable"]
        statements: list[str] = []
        reader._connection.set_trace_callback(statements.append)
        assert lost and [reader.entry(entry.seq) for entry in lost] == lost
        assert statements == []


def test_the_range_of_a_damaged_recording_is_found_through_its_bodies(path: Path):
    recorded(path, requests(1001, 500))
    pages = leaves(path, "entries")
    overwrite(path, pages[0], pages[-1])
    with closing(RecordingReader(path)) as reader:
        found = all_rows(reader)
        assert [row[0] for row in found] == list(range(1001, 1501))
        assert f" {lost_of(found)} of its entries" in reader.damage


def test_a_damaged_recording_with_an_unknown_end_is_read_as_far_as_possible(path: Path):
    recorded(path, requests(1, 500))
    overwrite(path, leaves(path, "entries")[-1], leaves(path, "bodies")[-1])
    with closing(RecordingReader(path)) as reader:
        found = all_rows(reader)
        assert 400 < len(found) < 500
        assert lost_of(found) == 0
        assert "part of it could not be read" in reader.damage


@pytest.mark.parametrize("part", [0.3, 0.7, 0.99])
def test_the_readable_part_of_a_truncated_recording_is_read(path: Path, part: float):
    recorded(path, requests(1, 2000, 200))
    whole = path.stat().st_size
    os.truncate(path, int(whole * part))
    with closing(RecordingReader(path)) as reader:
        assert reader.span() == (1, 2000)
        found = all_rows(reader)
        assert [row[0] for row in found] == list(range(1, 2001))
        assert reader.body(1)
        there = f"{units.size(int(whole * part))} of {units.size(whole)} are readable"
        assert reader.damage.startswith(f"the recording is truncated ({there}): ")
        assert reader.damage.endswith(" could not be read")
        with pytest.raises(StorageError):
            reader.body(2000)


def test_a_recording_truncated_to_almost_nothing_says_so(path: Path):
    recorded(path, requests(1, 2000, 200))
    os.truncate(path, 5000)
    with closing(RecordingReader(path)) as reader:
        assert all_rows(reader) == []
        assert "is truncated (5.0 kB of " in reader.damage
        assert reader.ends_ns() == (0, 0)


def test_start_end_and_sources_of_a_damaged_recording_are_still_known(path: Path):
    recorded(path, requests(1, 2000))
    with closing(RecordingReader(path)) as reader:
        sound = reader.span(), reader.sources(10)
        began, ended = reader.ends_ns()
    pages = leaves(path, "entries")
    overwrite(path, pages[0], pages[4], pages[-1])
    with closing(RecordingReader(path)) as reader:
        assert (reader.span(), reader.sources(10)) == sound
        found_began, found_ended = reader.ends_ns()
        assert began <= found_began < found_ended <= ended
        assert reader.damage


def test_lost_metadata_is_empty_and_reported_as_damage(path: Path):
    recorded(path, requests(1, 10))
    with closing(sqlite3.connect(path)) as connection:
        (root,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'meta'").fetchone()
    overwrite(path, (root - 1) * 4096)
    with closing(RecordingReader(path)) as reader:
        assert reader.meta() == {}
        assert reader.damage


def test_an_undamaged_recording_reports_no_damage(path: Path):
    recorded(path, requests(1, 500))
    with closing(RecordingReader(path)) as reader:
        assert (len(all_rows(reader)), reader.damage) == (500, "")


def test_a_missing_row_becomes_an_event():
    rows = [(3, "three"), (5, "five")]
    found = without_gaps(rows, 3, 7, (10, 20))
    assert [row[0] for row in found] == [3, 4, 5, 6]
    assert found[0] is rows[0]
    assert found[1][1:3] == (10, 20) and DROPPED in found[1] and len(found[1]) == 16
