"""The only writer of an open session: collects messages for a moment and stores them in one transaction.

Callers never wait. A thread, started with the first message, opens the file and stores. `settled()` returns
after the COMMIT. When the disk fails, `problem` says so. The data is kept in memory and stored when the disk
works again.
"""

import asyncio
import json
import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import closing, suppress
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any

from tui.core.background import DaemonThread
from tui.core.conversation.conversation import (
    AssistantMessage,
    Intent,
    Message,
    Remark,
    SessionMeta,
    ToolMessage,
    UserMessage,
)
from tui.core.errors import StorageError, as_sentences, reason_of
from tui.core.files import make_folder
from tui.core.language.translate import message
from tui.core.ports import Usage
from tui.core.secrets.redact import Redactor
from tui.storage.files.foreign_file import is_damage
from tui.storage.files.live_lock import LiveLock
from tui.storage.files.sqlite_file import FileGuard, leave_one_file, remove_files
from tui.storage.sessions.file import (
    create_file,
    create_tables,
    is_sound,
    open_for_reading,
    open_for_writing,
    read_meta,
    why_not,
)
from tui.storage.sessions.rewrite import put_aside, write_again, write_copy
from tui.storage.sessions.stored_session import read_stored
from tui.storage.sessions.tables import Op, SessionTables

_log = logging.getLogger(__name__)

WINDOW = 0.02
"""Seconds for which data is collected, unless a caller waits for it."""

RETRY_SECONDS = 1.0
"""Seconds until a failed disk, or a file that another program has locked, is tried again."""

CLOSE_SECONDS = 5.0
"""How long `close` waits for the disk."""

WAITING_BYTES = 64 * 1024 * 1024
"""Maximum bytes in memory for a failed disk. Beyond that, the saved session ends."""

_WEIGHT = 500

_UNREADABLE = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_IOERR})
"""Errors of a file whose content is lost; others are those of the disk that a copy is written to."""


