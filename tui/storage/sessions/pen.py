"""The hand that writes the file of an open session: a batch of what was said, one transaction. Never raises.

Used by the thread of one journal. What fails is said by `problem`; a file that was never stored in is removed
again, so that the next attempt makes it anew.
"""

import contextlib
import logging
import os
import sqlite3
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tui.core.errors import StorageError
from tui.core.secrets.redact import Redactor
from tui.storage.recordings.database import files_of
from tui.storage.sessions.file import create_file, create_tables, open_for_writing, why_not
from tui.storage.sessions.lock import SessionLock
from tui.storage.sessions.tables import SessionTables

Op = Callable[[SessionTables], None]

_log = logging.getLogger(__name__)


class SessionPen:
    """Stores batches in one file.

    Attributes:
        problem: why nothing can be written now, or "".
        defect: why a part was left out for good, or "".
    """

    def __init__(
        self,
        path: Path,
        redact: Callable[[], Redactor],
        *,
        is_new: bool,
        lock: SessionLock | None = None,
        problem: str = "",
    ) -> None:
        """Open nothing yet.

        Args:
            path: the session's file.
            redact: gives what takes out the secrets that are known now.
            is_new: whether the file has yet to be made.
            lock: held already; None takes it with the first batch.
            problem: why nothing can be written so far.
        """
        self._path, self._redact, self._lock = path, redact, lock
        self._is_new = is_new
        self._made = time.time()
        self.problem, self.defect = problem, ""
        self._connection: sqlite3.Connection | None = None
        self._tables: SessionTables | None = None
        self._inode: tuple[int, int] = (0, 0)

    def store(self, ops: Sequence[Op]) -> bool:
        """Store in one transaction and return whether it is on disk."""
        if not ops:
            return not self.problem
        try:
            tables = self._opened()
            self._see_file()
            tables.begin()
            if self._is_new:
                assert self._connection is not None
                create_tables(self._connection)
                tables.load()
                tables.note({"created": self._made, "changed": self._made})
            for op in ops:
                self._attempt(op, tables)
            tables.commit()
        except (sqlite3.Error, OSError, StorageError) as error:
            self._failed(error)
            return False
        self._is_new = False
        self.problem = ""
        return True

    def close(self) -> None:
        """Leave one single file, unless somebody is reading it, and give back the lock."""
        if self._connection is not None:
            try:
                self._connection.execute("PRAGMA busy_timeout = 0")
                self._connection.execute("PRAGMA journal_mode = DELETE")
            except sqlite3.Error:
                pass  # a reader holds it, or the disk is full: what is in the WAL stays readable there
            self._let_go()
        lock, self._lock = self._lock, None
        if lock is not None:
            lock.close()

    def _attempt(self, op: Op, tables: SessionTables) -> None:
        try:
            op(tables)
        except (ValueError, TypeError, OverflowError, RecursionError, sqlite3.DataError) as error:
            # A value that nothing we know of makes: it must not keep what comes after it from being stored.
            _log.exception("a part of session %s could not be stored", self._path.stem)
            self.defect = f"a part of the session could not be stored ({error})"

    def _opened(self) -> SessionTables:
        """Return what writes the file; open it first, or make it."""
        if self._tables is not None:
            return self._tables
        if self._lock is None:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock = SessionLock(self._path)
        self._connection = create_file(self._path) if self._is_new else open_for_writing(self._path)
        found = os.stat(self._path)
        self._inode = found.st_dev, found.st_ino
        self._tables = SessionTables(self._connection, self._redact)
        if not self._is_new:
            self._tables.load()
        return self._tables

    def _see_file(self) -> None:
        """See that the file still has its name: SQLite would go on writing what nobody can find.

        Raises:
            StorageError: it is gone.
        """
        try:
            found = os.stat(self._path)
        except FileNotFoundError:
            found = None
        if found is None or (found.st_dev, found.st_ino) != self._inode:
            raise StorageError(f"the file {self._path} is gone; what is said from now on is not kept")

    def _failed(self, error: Exception) -> None:
        self.problem = error.message if isinstance(error, StorageError) else why_not(error, self._path)
        if self._tables is not None:
            self._tables.roll_back()
        if self._is_new:  # nothing was ever stored in it
            self._let_go()
            with contextlib.suppress(OSError):
                for file in files_of(self._path):
                    file.unlink(missing_ok=True)

    def _let_go(self) -> None:
        connection, self._connection, self._tables = self._connection, None, None
        if connection is not None:
            connection.close()
