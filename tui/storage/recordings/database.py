"""The file of a recording: its schema, and how it is opened for writing, reading and adding notes.

One SQLite file, WAL while it is written. One connection writes entries and checkpoints (SQLite up to 3.51.2
can lose a WAL that two connections reset at once). Readers are `mode=ro`. Nothing else opens the file:
closing another descriptor of it would drop the locks that SQLite holds in the same process. `look_of`
detects changes by another program.

Versions: `user_version` grows when the schema changes. A newer file is refused, an older one is read
unchanged. No file is ever rewritten in place.
"""

import errno
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from tui.core import units
from tui.core.errors import StorageError, reason_of
from tui.core.files.private_files import LinkError, open_private, refuse_links
from tui.storage.recordings.foreign_file import (
    MOST_VALUE,
    OPEN_SECONDS,
    allow_stopping,
    is_stopped,
    raise_if_stopped,
    refuse_computed,
    time_limit,
)
from tui.storage.recordings.rows import storable

Check = Callable[[sqlite3.Connection, Path], None]
"""Raises an error if an opened file is invalid."""

VERSION = 2
"""Version 2 stores each finding once, with `flags` for the entries that have it."""

APPLICATION_ID = 0x6D637074
"""Marks the file as a recording of mcptui ("mcpt" in ASCII; https://sqlite.org/fileformat.html 1.2.8)."""

CACHE_KIB = 512
"""Pages kept in memory. Rows are written and read in order, so more (2 MiB by default) would not help."""

BUSY_MS = 5000
"""How long a connection waits for another connection's lock."""

_ENTRY_TYPES = {
    "seq": "INTEGER PRIMARY KEY",
    "mono_ns": "INTEGER NOT NULL",
    "wall_ns": "INTEGER NOT NULL",
    "source": "TEXT NOT NULL",
    "direction": "INTEGER NOT NULL",
    "kind": "INTEGER NOT NULL",
    "method": "TEXT NOT NULL",
    "tool": "TEXT NOT NULL",
    "ident": "TEXT NOT NULL",
    "size": "INTEGER NOT NULL",
    "pair": "INTEGER NOT NULL",
    "root": "INTEGER NOT NULL",
    "outcome": "INTEGER NOT NULL",
    "turn": "INTEGER",
    "step": "INTEGER",
    "call": "TEXT",
    "sha256": "TEXT NOT NULL",
    "detail": "TEXT NOT NULL",
    "redactions": "TEXT NOT NULL",
}
ENTRY_COLUMNS = tuple(_ENTRY_TYPES)
_ENTRY_LINES = ",\n    ".join(f"{name} {kind}" for name, kind in _ENTRY_TYPES.items())

FINDINGS_TABLES = """
CREATE TABLE findings (
    number INTEGER PRIMARY KEY,
    source TEXT NOT NULL,
    method TEXT NOT NULL,
    code TEXT NOT NULL,
    severity INTEGER NOT NULL,
    section TEXT NOT NULL,
    count INTEGER NOT NULL,
    places TEXT NOT NULL
);
CREATE TABLE flags (
    number INTEGER PRIMARY KEY,
    finding INTEGER NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    entries BLOB NOT NULL
);
"""

SCHEMA = f"""
BEGIN IMMEDIATE;
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE entries (
    {_ENTRY_LINES}
);
CREATE TABLE bodies (seq INTEGER PRIMARY KEY, body BLOB NOT NULL);
{FINDINGS_TABLES}CREATE TABLE notes (seq INTEGER PRIMARY KEY, marked INTEGER NOT NULL, text TEXT NOT NULL);
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {VERSION};
"""
"""All in one transaction: a process killed in between leaves an empty file, never half a schema.

`turn`, `step` and `call` are NULL for an entry that no conversation caused; `detail` and `redactions` are
JSON, or "" for none. An entry without a body has no row in `bodies`. The `places` of a finding are JSON, the
seq and the sentence of each; `entries` of a flag has a byte for each seq from `first` to `last`, 1 for those
with the finding.
"""


