"""Guards against SQLite files of somebody else: only plain tables are read, and every read can be stopped.

A view is read like a table, but may never end. A trigger, a CHECK or a generated column may compute anything.
mcptui writes none of them, so a file that contains them is refused when it is opened. What a damaged or
forged page can still do, such as lead SQLite in circles, ends with a limit, a cancellation or ctrl+c: SQLite
asks regularly whether to continue (https://sqlite.org/c3ref/progress_handler.html).
"""

import asyncio
import os
import re
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import ContextVar, copy_context
from threading import Event
from typing import Any, TypeVar

from tui.core.errors import StorageError
from tui.core.language.translate import message
from tui.core.text import quoted_name
from tui.core.units import LARGEST

T = TypeVar("T")

STEPS = 50_000
"""Instructions of SQLite between two checks whether to continue: about a millisecond."""

OPEN_SECONDS = 5.0
"""Processor time for opening a file, which takes less than a millisecond unless the file is forged."""

LIST_SECONDS = 5.0
"""Processor time for reading one file of a folder for a list."""

LEAST_BYTES = 4
"""Minimum bytes of a row in a file (https://sqlite.org/fileformat.html 1.6)."""

MOST_VALUE = 4 * 1024 * 1024
"""Maximum bytes of a value of a recording that SQLite loads whole, such as the headers of an entry.

Bodies are read in parts. A larger value counts as damaged.
"""

LISTED_VALUE = 1024 * 1024
"""Maximum bytes of a value that describes a whole file in a list."""

NAME_VALUE = 64 * 1024
"""Maximum bytes of a name in the columns of an entry, which has at most some hundred characters."""

MOST_META = 1000
"""Maximum values that describe a whole file; about 20 are stored."""

MOST_OBJECTS = 200
"""Maximum tables and indexes of a file; a session has 20."""

_VIRTUAL = frozenset(
    f"CREATE VIRTUAL TABLE {name} USING fts5(text, content='', tokenize='trigram')"
    for name in ("folded", "words")
)
"""The word indexes of sessions, of this version and an older one."""

_COMPUTED = re.compile(r"\b(check|generated|as|select|default|references|collate)\b", re.IGNORECASE)
_CHECKED = frozenset({"CREATE TABLE draft (one INTEGER PRIMARY KEY CHECK (one = 1), body TEXT NOT NULL)"})
"""Our own table with a CHECK."""

_SELECT_OBJECTS = f"SELECT type, name, sql FROM sqlite_master LIMIT {MOST_OBJECTS + 1}"

_Reason = Callable[[], str]
"""Returns why reading should end, or ""."""

_reasons: ContextVar[tuple[_Reason, ...]] = ContextVar("reasons", default=())


def allow_stopping(connection: sqlite3.Connection) -> None:
    """Let the limits of the calling thread, and ctrl+c, end the statements of a connection."""
    # In the main thread, Python raises KeyboardInterrupt in the handler. `sqlite3` drops it and ends the
    # statement.
    connection.set_progress_handler(lambda: bool(_reason()), STEPS)


def _reason() -> str:
    return next((why for reason in _reasons.get() if (why := reason())), "")


@contextmanager
def _until(reason: _Reason) -> Iterator[None]:
    token = _reasons.set((*_reasons.get(), reason))
    try:
        yield
    finally:
        _reasons.reset(token)


def time_limit(seconds: float) -> AbstractContextManager[None]:
    """Let reads in this thread take at most `seconds` of processor time in total."""
    end = time.thread_time() + seconds
    return _until(lambda: message("reading it takes too long") if time.thread_time() > end else "")


def until_set(stop: Event) -> AbstractContextManager[None]:
    """End reads in this thread when `stop` is set."""
    return _until(lambda: message("reading was cancelled") if stop.is_set() else "")


def end_reads_when_set(stop: Event) -> None:
    """Like `until_set`, for the rest of the life of this thread."""
    _reasons.set((lambda: message("reading was cancelled") if stop.is_set() else "",))


async def in_reading_thread(work: Callable[..., T], *arguments: Any) -> T:
    """Like `asyncio.to_thread`, but cancelling also ends the statement that the thread executes.

    Otherwise, the exit would wait for it.
    """
    stop = Event()

    def run() -> T:
        with until_set(stop):
            return work(*arguments)

    try:
        return await asyncio.get_running_loop().run_in_executor(None, copy_context().run, run)
    finally:
        stop.set()


def is_stopped(error: BaseException) -> bool:
    """Return whether a statement was ended by a limit, a cancellation or ctrl+c."""
    return getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_INTERRUPT


