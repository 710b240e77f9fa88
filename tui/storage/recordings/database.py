"""The file of a recording: its schema, and how it is opened for writing, reading and adding notes.

One connection writes entries and checkpoints (SQLite up to 3.51.2 can lose a WAL that two connections reset
at once).

Versions: `user_version` grows when the schema changes. A newer file is refused, an older one is read
unchanged. No file is ever rewritten in place.
"""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tui.core import units
from tui.core.errors import StorageError, reason_of
from tui.core.files import refuse_links
from tui.storage.files.foreign_file import (
    MOST_VALUE,
    raise_if_stopped,
)
from tui.storage.files.sqlite_file import (
    checked,
    connect,
    create_database,
    files_of,
    has_bytes,
    open_database,
    remove_files,
    side_file,
    size_in_header,
)
from tui.storage.recordings.rows import storable

VERSION = 2
"""Version 2 stores each finding once, with `flags` for the entries that have it."""

APPLICATION_ID = 0x6D637074
"""Marks the file as a recording of mcptui ("mcpt" in ASCII; https://sqlite.org/fileformat.html 1.2.8)."""

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
    connection = create_database(path)
    try:
        connection.execute("PRAGMA journal_size_limit = 16777216")
        connection.executescript(SCHEMA)
        connection.executemany(
            "INSERT INTO meta VALUES (?, ?)", [(name, storable(value)) for name, value in meta.items()]
        )
        connection.execute("COMMIT")
        page_size = int(connection.execute("PRAGMA page_size").fetchone()[0])
    except BaseException:
        connection.close()
        remove_files(path)
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
        return open_database(path, _check)
    except sqlite3.OperationalError:
        raise
    except sqlite3.DatabaseError:
        if not cut_short(path):
            raise
        return open_database(path, _check, is_cut=True)


def cut_short(path: Path) -> str:
    """Return how much of a truncated file is readable, or "" if it is complete.

    Only for a file that SQLite will not open: reading its first bytes drops all locks of this process on it
    (https://sqlite.org/fileformat.html 1.3).
    """
    there, said = path.stat().st_size, size_in_header(path)
    if there >= said or has_bytes(side_file(path, "-wal")):
        return ""
    return f"{units.size(there)} of {units.size(said)} are readable"


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
