"""Reads a recording, also while it is written. No method blocks the writer."""

import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol

from tui.core.traffic import BodyTerm, Entry, Finding, Severity
from tui.storage.recordings.body_search import LARGE, BodyFinder
from tui.storage.recordings.database import ENTRY_COLUMNS, cut_short, is_cut, open_for_reading, storage_errors
from tui.storage.recordings.findings import findings_of, flagged
from tui.storage.recordings.rows import entry_of
from tui.storage.recordings.salvage import WINDOW, Salvage, is_damage, whole_span
from tui.storage.recordings.stored_bodies import StoredBodies

_SELECT = f"SELECT {', '.join(ENTRY_COLUMNS[:18])} FROM entries"

_SELECT_WHOLE = (
    f"SELECT {', '.join(ENTRY_COLUMNS)}, CASE WHEN length(body) <= ? THEN body END"
    " FROM entries LEFT JOIN bodies USING (seq) WHERE seq > ? ORDER BY seq LIMIT ?"
)
"""The length of a body is known without reading it."""

LIST_COLUMNS = ENTRY_COLUMNS[:16]
"""What `column_rows` gives of an entry: `seq` to `outcome` as in `Entry`, enums as numbers, then `turn`,
`step` and `call` of its cause, or three times None."""
PAGE = 2000
"""Entries that are read at a time."""

LEAST_BYTES = 24
"""An entry takes no less than this in the file."""

_SELECT_SPAN = "SELECT (SELECT min(seq) FROM entries), (SELECT max(seq) FROM entries)"
"""SQLite goes to either end at once, but through all rows for both in one query."""

_SELECT_LIST = f"SELECT {', '.join(LIST_COLUMNS)} FROM entries"