def is_damage(error: sqlite3.Error) -> bool:
    """Return whether an SQLite error concerns the content of the file, not access to it."""
    if isinstance(error, sqlite3.OperationalError):
        said = str(error).lower()
        return "could not decode" in said or "cannot open value of type" in said
    return isinstance(error, sqlite3.DatabaseError)


def raise_if_stopped(error: sqlite3.Error, where: str) -> None:
    """Raise what ended a statement: `StorageError`, or `KeyboardInterrupt` for ctrl+c."""
    if not is_stopped(error):
        return
    reason = _reason()
    if not reason and threading.current_thread() is threading.main_thread():
        raise KeyboardInterrupt from error
    raise StorageError(reason or message("reading was cancelled"), where=where) from error


def refuse_computed(connection: sqlite3.Connection, where: str, *, is_written: bool = False) -> None:
    """Raise `StorageError` for a file in which reading, or with `is_written` also writing, runs other code.

    Raises `sqlite3.Error` if its schema cannot be read.
    """
    objects = connection.execute(_SELECT_OBJECTS).fetchall()
    if len(objects) > MOST_OBJECTS:
        raise StorageError(message("the file has too many tables"), where=where)
    for kind, name, sql in objects:
        if kind is None:  # of a truncated file
            raise sqlite3.DatabaseError(message("the schema is malformed"))
        if _is_plain(kind, sql) or (not is_written and kind in ("index", "trigger")):
            continue
        what = _NAMED.get(str(kind), message("a table with computed values"))
        raise StorageError(
            message(
                "the file contains {what}, which mcptui does not write ({name})",
                what=what,
                name=quoted_name(str(name)),
            ),
            where=where,
        )


_NAMED = {"view": message("a view"), "trigger": message("a trigger"), "index": message("an index")}


def _is_plain(kind: object, sql: object) -> bool:
    if kind == "index":
        return sql is None  # of a PRIMARY KEY
    if kind != "table" or not isinstance(sql, str):
        return False
    is_table = sql.startswith("CREATE TABLE ") and not _COMPUTED.search(sql)
    return is_table or sql in _CHECKED or sql in _VIRTUAL


@contextmanager
def largest_value(connection: sqlite3.Connection, octets: int) -> Iterator[None]:
    """Let statements fail with `sqlite3.DataError` where they would load a value of more than `octets`.

    In a forged file, the values of all rows may be the same hundreds of megabytes.
    """
    before = connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, octets)
    try:
        yield
    finally:
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, before)


def pragmas(connection: sqlite3.Connection, *names: str) -> list[int]:
    """Return numbers that SQLite knows about a file."""
    return [int(connection.execute(f"PRAGMA {name}").fetchone()[0]) for name in names]


def most_bytes(connection: sqlite3.Connection) -> int:
    """Return the maximum bytes of all values in a file, from the size of the file and its WAL."""
    pages, octets = pragmas(connection, "page_count", "page_size")
    path = connection.execute("PRAGMA database_list").fetchone()[2]
    sizes = 0
    for file in (path, f"{path}-wal"):
        with suppress(OSError):
            sizes += os.stat(file).st_size
    return min(pages * octets, sizes)


def most_rows(first: int, last: int) -> int:
    """Return a limit for the rows with numbers `first` to `last`: damaged or forged pages repeat some."""
    return min(last - first + 2, LARGEST)


def bounded_rows(
    connection: sqlite3.Connection, statement: str, parameters: Sequence[object] = ()
) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a statement; raise `sqlite3.DatabaseError` for more than the file can hold.

    In a forged file, many parents may have the same page.
    """
    room = most_bytes(connection)
    for row in connection.execute(statement, parameters):
        room -= LEAST_BYTES + sum(len(value) for value in row if isinstance(value, str | bytes))
        if room < 0:
            raise sqlite3.DatabaseError("more rows than the file can hold")
        yield row


def until_damage(
    run: Callable[[str, Sequence[Any]], Iterable[tuple[Any, ...]]], statement: str, parameters: Sequence[Any]
) -> tuple[list[tuple[Any, ...]], bool]:
    """Return the rows of a statement before the first damage, and whether these are all."""
    found, is_whole = list[tuple[Any, ...]](), False
    with up_to_damage():
        found.extend(run(statement, parameters))  # it keeps the rows before an error
        is_whole = True
    return found, is_whole


@contextmanager
def up_to_damage(lose: Callable[[], object] = lambda: None) -> Iterator[None]:
    """End the block at the first damage of a file, and call `lose` if there is any."""
    try:
        yield
    except UnicodeDecodeError:  # sqlite3 fails to decode its own message about a damaged page
        lose()
    except sqlite3.Error as error:
        if not is_damage(error):
            raise
        lose()
