"""Private folders and files: mode 0700 and 0600 regardless of the umask, and never through a symbolic link.

mcptui's own folder is the deepest one named `mcptui` in a path. Links above it are the user's choice. Inside
it, a link would let another program choose where mcptui writes, or what it reads back. Folders are opened one
inside the other, by descriptor, so that none can be replaced by a link meanwhile.

A path without such a folder was chosen by the user: then only a link in place of the file is rejected.
"""

import errno
import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

OWN = "mcptui"
FOLDER_MODE = 0o700
FILE_MODE = 0o600

_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_BY_DESCRIPTOR = os.open in os.supports_dir_fd and os.mkdir in os.supports_dir_fd
"""False on Windows, where only the permissions of the home folder keep others out."""

_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_FILE = _NO_LINK | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)


class LinkError(OSError):
    """A symbolic link is in place of a private file or folder."""

    def __init__(self, path: str) -> None:
        super().__init__(
            errno.ELOOP, f"{path} is a symbolic link, which mcptui does not follow here. Remove it", path
        )


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
            raise OSError(errno.EINVAL, "not a regular file", os.fspath(path))
        is_loose = stat.S_IMODE(found.st_mode) != FILE_MODE
        if flags & os.O_CREAT and is_loose and hasattr(os, "fchmod") and found.st_uid == os.geteuid():
            os.fchmod(handle, FILE_MODE)
    except BaseException:
        os.close(handle)
        raise
    return handle


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
        return os.open(name, flags | _FILE, FILE_MODE, dir_fd=folder)
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
