"""The state of a file and its WAL, for detecting changes by another program."""

import os
from pathlib import Path

from tui.storage.recordings.database import side_file

Look = tuple[tuple[int, int, int, int] | None, ...]
"""Device, inode, size and modification time of the file and its WAL, None for a missing one."""


def look_of(path: Path) -> Look:
    """Return the state of a file and its WAL."""
    return tuple(_look_of(one) for one in (path, side_file(path, "-wal")))


def _look_of(path: Path) -> tuple[int, int, int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
