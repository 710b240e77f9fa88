"""SQLite files are created whole or not at all."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tui.storage.recordings.database import create_recording


def test_a_recording_without_its_metadata_is_never_left_behind(tmp_path: Path):
    path = tmp_path / "new.mcptrace"
    with pytest.raises(sqlite3.Error):
        create_recording(path, {"tap": object()})  # type: ignore[dict-item]
    assert list(tmp_path.iterdir()) == []


def test_metadata_that_is_not_utf_8_is_stored_escaped(tmp_path: Path):
    path = tmp_path / "r.mcptrace"
    with closing(create_recording(path, {"tap": "caf\udce9"})[0]) as connection:
        assert dict(connection.execute("SELECT * FROM meta")) == {"tap": "caf\\udce9"}
