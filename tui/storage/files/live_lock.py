"""Marks a recording or a session as open: a lock on a file next to it, which ends with its process.

The lock is not on the file itself: closing another descriptor of that file in the same process would drop
SQLite's own locks. Without `flock` (Windows), a file that is open cannot be removed, which serves the same
purpose.
"""

import os
import sys
import time
from contextlib import suppress
from pathlib import Path

from tui.core.errors import StorageError
from tui.core.files import open_private
from tui.core.language.translate import message

SUFFIX = ".live"


def live_file(path: Path) -> Path:
    """Return the file next to a recording or session whose lock marks it as live."""
    return path.with_name(path.name + SUFFIX)


class InUse(StorageError):
    """Another process, or this one, has the file open."""


class LiveLock:
    """Marks a file as open until the process ends, or until `close`."""

    def __init__(self, path: Path) -> None:
        """Take the lock, even one left by a dead process; raises `InUse` or `OSError`."""
        self._path = live_file(path)
        self._descriptor = -1
        for _ in range(20):
            if self._taken():
                return
            time.sleep(0.01)  # another process may hold the lock for a moment while it checks it
        raise InUse(
            message("the session is open in another mcptui"),
            where=path.stem,
            next_step=message("Close it there."),
        )

    def _taken(self) -> bool:
        if sys.platform == "win32":  # an open file cannot be removed there
            with suppress(PermissionError, FileNotFoundError):
                self._path.unlink()
            with suppress(FileExistsError):
                self._descriptor = open_private(self._path, os.O_CREAT | os.O_EXCL | os.O_RDWR)
            return self._descriptor >= 0
        import fcntl

        descriptor = open_private(self._path, os.O_CREAT | os.O_RDWR)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The last owner removed the file: a lock on an unnamed file has no effect.
            ours = os.path.samestat(os.fstat(descriptor), os.stat(self._path))
        except (BlockingIOError, FileNotFoundError):
            ours = False
        except OSError:  # the file system has no locks
            ours = True
        if not ours:
            os.close(descriptor)
            return False
        self._descriptor = descriptor
        return True

    def is_there(self) -> bool:
        """Return whether other processes can see the lock: its file and its folder still exist."""
        try:
            return os.path.samestat(os.fstat(self._descriptor), os.stat(self._path))
        except OSError:
            return False

    def close(self) -> None:
        if self._descriptor < 0:
            return
        ours = self.is_there()
        descriptor, self._descriptor = self._descriptor, -1
        if ours and sys.platform != "win32":  # removed first, so that it is never seen without its lock
            with suppress(OSError):
                self._path.unlink()
        os.close(descriptor)
        if sys.platform == "win32":
            with suppress(OSError):
                self._path.unlink()


def is_live(path: Path) -> bool:
    """Return whether a running process has a recording or session open."""
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
