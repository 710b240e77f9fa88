"""Of a damaged recording what is sound is read, and what is not is counted."""

from contextlib import closing
from pathlib import Path

import pytest

from tests.unit.storage.damage import leaves, overwrite
from tests.unit.storage.test_traffic_reader import recorded
from tests.unit.storage.traffic_samples import requests
from tui.core.traffic import Kind
from tui.storage.traffic_reader import RecordingReader


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
def test_what_stands_between_damaged_pages_is_read_and_the_rest_counted(path: Path, fill: bytes):
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


def test_an_entry_that_cannot_be_read_is_an_event_at_the_time_of_its_neighbour(path: Path):
    recorded(path, requests(1, 2000))
    overwrite(path, leaves(path, "entries")[5])
    with closing(RecordingReader(path)) as reader:
        found = reader.columns(0, 5000)
        at = next(index for index, entry in enumerate(found) if entry.method == "unreadable")
        assert (found[at].kind, found[at].wall_ns) == (Kind.EVENT, found[at - 1].wall_ns)


def test_the_ends_of_a_damaged_recording_are_known_by_its_bodies(path: Path):
    recorded(path, requests(1001, 500))
    pages = leaves(path, "entries")
    overwrite(path, pages[0], pages[-1])
    with closing(RecordingReader(path)) as reader:
        found = all_rows(reader)
        assert [row[0] for row in found] == list(range(1001, 1501))
        assert f" {lost_of(found)} of its entries" in reader.damage


def test_a_damaged_recording_whose_end_is_nowhere_known_is_read_as_far_as_it_goes(path: Path):
    recorded(path, requests(1, 500))
    overwrite(path, leaves(path, "entries")[-1], leaves(path, "bodies")[-1])
    with closing(RecordingReader(path)) as reader:
        found = all_rows(reader)
        assert 400 < len(found) < 500
        assert lost_of(found) == 0
        assert "a part of it could not be read" in reader.damage


def test_a_sound_recording_has_no_damage(path: Path):
    recorded(path, requests(1, 500))
    with closing(RecordingReader(path)) as reader:
        assert (len(all_rows(reader)), reader.damage) == (500, "")
