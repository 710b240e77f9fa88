"""Files: private ones, atomic writes, bounded reads, and the text of one that the user wrote.

Private folders and files have mode 0700 and 0600 regardless of the umask, and are never reached through a
symbolic link. mcptui's own folder is the deepest one named `mcptui` in a path. Links above it are the user's
choice. Inside it, a link would let another program choose where mcptui writes, or what it reads back. Folders
are opened one inside the other, by descriptor, so that none can be replaced by a link meanwhile. A path
without such a folder was chosen by the user: then only a link in place of the file is rejected.

A file that is written atomically has its old content or all of the new, never a part.

Together with `secrets/keychain.py`, the only I/O in `core`: storage, settings, host and commands all need it.
"""

import contextlib
import errno
import os
import re
import select
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from threading import Event
from typing import BinaryIO

from tui.core.errors import encoding_of
from tui.core.language.translate import N_, message

OWN = "mcptui"
FOLDER_MODE = 0o700
FILE_MODE = 0o600

_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_BY_DESCRIPTOR = os.open in os.supports_dir_fd and os.mkdir in os.supports_dir_fd
"""False on Windows, where only the permissions of the home folder keep others out."""

_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_AT_ONCE = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)


class LinkError(OSError):
    """A symbolic link is in place of a private file or folder."""

    def __init__(self, path: str) -> None:
        super().__init__(
            errno.ELOOP,
            message("{path} is a symbolic link, which mcptui does not follow here. Remove it", path=path),
            path,
        )


_IRREGULAR = message("not a regular file")


class IrregularError(OSError):
    """Something other than a file is in its place."""


Stamp = tuple[int, int, int, int] | None
"""A value that changes when a file changes: device, inode, size, modification time; None without a file."""


def stamp_of(path: str | Path) -> Stamp:
    """Return the stamp of a file. Takes microseconds."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def short_path(path: str) -> str:
    """Return a path in the form that shells show: "~/demo"."""
    home = os.path.expanduser("~").rstrip(os.sep)
    inside = path == home or path.startswith(home + os.sep)
    return f"~{path[len(home) :]}" if home and inside else path


def current_folder() -> str:
    """Return the current folder, in which relative paths of commands begin; "" if it is gone."""
    try:
        return os.getcwd()
    except OSError:
        return ""


def make_folder(path: Path) -> None:
    """Make a folder and the missing ones above it, each with mode 0700; existing ones are not changed.

    Raises `LinkError` if the folder, or one above it in mcptui's own, is a link, else `OSError`.
    """
    if not _BY_DESCRIPTOR:
        path.mkdir(FOLDER_MODE, parents=True, exist_ok=True)
        return
    base, names = _split(path)
    _make_parents(base)
    os.close(_descend(base, names, make=True))


def open_private(path: Path, flags: int) -> int:
    """Open a regular file without waiting, and return its descriptor; one that is created has mode 0600.

    Raises `LinkError` as `make_folder` does and for a link in place of the file, else `OSError`.
    """
    folder, name = _opened_folder(path)
    try:
        handle = _open_file(path, name, flags, folder)
    finally:
        if folder is not None:
            os.close(folder)
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise IrregularError(errno.EINVAL, _IRREGULAR, os.fspath(path))
        is_loose = stat.S_IMODE(found.st_mode) != FILE_MODE
        if flags & os.O_CREAT and is_loose and hasattr(os, "fchmod") and found.st_uid == os.geteuid():
            os.fchmod(handle, FILE_MODE)
    except BaseException:
        os.close(handle)
        raise
    return handle


def open_file(path: str | Path, *, links: bool = True, pipes: bool = False) -> BinaryIO:
    """Open a regular file, or with `pipes` a FIFO, to read it. Never waits for the writer of a FIFO.

    Without `links`, a symbolic link is refused, as in mcptui's own folders. Raises `OSError`, or `ValueError`
    for a path that cannot exist.
    """

    def opened(name: str, flags: int) -> int:
        return os.open(name, flags | _AT_ONCE) if links else open_private(Path(name), flags)

    file = open(path, "rb", opener=opened)
    mode = os.fstat(file.fileno()).st_mode
    if not (stat.S_ISREG(mode) or (pipes and stat.S_ISFIFO(mode))):
        file.close()
        raise IrregularError(errno.EINVAL, message("not a file") if pipes else _IRREGULAR, os.fspath(path))
    return file


def read_limited(file: BinaryIO, limit: int) -> bytes:
    """Return the rest of a file. Raises `ValueError` if it is larger than `limit` bytes."""
    if len(raw := file.read(limit + 1)) > limit:
        raise ValueError(message("larger than {limit} KiB", limit=limit // 1024))
    return raw


def write_private(path: Path, text: str, *, links: bool = False) -> None:
    """Replace a file as `atomic_write` does, also on the disk. New directories get mode 0700.

    With `links`, a symbolic link is followed, else refused, as in mcptui's own folders. Raises `OSError`, or
    `UnicodeError` if the text cannot be encoded.
    """
    folder = Path(os.path.realpath(path)).parent if links else path.parent
    make_folder(folder)
    atomic_write(path, [text], errors="strict", wait=False, links=links)
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextlib.contextmanager
def new_file(path: Path) -> Iterator[None]:
    """Create an empty file with mode 0600, so that no other program can; remove it if the block fails.

    Raises `OSError`, also if something is in its place.
    """
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE))
    try:
        os.chmod(path, FILE_MODE)  # regardless of the umask
        yield
    except BaseException:
        with suppress(OSError):
            path.unlink()
        raise


def append_private(path: Path, data: bytes) -> None:
    """Append lines to a private file, all or none: a part of one would damage the next.

    Begins a new line if an earlier write was interrupted. Raises OSError.
    """
    make_folder(path.parent)
    handle = open_private(path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
    try:
        size = os.fstat(handle).st_size
        if size and os.pread(handle, 1, size - 1) != b"\n":
            data = b"\n" + data
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[os.write(handle, rest) :]
        except OSError:
            with suppress(OSError):
                os.ftruncate(handle, size)
            raise
        os.fsync(handle)
    finally:
        os.close(handle)


def refuse_links(paths: Iterable[Path]) -> None:
    """Raise `LinkError` if a link is in place of one of these files or of a folder of mcptui's above it."""
    for path in paths:
        try:
            folder, name = _opened_folder(path)
        except FileNotFoundError:
            continue
        try:
            _refuse_link(path, name, folder)
        finally:
            if folder is not None:
                os.close(folder)


