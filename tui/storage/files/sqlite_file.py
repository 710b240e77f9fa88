"""A database file of mcptui: how it is created and opened, its side files, and what other programs do to it.

One SQLite file, WAL while it is written by one connection. Readers are `mode=ro`. Nothing else opens the
file: closing another descriptor of it would drop the locks that SQLite holds in the same process. `FileGuard`
detects changes by another program.
"""

import errno
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tui.core.errors import StorageError, reason_of
from tui.core.files import LinkError, open_private, stamp_of
from tui.core.language.translate import message
from tui.storage.files.foreign_file import (
    OPEN_SECONDS,
    allow_stopping,
    is_stopped,
    raise_if_stopped,
    refuse_computed,
    time_limit,
)

Check = Callable[[sqlite3.Connection, Path], None]
"""Raises an error if an opened file is invalid."""

CACHE_KIB = 512
"""Pages kept in memory. Rows are written and read in order, so more (2 MiB by default) would not help."""

BUSY_MS = 5000
"""How long a connection waits for another connection's lock."""


@contextmanager
def on_error(undo: Callable[[], object]) -> Iterator[None]:
    """Call `undo` if the block raises an error, also if that only ends the process."""
    try:
        yield
    except BaseException:
        undo()
        raise


def create_database(path: Path) -> sqlite3.Connection:
    """Create an empty private file, and return the connection that writes it.

    Raises `OSError` if the file exists or cannot be made, `sqlite3.Error` if SQLite cannot write it; then the
    file is removed.
    """
    make_private(path)
    with on_error(lambda: remove_files(path)):
        return for_writing(connect(path, "rw"))


def for_writing(connection: sqlite3.Connection) -> sqlite3.Connection:
    """Return a connection whose transactions survive kill -9, in a WAL."""
    with on_error(connection.close):
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
    return connection


def open_database(
    path: Path, check: Check, *, at_once: bool = False, is_cut: bool = False
) -> sqlite3.Connection:
    """Open a file to read it, even while another connection writes it; raises the errors of `check`.

    Args:
        path: its file.
        check: raises an error if it is not ours.
        at_once: read a consistent snapshot, in one transaction until the connection is closed, so that SQLite
            locks the file once instead of for each statement.
        is_cut: read a file that is shorter than its header says.
    """
    try:
        connection = connect(path, "ro", is_cut=is_cut)
        if at_once:
            connection.execute("BEGIN")
        return checked(connection, path, check)
    except sqlite3.OperationalError as error:
        if is_stopped(error) or has_bytes(side_file(path, "-wal")):
            raise
        # The folder may be one where SQLite cannot create files, and nothing is being written.
        return checked(connect(path, "ro", "&immutable=1"), path, check)


def size_in_header(path: Path) -> int:
    """Return the size of a file according to its header, 0 if it has no header."""
    with path.open("rb") as file:
        head = file.read(100)
    page = {1: 65536}.get(size := int.from_bytes(head[16:18]), size)
    return page * int.from_bytes(head[28:32]) if head.startswith(b"SQLite format 3\0") else 0


def files_of(path: Path) -> tuple[Path, ...]:
    """Return the recording and the files that SQLite may have created next to it."""
    return path, side_file(path, "-wal"), side_file(path, "-shm"), side_file(path, "-journal")


def side_file(path: Path, suffix: str) -> Path:
    """Return a file that SQLite or mcptui keeps next to another one."""
    return path.with_name(path.name + suffix)


def has_bytes(path: Path) -> bool:
    """Return whether a file exists and is not empty."""
    return bool((stamp := stamp_of(path)) and stamp[2])


def connect(path: Path, mode: str, more: str = "", *, is_cut: bool = False) -> sqlite3.Connection:
    """Open an existing database with any content. One thread at a time may use it.

    Args:
        path: its file.
        mode: "ro" or "rw".
        more: additional parameters of the URI (https://sqlite.org/uri.html), each starting with "&".
        is_cut: whether to open a file that is shorter than its header says, and to treat its last pages as
            damaged.
    """
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}{more}",
        uri=True,
        isolation_level=None,
        timeout=BUSY_MS / 1000,
        check_same_thread=False,
    )
    allow_stopping(connection)
    with on_error(connection.close):
        if is_cut:  # the only setting that makes SQLite accept a short file (btree.c, lockBtree)
            connection.execute("PRAGMA writable_schema = ON")
        connection.execute("PRAGMA trusted_schema = OFF")  # the file may come from somebody else
        connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
    return connection


