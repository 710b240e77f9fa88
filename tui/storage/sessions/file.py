"""The file of a session: its schema, how it is created and opened, and what other programs do to it.

One SQLite file, WAL while it is open, one connection that writes. The schema and the first message are one
transaction: a process that is killed in between leaves a file without tables, which is not a session.
"""

import errno
import json
import os
import re
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from tui.core.errors import StorageError, reason_of
from tui.core.files import refuse_links
from tui.core.language.translate import message
from tui.core.units import bounded, file_stamp
from tui.storage.files import sqlite_file
from tui.storage.files.foreign_file import (
    LISTED_VALUE,
    MOST_META,
    bounded_rows,
    is_damage,
    largest_value,
    pragmas,
    raise_if_stopped,
)
from tui.storage.files.sqlite_file import (
    checked,
    connect,
    create_database,
    files_of,
    for_writing,
    open_database,
    size_in_header,
)

SUFFIX = ".mcpsession"
VERSION = 1
APPLICATION_ID = 0x6D637073
"""Marks the file as a session of mcptui ("mcps" in ASCII; https://sqlite.org/fileformat.html 1.2.8)."""

WRITER_BUSY_MS = 300
"""How long the writer waits for another program's lock before it reports it and retries."""

REMARKS = (
    "CREATE TABLE IF NOT EXISTS remarks (number INTEGER PRIMARY KEY, at REAL NOT NULL, body TEXT NOT NULL)"
)
"""mcptui's own remarks. An older file gets the table with its first remark."""

SCHEMA = (
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE messages (place INTEGER PRIMARY KEY, role TEXT NOT NULL, at REAL NOT NULL,"
    " body TEXT NOT NULL)",
    "CREATE TABLE intents (number INTEGER PRIMARY KEY, at REAL NOT NULL, body TEXT NOT NULL)",
    "CREATE TABLE decisions (number INTEGER PRIMARY KEY, at REAL NOT NULL, body TEXT NOT NULL)",
    "CREATE TABLE usage (number INTEGER PRIMARY KEY, at REAL NOT NULL, body TEXT NOT NULL)",
    "CREATE TABLE results (name TEXT PRIMARY KEY, body BLOB NOT NULL)",
    "CREATE TABLE draft (one INTEGER PRIMARY KEY CHECK (one = 1), body TEXT NOT NULL)",
    REMARKS,
    f"PRAGMA application_id = {APPLICATION_ID}",
    f"PRAGMA user_version = {VERSION}",
)
"""`place` is the message's index. Every `body` except that of a result is JSON in ASCII, as is every `value`.

A result is UTF-8 that may contain lone surrogates.
"""

WORDS = "CREATE VIRTUAL TABLE folded USING fts5(text, content='', tokenize='trigram')"
"""The searchable text of each message; missing if SQLite was built without FTS5.

Trigrams (SQLite 3.34) match parts of words in any script. The texts themselves are in the messages. Older
files have a table `words` with a different folding, which is not used.
"""

PROBE_BYTES = 4096
"""Written to check for free space: a full disk still accepts empty files."""

CHECKED_BYTES = 64 * 1024 * 1024
"""Larger files are not checked before opening, since that would take longer than a second."""

_OF_THE_FOLDER = (errno.ENOTDIR, errno.EEXIST, errno.EROFS, errno.EDQUOT, errno.EFBIG)
"""Errors of the folder or its disk, not of one session."""

_ID = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]{0,79}")
_NEXT = message("List sessions with `mcptui sessions`.")


class Damaged(StorageError):
    """The file has content that neither SQLite nor mcptui wrote."""


class NeverBegan(StorageError):
    """The file of a session whose process was killed before it stored the first message."""


def new_id() -> str:
    """Return the id of a new session: the time in UTC, so that ids sort by time, and a random part."""
    return f"{file_stamp()}-{os.urandom(3).hex()}"


def is_id(text: str) -> bool:
    """Return whether an id is valid. Nothing else may become a file name."""
    return _ID.fullmatch(text) is not None


def create_tables(connection: sqlite3.Connection) -> None:
    """Create the schema in the open transaction."""
    for statement in SCHEMA:
        connection.execute(statement)
    try:
        connection.execute(WORDS)
    except sqlite3.OperationalError as error:
        if "no such module" not in str(error) and "tokenizer" not in str(error):
            raise


def open_for_writing(path: Path) -> sqlite3.Connection:
    """Open a session to continue it; raises the errors of `check`, and `OSError` for a link."""
    refuse_links(files_of(path))
    return _busy(for_writing(checked(connect(path, "rw"), path, check, is_written=True)))


def create_file(path: Path) -> sqlite3.Connection:
    """Create an empty private file; raises the errors of `create_database`."""
    return _busy(create_database(path))


def _busy(connection: sqlite3.Connection) -> sqlite3.Connection:
    connection.execute(f"PRAGMA busy_timeout = {WRITER_BUSY_MS}")
    connection.execute("PRAGMA journal_size_limit = 4194304")
    return connection