class RecordingReader:
    """Reads a recording. Used by one thread at a time; `interrupt` by any.

    Opening it, and methods that read bodies, findings or one entry, raise `StorageError` for a damaged file.
    The others return what can be read, `columns` and `column_rows` with an event in place of what cannot, and
    `damage` says how much that was.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection = open_for_reading(path)
        with storage_errors(path):
            self._version = int(self._connection.execute("PRAGMA user_version").fetchone()[0])
        self._bodies = StoredBodies(self._connection)
        self._finder = BodyFinder(self.body)
        self.interrupt, self.rearm = self._finder.interrupt, self._finder.rearm
        self._cut = cut_short(path) if is_cut(self._connection) else ""
        self._salvage = Salvage() if self._cut else None

    def columns(self, after: int, limit: int) -> Sequence[Entry]:
        """Return up to `limit` entries with seq > `after`, in order, without bodies and redactions."""
        with storage_errors(self.path):
            return [entry_of((*row, "", "")[:18]) for row in self._rows(_SELECT, after, limit)]

    def whole(self, after: int, limit: int, most: int) -> Sequence[Entry]:
        """Return the same with bodies of at most `most` bytes; raise StorageError if one is damaged."""
        with storage_errors(self.path):
            if self._salvage is not None:
                raise ValueError("a damaged entry")
            rows = self._connection.execute(_SELECT_WHOLE, (most, after, limit)).fetchall()
            return [entry_of(row, row[18], row[19] or b"") for row in rows]

    def column_rows(self, after: int, limit: int) -> list[tuple[Any, ...]]:
        """Return the same as plain tuples of `LIST_COLUMNS`: three times as fast."""
        with storage_errors(self.path):
            return self._rows(_SELECT_LIST, after, limit)

    def _rows(self, select: str, after: int, limit: int) -> list[tuple[Any, ...]]:
        """Return rows in order, with an event in place of each unreadable one."""
        run = self._connection.execute
        if self._salvage is None:
            try:
                return run(f"{select} WHERE seq > ? ORDER BY seq LIMIT ?", (after, limit)).fetchall()
            except sqlite3.Error as error:
                if not is_damage(error):
                    raise
                self._salvage = Salvage()
        found = f"{select} WHERE seq BETWEEN ? AND ? ORDER BY seq"
        span = whole_span(self._connection)
        return self._salvage.rows(
            after, limit, span, lambda first, last: run(found, (first, last)).fetchall()
        )

    def most_entries(self) -> int:
        """Return how many entries the file has room for."""
        with storage_errors(self.path):
            pages, octets = (
                int(self._connection.execute(f"PRAGMA {name}").fetchone()[0])
                for name in ("page_count", "page_size")
            )
        return pages * octets // LEAST_BYTES

    @property
    def damage(self) -> str:
        """Why not all entries could be read so far, or ""."""
        if self._salvage is None:
            return ""
        lost, least = self._salvage.lost, "at least " if self._salvage.is_endless else ""
        what = f"{least}{lost:,} of its entries" if lost else "a part of it"
        how = f"was cut short, {self._cut}" if self._cut else "is damaged"
        return f"the recording {how}: {what} could not be read"

    def span(self) -> tuple[int, int]:
        """Return the first and the last stored seq, (0, 0) for none."""
        with storage_errors(self.path):
            if not self._cut:
                try:
                    found = self._connection.execute(_SELECT_SPAN).fetchone()
                    return found[0] or 0, found[1] or 0
                except sqlite3.Error as error:
                    if not is_damage(error):
                        raise
                    self._salvage = self._salvage or Salvage()
            first, last = whole_span(self._connection)
        if not last:  # then it ends with the last readable entry
            after = first - 1 if first else 0
            while page := self.columns(after, PAGE):
                first, last = first or page[0].seq, page[-1].seq
                after = last
        return (first, last) if last else (0, 0)

    def ends_ns(self) -> tuple[int, int]:
        """Return when the first and the last readable entry were seen, (0, 0) if none is readable."""
        first, last = self.span()
        if not last:
            return 0, 0
        walls = [entry.wall_ns for seq in (first, last) for entry in self.columns(seq - 1, 1)]
        if self.damage:  # a lost entry has the time of its neighbour, if that was read
            starts = first, max(first, last - WINDOW)
            near = [entry for seq in starts for entry in self.columns(seq - 1, WINDOW + 1)]
            walls = [entry.wall_ns for entry in near if entry.wall_ns]
        return min(walls, default=0), max(walls, default=0)

    def sources(self, limit: int) -> list[str]:
        """Return the names of up to `limit` sources, in the order in which they are found."""
        with storage_errors(self.path):
            try:
                rows = self._connection.execute("SELECT DISTINCT source FROM entries LIMIT ?", (limit,))
                if not self._cut:
                    return [str(row[0]) for row in rows]
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
            row = self._connection.execute(
                f"SELECT {', '.join(ENTRY_COLUMNS)} FROM entries WHERE seq = ?", (seq,)
            ).fetchone()
            return None if row is None else entry_of(row, row[18], self.body(seq, 0, body_limit))

    def body(self, seq: int, start: int = 0, length: int = -1) -> bytes:
        """Return a part of a stored body, b"" if it was dropped or there is none.

        Only that part is read: the first page of 50 MB costs no more than that of a small body.
        """
        with storage_errors(self.path):
            try:
                blob = self._connection.blobopen("bodies", "body", seq, readonly=True)
            except sqlite3.OperationalError as error:
                if "no such rowid" in str(error):
                    return b""
                raise
            with blob:
                blob.seek(min(start, len(blob)))
                return blob.read(length)

    def search(self, terms: Sequence[BodyTerm], first: int, last: int) -> Sequence[frozenset[int]]:
        """Search as `BodyFinder.search` does, in the bodies of `first`..`last`."""
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
        """Return what is stored about the recording as a whole, or nothing if that cannot be read."""
        with storage_errors(self.path):
            try:
                return dict(self._connection.execute("SELECT name, value FROM meta"))
            except sqlite3.Error as error:
                if not is_damage(error):
                    raise
                self._salvage = self._salvage or Salvage()
                return {}

    def close(self) -> None:
        self._connection.close()


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
    """A `core.traffic.TrafficReader` over entries in memory, for one thread; any may `interrupt`."""

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