def create_recording(path: Path, meta: Mapping[str, str]) -> tuple[sqlite3.Connection, int]:
    """Create the private file of a new recording with its `meta`. Return the connection and the page size.

    Raises `OSError` if the file exists or cannot be created. Raises `sqlite3.Error` if SQLite cannot write
    the new file, and then removes it.
    """
    refuse_links(files_of(path))
    make_private(path)
    connection: sqlite3.Connection | None = None
    try:
        connection = connect(path, "rw")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA journal_size_limit = 16777216")
        connection.executescript(SCHEMA)
        connection.executemany(
            "INSERT INTO meta VALUES (?, ?)", [(name, storable(value)) for name, value in meta.items()]
        )
        connection.execute("COMMIT")
        page_size = int(connection.execute("PRAGMA page_size").fetchone()[0])
    except BaseException:
        if connection is not None:
            connection.close()
        for file in files_of(path):
            with suppress(OSError):
                file.unlink()
        raise
    return connection, page_size


def open_for_reading(path: Path) -> sqlite3.Connection:
    """Open a recording, even if it is being written or is truncated; raises `StorageError`."""
    with storage_errors(path):
        if not path.is_file():
            raise StorageError(
                "recording not found" if not path.exists() else "not a file",
                where=str(path),
                next_step="List recordings with mcptui traffic --list",
            )
        connection = _opened(path)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST_VALUE)
    return connection


def _opened(path: Path) -> sqlite3.Connection:
    try:
        return checked(connect(path, "ro"), path, _check)
    except sqlite3.OperationalError as error:
        return opened_alone(path, _check, error)
    except sqlite3.DatabaseError:
        if not cut_short(path):
            raise
        return checked(connect(path, "ro", is_cut=True), path, _check)


def cut_short(path: Path) -> str:
    """Return how much of a truncated file is readable, or "" if it is complete.

    Only for a file that SQLite will not open: reading its first bytes drops all locks of this process on it
    (https://sqlite.org/fileformat.html 1.3).
    """
    there, said = path.stat().st_size, size_in_header(path)
    if there >= said or has_bytes(side_file(path, "-wal")):
        return ""
    return f"{units.size(there)} of {units.size(said)} are readable"


def size_in_header(path: Path) -> int:
    """Return the size of a file according to its header, 0 if it has no header."""
    with path.open("rb") as file:
        head = file.read(100)
    page = {1: 65536}.get(size := int.from_bytes(head[16:18]), size)
    return page * int.from_bytes(head[28:32]) if head.startswith(b"SQLite format 3\0") else 0


def is_cut(connection: sqlite3.Connection) -> bool:
    """Return whether a recording was opened as a truncated file."""
    return bool(connection.execute("PRAGMA writable_schema").fetchone()[0])


def open_for_notes(path: Path) -> sqlite3.Connection:
    """Open a recording to add notes, or raise `StorageError`. Only its writer adds entries."""
    with storage_errors(path):
        connection = checked(connect(path, "rw"), path, _check, is_written=True)
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        connection.execute("PRAGMA synchronous = FULL")
        return connection


def files_of(path: Path) -> tuple[Path, ...]:
    """Return the recording and the files that SQLite may have created next to it."""
    return path, side_file(path, "-wal"), side_file(path, "-shm"), side_file(path, "-journal")


def side_file(path: Path, suffix: str) -> Path:
    """Return a file that SQLite or mcptui keeps next to another one."""
    return path.with_name(path.name + suffix)


def has_bytes(path: Path) -> bool:
    """Return whether a file exists and is not empty."""
    try:
        return path.stat().st_size > 0
    except OSError:
        return False


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
    try:
        if is_cut:  # the only setting that makes SQLite accept a short file (btree.c, lockBtree)
            connection.execute("PRAGMA writable_schema = ON")
        connection.execute("PRAGMA trusted_schema = OFF")  # the file may come from somebody else
        connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
    except BaseException:
        connection.close()
        raise
    return connection


def make_private(path: Path) -> None:
    """Create an empty private file, or raise `OSError`. SQLite would apply the umask instead.

    The -wal and -shm files get the mode of this file.
    """
    os.close(open_private(path, os.O_CREAT | os.O_EXCL | os.O_RDWR))


def opened_alone(path: Path, check: Check, error: sqlite3.OperationalError) -> sqlite3.Connection:
    """Open a file in a folder where SQLite cannot create others. If it is being written, raise `error`."""
    if is_stopped(error) or has_bytes(side_file(path, "-wal")):
        raise error
    return checked(connect(path, "ro", "&immutable=1"), path, check)


