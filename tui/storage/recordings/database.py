"""The file of a recording: its schema, how it is opened, its rows, and the user's marks and notes.

One connection writes entries and checkpoints (SQLite up to 3.51.2 can lose a WAL that two connections reset
at once).

Versions: `user_version` grows when the schema changes. A newer file is refused, an older one is read
unchanged. No file is ever rewritten in place.
"""

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

from tui.core import units
from tui.core.errors import StorageError, reason_of
from tui.core.files import refuse_links
from tui.core.jsonrpc.reader import json_value
from tui.core.language.translate import message
from tui.core.traffic import (
    DETAIL_LOST,
    FIRST_NS,
    Cause,
    Direction,
    Entry,
    EntryNote,
    Kind,
    Outcome,
    Redaction,
)
from tui.storage.files.foreign_file import MOST_VALUE, bounded_rows, pragmas, raise_if_stopped
from tui.storage.files.sqlite_file import (
    checked,
    connect,
    create_database,
    files_of,
    has_bytes,
    on_error,
    open_database,
    remove_files,
    side_file,
    size_in_header,
    storable,
    transaction,
)

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


def create_recording(path: Path, meta: Mapping[str, str]) -> sqlite3.Connection:
    """Create the private file of a new recording with its `meta`. Return the connection.

    Raises `OSError` if the file exists or cannot be created. Raises `sqlite3.Error` if SQLite cannot write
    the new file, and then removes it.
    """
    refuse_links(files_of(path))
    connection = create_database(path)
    with on_error(lambda: remove_files(path)), on_error(connection.close):
        connection.execute("PRAGMA journal_size_limit = 16777216")
        connection.executescript(SCHEMA)
        connection.executemany(
            "INSERT INTO meta VALUES (?, ?)", [(name, storable(value)) for name, value in meta.items()]
        )
        connection.execute("COMMIT")
    return connection


def open_for_reading(path: Path) -> sqlite3.Connection:
    """Open a recording, even if it is being written or is truncated; raises `StorageError`."""
    with storage_errors(path):
        if not path.is_file():
            raise StorageError(
                message("recording not found") if not path.exists() else message("not a file"),
                where=str(path),
                next_step=message("List recordings with mcptui traffic --list"),
            )
        try:
            connection = open_database(path, _check)
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError) or not cut_short(path):
                raise
            connection = open_database(path, _check, is_cut=True)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST_VALUE)
    return connection


def cut_short(path: Path) -> str:
    """Return how much of a truncated file is readable, or "" if it is complete.

    Only for a file that SQLite will not open: reading its first bytes drops all locks of this process on it
    (https://sqlite.org/fileformat.html 1.3).
    """
    there, said = path.stat().st_size, size_in_header(path)
    if there >= said or has_bytes(side_file(path, "-wal")):
        return ""
    return message("{size} of {all} are readable", size=units.size(there), all=units.size(said))


def is_cut(connection: sqlite3.Connection) -> bool:
    """Return whether a recording was opened as a truncated file."""
    return bool(pragmas(connection, "writable_schema")[0])


def open_for_notes(path: Path) -> sqlite3.Connection:
    """Open a recording to add notes, or raise `StorageError`. Only its writer adds entries."""
    with storage_errors(path):
        connection = checked(connect(path, "rw"), path, _check, is_written=True)
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        connection.execute("PRAGMA synchronous = FULL")
        return connection


def _check(connection: sqlite3.Connection, path: Path) -> None:
    names = ("application_id", "user_version", "page_count", "page_size")
    application, version, pages, page_size = pragmas(connection, *names)
    if application != APPLICATION_ID:
        empty = pages <= 1  # WAL is set before the schema is created: one page without a table
        raise StorageError(
            message("the file is empty") if empty else message("not a recording"),
            where=str(path),
            next_step=message("Use a .mcptrace file, or list recordings with mcptui traffic --list"),
        )
    if version > VERSION:
        raise StorageError(
            message(
                "the recording was written by a newer mcptui (format {version}, supported up to {newest})",
                version=version,
                newest=VERSION,
            ),
            where=str(path),
            next_step=message("Update mcptui and open it again."),
        )
    is_shorter = pages * page_size > path.stat().st_size and not has_bytes(side_file(path, "-wal"))
    if is_shorter and not is_cut(connection):
        raise sqlite3.DatabaseError(message("the file is truncated"))


