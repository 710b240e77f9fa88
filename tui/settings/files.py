"""Safely reads files that users edit, and locks them during changes."""

import os
import stat
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tui.core.errors import ConfigError
from tui.core.files.private_files import LinkError, make_folder, open_private
from tui.core.files.text_files import NotText, text_of
from tui.core.text import clean_line

MAX_CONFIG_BYTES = 4 * 1024 * 1024
"""A larger configuration is a mistake."""


_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)


class Unreadable(Exception):
    """The file cannot be used. The message says why, without the file name."""


class Unopened(Unreadable):
    """The system refuses to read the file now. Its content may be valid, so it must not be replaced."""


def read_bounded(path: Path, limit: int = MAX_CONFIG_BYTES, *, links: bool = True) -> str:
    """Return the text of a regular file of at most `limit` bytes, without its byte order mark.

    Raises the same errors as `read_bytes`, and `Unreadable` if it is not text.
    """
    try:
        return text_of(read_bytes(path, limit, links=links))
    except NotText as error:
        raise Unreadable(str(error)) from error


def read_bytes(path: Path, limit: int, *, links: bool = True) -> bytes:
    """Return the content of a regular file of at most `limit` bytes.

    Without `links`, a symbolic link is refused, as in mcptui's own folders. Never blocks: FIFOs and devices
    are refused. Raises `FileNotFoundError` if `path` does not exist, `Unopened` if the system refuses,
    `Unreadable` otherwise.
    """
    try:
        handle = os.open(path, _READ) if links else open_private(path, os.O_RDONLY)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise FileNotFoundError(*error.args) from error
    except LinkError as error:
        link = os.fspath(error.filename)
        where = "" if link == os.path.abspath(path) else f"in {link}, "
        raise Unopened(f"is {where}a symbolic link, which mcptui does not follow here") from error
    except (OSError, ValueError) as error:
        raise Unopened(f"cannot be opened: {getattr(error, 'strerror', None) or error}") from error
    try:
        mode = os.fstat(handle).st_mode
        if not stat.S_ISREG(mode):
            raise Unreadable("is a directory, not a file" if stat.S_ISDIR(mode) else "is not a regular file")
        with open(handle, "rb", closefd=False) as file:
            raw = file.read(limit + 1)
    except OSError as error:
        raise Unopened(f"cannot be read: {error.strerror}") from error
    finally:
        os.close(handle)
    if len(raw) > limit:
        raise Unreadable(f"is larger than {limit // 1024} KiB")
    return raw


def read_state(path: Path, limit: int, *, form: int, to_change: bool = False) -> Mapping[str, Any]:
    """Return the JSON object of a state file; empty if it is missing, damaged, a link or not of `form`.

    With `to_change`, keeps a copy of a damaged file. Raises `ConfigError` if that fails, or if the system
    refuses to read the file now: its content may be valid and must not be replaced.
    """
    try:
        return _state(path, limit, form)
    except FileNotFoundError:
        return {}
    except Unopened as error:
        if to_change:
            raise ConfigError(f"{error}.", where=str(path)) from error
        return {}
    except Unreadable:
        if to_change:
            keep_damaged(path)
        return {}


def state_damage(path: Path, limit: int, *, form: int) -> str:
    """Return why a state file cannot be read, and whether a copy is kept; "" if it is valid or missing."""
    try:
        _state(path, limit, form)
    except FileNotFoundError:
        return ""
    except Unreadable as error:
        return damage_text(path, error)
    return ""


def _state(path: Path, limit: int, form: int) -> Mapping[str, Any]:
    from tui.core.jsonrpc.reader import loads  # not needed for the first frame

    try:
        found = loads(read_bounded(path, limit, links=False))
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"is not JSON: {error}") from error
    if isinstance(found, Mapping) and found.get("format") == form:
        return found
    raise Unreadable("was written by another version of mcptui")


def damage_text(path: Path, error: Exception) -> str:
    """Return a sentence or two: which state file cannot be read, why, and where its copy will be."""
    is_kept = isinstance(error, Unreadable) and not isinstance(error, Unopened)
    copy = f" Before it is replaced, it is copied to {damaged_copy(path).name}." if is_kept else ""
    why = clean_line(str(error), 200).removesuffix(".")
    return f"{clean_line(str(path), 400)} {why}.{copy}"


def damaged_copy(path: Path) -> Path:
    """Return the path of the copy of a damaged state file."""
    return path.with_suffix(".damaged")


def keep_damaged(path: Path) -> None:
    """Link or copy a damaged state file to a second name, so that it survives its replacement.

    Raises ConfigError if neither works: then it must not be replaced.
    """
    copy = damaged_copy(path)
    try:
        copy.unlink(missing_ok=True)
        try:
            os.link(path, copy, follow_symlinks=False)
        except OSError:  # the file system has no links
            _copy(path, copy)
    except OSError as error:
        why = f"is damaged and cannot be copied to {copy.name} ({error.strerror}), so it is not replaced."
        step = "Move it away so that mcptui can write a new one."
        raise ConfigError(why, where=str(path), next_step=step) from error


def _copy(path: Path, to: Path) -> None:
    """Copy a file to a private file that does not exist yet; a copy that fails is removed."""
    import shutil  # not needed for the first frame

    with open(open_private(path, os.O_RDONLY), "rb") as source:
        try:
            with open(open_private(to, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as copy:
                shutil.copyfileobj(source, copy)
                copy.flush()
                os.fsync(copy.fileno())
        except OSError:
            to.unlink(missing_ok=True)
            raise


SECONDS = 5.0
"""How long to wait for another process. Writing a small file takes milliseconds."""

STEP_SECONDS = 0.005


@contextmanager
def locked(path: Path, seconds: float = SECONDS) -> Iterator[None]:
    """Lock a file against changes by other processes and threads. Not reentrant.

    Has no effect if the system (Windows) or file system has no locks. Raises `ConfigError` if another process
    holds the lock for too long.
    """
    descriptor = _locked_folder(path, seconds)
    try:
        yield
    finally:
        if descriptor >= 0:
            os.close(descriptor)


def _locked_folder(path: Path, seconds: float) -> int:
    """Return the descriptor that holds the lock, or -1 where locks do not exist."""
    if sys.platform == "win32":
        return -1
    import fcntl

    folder = Path(os.path.realpath(path)).parent
    try:
        if not os.path.islink(path):
            make_folder(folder)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return -1  # writing will fail too, with the reason
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
        except OSError:  # the file system has no locks
            os.close(descriptor)
            return -1
