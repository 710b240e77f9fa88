"""What can be done for a damaged session before its rows are read: see that it is, and fill up a cut file.

SQLite reads nothing of a file that is shorter than it says. With zeros in the place of what is missing it is
a file with damaged pages, and of those the rest can be read.
"""

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from tui.core.errors import StorageError
from tui.storage.recordings.database import beside
from tui.storage.sessions.file import open_for_reading

CHECKED_BYTES = 64 * 1024 * 1024
"""A larger file is not read through before it is opened: that would take longer than a second."""

LARGEST = 4 * 1024 * 1024 * 1024
"""Bytes that a cut file may say it has."""


def is_sound(path: Path) -> bool:
    """Return whether a session can be read and written, as far as SQLite can tell without its rows."""
    try:
        if path.stat().st_size > CHECKED_BYTES:
            return True
        with closing(open_for_reading(path)) as connection:
            return bool(connection.execute("PRAGMA quick_check(1)").fetchone() == ("ok",))
    except (OSError, sqlite3.Error, StorageError, UnicodeDecodeError):
        return False


def is_cut(path: Path) -> bool:
    """Return whether a file is shorter than it says."""
    return _said_bytes(path) > path.stat().st_size


@contextmanager
def filled_up(path: Path) -> Iterator[Path]:
    """Give a copy of a cut file with zeros in the place of what is missing.

    Raises:
        OSError: there is no room for it.
    """
    with tempfile.TemporaryDirectory(prefix="mcptui-") as folder:
        copy = Path(folder) / path.name
        shutil.copyfile(path, copy)
        wal = beside(path, "-wal")
        if wal.exists():
            shutil.copyfile(wal, beside(copy, "-wal"))
        with copy.open("r+b") as file:
            file.truncate(_said_bytes(path))
        yield copy


def _said_bytes(path: Path) -> int:
    """Return how long the file is by its own head (https://sqlite.org/fileformat.html 1.3), 0 if unknown."""
    with path.open("rb") as file:
        head = file.read(100)
    page = int.from_bytes(head[16:18])
    said = (65536 if page == 1 else page) * int.from_bytes(head[28:32])
    return said if len(head) == 100 and said <= LARGEST else 0
