"""The only writer of a recording. Stores entries in batches, each a transaction that survives kill -9.

It never raises. `problem` reports a failed disk; entries wait in memory for a while and are stored when the
disk works again. A recording at its size limit loses its oldest entries. The last of them is replaced by an
entry that counts them, so that numbers have no gaps.
"""

import sqlite3
import time
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import KW_ONLY, dataclass, field
from itertools import chain
from pathlib import Path

from tui.core.errors import StorageError, as_sentences
from tui.core.files import make_folder
from tui.core.language.translate import message
from tui.core.traffic import DROPPED, Direction, Entry, Finding, Kind
from tui.storage.files.foreign_file import pragmas
from tui.storage.files.live_lock import LiveLock
from tui.storage.files.sqlite_file import FileGuard, leave_one_file, roll_back, storable, why_not
from tui.storage.recordings.database import (
    ENTRY_COLUMNS,
    Row,
    create_recording,
    entry_values,
    open_for_reading,
    put_note,
)
from tui.storage.recordings.findings import FindingTable, drop_flags, put_judged

DEFAULT_CAP = 512 * 1024 * 1024
"""Default maximum bytes of one recording."""

RETRY_S = 1.0
"""Seconds until a failed disk is retried."""

WAITING_BYTES = 32 * 1024 * 1024
"""Maximum bytes in memory for a failed disk. Beyond that, the recording ends."""

ENTRY_WEIGHT = 500
"""Assumed bytes of an entry in memory, without its body, and of a finding."""

DROP_STEP = 500
"""Entries to drop at a time."""

# One statement for many rows takes two thirds of the time (measured). A batch is split into these.
_RUNS = (256, 16, 1)


def _inserts(table: str, columns: Sequence[str]) -> dict[int, str]:
    row = f"({','.join('?' * len(columns))})"
    into = f"{table} ({','.join(columns)})"
    return {run: f"INSERT INTO {into} VALUES {','.join([row] * run)}" for run in _RUNS}


_INSERT_ENTRIES = _inserts("entries", ENTRY_COLUMNS)
_INSERT_BODIES = _inserts("bodies", ("seq", "body"))

# For None and bytes, sqlite3 looks for an adapter, which takes as long as storing them (measured with CPython
# 3.11). Most entries have no cause, and a bytearray needs no adapter.
_CAUSE = slice(ENTRY_COLUMNS.index("turn"), ENTRY_COLUMNS.index("call") + 1)
_INSERT_WITHOUT_CAUSE = _inserts("entries", ENTRY_COLUMNS[: _CAUSE.start] + ENTRY_COLUMNS[_CAUSE.stop :])