def checked(
    connection: sqlite3.Connection, path: Path, check: Check, *, is_written: bool = False
) -> sqlite3.Connection:
    """Return a connection whose file passes `check` and contains only plain tables; close it otherwise."""
    try:
        with time_limit(OPEN_SECONDS):
            try:
                check(connection, path)
                refuse_computed(connection, str(path), is_written=is_written)
            except sqlite3.Error as error:
                raise_if_stopped(error, str(path))
                raise
    except BaseException:
        connection.close()
        raise
    return connection


def _check(connection: sqlite3.Connection, path: Path) -> None:
    application, version, pages, page_size = (
        int(connection.execute(f"PRAGMA {name}").fetchone()[0])
        for name in ("application_id", "user_version", "page_count", "page_size")
    )
    if application != APPLICATION_ID:
        empty = pages <= 1  # WAL is set before the schema is created: one page without a table
        raise StorageError(
            "the file is empty" if empty else "not a recording",
            where=str(path),
            next_step="Use a .mcptrace file, or list recordings with mcptui traffic --list",
        )
    if version > VERSION:
        raise StorageError(
            f"the recording was written by a newer mcptui (format {version}, supported up to {VERSION})",
            where=str(path),
            next_step="Update mcptui and open it again.",
        )
    is_shorter = pages * page_size > path.stat().st_size and not has_bytes(side_file(path, "-wal"))
    if is_shorter and not is_cut(connection):
        raise sqlite3.DatabaseError("the file is truncated")


def leave_one_file(connection: sqlite3.Connection) -> None:
    """Move the WAL into the file, unless a reader holds it or the disk is full. It then stays readable."""
    with suppress(sqlite3.Error):
        connection.execute("PRAGMA busy_timeout = 0")
        connection.execute("PRAGMA journal_mode = DELETE")


def roll_back(connection: sqlite3.Connection) -> None:
    """Roll back the open transaction, if any."""
    with suppress(sqlite3.Error):  # SQLite has already rolled back
        if connection.in_transaction:
            connection.execute("ROLLBACK")


@contextmanager
def storage_errors(path: Path) -> Iterator[None]:
    """Convert errors of SQLite, and invalid values in a recording, to `StorageError`."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise_if_stopped(error, str(path))
        wal = has_bytes(side_file(path, "-wal"))
        raise StorageError(
            f"cannot read the recording ({reason_of(error)})",
            where=str(path),
            next_step=f"Copy it{' and its -wal file' if wal else ''} to a folder that you "
            "can write to, and open the copy.",
        ) from error
    except sqlite3.DatabaseError as error:
        raise StorageError(
            f"not a recording, or damaged ({reason_of(error)})",
            where=str(path),
            next_step="If it was copied while in use, also copy its -wal file.",
        ) from error
    except OSError as error:  # it was removed, or its folder cannot be read
        raise StorageError(f"cannot read the recording ({reason_of(error)})", where=str(path)) from error
    except (ValueError, TypeError, IndexError, KeyError, RecursionError) as error:
        raise StorageError(
            f"the recording contains an invalid value ({reason_of(error)})", where=str(path)
        ) from error


Look = tuple[tuple[int, int, int, int] | None, ...]
"""Device, inode, size and modification time of the file and its WAL, None for a missing one."""


def look_of(path: Path) -> Look:
    """Return the state of a file and its WAL."""
    return tuple(_look_of(one) for one in (path, side_file(path, "-wal")))


def _look_of(path: Path) -> tuple[int, int, int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def what_happened(before: Look, now: Look) -> str:
    """Return what another program did with the file itself, "" if it is still the same one."""
    ours, theirs = before[0], now[0]
    if theirs is None or ours is None:
        return "moved or deleted"
    return "" if ours[:2] == theirs[:2] else "replaced by another program"


def why_not(error: Exception, path: Path, what: str) -> str:
    """Return why a file cannot be written or read, and what to do about it; `what` failed."""
    text = str(error)
    if isinstance(error, StorageError):
        return error.message
    if isinstance(error, LinkError) and error.filename == os.fspath(path):
        return "it is a symbolic link, which mcptui does not follow. Remove it"
    if "full" in text or getattr(error, "errno", 0) == errno.ENOSPC:
        return f"the disk of {path.parent} is full. Free some space"
    if "readonly" in text or isinstance(error, PermissionError):
        return f"no permission to write to {path.parent}. Change its permissions"
    if "locked" in text:
        return f"{path.name} is locked by another program. Close it"
    return f"{what}: {reason_of(error)}"
