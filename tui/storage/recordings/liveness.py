"""Marks a recording as being written: a lock on a file next to it, which ends with its process.

The lock is not on the recording itself: closing another descriptor of that file in the same process would
drop SQLite's own locks. Without `flock` (Windows), a file that is open cannot be removed, which serves the
same purpose.
"""

import os
import sys
from pathlib import Path

from tui.core.files.private_files import open_private

SUFFIX = ".live"


def live_file(path: Path) -> Path:
    """Return the file next to a recording whose lock marks it as live."""
    return path.with_name(path.name + SUFFIX)


class LiveMark:
    """Marks a recording as live until the process ends, or until `close`."""

    def __init__(self, path: Path) -> None:
        """Take the lock; raises `OSError` if the file exists or cannot be created.

        On a file system without locks a recording counts as finished.
        """
        self._path = live_file(path)
        self._descriptor = open_private(self._path, os.O_CREAT | os.O_EXCL | os.O_RDWR)
        if sys.platform != "win32":
            import fcntl

            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX)
            except OSError:
                pass

    def close(self) -> None:
        if self._descriptor < 0:
            return
        descriptor, self._descriptor = self._descriptor, -1
        if sys.platform != "win32":  # removed first, so that it is never seen without its lock
            self._path.unlink(missing_ok=True)
        os.close(descriptor)
        if sys.platform == "win32":
            self._path.unlink(missing_ok=True)


def is_live(path: Path) -> bool:
    """Return whether a running process is writing a recording."""
    beside = live_file(path)
    if sys.platform == "win32":
        try:
            beside.unlink(missing_ok=True)
        except OSError:
            return True
        return False
    import fcntl

    try:
        descriptor = open_private(beside, os.O_RDONLY)
    except OSError:
        return False
    try:
        # Shared, so that two simultaneous checks do not mistake each other for the writer.
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return False