@contextmanager
def storage_errors(path: Path) -> Iterator[None]:
    """Convert errors of SQLite, and invalid values in a recording, to `StorageError`."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise_if_stopped(error, str(path))
        wal = has_bytes(side_file(path, "-wal"))
        raise StorageError(
            message("cannot read the recording ({reason})", reason=reason_of(error)),
            where=str(path),
            next_step=message(
                "Copy it and its -wal file to a folder that you can write to, and open the copy."
            )
            if wal
            else message("Copy it to a folder that you can write to, and open the copy."),
        ) from error
    except sqlite3.DatabaseError as error:
        raise StorageError(
            message("not a recording, or damaged ({reason})", reason=reason_of(error)),
            where=str(path),
            next_step=message("If it was copied while in use, also copy its -wal file."),
        ) from error
    except OSError as error:  # it was removed, or its folder cannot be read
        raise StorageError(
            message("cannot read the recording ({reason})", reason=reason_of(error)), where=str(path)
        ) from error
    except (ValueError, TypeError, IndexError, KeyError, RecursionError) as error:
        raise StorageError(
            message("the recording contains an invalid value ({reason})", reason=reason_of(error)),
            where=str(path),
        ) from error


# ---- rows ----

# Indexed by number: several times faster than calling an enum.
_DIRECTIONS = tuple(Direction)
_OUTCOMES = tuple(Outcome)
_KINDS: tuple[Kind | None, ...] = (None, *Kind)

Row = tuple[Any, ...]


def entry_values(entry: Entry) -> Row:
    """Return the values of an entry in the order of `ENTRY_COLUMNS`."""
    cause = entry.cause
    return (
        *entry[:4],
        entry.direction._value_,  # `value` is a property in Python, eight times as slow
        entry.kind._value_,
        *entry[6:12],
        entry.outcome._value_,
        *((cause.turn, cause.step, cause.call) if cause else (None, None, None)),
        entry.sha256,
        # `str` for other types: a bug in a tap must not lose the entry.
        json.dumps(dict(entry.detail), default=str, separators=(",", ":")) if entry.detail else "",
        json.dumps(entry.redactions) if entry.redactions else "",
    )


def entry_of(row: Sequence[Any], redactions: str = "", body: bytes = b"") -> Entry:
    """Return the entry of a row that starts with the columns `seq` to `detail` and that `is_sound`.

    The other columns may have any value. An invalid detail is replaced by `DETAIL_LOST`.
    """
    turn = row[13]
    kind = _KINDS[row[5]]
    assert kind is not None
    return Entry._make(
        (
            *row[:4],
            _DIRECTIONS[row[4]],
            kind,
            *row[6:12],
            _OUTCOMES[row[12]],
            None if turn is None else Cause(turn, row[14], row[15]),
            row[16] if isinstance(row[16], str) else "",
            _redactions(redactions) if redactions else (),
            _detail(row[17]) if row[17] != "" else {},
            body,
        )
    )


def is_sound(row: Sequence[Any]) -> bool:
    """Return whether the columns of a row from `seq` to `call` are valid; other values are damage."""
    (
        _, mono, wall, source, direction, kind, method, tool, ident, size, pair, root, outcome,
        turn, step, call,
    ) = row[:16]  # fmt: skip
    return (
        type(mono) is type(wall) is type(direction) is type(kind) is int
        and type(size) is type(pair) is type(root) is type(outcome) is int
        and type(source) is type(method) is type(tool) is type(ident) is str
        and mono >= 0
        and wall >= FIRST_NS
        and size >= 0 <= pair
        and root >= 0 <= direction < len(_DIRECTIONS)
        and 0 < kind < len(_KINDS)
        and 0 <= outcome < len(_OUTCOMES)
        and (
            turn is step is call is None
            or (type(turn) is type(step) is int and 0 <= turn < 1 << 32 > step >= 0 and type(call) is str)
        )
    )


def are_sound(rows: Sequence[Row], after: int) -> bool:
    """Return whether rows are valid, and their seqs increase from a seq after `after` on."""
    if not all(map(is_sound, rows)) or not all(type(row[0]) is int for row in rows):
        return False
    seqs = [after, *(row[0] for row in rows)]
    return seqs[-1] - after == len(rows) or all(seq < next_seq for seq, next_seq in pairwise(seqs))


def is_zeroed(row: Row) -> bool:
    """Return whether the columns of a row may be the zeros of a page that a truncated file lacks."""
    return not row[2] or "\0" in row[3]


def _detail(text: Any) -> Mapping[str, Any]:
    found = json_value(text)
    return found if isinstance(found, dict) else {DETAIL_LOST: True}


def _redactions(text: Any) -> tuple[Redaction, ...]:
    found: list[Redaction] = []
    with suppress(TypeError, ValueError, RecursionError):
        for start, end, name in json.loads(text):
            if type(start) is type(end) is int and type(name) is str and start >= 0:
                found.append(Redaction(start, end, name))
    return tuple(found)


# ---- marks and notes ----


def notes_of(path: Path) -> dict[int, EntryNote]:
    """Return the notes of a recording by the seq of their entry; raises `StorageError`."""
    with closing(open_for_reading(path)) as connection, storage_errors(path):
        rows = bounded_rows(connection, "SELECT seq, marked, text FROM notes ORDER BY seq")
        return {
            seq: EntryNote(bool(marked), text if isinstance(text, str) else "") for seq, marked, text in rows
        }


def keep_note(path: Path, seq: int, *, marked: bool | None = None, text: str | None = None) -> None:
    """Change the mark or the text of an entry, or both; None keeps it. Raises `StorageError`.

    A live recording's own writer should do it: SQLite up to 3.51.2 can damage a WAL that is reset while a
    second connection writes.
    """
    with closing(open_for_notes(path)) as connection, storage_errors(path):
        put_note(connection, seq, marked, text)


def put_note(connection: sqlite3.Connection, seq: int, marked: bool | None, text: str | None) -> None:
    """Store a change of a note in one transaction, or raise `sqlite3.Error`. Empty notes are removed."""
    stored = None if text is None else text.encode("utf-8", "replace").decode()
    with transaction(connection):
        connection.execute(
            "INSERT INTO notes VALUES (?, coalesce(?, 0), coalesce(?, '')) ON CONFLICT (seq) DO UPDATE"
            " SET marked = coalesce(?, marked), text = coalesce(?, text)",
            (seq, marked, stored, marked, stored),
        )
        connection.execute("DELETE FROM notes WHERE seq = ? AND NOT marked AND text = ''", (seq,))