def links_in(folder: Path) -> list[Path]:
    """Return the links in place of a folder of mcptui's, or of what lies directly in it."""
    if folder.is_symlink():
        return [folder]
    try:
        with os.scandir(folder) as entries:
            return sorted(Path(entry.path) for entry in entries if entry.is_symlink())
    except OSError:
        return []


def _split(folder: Path) -> tuple[str, list[str]]:
    """Return what lies above mcptui's own folder, and the names from there on."""
    whole = Path(os.path.abspath(folder))
    parts = whole.parts
    if OWN not in parts:
        return os.fspath(whole), []
    at = len(parts) - 1 - parts[::-1].index(OWN)
    return os.path.join(*parts[:at]), list(parts[at:])


def _make_parents(folder: str) -> None:
    if os.path.isdir(folder):
        return
    above = os.path.dirname(folder)
    if above != folder:
        _make_parents(above)
    try:
        os.mkdir(folder, FOLDER_MODE)
    except FileExistsError as error:
        if not os.path.isdir(folder):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), folder) from error
    else:
        os.chmod(folder, FOLDER_MODE)


def _descend(base: str, names: Iterable[str], *, make: bool) -> int:
    """Return a descriptor of the folder `names` below `base`."""
    # O_PATH: a folder above mcptui's own may be one that cannot be listed.
    folder, path = os.open(base, getattr(os, "O_PATH", 0) | _FOLDER), base
    try:
        for name in names:
            path = os.path.join(path, name)
            below = _open_below(folder, name, path, make=make)
            os.close(folder)
            folder = below
    except BaseException:
        os.close(folder)
        raise
    return folder


def _open_below(folder: int, name: str, path: str, *, make: bool) -> int:
    is_new = False
    if make:
        with suppress(FileExistsError):
            os.mkdir(name, FOLDER_MODE, dir_fd=folder)
            is_new = True
    try:
        found = os.open(name, _FOLDER | _NO_LINK, dir_fd=folder)
    except PermissionError:
        if not is_new:
            raise
        os.chmod(name, FOLDER_MODE, dir_fd=folder)  # the umask took the owner's rights
        found = os.open(name, _FOLDER | _NO_LINK, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR):  # Linux reports ENOTDIR
            _refuse_link(Path(path), name, folder)
        raise OSError(error.errno, error.strerror, path) from error
    if is_new:
        os.fchmod(found, FOLDER_MODE)
    return found


def _opened_folder(path: Path) -> tuple[int | None, str]:
    """Return a descriptor of the folder of a file, and the name of the file in it."""
    if not _BY_DESCRIPTOR:
        return None, os.fspath(path)
    base, names = _split(path.parent)
    return _descend(base, names, make=False), path.name


def _open_file(path: Path, name: str, flags: int, folder: int | None) -> int:
    try:
        return os.open(name, flags | _NO_LINK | _AT_ONCE, FILE_MODE, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK, errno.EEXIST):
            _refuse_link(path, name, folder)
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error


def _refuse_link(path: Path, name: str, folder: int | None) -> None:
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return
    if stat.S_ISLNK(found.st_mode):
        raise LinkError(os.fspath(path))


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


class NotText(ValueError):
    """The content of a file is not UTF-8 text. The message says what it is instead, without the file name."""


def text_of(raw: bytes) -> str:
    """Return UTF-8 text without its byte order mark. Raises NotText."""
    if name := encoding_of(raw):
        raise NotText(message("is {encoding} text, not UTF-8. Save it as UTF-8", encoding=name))
    if b"\0" in raw:
        raise NotText(message("is not text: null byte in line {line}", line=_line(raw, raw.index(0))))
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = _line(raw, error.start)
        words = N_("is not UTF-8 text: byte 0x{byte:02x} in line {line}")
        raise NotText(message(words, byte=raw[error.start], line=line)) from error


def _line(raw: bytes, offset: int) -> int:
    return raw.count(b"\n", 0, offset) + 1
