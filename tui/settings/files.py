"""Safely reads files that users edit, and locks them during changes."""

import os
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tui.core.errors import ConfigError, reason_of
from tui.core.files import (
    IrregularError,
    LinkError,
    NotText,
    links_in,
    make_folder,
    open_file,
    read_limited,
    text_of,
)
from tui.core.language.translate import message
from tui.core.text import clean_line

MAX_CONFIG_BYTES = 4 * 1024 * 1024
"""A larger configuration is a mistake."""


class Unreadable(Exception):
    """The file cannot be used. The message says why, without the file name."""


class Unopened(Unreadable):
    """It is no file, or the system refuses to read it now. It must not be replaced: it may be valid."""


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

    `links` is as in `open_file`. Raises `FileNotFoundError` if `path` does not exist, `Unreadable` if it is
    too large, `Unopened` otherwise.
    """
    try:
        file = open_file(path, links=links)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise FileNotFoundError(*error.args) from error
    except LinkError as error:
        link = os.fspath(error.filename)
        where = "" if link == os.path.abspath(path) else f"in {link}, "
        raise Unopened(
            message("is {where}a symbolic link, which mcptui does not follow here", where=where)
        ) from error
    except IsADirectoryError as error:
        raise Unopened(message("is a directory, not a file")) from error
    except IrregularError as error:
        raise Unopened(message("is not a regular file")) from error
    except (OSError, ValueError) as error:
        raise Unopened(message("cannot be opened: {reason}", reason=reason_of(error))) from error
    try:
        with file:
            return read_limited(file, limit)
    except OSError as error:
        raise Unopened(message("cannot be read: {reason}", reason=reason_of(error))) from error
    except ValueError as error:
        raise Unreadable(f"is {error}") from error


def refused_links(*folders: Path) -> list[str]:
    """Return a sentence for each link in place of one of mcptui's own folders, or directly in it. Blocks.

    Nothing is written through them.
    """
    found = {path: None for folder in folders for path in links_in(folder)}
    return [
        message(
            "{path} is a symbolic link, which mcptui does not follow here. Nothing is saved "
            "there. Replace the link with the file or folder itself.",
            path=clean_line(str(path), 400),
        )
        for path in found
    ]


SECONDS = 5.0
"""How long to wait for another process. Writing a small file takes milliseconds."""

STEP_SECONDS = 0.005


@contextmanager
def locked(path: Path, seconds: float = SECONDS) -> Iterator[None]:
    """Lock a file against changes by other processes and threads. Not reentrant.

    Has no effect if the system (Windows) or file system has no locks. Raises `ConfigError` if another process
    holds the lock for too long.
    """
    folder = Path(os.path.realpath(path)).parent
    descriptor = -1
    with suppress(OSError):  # writing will fail too, with the reason
        if not os.path.islink(path):
            make_folder(folder)
        if sys.platform != "win32":
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        if descriptor >= 0:
            _wait_for_lock(descriptor, path, seconds)
        yield
    finally:
        if descriptor >= 0:
            os.close(descriptor)


def _wait_for_lock(descriptor: int, path: Path, seconds: float) -> None:
    import fcntl

    deadline = time.monotonic() + seconds
    while True:
        try:
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise ConfigError(
                    message("is being changed by another mcptui."),
                    where=str(path),
                    next_step=message("Nothing was changed."),
                ) from None
            time.sleep(STEP_SECONDS)
        except OSError:  # the file system has no locks
            return


MOST_PARTS = 200
"""Maximum parts of a dotted key: `tomllib` takes time in proportion to their square."""

_PART = r"""(?:"[^"]*"|'[^']*'|[\w-]+)"""
_DOTTED = re.compile(rf"{_PART}(?:[ \t]*\.[ \t]*{_PART})*")


def toml_of(text: str) -> dict[str, Any]:
    """Return the value of a TOML text. Raises ValueError with the place, as `tomllib` does."""
    import tomllib

    for number, line in enumerate(text.split("\n"), 1):
        if line.count(".") > MOST_PARTS:
            parts = max(len(re.findall(_PART, key)) for key in _DOTTED.findall(line) or [""])
            if parts > MOST_PARTS:
                raise ValueError(f"A key of {parts:,} parts (at line {number}, column 1)")
    return tomllib.loads(text)