@dataclass(eq=False)
class RecordingWriter:
    """Writes a new recording and marks it as live. The same thread must create, use and close it.

    The file must not exist. If it cannot be created, `problem` says so, and it is retried.

    Attributes:
        problem: why nothing is stored, or "".
    """

    path: Path
    _: KW_ONLY
    cap_bytes: int = DEFAULT_CAP
    meta: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.problem = ""
        self._connection: sqlite3.Connection | None = None
        self._waiting: list[Entry] = []
        self._waiting_findings: list[Finding] = []
        self._waiting_bytes = 0
        self._retry_at = 0.0
        self._is_over = False
        self._guard = FileGuard(self.path, self._is_whole)
        self._last = 0
        self._judged = self._judged_stored = 0
        self._table = FindingTable()
        self._first = self._gone = -1
        self._live: LiveLock | None = None
        try:
            self._create()
        except (OSError, sqlite3.Error, StorageError) as error:
            self._failed(error)

    def _create(self) -> None:
        make_folder(self.path.parent)
        if self._live is None:
            self._live = LiveLock(self.path)
        self._connection = create_recording(self.path, self.meta)
        self._guard.note()

    def write(self, entries: Sequence[Entry], findings: Sequence[Finding] = (), judged: int = 0) -> None:
        """Store entries, findings of these or earlier ones, and the last linted entry in one transaction.

        After it returns without a `problem`, they survive kill -9.
        """
        if self._is_over:
            return
        self._waiting_findings.extend(findings)
        self._judged = max(self._judged, judged)
        known = not self._waiting_findings and self._judged == self._judged_stored
        if not entries and known and not self.problem:
            return
        self._waiting.extend(entries)
        self._waiting_bytes += sum(ENTRY_WEIGHT + len(entry.body) for entry in entries)
        self._waiting_bytes += ENTRY_WEIGHT * len(findings)
        self._store_waiting()
        if self._waiting_bytes > WAITING_BYTES:
            self._give_up()

    @property
    def gone(self) -> int:
        """Seq of the last entry that was dropped at the size limit, 0 if none was."""
        return self._gone if self._gone >= self._first >= 0 else 0

    def note(self, seq: int, *, marked: bool | None = None, text: str | None = None) -> None:
        """Change the mark or the note of an entry; None keeps it."""
        if self._connection is None:
            return
        try:
            put_note(self._connection, seq, marked, text)
            self._guard.note()
        except sqlite3.Error as error:
            self.problem = why_not(error, self.path, message("cannot write {path}", path=str(self.path)))

    def close(self) -> None:
        """Store pending data and merge the WAL into the file, unless it is being read."""
        self._retry_at = 0.0
        unstored = self._waiting or self._waiting_findings or self._judged > self._judged_stored
        if not self._is_over and unstored:
            self._store_waiting()
        if self._connection is not None:
            leave_one_file(self._connection)
        self._release_file()

    def _store_waiting(self) -> None:
        if self._retry_at and time.monotonic() < self._retry_at:
            return
        try:
            if self._connection is None:
                self._create()
            elif what := self._guard.harm():
                self._lost(what)  # SQLite would keep writing to an unreachable file
                return
            self._store(self._waiting, self._waiting_findings)
            self._guard.note()
        except (OSError, sqlite3.Error, StorageError, OverflowError, ValueError, TypeError) as error:
            # The last three are for values that SQLite or JSON cannot store, which no tap should make.
            self._failed(error)
            return
        self._waiting, self._waiting_findings, self._waiting_bytes = [], [], 0
        self.problem, self._retry_at = "", 0.0

    def _lost(self, what: str) -> None:
        """Continue with pending data in a new file, unless another file has taken its place."""
        self.problem = message("the file {path} was {change}", path=str(self.path), change=what)
        if self.path.exists():
            self._give_up()
            return
        self.problem = as_sentences([self.problem, message("The recording continues in a new file")])
        self._release_file()
        self._table, self._first, self._gone, self._last, self._judged_stored = FindingTable(), -1, -1, 0, 0
        self._retry_at = time.monotonic() + RETRY_S

    def _failed(self, error: Exception) -> None:
        """Report why nothing is stored, and keep pending data for the next retry."""
        if self._connection is not None:
            roll_back(self._connection)
        self.problem = why_not(error, self.path, message("cannot write {path}", path=str(self.path)))
        if isinstance(error, FileExistsError) and self.path.is_file():  # the file belongs to another program
            self._give_up()
            return
        self._retry_at = time.monotonic() + RETRY_S

    def _is_whole(self) -> bool:
        try:
            with closing(open_for_reading(self.path)) as connection:
                found = connection.execute("SELECT max(seq) FROM entries").fetchone()[0] or 0
        except (sqlite3.Error, UnicodeDecodeError, StorageError):
            return False
        return int(found) >= self._last

    def _store(self, entries: Sequence[Entry], findings: Sequence[Finding]) -> None:
        connection = self._connection
        assert connection is not None
        connection.execute("BEGIN IMMEDIATE")
        pieces = [entries[start : start + _RUNS[0]] for start in range(0, len(entries), _RUNS[0])]
        for piece in pieces:
            rows, inserts = [entry_values(entry) for entry in piece], _INSERT_ENTRIES
            if all(entry.cause is None for entry in piece):
                rows, inserts = (
                    [row[: _CAUSE.start] + row[_CAUSE.stop :] for row in rows],
                    _INSERT_WITHOUT_CAUSE,
                )
            _insert(connection, inserts, rows)
        for piece in pieces:
            bodies = [(entry.seq, bytearray(entry.body)) for entry in piece if entry.body]
            _insert(connection, _INSERT_BODIES, bodies)
        stored = self._table.write(connection, findings)
        judged = self._judged
        if judged > self._judged_stored:
            put_judged(connection, judged)
        gone = self._make_room(connection, entries)
        connection.execute("COMMIT")
        self._gone, self._judged_stored = gone, judged
        self._last = max(self._last, entries[-1].seq if entries else 0)
        stored()

    def _give_up(self) -> None:
        self._is_over = True
        self._waiting, self._waiting_findings = [], []
        self._release_file()

    def _release_file(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
        live, self._live = self._live, None
        if live is not None:
            with suppress(OSError):  # the file stays, but is meaningless without its lock
                live.close()

    def _make_room(self, connection: sqlite3.Connection, new: Sequence[Entry]) -> int:
        """Drop the oldest entries while the recording is above its limit; return the last dropped seq.

        The next entries reuse freed pages, so the file needs no vacuum to stay at its limit. One transaction
        drops at most a few times as many entries as it adds, so that no batch takes long.
        """
        if not new:
            return self._gone
        if self._first < 0:
            self._first, self._gone = new[0].seq, new[0].seq - 1

        def used() -> int:
            pages, free, page_size = pragmas(connection, "page_count", "freelist_count", "page_size")
            return (pages - free) * page_size

        gone = self._gone
        last = min(new[0].seq - 1, gone + 4 * len(new) + 4 * DROP_STEP)
        while gone < last and used() > self.cap_bytes:
            gone = min(gone + DROP_STEP, last)
            connection.execute("DELETE FROM entries WHERE seq < ?", (gone,))
            connection.execute("DELETE FROM bodies WHERE seq <= ?", (gone,))
            drop_flags(connection, gone)
        if gone > self._gone:
            # The last dropped entry is replaced with one that counts them, so that seqs have no gaps.
            times = "SELECT mono_ns, wall_ns FROM entries WHERE seq = ?"
            mono_ns, wall_ns = connection.execute(times, (gone,)).fetchone()
            connection.execute("DELETE FROM entries WHERE seq = ?", (gone,))
            detail = {"entries": gone - self._first + 1}
            names = ("mcptui", Direction.NONE, Kind.EVENT, DROPPED)
            marker = Entry(gone, mono_ns, wall_ns, *names, detail=detail)
            connection.execute(_INSERT_ENTRIES[1], entry_values(marker))
        return gone


def _insert(connection: sqlite3.Connection, statements: Mapping[int, str], rows: Sequence[Row]) -> None:
    place = 0
    for run, statement in statements.items():
        while len(rows) - place >= run:
            values = list(chain.from_iterable(rows[place : place + run]))
            try:
                connection.execute(statement, values)
            except UnicodeEncodeError:
                connection.execute(statement, [storable(value) for value in values])
            place += run
