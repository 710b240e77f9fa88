"""Reads a recording, even while it is written. No method blocks the writer."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tui.core.language.translate import N_, message
from tui.core.traffic import BODY_LOST, DETAIL_LOST, BodyTerm, Entry, Finding, Severity, without_body
from tui.storage.files.foreign_file import (
    LISTED_VALUE,
    MOST_META,
    NAME_VALUE,
    bounded_rows,
    largest_value,
    most_bytes,
    most_rows,
    pragmas,
    until_damage,
    up_to_damage,
)
from tui.storage.files.sqlite_file import on_error
from tui.storage.recordings.body_search import LARGE, Body, BodyFinder
from tui.storage.recordings.database import (
    ENTRY_COLUMNS,
    VERSION,
    Row,
    are_sound,
    cut_short,
    entry_of,
    is_cut,
    is_sound,
    is_zeroed,
    open_for_reading,
    storage_errors,
)
from tui.storage.recordings.findings import findings_of, flagged

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

_SELECT_BODIES = (
    f"SELECT seq, CASE WHEN length(body) > {LARGE} THEN length(body) ELSE body END FROM bodies"
    " WHERE seq BETWEEN ? AND ? AND typeof(body) = 'blob' ORDER BY seq LIMIT ?"
)

_SELECT_BY_HAND = f"{_SELECT} WHERE call GLOB 'hand-*' AND source = ? ORDER BY seq DESC LIMIT ?"

_SELECT_PART = "SELECT substr(body, ?, ?) FROM bodies WHERE seq = ?"

_MOST_OPENED = (1 << 31) - 1
"""The largest number that Python's `blobopen` takes; a file of another program may have larger ones."""

_SELECT_ENTRY = f"SELECT {', '.join(ENTRY_COLUMNS)} FROM entries WHERE seq = ?"

BAD_VALUES = (OverflowError, TypeError, ValueError)
"""Exceptions that the columns raise for rows that no writer stored."""


