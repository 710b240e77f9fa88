"""Writes whole sessions: repaired, rebuilt after damage, branched, imported.

A replacement is first written completely next to the old file. A damaged file is renamed, never removed.
"""

import os
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

from tui.core.conversation.conversation import Compaction, Conversation, Message, ToolMessage
from tui.core.files import make_folder
from tui.core.secrets.redact import Redactor
from tui.storage.files.sqlite_file import (
    files_of,
    leave_one_file,
    make_private,
    on_error,
    remove_files,
    side_file,
)
from tui.storage.sessions.file import create_file, create_tables, open_for_writing
from tui.storage.sessions.stored_session import StoredSession, rows_of, turns_of
from tui.storage.sessions.tables import Op, SessionTables

Redact = Callable[[], Redactor]


def write_repaired(path: Path, stored: StoredSession, messages: Sequence[Message], redact: Redact) -> None:
    """Write the repaired messages into the file, in one transaction, if any was repaired."""
    place = 0
    while place < len(messages) and stored.messages.get(place) == messages[place]:
        place += 1
    if place == len(messages) == len(stored.messages) and stored.draft is None:
        return
    with closing(open_for_writing(path)) as connection:
        tables = SessionTables(connection, redact)
        tables.load()
        tables.begin()
        tables.cut(place)
        at = stored.meta.get("changed", 0.0)
        for index in range(place, len(messages)):
            tables.message(index, messages[index], at)
        tables.note({"messages": len(messages), "turns": turns_of(messages), "changed": at})
        tables.commit()
        leave_one_file(connection)


def write_again(path: Path, stored: StoredSession, redact: Redact) -> Path:
    """Rebuild a session from its readable parts; return the new path of the damaged file."""
    fresh = write_session(path, stored, redact)
    damaged = put_aside(path)
    os.replace(fresh, path)
    return damaged


def write_copy(path: Path, connection: sqlite3.Connection) -> None:
    """Write a session again that was moved, deleted or replaced: the connection still has the old file.

    Raises `OSError` or `sqlite3.Error`.
    """
    make_folder(path.parent)
    fresh = _free(path, ".new")
    make_private(fresh)
    connection.execute("VACUUM INTO ?", (os.fspath(fresh),))
    if any(file.exists() for file in files_of(path)):
        put_aside(path)
    os.replace(fresh, path)


def put_aside(path: Path) -> Path:
    """Rename a damaged file and the files of SQLite next to it; return its new path."""
    damaged = _free(path, ".damaged")
    for old, new in zip(files_of(path), files_of(damaged), strict=True):
        if old.exists():
            os.replace(old, new)
    return damaged


def write_session(path: Path, stored: StoredSession, redact: Redact) -> Path:
    """Write a session durably to a new file next to `path`; return its name.

    Raises `OSError` or `sqlite3.Error`, and then removes it.
    """
    make_folder(path.parent)
    fresh = _free(path, ".new")
    with on_error(lambda: remove_files(fresh)), closing(create_file(fresh)) as connection:
        tables = SessionTables(connection, redact)
        tables.begin()
        create_tables(connection)
        tables.load()
        _fill(tables, stored)
        tables.commit()
        leave_one_file(connection)
    return fresh


def branch_of(parent: str, stored: StoredSession, talk: Conversation, upto: int) -> Op:
    """Return an operation that stores the start of another session in a new one."""
    kept = talk.messages[:upto]
    names = {message.kept for message in kept if isinstance(message, ToolMessage)} - {""}
    known = ("title", "system", "model", "profile", "imported", "recording")
    meta = {name: stored.meta[name] for name in known if name in stored.meta}
    if talk.compaction != Compaction():
        meta["compaction"] = asdict(talk.compaction.before(upto))
    branch = StoredSession(
        meta=meta | {"parent": parent, "branched_at": len(kept)},
        messages=dict(enumerate(kept)),
        times=stored.times,
        rows={"remarks": rows_of(talk.remarks_before(upto))},
        results={name: text for name, text in stored.results.items() if name in names},
    )
    return lambda tables: _fill(tables, branch)


def _fill(tables: SessionTables, stored: StoredSession) -> None:
    meta, messages = stored.meta, stored.in_order
    tables.note(meta)
    last = meta.get("changed", 0.0)
    for place, message in enumerate(messages):
        tables.message(place, message, stored.times.get(place, last))
    for name, rows in stored.rows.items():
        tables.rows(name, rows)
    for name, text in stored.results.items():
        tables.result(name, text)
    ends = {name: meta[name] for name in ("changed", "model") if meta.get(name)}
    tables.note(ends | {"messages": len(messages), "turns": turns_of(messages)})


def _free(path: Path, suffix: str) -> Path:
    number = 1
    while (found := side_file(path, suffix if number == 1 else f"{suffix}{number}")).exists():
        number += 1
    return found