def open_for_reading(path: Path, *, at_once: bool = False, is_cut: bool = False) -> sqlite3.Connection:
    """Open a session to read it, as `open_database` does; raises `StorageError`."""
    with session_errors(path):
        if not path.is_file():
            raise absent(path)
        refuse_links((path,))
        return open_database(path, check, at_once=at_once, is_cut=is_cut)


def check(connection: sqlite3.Connection, path: Path) -> None:
    """Check that this version can read the session.

    Raises `sqlite3.Error` if it is damaged, `NeverBegan` if nothing was ever stored, otherwise
    `StorageError`.
    """
    application, version, pages = pragmas(connection, "application_id", "user_version", "page_count")
    if not application and pages <= 1:  # WAL is set before the schema is created
        raise NeverBegan(message("the session is empty"), where=path.stem, next_step=_NEXT)
    if application != APPLICATION_ID:
        raise StorageError(message("not a session"), where=path.name, next_step=_NEXT)
    if version > VERSION:
        raise StorageError(
            message(
                "the session was saved by a newer mcptui (format {version}, supported up to {newest})",
                version=version,
                newest=VERSION,
            ),
            where=path.name,
            next_step=message("Update mcptui and open it again."),
        )


_NUMBERS = frozenset("created changed messages turns tokens cost branched_at".split())


_LISTED = (*sorted(_NUMBERS), "title", "model", "parent", "estimated")
_SELECT_META = f"SELECT name, value FROM meta LIMIT {MOST_META}"
_SELECT_LISTED = f"SELECT name, value FROM meta WHERE +name IN ({', '.join('?' * len(_LISTED))})"
"""With the `+`, SQLite reads the rows in order. To look up a name, it would load whole rows of any size."""


def read_meta(connection: sqlite3.Connection) -> dict[str, Any]:
    """Return `meta` by name, without values that are not JSON; its numbers are bounded."""
    return _meta(bounded_rows(connection, _SELECT_META))


def read_listed(connection: sqlite3.Connection) -> dict[str, Any]:
    """Return the part of `meta` that a list of sessions shows; raises `sqlite3.Error` if it is too large."""
    with largest_value(connection, LISTED_VALUE):
        return _meta(bounded_rows(connection, _SELECT_LISTED, _LISTED))


def _meta(rows: Iterator[tuple[Any, ...]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in rows:
        with suppress(ValueError, TypeError, RecursionError):
            told = json.loads(value)
            found[name] = told if told is None or name not in _NUMBERS else bounded(told) or 0
    return found


def can_read(connection: sqlite3.Connection, table: str) -> bool:
    """Return whether the file has a table that this SQLite can use; older files lack some."""
    try:
        connection.execute(f"SELECT 1 FROM {table} WHERE rowid = -1").fetchall()
    except sqlite3.Error:
        return False
    return True


def is_sound(path: Path) -> bool:
    """Return whether a session seems readable and writable, without reading its rows."""
    try:
        if path.stat().st_size > CHECKED_BYTES:
            return True
        with closing(open_for_reading(path)) as connection:
            return bool(connection.execute("PRAGMA quick_check(1)").fetchone() == ("ok",))
    except sqlite3.Error as error:
        raise_if_stopped(error, path.stem)
        return False
    except (OSError, StorageError, UnicodeDecodeError):
        return False


def is_cut(path: Path) -> bool:
    """Return whether a file is shorter than its header says."""
    return size_in_header(path) > path.stat().st_size


def absent(path: Path) -> StorageError:
    """Return the error for a session that does not exist."""
    return StorageError(message("session not found"), where=path.stem, next_step=_NEXT)


@contextmanager
def session_errors(path: Path) -> Iterator[None]:
    """Convert errors of SQLite and the system to `StorageError`, damage to `Damaged`."""
    try:
        yield
    except UnicodeDecodeError as error:  # sqlite3 fails to decode its own message about a damaged page
        raise Damaged(message("the file is damaged"), where=path.stem) from error
    except (sqlite3.Error, OSError) as error:
        if isinstance(error, sqlite3.Error):
            raise_if_stopped(error, path.stem)
        kind = Damaged if isinstance(error, sqlite3.Error) and is_damage(error) else StorageError
        raise kind(why_not(error, path), where=path.stem) from error


def why_not(error: Exception, path: Path) -> str:
    """Return why a session cannot be written or read, and what to do about it."""
    if isinstance(error, sqlite3.Error) and is_damage(error) and "readonly" not in str(error):
        return message("the file is damaged")
    if getattr(error, "errno", None) in _OF_THE_FOLDER:
        return message("cannot write to {folder}: {reason}", folder=path.parent, reason=reason_of(error))
    return sqlite_file.why_not(error, path, message("cannot use {name}", name=path.name))


def folder_problem(folder: Path) -> str:
    """Return why sessions cannot be saved in a folder, which need not exist yet, or ""."""
    there = next((one for one in (folder, *folder.parents) if one.exists()), folder)
    try:
        refuse_links([folder / SUFFIX])
        with tempfile.TemporaryFile(dir=there, buffering=0) as file:
            file.write(bytes(PROBE_BYTES))
    except OSError as error:
        return why_not(error, folder / SUFFIX)
    return ""
