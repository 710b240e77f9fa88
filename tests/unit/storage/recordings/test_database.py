"""SQLite files are created whole or not at all."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tui.storage.recordings.database import create_recording


def test_a_new_recording_never_stands_there_without_what_is_to_be_known_of_it(tmp_path: Path):
    path = tmp_path / "new.mcptrace"
    with pytest.raises(sqlite3.Error):
        create_recording(path, {"tap": object()})  # type: ignore[dict-item]
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == []


def test_meta_that_is_not_utf_8_is_stored_escaped(tmp_path: Path):
    path = tmp_path / "r.mcptrace"
    with closing(create_recording(path, {"tap": "caf\udce9"})) as connection:
        assert dict(connection.execute("SELECT * FROM meta")) == {"tap": "caf\\udce9"}
