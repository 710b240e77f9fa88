"""The folder of recordings: sorted, live or not, found by name, bounded."""

import os
from pathlib import Path

import pytest

from tests.unit.storage.traffic_samples import requests
from tui.core.errors import StorageError
from tui.storage.recordings.folder import Recordings
from tui.storage.recordings.writer import RecordingWriter


def kept(folder: Path, name: str, count: int = 10, live: bool = False) -> RecordingWriter:
    writer = RecordingWriter(folder / f"{name}.mcptrace")
    writer.write(requests(1, count, 1000))
    if not live:
        writer.close()
    return writer


def test_a_missing_folder_has_no_recordings(tmp_path: Path):
    assert Recordings(tmp_path / "none").list() == []


def test_recordings_are_listed_newest_first_with_size_and_whether_they_are_live(tmp_path: Path):
    kept(tmp_path, "20261120T100000Z-1")
    live = kept(tmp_path, "20261121T100000Z-2", live=True)
    (tmp_path / "other.txt").write_text("")
    first, second = Recordings(tmp_path).list()
    assert (first.name, first.live, second.name, second.live) == (
        "20261121T100000Z-2",
        True,
        "20261120T100000Z-1",
        False,
    )
    assert second.size == second.path.stat().st_size and first.size > first.path.stat().st_size
    live.close()
    assert not Recordings(tmp_path).list()[0].live


def test_checking_whether_a_recording_is_live_does_not_release_the_lock_of_its_writer(tmp_path: Path):
    writer = kept(tmp_path, "20261121T100000Z-2", live=True)
    for first in range(11, 60, 10):
        assert Recordings(tmp_path).list()[0].live
        writer.write(requests(first, 10))
    assert not writer.problem
    writer.close()


def test_a_new_name_is_unused_and_contains_time_and_pid(tmp_path: Path):
    recordings = Recordings(tmp_path / "r")
    first = recordings.new_path()
    first.touch()
    second = recordings.new_path()
    assert first != second and str(os.getpid()) in first.stem and first.stem.split("-")[0].endswith("Z")
    assert (tmp_path / "r").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("text", ["20261120", "20261121T100000Z-2", "20261121T100000Z-2.mcptrace", "-17"])
def test_a_recording_is_found_by_its_name_or_the_beginning_or_end_of_it(tmp_path: Path, text: str):
    names = ["20261120T100000Z-17", "20261121T100000Z-2", "20261121T100000Z-2-2"]
    for name in names:
        kept(tmp_path, name)
    assert Recordings(tmp_path).find(text).stem == names["Z-2" in text]


def test_a_path_is_used_unchanged(tmp_path: Path):
    kept(tmp_path / "elsewhere", "mine")
    path = tmp_path / "elsewhere" / "mine.mcptrace"
    assert Recordings(tmp_path).find(str(path)) == path


@pytest.mark.parametrize(
    ("text", "why"), [("2026", "2 recordings"), ("1999", "recording not found"), ("", "recording not found")]
)
def test_a_name_that_matches_none_or_several_is_an_error(tmp_path: Path, text: str, why: str):
    kept(tmp_path, "20261120T100000Z-17")
    kept(tmp_path, "20261121T100000Z-2")
    with pytest.raises(StorageError, match=why):
        Recordings(tmp_path).find(text)


def test_the_oldest_recordings_are_deleted_first_and_a_live_one_never(tmp_path: Path):
    live = kept(tmp_path, "20261118T100000Z-1", count=100, live=True)
    for day in (19, 20, 21):
        kept(tmp_path, f"202611{day}T100000Z-1", count=100)
    recordings = Recordings(tmp_path)
    one = recordings.list()[0].size
    recordings.make_room(recordings.list()[-1].size + one + 10)
    assert [kept.name[:8] for kept in recordings.list()] == ["20261121", "20261118"]
    recordings.make_room(0)
    live.write(requests(101, 5))
    assert not live.problem
    live.close()
    assert os.listdir(tmp_path) == ["20261118T100000Z-1.mcptrace"]
