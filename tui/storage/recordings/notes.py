"""The user's marks and notes on entries of a recording, each stored immediately.

A live recording's own writer should store them (`RecordingWriter.note`): SQLite up to 3.51.2 can damage a
WAL that is reset while a second connection writes.
"""

import sqlite3
from contextlib import closing
from pathlib import Path

from tui.core.traffic import EntryNote
from tui.storage.files.foreign_file import bounded_rows
from tui.storage.recordings.database import open_for_notes, open_for_reading, storage_errors


def notes_of(path: Path) -> dict[int, EntryNote]:
    """Return the notes of a recording by the seq of their entry; raises `StorageError`."""
    with closing(open_for_reading(path)) as connection, storage_errors(path):
        rows = bounded_rows(connection, "SELECT seq, marked, text FROM notes ORDER BY seq")
        return {
            seq: EntryNote(bool(marked), text if isinstance(text, str) else "") for seq, marked, text in rows
        }


def keep_note(path: Path, seq: int, *, marked: bool | None = None, text: str | None = None) -> None:
    """Change the mark or the text of an entry, or both; None keeps it. Raises `StorageError`."""
    with closing(open_for_notes(path)) as connection, storage_errors(path):
        put_note(connection, seq, marked, text)


def put_note(connection: sqlite3.Connection, seq: int, marked: bool | None, text: str | None) -> None:
    """Store a change of a note in one transaction, or raise `sqlite3.Error`. Empty notes are removed."""
    stored = None if text is None else text.encode("utf-8", "replace").decode()
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute(
            "INSERT INTO notes VALUES (?, coalesce(?, 0), coalesce(?, '')) ON CONFLICT (seq) DO UPDATE"
            " SET marked = coalesce(?, marked), text = coalesce(?, text)",
            (seq, marked, stored, marked, stored),
        )
        connection.execute("DELETE FROM notes WHERE seq = ? AND NOT marked AND text = ''", (seq,))
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
