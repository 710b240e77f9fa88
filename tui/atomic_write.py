"""Atomic file writes: a file has its old content or all of the new, never a part."""

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterable
from pathlib import Path


def atomic_write(
    path: Path,
    pieces: Iterable[str],
    *,
    mode: int = 0o600,
    errors: str = "backslashreplace",
    wait: bool = True,
) -> int:
    """Write UTF-8 text to a file and return its size in bytes. If that fails, an old file is unchanged.

    Symbolic links are followed. What is no regular file (a device, a FIFO) is written into, not replaced.

    Args:
        path: the file; its directory must exist.
        pieces: the text.
        mode: permissions of the file.
        errors: what to do with lone surrogates, as in `str.encode`.
        wait: wait until a FIFO has a reader; otherwise a FIFO without one is an error.

    Raises:
        OSError: it cannot be written.
        UnicodeError: the text cannot be encoded.
    """
    encoded = (piece.encode("utf-8", errors) for piece in pieces)
    if not is_replaceable(path):
        flags = os.O_WRONLY | getattr(os, "O_NOCTTY", 0) | (0 if wait else getattr(os, "O_NONBLOCK", 0))
        handle = os.open(path, flags)
        if not wait:
            os.set_blocking(handle, True)
        with open(handle, "wb") as file:
            return sum(map(file.write, encoded))
    target = os.path.realpath(path)
    # The prefix is short, not the name of the file: that may be as long as a name can be.
    handle, temporary = tempfile.mkstemp(prefix=".mcptui-", dir=os.path.dirname(target))
    try:
        with open(handle, "wb") as file:
            size = sum(map(file.write, encoded))
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, mode)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    return size


def is_replaceable(path: Path) -> bool:
    """Whether there is a regular file, or nothing, at `path`.

    Raises:
        OSError: that cannot be found out: the name is too long, a directory of the path is a file, …
    """
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except FileNotFoundError:
        return True
