"""The findings of a recording, once per rule, method and server, each with its entries.

A flood of messages with the same fault is one finding with a count and its first places. Its entries are
stored as one byte per entry of a range, so that all of them can be found.
"""

import json
import sqlite3
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from itertools import compress
from pathlib import Path
from typing import NamedTuple

from tui.core.errors import StorageError, reason_of
from tui.core.language.translate import message
from tui.core.traffic import RULES, Finding, Severity
from tui.storage.files.foreign_file import bounded_rows, pragmas
from tui.storage.files.sqlite_file import CACHE_KIB, storable, transaction
from tui.storage.recordings.database import FINDINGS_TABLES, VERSION, open_for_notes, storage_errors

PLACES = 5
"""Maximum entries per finding whose own sentences are stored."""

MAX_METHODS = 2_000
"""Maximum number of findings that are separated by server and method, the rest only by rule."""

LONGEST = 1_000
"""Maximum characters of the sentences of one entry that has a finding several times."""

LONGEST_GAP = 4_096
"""Maximum entries without a finding between two entries of one range."""

_JUDGED = "judged"
"""The name in `meta` of the version of the rules and the last linted entry."""

_Key = tuple[str, str, str, Severity]


class _Stored(NamedTuple):
    number: int
    section: str
    times: int
    places: tuple[tuple[int, str], ...]
    last: int = 0
    """The last entry with the finding."""


class FindingTable:
    """Writes the findings of one recording."""

    def __init__(self) -> None:
        self._stored: dict[_Key, _Stored] = {}

    def write(self, connection: sqlite3.Connection, findings: Iterable[Finding]) -> Callable[[], None]:
        """Write findings within a transaction. Call the returned function after the commit."""
        changed: dict[_Key, _Stored] = {}
        seqs: defaultdict[int, list[int]] = defaultdict(list)
        count = len(self._stored)
        for finding in findings:
            key: _Key = (finding.source, finding.method, finding.code, finding.severity)
            if count >= MAX_METHODS and key not in self._stored and key not in changed:
                key = ("", "", finding.code, finding.severity)
            known = changed.get(key) or self._stored.get(key)
            if known is None:
                count += 1
                known = _Stored(count, finding.section, 0, ())
            changed[key] = _with(known, finding)
            if finding.seq != known.last:
                seqs[known.number].append(finding.seq)
        connection.executemany(
            "INSERT OR REPLACE INTO findings VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    each.number,
                    *map(storable, (source, method, code)),
                    severity.value,
                    storable(each.section),
                    each.times,
                    json.dumps(each.places),
                )
                for (source, method, code, severity), each in changed.items()
            ],
        )
        connection.executemany(
            "INSERT INTO flags (finding, first, last, entries) VALUES (?, ?, ?, ?)",
            [(number, *run) for number, its_seqs in seqs.items() for run in _runs(sorted(set(its_seqs)))],
        )
        return lambda: self._stored.update(changed)


def _with(known: _Stored, finding: Finding) -> _Stored:
    """Count an entry, or add to its sentences if it has the finding again."""
    places = known.places
    if finding.seq == known.last:
        if not places or places[-1][0] != finding.seq:
            return known
        seq, sentence = places[-1]
        if len(sentence) + len(finding.sentence) < LONGEST:
            places = (*places[:-1], (seq, f"{sentence} {finding.sentence}"))
        return known._replace(places=places)
    if len(places) < PLACES:
        places += ((finding.seq, finding.sentence),)
    return _Stored(known.number, known.section, known.times + 1, places, finding.seq)


def put_judged(connection: sqlite3.Connection, seq: int) -> None:
    """Record, within a transaction, that all findings of the entries up to `seq` are stored."""
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_JUDGED, f"{RULES} {seq}"))


def drop_flags(connection: sqlite3.Connection, seq: int) -> None:
    """Drop, within a transaction, the flags of the entries up to `seq`.

    Flags are almost in the order of their entries, so only dropped rows are read. The last row stays, since
    row numbers must not be reused: readers ask for the rows after a number.
    """
    connection.execute(
        "DELETE FROM flags WHERE number < coalesce("
        "(SELECT number FROM flags WHERE last > ? ORDER BY number LIMIT 1), (SELECT max(number) FROM flags))",
        (seq,),
    )


