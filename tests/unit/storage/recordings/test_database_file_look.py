"""A file looks different after it or its WAL was written, truncated or replaced."""

import os
from pathlib import Path

from tui.storage.files.sqlite_file import look_of


def test_every_change_of_the_file_or_its_wal_is_detected(tmp_path: Path) -> None:
    path, wal = tmp_path / "a", tmp_path / "a-wal"
    looks = [look_of(path)]
    for change in (
        lambda: path.write_bytes(b"12345678"),
        lambda: wal.write_bytes(b"12345678"),
        lambda: os.truncate(wal, 2),
        lambda: os.replace(wal, path),
        lambda: path.unlink(),
    ):
        change()
        looks.append(look_of(path))
    assert looks[0] == looks[-1] == (None, None)
    assert len(set(looks)) == len(looks) - 1
