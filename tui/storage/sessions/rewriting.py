"""Sessions written other than by what is said in them: mended, made anew around damage, branched, taken in.

A file that replaces another is written whole beside it first; a damaged one is put aside, never removed.
"""

import os
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tui.core.conversation.conversation import (
    Compaction,
    Conversation,
    Message,
    Remark,
    ToolMessage,
    UserMessage,
    remark_object,
)
from tui.core.conversation.message_json import Object
from tui.core.secrets.redact import Redactor
from tui.storage.recordings.database import beside, files_of
from tui.storage.sessions.file import create_file, create_tables, open_for_writing
from tui.storage.sessions.reading import Stored
from tui.storage.sessions.tables import SessionTables

Redact = Callable[[], Redactor]


@dataclass(frozen=True, slots=True)
class Whole:
    """All of a session that is written at once.

    Attributes:
        meta: by name, as `session_tables` keeps it.
        messages: in order.
        times: when each was said.
        intents, decisions, usage, remarks: rows with their times.
        results: whole results by name.
    """

    meta: dict[str, Any]
    messages: Sequence[Message]
    times: Sequence[float]
    intents: Sequence[tuple[float, Object]] = ()
    decisions: Sequence[tuple[float, Object]] = ()
    usage: Sequence[tuple[float, Object]] = ()
    remarks: Sequence[tuple[float, Object]] = ()
    results: dict[str, str] = field(default_factory=dict)


def write_mended(path: Path, stored: Stored, messages: Sequence[Message], redact: Redact) -> None:
    """Write what was mended into the file, in one transaction; nothing where nothing was.

    Raises:
        sqlite3.Error: it cannot be written.
        StorageError: it is no session.
    """
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
        _one_file(connection)


def write_again(path: Path, whole: Whole, redact: Redact) -> Path:
    """Make a session anew from what could be read, and put the damaged file aside; return its new name.

    Raises:
        OSError: it cannot be written.
        sqlite3.Error: the same.
    """
    fresh = write_whole(path, whole, redact)
    aside = _free(path, ".damaged")
    for old, new in zip(files_of(path), files_of(aside), strict=True):
        if old.exists():
            os.replace(old, new)
    os.replace(fresh, path)
    return aside


def write_whole(path: Path, whole: Whole, redact: Redact) -> Path:
    """Write a session to a file beside `path`, on disk when this returns; return its name.

    Raises:
        OSError: it cannot be written; nothing is left of it.
        sqlite3.Error: the same.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = _free(path, ".new")
    try:
        with closing(create_file(fresh)) as connection:
            tables = SessionTables(connection, redact)
            tables.begin()
            create_tables(connection)
            tables.load()
            _fill(tables, whole)
            tables.commit()
            _one_file(connection)
    except BaseException:
        for file in files_of(fresh):
            with suppress(OSError):
                file.unlink()
        raise
    return fresh


def rows_of(remarks: Sequence[Remark]) -> list[tuple[float, Object]]:
    """Return what mcptui itself said as rows with their times."""
    return [(remark.at, remark_object(remark)) for remark in remarks]


def whole_of(stored: Stored, talk: Conversation) -> Whole:
    """Return what was read of a session, as it was mended."""
    messages = talk.messages
    last = stored.meta.get("changed", 0.0)
    return Whole(
        meta=stored.meta,
        messages=messages,
        times=[stored.times.get(place, last) for place in range(len(messages))],
        intents=stored.intents,
        decisions=stored.decisions,
        usage=stored.usage,
        remarks=rows_of(talk.remarks),
        results=stored.results,
    )


def branch_of(parent: str, stored: Stored, talk: Conversation, upto: int) -> Callable[[SessionTables], None]:
    """Return what puts the beginning of another session into a new one."""
    kept = talk.messages[:upto]
    names = {message.kept for message in kept if isinstance(message, ToolMessage)} - {""}
    known = ("title", "system", "model", "profile")
    meta = {name: stored.meta[name] for name in known if name in stored.meta}
    if talk.compaction != Compaction():
        meta["compaction"] = asdict(talk.compaction.before(upto))
    whole = Whole(
        meta=meta | {"parent": parent, "branched_at": len(kept)},
        messages=kept,
        times=[stored.times.get(place, 0.0) for place in range(len(kept))],
        remarks=rows_of(talk.remarks_before(upto)),
        results={name: text for name, text in stored.results.items() if name in names},
    )
    return lambda tables: _fill(tables, whole)


def turns_of(messages: Sequence[Message]) -> int:
    """Return how often the person said something."""
    return sum(isinstance(message, UserMessage) for message in messages)


def _fill(tables: SessionTables, whole: Whole) -> None:
    tables.note(whole.meta)
    for place, (message, at) in enumerate(zip(whole.messages, whole.times, strict=True)):
        tables.message(place, message, at)
    tables.rows("intents", whole.intents)
    tables.rows("decisions", whole.decisions)
    tables.rows("usage", whole.usage)
    tables.rows("remarks", whole.remarks)
    for name, text in whole.results.items():
        tables.result(name, text)
    ends = {name: whole.meta[name] for name in ("changed", "model") if whole.meta.get(name)}
    tables.note(ends | {"messages": len(whole.messages), "turns": turns_of(whole.messages)})


def _one_file(connection: sqlite3.Connection) -> None:
    with suppress(sqlite3.Error):  # somebody reads it: what is in the WAL is as safe there
        connection.execute("PRAGMA busy_timeout = 0")
        connection.execute("PRAGMA journal_mode = DELETE")


def _free(path: Path, suffix: str) -> Path:
    number = 1
    while (found := beside(path, suffix if number == 1 else f"{suffix}{number}")).exists():
        number += 1
    return found
