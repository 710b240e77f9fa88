"""A lock between processes for files that are read, changed and written back.

The lock is on the folder of the file: the file itself is replaced by each write, and a lock file beside it
would be litter in a folder of the person's. It ends with its process.
"""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tui.core.errors import ConfigError

SECONDS = 5.0
"""How long to wait for another process; writing a small file takes milliseconds."""

STEP_SECONDS = 0.005


@contextmanager
def locked(path: Path, seconds: float = SECONDS) -> Iterator[None]:
    """Keep other processes and threads from changing a file; not reentrant.

    Without locks on this system (Windows) or file system, nobody is kept out.

    Raises:
        ConfigError: another process holds the lock for too long.
    """
    descriptor = _locked_folder(path, seconds)
    try:
        yield
    finally:
        if descriptor >= 0:
            os.close(descriptor)


def _locked_folder(path: Path, seconds: float) -> int:
    """Return the descriptor that holds the lock, or -1 where there are no locks."""
    if sys.platform == "win32":
        return -1
    import fcntl

    folder = Path(os.path.realpath(path)).parent
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return -1  # writing fails too, and says why
    deadline = time.monotonic() + seconds
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return descriptor
        except BlockingIOError:
            if time.monotonic() > deadline:
                os.close(descriptor)
                raise ConfigError(
                    "is being changed by another mcptui.",
                    where=str(path),
                    next_step="Nothing was changed.",
                ) from None
            time.sleep(STEP_SECONDS)
        except OSError:  # a file system without locks
            os.close(descriptor)
            return -1
