"""Findings that are made after a recording is over: in memory, and in its file once all are known."""

import sqlite3
import threading
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from tui.core.traffic import Finding
from tui.storage.recordings.database import (
    FINDINGS_TABLES,
    VERSION,
    open_for_notes,
    roll_back,
    storage_errors,
)
from tui.storage.recordings.findings import FindingTable, findings_of, put_judged
from tui.storage.recordings.writer import MAX_FINDINGS

_COPIED = {"findings": 8, "flags": 5}
"""The tables that are copied, and the number of their columns."""


class JudgedFindings:
    """The findings of one recording, stored as its writer stores them. For any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self._connection.executescript(FINDINGS_TABLES)
        self._table = FindingTable()
        self._count = 0

    def add(self, findings: Sequence[Finding]) -> None:
        if findings:
            with self._lock:
                self._table.write(self._connection, findings)()
                self._count += len(findings)

    def of(self, seq: int) -> Sequence[Finding]:
        with self._lock:
            return findings_of(self._connection, VERSION, seq)

    def keep(self, path: Path, judged: int) -> None:
        """Store them in place of those in a finished recording, which is judged up to an entry by that.

        Not more than `MAX_FINDINGS`, nor in a file of another format. Raises StorageError if the file cannot
        be written.
        """
        if self._count > MAX_FINDINGS:
            return
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
