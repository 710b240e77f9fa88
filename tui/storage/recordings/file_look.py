"""What a file and its WAL look like from outside, so that a change by another program is noticed."""

import os
from pathlib import Path

from tui.storage.recordings.database import side_file

Look = tuple[tuple[int, int, int, int] | None, ...]
"""Device, inode, size and time of change of the file and its WAL, None for one that is not there."""


def look_of(path: Path) -> Look:
    """Return what a file and its WAL look like."""
    return tuple(_look_of(one) for one in (path, side_file(path, "-wal")))


def _look_of(path: Path) -> tuple[int, int, int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