class SessionJournal:
    """Writes one session; see `core.conversation.sessions.Journal`. For one event loop."""

    def __init__(
        self, writer: "SessionWriter", on_close: Callable[[], object], *, first: Op | None = None
    ) -> None:
        """Create a journal that writes nothing before the first message. A new file starts with `first`.

        `on_close` is called when the file is released.
        """
        self._writer, self._on_close = writer, on_close
        self.id = writer.path.stem
        self._begun = not writer.is_new
        self._is_branch = first is not None
        self._condition = threading.Condition()
        self._ops: list[Op] = [first] if first is not None else []
        self._draft: Op | None = None
        self._weight = 0
        self._waiters: list[Future[None]] = []
        self._storing = self.is_closing = self._ended = self._is_released = False
        self._retry_at = 0.0
        self._thread: DaemonThread | None = None

    @property
    def problem(self) -> str:
        """Why something is not stored, or ""."""
        return self._writer.problem or self._writer.defect

    # ---- data to store: each of these returns at once ------------------------------------------------------

    def message(self, index: int, message: Message) -> None:
        """Store a complete message; the first one creates the file."""
        at = (message.at if isinstance(message, UserMessage) else 0.0) or time.time()
        self._begun = True
        self._put(lambda tables: tables.message(index, message, at), _size(message), replaces_draft=True)

    def draft(self, text: str, reasoning: str) -> None:
        """Store the partial reply; a newer one replaces it until then."""
        with self._condition:
            self._draft = lambda tables: tables.draft(text, reasoning)
            self._wake()

    def intent(self, intent: Intent) -> None:
        at = time.time()
        self._put(lambda tables: tables.intent(intent, at))

    def decision(self, call_id: str, answer: str, reason: str) -> None:
        at = time.time()
        self._put(lambda tables: tables.decision(call_id, answer, reason, at), len(reason))

    def result(self, name: str, text: str) -> None:
        self._put(lambda tables: tables.result(name, text), len(text))

    def usage(self, model: str, usage: Usage, cost: float | None) -> None:
        at = time.time()
        self._put(lambda tables: tables.usage(model, usage, cost, at))

    def remark(self, remark: Remark) -> None:
        at = remark.at or time.time()
        self._put(lambda tables: tables.remark(remark, at), len(remark.text))

    def describe(self, meta: SessionMeta) -> None:
        self._put(lambda tables: tables.describe(meta))

    def _put(self, op: Op, size: int = 0, *, replaces_draft: bool = False) -> None:
        with self._condition:
            if self.is_closing or self._ended:
                return
            self._ops.append(op)
            self._weight += size + _WEIGHT
            if replaces_draft:
                self._draft = None
            self._wake()

    def _wake(self) -> None:
        """Wake the thread, or start it with the first message. The condition must be held."""
        if not self._begun or self.is_closing or self._ended:
            return
        if self._thread is None:
            self._thread = DaemonThread(f"session {self.id}", self._run, failed=self._failed)
            self._thread.start()
        self._condition.notify()

    def begin_branch(self) -> None:
        """Create the file of a branch that has no messages of its own yet, so that it can be read."""
        with self._condition:
            self._begun = self._begun or self._is_branch
            self._wake()

    async def settled(self) -> None:
        """Wait until all messages so far are on disk. Return immediately if nothing can be stored."""
        with self._condition:
            nothing = not (self._ops or self._draft or self._storing)
            if nothing or self._thread is None or self._writer.problem or self._ended:
                return
            done = Future[None]()
            self._waiters.append(done)
            self._condition.notify()
        await asyncio.wrap_future(done)

    async def close(self) -> None:
        """Store pending data and release the file, within `CLOSE_SECONDS`."""
        with self._condition:
            self.is_closing = True
            self._condition.notify()
        if self._thread is None:
            self._end()
        else:
            self._thread.closing.set()
            await asyncio.to_thread(self._thread.join, CLOSE_SECONDS)

    def _run(self) -> None:
        while self._round():
            pass
        self._end()

    def _failed(self, error: Exception, is_over: bool) -> None:
        if is_over:
            self._end()

    def _round(self) -> bool:
        """Store the pending data when it is due. Return whether there may be more."""
        with self._condition:
            while (seconds := self._patience()) != 0:
                self._condition.wait(seconds)
            if not self._writer.problem:
                self._condition.wait_for(lambda: self.is_closing or bool(self._waiters), WINDOW)
            batch, self._ops = self._ops, []
            draft, self._draft = self._draft, None
            waiters, self._waiters = self._waiters, []
            closing, self._storing = self.is_closing, True
            weight, self._weight = self._weight, 0
        stored = False
        try:
            stored = self._writer.store(batch if draft is None else [*batch, draft])
        finally:  # after an unexpected error, the thread is started again
            with self._condition:
                self._storing = False
                if not stored:
                    self._keep(batch, weight)
            for waiter in waiters:
                _resolve(waiter)
        return not closing

    def _patience(self) -> float | None:
        """Return the seconds until data must be stored, 0 for at once, None if there is none."""
        if self.is_closing or self._waiters:
            return 0
        if not self._ops and self._draft is None:
            return None
        return max(0, self._retry_at - time.monotonic()) if self._writer.problem else 0

    def _keep(self, batch: list[Op], weight: int) -> None:
        """Keep data that could not be stored, up to `WAITING_BYTES`. A draft is dropped."""
        self._retry_at = time.monotonic() + RETRY_SECONDS
        self._weight += weight
        self._ops[:0] = batch
        if self._weight > WAITING_BYTES:
            self._ended, self._ops, self._draft = True, [], None

    def _end(self) -> None:
        with self._condition:
            if self._is_released:
                return
            self._is_released = True
        try:
            self._writer.close()
        finally:
            with self._condition:
                self._ended = True
                waiters, self._waiters = self._waiters, []
            for waiter in waiters:
                _resolve(waiter)
            self._on_close()


def _resolve(waiter: Future[None]) -> None:
    if waiter.set_running_or_notify_cancel():
        waiter.set_result(None)


def _size(message: Message) -> int:
    match message:
        case AssistantMessage():
            size = len(message.text) + len(message.reasoning)
            return size + sum(len(call.arguments) for call in message.calls)
        case UserMessage() | ToolMessage():
            return len(message.text) + sum(len(one.data) for one in message.attachments)


class FileChanged(StorageError):
    """The file no longer has the content that was written."""


