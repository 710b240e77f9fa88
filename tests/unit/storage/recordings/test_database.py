"""SQLite files are created whole or not at all; marks and notes are saved."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.unit.storage.traffic_samples import requests
from tui.core.errors import StorageError
from tui.core.traffic import EntryNote
from tui.storage.recordings.database import create_recording, keep_note, notes_of
from tui.storage.recordings.writer import RecordingWriter


def test_a_recording_without_its_metadata_is_never_left_behind(tmp_path: Path):
    path = tmp_path / "new.mcptrace"
    with pytest.raises(sqlite3.Error):
        create_recording(path, {"tap": object()})  # type: ignore[dict-item]
    assert list(tmp_path.iterdir()) == []


def test_metadata_that_is_not_utf_8_is_stored_escaped(tmp_path: Path):
    path = tmp_path / "r.mcptrace"
    with closing(create_recording(path, {"tap": "caf\udce9"})) as connection:
        assert dict(connection.execute("SELECT * FROM meta")) == {"tap": "caf\\udce9"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    writer = RecordingWriter(tmp_path / "r.mcptrace")
    writer.write(requests(1, 3))
    writer.close()
    return tmp_path / "r.mcptrace"


def test_a_mark_and_a_text_are_stored_independently_and_an_empty_note_is_removed(path: Path):
    keep_note(path, 1, marked=True)
    keep_note(path, 2, text="why so slow?")
    keep_note(path, 1, text="this one")
    assert notes_of(path) == {1: EntryNote(True, "this one"), 2: EntryNote(False, "why so slow?")}
    keep_note(path, 1, marked=False)
    keep_note(path, 2, text="")
    assert notes_of(path) == {1: EntryNote(False, "this one")}


def test_unencodable_characters_are_stored_as_question_marks(path: Path):
    keep_note(path, 1, text="a\ud800")
    assert notes_of(path) == {1: EntryNote(False, "a?")}


def test_a_file_that_is_not_a_recording_accepts_no_notes(tmp_path: Path):
    (tmp_path / "x").write_text("text")
    with pytest.raises(StorageError):
        keep_note(tmp_path / "x", 1, marked=True)
    with pytest.raises(StorageError):
        keep_note(tmp_path / "gone", 1, marked=True)
