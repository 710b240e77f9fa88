"""Findings for a finished recording: collected in a temporary file, then stored in the recording."""

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from tui.core.errors import StorageError
from tui.core.traffic import Finding
from tui.storage.recordings.database import (
    CACHE_KIB,
    FINDINGS_TABLES,
    VERSION,
    open_for_notes,
    roll_back,
    storage_errors,
)
from tui.storage.recordings.findings import FindingTable, findings_of, put_judged

_COPIED = {"findings": 8, "flags": 5}
"""The tables to copy, and their number of columns."""


class JudgedFindings:
    """The findings of one recording, in the format of its writer. For any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # Without a name, a small database stays in memory, a larger one in a temporary file that SQLite
        # deletes.
        self._connection = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        self._connection.executescript(FINDINGS_TABLES)
        self._table = FindingTable()

    def add(self, findings: Sequence[Finding]) -> None:
        """Add findings, all those of an entry together. Raises StorageError if the disk is full."""
        if not findings:
            return
        with self._lock, _temporary_errors():
            try:
                self._connection.execute("BEGIN")
                stored = self._table.write(self._connection, findings)
                self._connection.execute("COMMIT")
                stored()
            finally:
                roll_back(self._connection)

    def of(self, seq: int) -> Sequence[Finding]:
        with self._lock, _temporary_errors():
            return findings_of(self._connection, VERSION, seq)

    def keep(self, path: Path, judged: int) -> None:
        """Replace the findings in a finished recording, which is then linted up to an entry.

        Does nothing for a file of another format. Raises StorageError if the file cannot be written.
        """
        with self._lock, closing(open_for_notes(path)) as connection, storage_errors(path):
            if int(connection.execute("PRAGMA user_version").fetchone()[0]) != VERSION:
                return
            try:
                connection.execute("BEGIN IMMEDIATE")
                for table, columns in _COPIED.items():
                    connection.execute(f"DELETE FROM {table}")
                    rows = self._connection.execute(f"SELECT * FROM {table}")
                    connection.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * columns)})", rows)
                put_judged(connection, judged)
                connection.execute("COMMIT")
            finally:
                roll_back(connection)


@contextmanager
def _temporary_errors() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise StorageError(
            f"the linter's findings cannot be stored ({error})",
            next_step="Free some space in the folder for temporary files, and open the recording again.",
        ) from error