def make_private(path: Path) -> None:
    """Create an empty private file, or raise `OSError`. SQLite would apply the umask instead.

    The -wal and -shm files get the mode of this file.
    """
    os.close(open_private(path, os.O_CREAT | os.O_EXCL | os.O_RDWR))


def checked(
    connection: sqlite3.Connection, path: Path, check: Check, *, is_written: bool = False
) -> sqlite3.Connection:
    """Return a connection whose file passes `check` and contains only plain tables; close it otherwise."""
    with on_error(connection.close), time_limit(OPEN_SECONDS):
        try:
            check(connection, path)
            refuse_computed(connection, str(path), is_written=is_written)
        except sqlite3.Error as error:
            raise_if_stopped(error, str(path))
            raise
    return connection


def remove_files(path: Path) -> bool:
    """Remove a database, its main file last, so that an interrupted removal can be continued.

    Return whether all of it is gone.
    """
    try:
        for file in reversed(files_of(path)):
            file.unlink(missing_ok=True)
    except OSError:
        return False
    return True


def leave_one_file(connection: sqlite3.Connection) -> None:
    """Move the WAL into the file, unless a reader holds it or the disk is full. It then stays readable."""
    with suppress(sqlite3.Error):
        connection.execute("PRAGMA busy_timeout = 0")
        connection.execute("PRAGMA journal_mode = DELETE")


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Commit what the block writes, or nothing of it if it fails.

    A transaction that an earlier failure left open is rolled back, so that the next one can begin.
    """
    try:
        connection.execute("BEGIN IMMEDIATE")
        yield
        connection.execute("COMMIT")
    finally:
        roll_back(connection)


def roll_back(connection: sqlite3.Connection) -> None:
    """Roll back the open transaction, if any."""
    with suppress(sqlite3.Error):  # SQLite has already rolled back
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def storable(value: Any) -> Any:
    """Return a value that SQLite can store: a lone surrogate becomes its escape."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    return value


class FileGuard:
    """Detects that another program changed, replaced or deleted the file of one writer.

    SQLite does not: it keeps writing to an unlinked file, or to one without its WAL. After each commit, the
    writer notes the state of the file and its WAL. If that differs before the next commit, `is_whole` reads
    the file through a new connection: a change that keeps it readable, such as a checkpoint, is accepted.
    """

    def __init__(self, path: Path, is_whole: Callable[[], bool]) -> None:
        self._files = path, side_file(path, "-wal")
        self._is_whole = is_whole
        self.note()

    def note(self) -> None:
        """Accept the current state of the file, which the writer has just written."""
        self._look = [stamp_of(file) for file in self._files]

    def harm(self) -> str:
        """Return what another program did to the file, "" if all that was written can be read."""
        ours, now = self._look, [stamp_of(file) for file in self._files]
        if now == ours:
            return ""
        if now[0] is None or ours[0] is None:
            return message("moved or deleted")
        if ours[0][:2] != now[0][:2]:
            return message("replaced by another program")
        if not self._is_whole():
            return message("damaged by another program")
        self._look = now
        return ""


def why_not(error: Exception, path: Path, what: str) -> str:
    """Return why a file cannot be written or read, and what to do about it; `what` failed."""
    text = str(error)
    if isinstance(error, StorageError):
        return error.message
    if isinstance(error, LinkError) and error.filename == os.fspath(path):
        return message("it is a symbolic link, which mcptui does not follow. Remove it")
    if "full" in text or getattr(error, "errno", 0) == errno.ENOSPC:
        return message("the disk of {parent} is full. Free some space", parent=path.parent)
    if "readonly" in text or isinstance(error, PermissionError):
        return message("no permission to write to {parent}. Change its permissions", parent=path.parent)
    if "locked" in text:
        return message("{name} is locked by another program. Close it", name=path.name)
    return f"{what}: {reason_of(error)}"