class RecordingReader:
    """Reads a recording. One thread at a time may use it; any thread may `interrupt`.

    Of a damaged recording, the entries before the first damage are read, and `damage` says so. An entry
    whose body cannot be read has `is_body_lost`. Opening it, `body` and methods that read findings raise
    `StorageError` for damage.
    """

    def __init__(
        self, path: Path, found: Callable[[int], Sequence[Finding] | None] = lambda seq: None
    ) -> None:
        """Open a recording. `found` returns findings of an entry that replace the stored ones, or None."""
        self.path = path
        self._found = found
        self._connection = open_for_reading(path)
        with on_error(self._connection.close), storage_errors(path):
            # Older ones are linted again.
            self._has_findings = pragmas(self._connection, "user_version") == [VERSION]
            self._cut = cut_short(path) if is_cut(self._connection) else ""
        self._finder = BodyFinder(self._searched)
        self.interrupt, self.rearm = self._finder.interrupt, self._finder.rearm
        self._end: int | None = None
        self._is_part_lost = self._is_checked = bool(self._cut)

    def columns(self, after: int, limit: int) -> Sequence[Entry]:
        """Return up to `limit` entries with seq > `after`, in order, without bodies and redactions."""
        with storage_errors(self.path):
            rows = self._sound(self._rows(_SELECT, after, limit), after)
            return [self._noted(entry_of(row)) for row in rows]

    def whole(self, after: int, limit: int, most: int) -> Sequence[Entry]:
        """Return `columns` with bodies of at most `most` bytes; raise StorageError if one is damaged."""
        with storage_errors(self.path):
            rows = self._connection.execute(_SELECT_WHOLE, (most, after, limit)).fetchall()
            are_bodies = all(isinstance(row[19], bytes | None) for row in rows)
            if self.damage or not are_bodies or not are_sound(rows, after):
                raise ValueError("a damaged entry")
            return [entry_of(row, row[18], row[19] or b"") for row in rows]

    def by_hand(self, source: str, limit: int) -> Sequence[Entry]:
        """Return the last `limit` entries of calls by hand to a source, newest first, like `columns`.

        Of a recording that is damaged anywhere in them, returns those that could be read.
        """
        with storage_errors(self.path):
            run = partial(bounded_rows, self._connection)
            rows, _ = until_damage(run, _SELECT_BY_HAND, (source, limit))
            return [entry_of(row) for row in rows if is_sound(row)]

    def column_rows(self, after: int, limit: int) -> list[tuple[Any, ...]]:
        """Return `columns` as plain tuples of `LIST_COLUMNS`, three times faster, and not checked."""
        with storage_errors(self.path):
            with largest_value(self._connection, NAME_VALUE):
                return self._rows(_SELECT_LIST, after, limit)

    def hand_rows(self, take: Callable[[Sequence[Row]], None], after: int, limit: int) -> Sequence[Row]:
        """Pass `column_rows` to `take` and return them. After `BAD_VALUES`, all rows are checked."""
        rows = self.column_rows(after, limit)
        try:
            take(rows)
        except BAD_VALUES:
            self._is_checked = True
            rows = self.column_rows(after, limit)
            take(rows)
        return rows

    def _rows(self, select: str, after: int, limit: int) -> list[Row]:
        """Return rows in order, up to the first damage."""
        if self._end is not None and after >= self._end:
            return []
        # Rows of names are small, and are read a million at a time.
        run = self._connection.execute if select is _SELECT_LIST else partial(bounded_rows, self._connection)
        statement = f"{select} WHERE seq > ? ORDER BY seq LIMIT ?"
        rows, is_whole = until_damage(run, statement, (after, limit))
        if not is_whole:
            # The module sqlite3 drops the last row before an error.
            rows += until_damage(run, statement, (rows[-1][0] if rows else after, 1))[0]
            self._end_at(rows[-1][0] if rows else after)
        if self._end is not None:
            rows = [row for row in rows if row[0] <= self._end]
        return self._sound(rows, after) if self._is_checked else rows

    def _sound(self, rows: list[Row], after: int) -> list[Row]:
        """Return the rows before the first invalid one."""
        if self._are_sound(rows, after):
            return rows
        for place, row in enumerate(rows):
            if not self._are_sound([row], after):
                self._end_at(after)
                return rows[:place]
            after = row[0]
        return rows

    def _are_sound(self, rows: Sequence[Row], after: int) -> bool:
        return are_sound(rows, after) and not (self._cut and any(map(is_zeroed, rows)))

    def _end_at(self, seq: int) -> None:
        self._end = seq if self._end is None else min(self._end, seq)

    def most_entries(self) -> int:
        """Return the maximum number of entries that fit in the file."""
        with storage_errors(self.path):
            return most_bytes(self._connection) // LEAST_BYTES

    @property
    def damage(self) -> str:
        """Why not all entries and bodies could be read so far, or ""."""
        if self._end is None and not self._is_part_lost:
            return ""
        how: str = message("the recording is damaged")
        if self._cut:
            how = message("the recording is truncated ({size})", size=self._cut)
        if self._end is None:
            return message("{problem}: part of it could not be read", problem=how)
        if not self._end:
            return message("{problem}: no entry could be read", problem=how)
        words = N_("{problem}: only the entries up to {last:,} could be read")
        return message(words, problem=how, last=self._end)

    def span(self) -> tuple[int, int]:
        """Return the first and the last stored seq, (0, 0) if there are none."""
        with storage_errors(self.path):
            if not self._cut:
                with up_to_damage():
                    found = self._connection.execute(_SELECT_SPAN).fetchone()
                    return found[0] or 0, found[1] or 0
        return self._readable_span()

    def _readable_span(self) -> tuple[int, int]:
        first = last = 0
        while page := self.columns(last, PAGE):
            first, last = first or page[0].seq, page[-1].seq
        return first, last

    def ends_ns(self) -> tuple[int, int]:
        """Return the times of the first and the last readable entry, (0, 0) if none is readable."""
        ends: list[Entry] = []
        for span in (self.span, self._readable_span):  # the second one reads everything
            first, last = span()
            ends = [*self.columns(first - 1, 1), *self.columns(last - 1, 1)] if last else []
            if not self.damage:
                break
        return (ends[0].wall_ns, ends[-1].wall_ns) if ends else (0, 0)

    def sources(self, limit: int) -> list[str]:
        """Return the names of up to `limit` sources, in the order found, up to the first damage."""
        with storage_errors(self.path), largest_value(self._connection, NAME_VALUE):
            rows, _ = until_damage(
                self._connection.execute, "SELECT DISTINCT source FROM entries LIMIT ?", (limit,)
            )
            return [name for (name,) in rows if isinstance(name, str)]

    def entry(self, seq: int, body_limit: int = 1 << 20) -> Entry | None:
        """Return an entry with at most `body_limit` bytes of its body; None if it was dropped."""
        with storage_errors(self.path):
            rows, is_whole = until_damage(self._connection.execute, _SELECT_ENTRY, (seq,))
            if not rows or not is_sound(rows[0]):
                self._is_part_lost = self._is_part_lost or bool(rows) or not is_whole
                return None
            found = entry_of(rows[0], rows[0][18])
            body, is_lost = None, True
            with up_to_damage():
                body = self._stored(seq, 0, body_limit)
                is_lost = bool(body is None and found.size and found.in_batch is None and self.damage)
            return self._noted(without_body(found) if is_lost else found._replace(body=body or b""))

    def _noted(self, entry: Entry) -> Entry:
        """Return an entry, and note whether a part of it is lost."""
        if detail := entry.detail:
            self._is_part_lost = self._is_part_lost or BODY_LOST in detail or DETAIL_LOST in detail
        return entry

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
        part: bytes | None = None
        with up_to_damage(self._lose):
            part = self._stored(seq, start, length)
        return part or b""

    def _lose(self) -> None:
        self._is_part_lost = True

    def search(self, terms: Sequence[BodyTerm], first: int, last: int) -> Sequence[frozenset[int]]:
        """Like `BodyFinder.search`, in the bodies of `first`..`last`."""
        with storage_errors(self.path):
            return self._finder.search(terms, self._bodies(first, last))

    def _bodies(self, first: int, last: int) -> Iterator[Body]:
        """Yield the bodies of `first`..`last`, up to the first damage."""
        with up_to_damage(self._lose):
            yield from self._connection.execute(_SELECT_BODIES, (first, last, most_rows(first, last)))

    def findings_of(self, seq: int) -> Sequence[Finding]:
        """Return the findings of an entry."""
        if (found := self._found(seq)) is not None:
            return found
        with storage_errors(self.path):
            return findings_of(self._connection, seq) if self._has_findings else ()

    def flagged(self, after: int = 0) -> tuple[list[tuple[Severity, Sequence[int]]], int]:
        """Return the seqs with findings by severity, and `after` for the next call, which has new ones."""
        with storage_errors(self.path):
            return flagged(self._connection, after) if self._has_findings else ([], after)

    def meta(self) -> dict[str, str]:
        """Return the metadata of the recording, empty if it cannot be read."""
        found: dict[str, str] = {}
        with (
            storage_errors(self.path),
            largest_value(self._connection, LISTED_VALUE),
            up_to_damage(self._lose),
        ):
            rows = list(bounded_rows(self._connection, f"SELECT name, value FROM meta LIMIT {MOST_META}"))
            found.update(row for row in rows if all(isinstance(part, str) for part in row))
        return found

    def close(self) -> None:
        self._connection.close()