@dataclass(eq=False)
class SessionWriter:
    """Stores batches in one file, in the journal's thread. Raises only unexpected errors, after a rollback.

    The first batch opens the file, and takes the lock unless it is already held.

    Attributes:
        problem: why nothing can be written now, or "".
        defect: why a part was permanently omitted, or "".
    """

    path: Path
    _redact: Callable[[], Redactor]
    _: KW_ONLY
    is_new: bool
    lock: LiveLock | None = None
    problem: str = ""

    def __post_init__(self) -> None:
        self._made = time.time()
        self.defect = ""
        self._tables: SessionTables | None = None
        self._guard = FileGuard(self.path, self._is_whole)
        self._meta: Mapping[str, Any] = {}

    def store(self, ops: Sequence[Op]) -> bool:
        """Store in one transaction and return whether it is on disk."""
        if not ops:
            return not self.problem
        try:
            tables = self._opened()
            self._check_file()
            tables.begin()
            if self.is_new:
                create_tables(tables.connection)
                tables.load()
                tables.note({"created": self._made, "changed": self._made})
            for op in ops:
                self._attempt(op, tables)
            tables.commit()
        except (sqlite3.Error, OSError, StorageError, UnicodeDecodeError) as error:
            self._failed(error)
            return False
        except Exception as error:
            # A defect: the thread reports it and is started again. Until then, the caller keeps the data.
            self._failed(error)
            self.problem = message("an internal error ({name})", name=type(error).__name__)
            raise
        self._guard.note()
        self._meta = dict(tables.stored)
        self.is_new = False
        self.problem = ""
        return True

    def close(self) -> None:
        """Merge the WAL into the file, unless it is being read, and release the lock."""
        if self._tables is not None:
            try:
                self._check_file()
            except StorageError as error:
                self._failed(error)
        if self._tables is not None:
            leave_one_file(self._tables.connection)
            self._release_file()
        lock, self.lock = self.lock, None
        if lock is not None:
            lock.close()

    def _check_file(self) -> None:
        """Raise `FileChanged` if the stored data can no longer be read."""
        if not self.is_new and (what := self._guard.harm()):
            lost = message("the file {path} was {change}", path=str(self.path), change=what)
            raise FileChanged(as_sentences([lost, message("mcptui saves the conversation again")]))

    def _is_whole(self) -> bool:
        if not is_sound(self.path):
            return False
        try:
            with closing(open_for_reading(self.path)) as connection:
                return bool(read_meta(connection) == json.loads(json.dumps(dict(self._meta))))
        except (sqlite3.Error, OSError, StorageError, UnicodeDecodeError):
            return False

    def _attempt(self, op: Op, tables: SessionTables) -> None:
        try:
            op(tables)
        except Exception as error:
            is_of_file = isinstance(error, sqlite3.Error) and not isinstance(error, sqlite3.DataError)
            if is_of_file or isinstance(error, OSError | StorageError | MemoryError):
                raise
            # An invalid value or a defect, which should not occur, must not block the data after it.
            _log.exception("cannot store a part of session %s", self.path.stem)
            self.defect = message("cannot store a part of the session ({reason})", reason=reason_of(error))

    def _opened(self) -> SessionTables:
        if self._tables is not None:
            return self._tables
        if self.lock is not None and not self.lock.is_there():  # its folder was removed
            self.lock.close()
            self.lock = None
        if self.lock is None:
            make_folder(self.path.parent)
            self.lock = LiveLock(self.path)
        connection = create_file(self.path) if self.is_new else open_for_writing(self.path)
        self._guard.note()
        self._tables = SessionTables(connection, self._redact)
        if not self.is_new:
            self._tables.load()
            self._meta = dict(self._tables.stored)
        return self._tables

    def _failed(self, error: Exception) -> None:
        self.problem = error.message if isinstance(error, StorageError) else why_not(error, self.path)
        if self._tables is not None:
            self._tables.roll_back()
        is_lost = isinstance(error, FileChanged | UnicodeDecodeError) or (
            isinstance(error, sqlite3.Error) and is_damage(error)
        )
        if self._tables is not None and not self.is_new and is_lost:
            self._save_again(self._tables.connection)
            return
        if self.is_new:  # nothing was ever stored in the file
            self._release_file()
            remove_files(self.path)

    def _save_again(self, connection: sqlite3.Connection) -> None:
        """Write the file anew: what the connection has of it, or else what can be read of it."""
        with suppress(OSError, sqlite3.Error):  # tried again with the next data
            try:
                write_copy(self.path, connection)
            except sqlite3.DatabaseError as error:
                if getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF not in _UNREADABLE:
                    raise
                self.defect = message(
                    "the file was damaged by another program. Only its readable part is kept"
                )
                try:
                    write_again(self.path, read_stored(self.path), self._redact)
                except StorageError:  # nothing can be read: a new file begins here
                    put_aside(self.path)
                    self.is_new = True
            self._release_file()

    def _release_file(self) -> None:
        tables, self._tables = self._tables, None
        if tables is not None:
            tables.connection.close()
