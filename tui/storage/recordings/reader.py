"""Reads a recording, even while it is written. No method blocks the writer."""

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from tui.core.traffic import BODY_LOST, DETAIL_LOST, BodyTerm, Entry, Finding, Severity, without_body
from tui.storage.recordings.body_search import LARGE, BodyFinder
from tui.storage.recordings.database import ENTRY_COLUMNS, cut_short, is_cut, open_for_reading, storage_errors
from tui.storage.recordings.findings import findings_of, flagged
from tui.storage.recordings.foreign_file import (
    LISTED_VALUE,
    MOST_META,
    NAME_VALUE,
    bounded_rows,
    largest_value,
    most_bytes,
    most_rows,
)
from tui.storage.recordings.rows import Row, entry_of, is_sound
from tui.storage.recordings.salvage import (
    WINDOW,
    Salvage,
    halved,
    is_damage,
    is_in_order,
    is_zeroed,
    whole_span,
)
from tui.storage.recordings.stored_bodies import StoredBodies

_SELECT = f"SELECT {', '.join(ENTRY_COLUMNS[:18])} FROM entries"

_SELECT_WHOLE = (
    f"SELECT {', '.join(ENTRY_COLUMNS)}, CASE WHEN length(body) <= ? THEN body END"
    " FROM entries LEFT JOIN bodies USING (seq) WHERE seq > ? ORDER BY seq LIMIT ?"
)
"""Returns the length of a body without reading the body."""

LIST_COLUMNS = ENTRY_COLUMNS[:16]
"""Columns of `column_rows`:

`seq` to `outcome` as in `Entry`, enums as numbers, then `turn`, `step` and `call` of the cause, or None for
all three.
"""
PAGE = 2000
"""Entries to read at a time."""

LEAST_BYTES = 24
"""Minimum bytes of an entry in the file."""

_SELECT_SPAN = "SELECT (SELECT min(seq) FROM entries), (SELECT max(seq) FROM entries)"
"""SQLite finds each end at once in its own subquery, but would scan all rows for both in one query."""

_SELECT_LIST = f"SELECT {', '.join(LIST_COLUMNS)} FROM entries"

_SELECT_PART = "SELECT substr(body, ?, ?) FROM bodies WHERE seq = ?"

_MOST_OPENED = (1 << 31) - 1
"""The largest number that Python's `blobopen` takes; a file of another program may have larger ones."""

_SELECT_ENTRY = f"SELECT {', '.join(ENTRY_COLUMNS)} FROM entries WHERE seq = ?"

ON_ITS_PAGE = 2_000
"""A body up to this size has no overflow pages; SQLite uses them for rows above 4,061 bytes."""

_SELECT_DOUBTFUL = (
    "SELECT seq FROM entries WHERE seq BETWEEN ? AND ? AND size > 0 AND NOT EXISTS"
    " (SELECT 1 FROM bodies WHERE bodies.seq = entries.seq AND typeof(body) = 'blob'"
    f" AND length(body) <= {ON_ITS_PAGE}) ORDER BY seq LIMIT ?"
)
"""Entries without a body, and those whose body may have overflow pages."""

BAD_VALUES = (OverflowError, TypeError, ValueError)
"""Exceptions that the columns raise for rows that no writer stored."""


def turn_of_call(path: Path, call: str) -> int:
    """Return the turn of a tool call in a recording, 0 if it has none; raises `StorageError`."""
    with closing(open_for_reading(path)) as connection, storage_errors(path):
        found = connection.execute("SELECT turn FROM entries WHERE call = ? AND turn > 0 LIMIT 1", (call,))
        return int((found.fetchone() or (0,))[0])