def judged_of(meta: Mapping[str, str]) -> int:
    """Return the last entry of a recording that was linted by the rules of this version, 0 if none was."""
    rules, _, seq = meta.get(_JUDGED, "").partition(" ")
    return int(seq) if rules == RULES and seq.isascii() and seq.isdecimal() and len(seq) < 19 else 0


def _runs(seqs: Sequence[int]) -> Iterator[tuple[int, int, bytes]]:
    """Yield ranges of entries: the first, the last, and for each one a byte, 1 for those in `seqs`."""
    start = 0
    for end in range(1, len(seqs) + 1):
        if end == len(seqs) or seqs[end] - seqs[end - 1] > LONGEST_GAP:
            first, last = seqs[start], seqs[end - 1]
            entries = bytearray(last - first + 1)
            for seq in seqs[start:end]:
                entries[seq - first] = 1
            yield first, last, bytes(entries)
            start = end


def findings_of(connection: sqlite3.Connection, seq: int) -> list[Finding]:
    """Return the findings of an entry, without sentences if they are not stored.

    Raises ValueError or a similar error for rows that no writer stored.
    """
    rows = connection.execute(
        "SELECT code, severity, section, source, method, count, places FROM findings WHERE number IN"
        " (SELECT finding FROM flags WHERE first <= ? AND last >= ? AND substr(entries, ? - first + 1, 1)"
        " = x'01') ORDER BY number",
        (seq, seq, seq),
    )
    found = []
    for code, severity, section, source, method, count, places in rows:
        sentences = {int(place): str(sentence) for place, sentence in json.loads(places)}
        if not sentences or not all(isinstance(text, str) for text in (code, section, source, method)):
            raise ValueError("a finding without a place or a text")
        sentence = sentences.get(seq, "")
        found.append(
            Finding(seq, code, Severity(severity), sentence, section, source, method, count, tuple(sentences))
        )
    return found


_SELECT_FLAGGED = (
    "SELECT flags.number, severity, first, entries FROM flags JOIN findings ON findings.number = finding"
    " WHERE flags.number > ? ORDER BY flags.number"
)


def flagged(connection: sqlite3.Connection, after: int) -> tuple[list[tuple[Severity, Sequence[int]]], int]:
    """Return the seqs with findings after row `after`, by severity, and the number of the last row.

    Raises ValueError or a similar error for rows that no writer stored.
    """
    rows = list(bounded_rows(connection, _SELECT_FLAGGED, (after,)))
    found: list[tuple[Severity, Sequence[int]]] = [
        (Severity(severity), list(compress(range(first, first + len(entries)), entries)))
        for _, severity, first, entries in rows
    ]
    return found, rows[-1][0] if rows else after


_COPIED = {"findings": 8, "flags": 5}
"""The tables to copy, and their number of columns."""


class JudgedFindings:
    """The findings of one recording, in the format of its writer. For any thread. To be closed."""

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
            with transaction(self._connection):
                stored = self._table.write(self._connection, findings)
            stored()

    def of(self, seq: int) -> Sequence[Finding]:
        with self._lock, _temporary_errors():
            return findings_of(self._connection, seq)

    def close(self) -> None:
        """Release the memory, or the temporary file."""
        with self._lock:
            self._connection.close()

    def keep(self, path: Path, judged: int) -> None:
        """Replace the findings in a finished recording, which is then linted up to an entry.

        Does nothing for a file of another format. Raises StorageError if the file cannot be written.
        """
        with self._lock, closing(open_for_notes(path)) as connection, storage_errors(path):
            if pragmas(connection, "user_version") != [VERSION]:
                return
            with transaction(connection):
                for table, columns in _COPIED.items():
                    connection.execute(f"DELETE FROM {table}")
                    rows = self._connection.execute(f"SELECT * FROM {table}")
                    connection.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * columns)})", rows)
                put_judged(connection, judged)


@contextmanager
def _temporary_errors() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise StorageError(
            message("the linter's findings cannot be stored ({reason})", reason=reason_of(error)),
            next_step=message(
                "Free some space in the folder for temporary files, and open the recording again."
            ),
        ) from error
