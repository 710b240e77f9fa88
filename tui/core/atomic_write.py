"""Atomic file writes: a file has its old content or all of the new, never a part.

Together with `files/private_files.py` and `secrets/keychain.py`, the only I/O in `core`: storage, settings,
host and commands all need it.
"""

import contextlib
import errno
import os
import re
import select
import stat
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from threading import Event

from tui.core.files.private_files import refuse_links

_DESCRIPTORS = re.compile(r"/dev/fd|/proc/(\d+)(?:/task/\d+)?/fd")
"""Directories that list open files by the number of their descriptor."""

MAX_LINKS = 40
"""Maximum symbolic links followed in a path, as in the kernel."""

POLL_MS = 100
"""Interval at which a write to a full FIFO checks whether it was cancelled."""


def atomic_write(
    path: Path,
    pieces: Iterable[str],
    *,
    mode: int = 0o600,
    errors: str = "backslashreplace",
    wait: bool = True,
    stop: Event | None = None,
    links: bool = True,
) -> int:
    """Write UTF-8 text to a file and return its size in bytes. If that fails, an existing file is unchanged.

    Symbolic links are followed, or without `links` refused, as in mcptui's own folders. A device, a FIFO or
    an open file that is named by its descriptor (`/dev/stdout`, `/proc/self/fd/3`) is written to, not
    replaced. `errors` is as in `str.encode`. A FIFO without a reader is an error, unless `wait` says to wait
    for one. `stop` is set from another thread to cancel.

    Raises:
        OSError: it cannot be written. `InterruptedError` if it was cancelled.
        UnicodeError: the text cannot be encoded.
    """
    if not links:
        refuse_links((path,))
    encoded = (piece.encode("utf-8", errors) for piece in _until(stop, pieces))
    if not is_replaceable(path):
        handle = _open_existing(path, wait)
        try:
            return sum(_write_to(handle, piece, stop) for piece in encoded)
        finally:
            os.close(handle)
    target = os.path.realpath(path) if links else os.fspath(path)
    # A short prefix, not the name of the file, which may already have the maximum length.
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
    """Return whether a regular file, or nothing, is at `path`; False for an open file's descriptor.

    Raises OSError if that cannot be determined: the name is too long, a directory of the path is a file, …
    """
    if _descriptor(path):
        return False
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except FileNotFoundError:
        return True


def _until(stop: Event | None, pieces: Iterable[str]) -> Iterator[str]:
    for piece in pieces:
        _check(stop)
        yield piece


def _check(stop: Event | None) -> None:
    if stop is not None and stop.is_set():
        raise InterruptedError(errno.EINTR, "cancelled")


def _open_existing(path: Path, wait: bool) -> int:
    flags = os.O_WRONLY | getattr(os, "O_NOCTTY", 0) | (0 if wait else getattr(os, "O_NONBLOCK", 0))
    if not (name := _descriptor(path)):
        return os.open(path, flags)
    folder, number = os.path.split(name)
    directory = _DESCRIPTORS.fullmatch(folder)
    if directory and directory[1] in (None, str(os.getpid())):
        return os.dup(int(number))  # keeps the position and the append mode
    return os.open(name, flags | os.O_APPEND)


def _descriptor(path: Path) -> str:
    """Return the descriptor that a path leads to, such as "/proc/7/fd/1", or "".

    It looks like a symbolic link to the open file, but replacing its target would not change the open file.
    """
    name = os.fspath(path)
    for _ in range(MAX_LINKS):
        folder, last = os.path.split(name)
        folder = os.path.realpath(folder)
        name = os.path.join(folder, last)
        if last.isdecimal() and _DESCRIPTORS.fullmatch(folder):
            return name
        try:
            name = os.path.join(folder, os.readlink(name))
        except OSError:
            break
    return ""


def _write_to(handle: int, data: bytes, stop: Event | None) -> int:
    if not hasattr(select, "poll"):  # Windows
        with open(handle, "wb", closefd=False) as file:
            return file.write(data)
    poll = select.poll()
    poll.register(handle, select.POLLOUT)
    rest = memoryview(data)
    while rest:
        _check(stop)
        if poll.poll(POLL_MS):
            with contextlib.suppress(BlockingIOError):
                # A pipe that can be written to takes this many bytes without blocking.
                rest = rest[os.write(handle, rest[: select.PIPE_BUF]) :]
    return len(data)