class RecordingReader:
    """Reads a recording. One thread at a time may use it; any thread may `interrupt`.

    Opening it, `body` and methods that read findings raise `StorageError` for a damaged file. The others
    return everything readable. `columns`, `column_rows` and `entry` return an event for each unreadable
    entry, and `damage` says how many. An entry with a lost body has `is_body_lost`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection = open_for_reading(path)
        try:
            with storage_errors(path):
                self._version = int(self._connection.execute("PRAGMA user_version").fetchone()[0])
                self._cut = cut_short(path) if is_cut(self._connection) else ""
        except BaseException:
            self._connection.close()
            raise
        self._bodies = StoredBodies(self._connection)
        self._finder = BodyFinder(self._searched)
        self.interrupt, self.rearm = self._finder.interrupt, self._finder.rearm
        self._bodies_lost: set[int] = set()
        self._details_lost: set[int] = set()
        self._salvage = Salvage() if self._cut else None

    def columns(self, after: int, limit: int) -> Sequence[Entry]:
        """Return up to `limit` entries with seq > `after`, in order, without bodies and redactions."""
        with storage_errors(self.path):
            rows = self._rows(_SELECT, after, limit)
            if self._salvage is None and not _are_sound(rows):
                self.doubt()
                rows = self._rows(_SELECT, after, limit)
            return [self._noted(entry_of((*row, "", "")[:18])) for row in rows]

    def doubt(self) -> None:
        """Check every value from now on, because `column_rows` has returned invalid ones."""
        self._salvage = self._salvage or Salvage()

    def whole(self, after: int, limit: int, most: int) -> Sequence[Entry]:
        """Return `columns` with bodies of at most `most` bytes; raise StorageError if one is damaged."""
        with storage_errors(self.path):
            if self._salvage is not None:
                raise ValueError("a damaged entry")
            rows = self._connection.execute(_SELECT_WHOLE, (most, after, limit)).fetchall()
            if not _are_sound(rows):
                raise ValueError("a damaged entry")
            if not all(isinstance(row[19], bytes | None) for row in rows):
                raise ValueError("a damaged body")
            return [entry_of(row, row[18], row[19] or b"") for row in rows]

    def column_rows(self, after: int, limit: int) -> list[tuple[Any, ...]]:
        """Return `columns` as plain tuples of `LIST_COLUMNS`, three times faster; see `doubt`."""
        with storage_errors(self.path):
            with largest_value(self._connection, NAME_VALUE):
                return self._rows(_SELECT_LIST, after, limit)

    def hand_rows(self, take: Callable[[Sequence[Row]], None], after: int, limit: int) -> Sequence[Row]:
        """Pass `column_rows` to `take` and return them. On `BAD_VALUES`, check them and retry."""
        rows = self.column_rows(after, limit)
        try:
            take(rows)
        except BAD_VALUES:
            self.doubt()
            rows = self.column_rows(after, limit)
            take(rows)
        return rows

    def _rows(self, select: str, after: int, limit: int) -> list[tuple[Any, ...]]:
        """Return rows in order, with an event in place of each unreadable one."""
        # Rows of names are small, and are read a million at a time.
        run = self._connection.execute if select is _SELECT_LIST else partial(bounded_rows, self._connection)
        if self._salvage is None:
            try:
                return list(run(f"{select} WHERE seq > ? ORDER BY seq LIMIT ?", (after, limit)))
            except sqlite3.Error as error:
                if not is_damage(error):
                    raise
                self._salvage = Salvage()
        found = f"{select} WHERE seq BETWEEN ? AND ? ORDER BY seq LIMIT ?"
        begin, end = whole_span(self._connection)
        if end - max(begin, after) > self.most_entries():
            end = 0  # it is on a damaged page
        return self._salvage.rows(
            after,
            limit,
            (begin, end),
            lambda first, last: list(run(found, (first, last, most_rows(first, last)))),
        )

    def most_entries(self) -> int:
        """Return the maximum number of entries that fit in the file."""
        with storage_errors(self.path):
            return most_bytes(self._connection) // LEAST_BYTES

    @property
    def damage(self) -> str:
        """Why not all entries and bodies could be read so far, or ""."""
        salvage, bodies, details = self._salvage, len(self._bodies_lost), len(self._details_lost)
        if salvage is None and not bodies and not details:
            return ""
        lost, least = (len(salvage.lost), salvage.is_endless) if salvage else (0, False)
        parts = [f"{lost:,} of its entries"] if lost else []
        parts += [f"{bodies:,} {'body' if bodies == 1 else 'bodies'}"] if bodies else []
        parts += [f"{details:,} {'detail' if details == 1 else 'details'}"] if details else []
        what = f"{'at least ' if least else ''}{_listed(parts)}" if parts else "part of it"
        how = f"is truncated ({self._cut})" if self._cut else "is damaged"
        return f"the recording {how}: {what} could not be read"

    def span(self) -> tuple[int, int]:
        """Return the first and the last stored seq, (0, 0) if there are none."""
        with storage_errors(self.path):
            if not self._cut:
                try:
                    found = self._connection.execute(_SELECT_SPAN).fetchone()
                    return found[0] or 0, found[1] or 0
                except sqlite3.Error as error:
                    if not is_damage(error):
                        raise
                    self.doubt()
            first, last = whole_span(self._connection)
        if not last:  # the recording then ends with the last readable entry
            after = first - 1 if first else 0
            while page := self.columns(after, PAGE):
                first, last = first or page[0].seq, page[-1].seq
                after = last
        return (first, last) if last else (0, 0)

    def ends_ns(self) -> tuple[int, int]:
        """Return the times of the first and the last readable entry, (0, 0) if none is readable."""
        first, last = self.span()
        if not last:
            return 0, 0
        walls = [entry.wall_ns for seq in (first, last) for entry in self.columns(seq - 1, 1)]
        if self.damage:  # a lost entry has the time of its neighbor, if known
            starts = first, max(first, last - WINDOW)
            near = [entry for seq in starts for entry in self.columns(seq - 1, WINDOW + 1)]
            walls = [entry.wall_ns for entry in near if entry.wall_ns]
        return min(walls, default=0), max(walls, default=0)

    def sources(self, limit: int) -> list[str]:
        """Return the names of up to `limit` sources, in the order found."""
        with storage_errors(self.path), largest_value(self._connection, NAME_VALUE):
            try:
                rows = self._connection.execute("SELECT DISTINCT source FROM entries LIMIT ?", (limit,))
                names = [name for (name,) in rows if isinstance(name, str)]
                if not self._cut:
                    return names
            except sqlite3.Error as error:
                if not is_damage(error):
                    raise
        found: dict[str, None] = {}
        after = 0
        while len(found) < limit and (page := self.columns(after, PAGE)):
            found.update((entry.source, None) for entry in page if entry.source)
            after = page[-1].seq
        return list(found)[:limit]

    def entry(self, seq: int, body_limit: int = 1 << 20) -> Entry | None:
        """Return an entry with at most `body_limit` bytes of its body; None if it was dropped."""
        with storage_errors(self.path):
            row = self._row(seq)
            if not row:
                return None if row is None and self._salvage is None else self._in_its_place(seq)
            return self._noted(self._with_body(entry_of(row, row[18]), body_limit))

    def _row(self, seq: int) -> Row | None:
        """Return the row of an entry, None if there is none, () if it cannot be read."""
        if self._salvage and seq in self._salvage.lost:
            return ()
        try:
            row: Row | None = self._connection.execute(_SELECT_ENTRY, (seq,)).fetchone()
        except sqlite3.Error as error:
            if not is_damage(error):
                raise
            return ()
        if row is None or (is_sound(row) and not (self._salvage and is_zeroed(row))):
            return row
        return ()

    def _in_its_place(self, seq: int) -> Entry | None:
        """Return the placeholder event for an unreadable entry, or None past the end."""
        if self._salvage and (row := self._salvage.in_place_of(seq)):
            return entry_of((*row, "", ""))
        self.doubt()
        found = self.columns(seq - 1, 1)
        return found[0] if found and found[0].seq == seq else None

    def _with_body(self, entry: Entry, limit: int) -> Entry:
        try:
            body = self._stored(entry.seq, 0, limit)
        except sqlite3.Error as error:
            if not is_damage(error):
                raise
            return without_body(entry)
        if body is None:
            is_lost = entry.size and entry.in_batch is None and self.damage
            return without_body(entry) if is_lost else entry
        return entry._replace(body=body)

    def _noted(self, entry: Entry) -> Entry:
        """Return an entry, and count its lost parts."""
        if detail := entry.detail:
            if BODY_LOST in detail:
                self._bodies_lost.add(entry.seq)
            if DETAIL_LOST in detail:
                self._details_lost.add(entry.seq)
        return entry

    @property
    def lost_bodies(self) -> frozenset[int]:
        """The seqs of the entries with a lost body, found so far."""
        return frozenset(self._bodies_lost)

    def look_for_lost_bodies(self, first: int, last: int) -> None:
        """Add the lost bodies of entries `first` to `last` to `damage`."""

        def doubtful(start: int, end: int) -> Sequence[Row]:
            return self._connection.execute(_SELECT_DOUBTFUL, (start, end, most_rows(start, end))).fetchall()

        with storage_errors(self.path):
            rows, lost = halved(doubtful, first, last)
            for seq in [*(row[0] for row in rows), *lost]:
                if not self._has_end(seq) and (row := self._row(seq)):
                    self._noted(self._with_body(entry_of(row), -1))

    def _has_end(self, seq: int) -> bool:
        """Return whether the last byte of a body is readable, which requires all of its pages."""
        if seq > _MOST_OPENED:
            return self._stored(seq, 0, -1) is not None
        try:
            with self._connection.blobopen("bodies", "body", seq, readonly=True) as blob:
                blob.seek(max(0, len(blob) - 1))
                blob.read(1)
        except sqlite3.Error as error:
            if not is_damage(error) and "no such rowid" not in str(error):
                raise
            return False
        return True

    def body(self, seq: int, start: int = 0, length: int = -1) -> bytes:
        """Return a part of a stored body, b"" if it was dropped or there is none.

        Reads only that part: the first page of a 50 MB body costs no more than that of a small one.
        """
        with storage_errors(self.path):
            return self._stored(seq, start, length) or b""

    def _stored(self, seq: int, start: int, length: int) -> bytes | None:
        """Return a part of a stored body, None if there is none."""
        if seq > _MOST_OPENED:
            most = length if length >= 0 else 1 << 40
            found = self._connection.execute(_SELECT_PART, (start + 1, most, seq)).fetchone()
            return found[0] if found and isinstance(found[0], bytes) else None
        try:
            blob = self._connection.blobopen("bodies", "body", seq, readonly=True)
        except sqlite3.OperationalError as error:
            if "no such rowid" in str(error):
                return None
            raise
        with blob:
            blob.seek(min(start, len(blob)))
            return blob.read(length)

    def _searched(self, seq: int, start: int, length: int) -> bytes:
        """Return a part of a body for a search, b"" if the part is lost."""
        try:
            return self._stored(seq, start, length) or b""
        except sqlite3.Error as error:
            if not is_damage(error):
                raise
            self._bodies.is_damaged = True
            return b""

    @property
    def skipped_bodies(self) -> bool:
        """Whether searches have skipped unreadable bodies. `look_for_lost_bodies` counts them."""
        return self._bodies.is_damaged

    def search(self, terms: Sequence[BodyTerm], first: int, last: int) -> Sequence[frozenset[int]]:
        """Like `BodyFinder.search`, in the bodies of `first`..`last`."""
        with storage_errors(self.path):
            return self._finder.search(terms, lambda search: self._bodies.between(first, last, search))

    def findings_of(self, seq: int) -> Sequence[Finding]:
        """Return the findings of an entry."""
        with storage_errors(self.path):
            return findings_of(self._connection, self._version, seq)

    def flagged(self, after: int = 0) -> tuple[list[tuple[Severity, Sequence[int]]], int]:
        """Return the seqs with findings by severity, and `after` for the next call, which has new ones."""
        with storage_errors(self.path):
            return flagged(self._connection, self._version, after)

    def meta(self) -> dict[str, str]:
        """Return the metadata of the recording, empty if it cannot be read."""
        with storage_errors(self.path), largest_value(self._connection, LISTED_VALUE):
            try:
                rows = list(bounded_rows(self._connection, f"SELECT name, value FROM meta LIMIT {MOST_META}"))
                return {
                    name: value for name, value in rows if isinstance(name, str) and isinstance(value, str)
                }
            except sqlite3.Error as error:
                if not is_damage(error):
                    raise
                self.doubt()
                return {}

    def close(self) -> None:
        self._connection.close()


def _are_sound(rows: Sequence[Row]) -> bool:
    return all(map(is_sound, rows)) and is_in_order(rows)


def _listed(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))


class EntryMemory(Protocol):
    """Entries in memory, for any thread. The methods are those of `core.traffic.TrafficReader`."""

    def columns(self, after: int, limit: int) -> Sequence[Entry]: ...

    def whole(self, after: int, limit: int, most: int) -> Sequence[Entry]: ...

    def entry(self, seq: int, body_limit: int = 1 << 20) -> Entry | None: ...

    def body(self, seq: int, start: int = 0, length: int = -1) -> bytes: ...

    def bodies(self, first: int, last: int) -> Iterable[tuple[int, bytes]]:
        """Return the bodies of the entries with seq `first` to `last`, in order."""
        ...

    def findings_of(self, seq: int) -> Sequence[Finding]: ...


class MemoryReader:
    """A `core.traffic.TrafficReader` of entries in memory, for one thread; any thread may `interrupt`."""

    def __init__(self, kept: EntryMemory) -> None:
        self.columns, self.whole, self.entry, self.body = kept.columns, kept.whole, kept.entry, kept.body
        self.findings_of = kept.findings_of
        self._kept = kept
        self._finder = BodyFinder(kept.body)
        self.interrupt, self.rearm = self._finder.interrupt, self._finder.rearm

    def search(self, terms: Sequence[BodyTerm], first: int, last: int) -> Sequence[frozenset[int]]:
        return self._finder.search(
            terms,
            lambda _: (
                (seq, len(body) if len(body) > LARGE else body)
                for seq, body in self._kept.bodies(first, last)
            ),
        )

    def close(self) -> None: ...
