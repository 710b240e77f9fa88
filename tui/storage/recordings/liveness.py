"""Whether a recording is still being written: a lock on a file beside it, which ends with its process.

The lock is not on the recording itself: SQLite's own locks on that file would be dropped by whoever closes
a second descriptor of it in the same process. Where the system has no `flock`, a file that is held open
cannot be removed there (Windows), which tells the same.
"""

import os
import sys
from pathlib import Path

SUFFIX = ".live"


def live_file(path: Path) -> Path:
    """Return the file beside a recording whose lock says that it is live."""
    return path.with_name(path.name + SUFFIX)


class LiveMark:
    """Says that a recording is live for as long as the process lives, or until `close`."""

    def __init__(self, path: Path) -> None:
        """Take the lock.

        Raises:
            OSError: the file is there already, or cannot be made. A file system without locks is no error:
                its recordings are taken for finished ones.
        """
        self._path = live_file(path)
        self._descriptor = os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
        if sys.platform != "win32":
            import fcntl

            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX)
            except OSError:
                pass

    def close(self) -> None:
        """Say that the recording is finished."""
        if self._descriptor < 0:
            return
        descriptor, self._descriptor = self._descriptor, -1
        if sys.platform != "win32":  # removed first: whoever opens it after the lock has gone finds nothing
            self._path.unlink(missing_ok=True)
        os.close(descriptor)
        if sys.platform == "win32":
            self._path.unlink(missing_ok=True)


def is_live(path: Path) -> bool:
    """Return whether a recording is being written by a process that lives."""
    beside = live_file(path)
    if sys.platform == "win32":
        try:
            beside.unlink(missing_ok=True)
        except OSError:
            return True
        return False
    import fcntl

    try:
        descriptor = os.open(beside, os.O_RDONLY)
    except OSError:
        return False
    try:
        # Shared: two that look at the same moment do not take each other for the writer.
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return False
