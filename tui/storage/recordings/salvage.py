"""Reads the intact pages of a damaged recording.

SQLite finds a row by its seq without reading its neighbors. So an unreadable range is halved until only rows
on damaged pages remain. A page of columns costs at most twice as many queries as it has rows.
"""

import sqlite3
from collections.abc import Callable, Sequence
from itertools import pairwise
from operator import itemgetter

from tui.core.traffic import DROPPED, Direction, Kind, Outcome
from tui.storage.recordings.rows import Row, is_sound

Read = Callable[[int, int], Sequence[Row]]
"""Returns the rows from the first to the second seq, both included."""

WINDOW = 256
"""Minimum number of entries to read together."""

LOST = "unreadable"
"""Method of the event in place of an unreadable entry."""


def _event(method: str) -> Row:
    """Return the columns of an event, from `source` to `call`."""
    return ("", int(Direction.NONE), int(Kind.EVENT), method, "", "", 0, 0, 0, int(Outcome.NONE), *[None] * 3)


_LOST, _DROPPED = _event(LOST), _event(DROPPED)


class Salvage:
    """Reads around damage.

    Attributes:
        lost: the numbers of the entries that could not be read so far, each with its clock.
        is_endless: whether the end is unknown, so that more entries may be lost after it.
    """

    def __init__(self) -> None:
        self.lost: dict[int, Row] = {}
        self.is_endless = False
        self._clock: Row = (0, 0)

    def rows(self, after: int, limit: int, span: tuple[int, int], read: Read) -> list[Row]:
        """Return up to `limit` rows with seq > `after`, in order; none at the end.

        Each unreadable row is replaced by an event, so that numbers have no gaps. Rows of `read` start with
        `ENTRY_COLUMNS`. `span` has the seqs of the first and last entry, 0 if unknown. If it is unknown, the
        end is assumed where a whole window cannot be read.
        """
        read = _entries_of(read)
        begin, end = span
        window = max(limit, WINDOW)
        first = max(after + 1, begin)
        self.is_endless = not end
        while not end or first <= end:
            last = first + window - 1
            rows, lost = halved(read, first, min(last, end or last))
            if not rows and not end:
                return []
            if not end:
                lost = [seq for seq in lost if seq < rows[-1][0]]
            if end and rows:  # a garbage page may skip some rows
                lost = sorted(set(range(first, min(last, end) + 1)).difference(row[0] for row in rows))
            if rows or lost:
                return self._filled(rows, lost)[:limit]
            first = last + 1
        return []

    def _filled(self, rows: list[Row], lost: list[int]) -> list[Row]:
        """Return rows with an event for each lost one, at the time of a neighboring row."""
        clock = rows[0][1:3] if rows else self._clock
        found: list[Row] = []
        for row in sorted([*rows, *((seq,) for seq in lost)], key=itemgetter(0)):
            if len(row) > 1:
                clock = row[1:3]
                found.append(row)
            else:
                self.lost[row[0]] = clock
                found.append((row[0], *clock, *_LOST))
        self._clock = clock
        return found

    def in_place_of(self, seq: int) -> Row | None:
        """Return the event in place of an unreadable entry, without trying to read the entry again."""
        clock = self.lost.get(seq)
        return None if clock is None else (seq, *clock, *_LOST)


def _entries_of(read: Read) -> Read:
    """Return a reader that treats invalid rows as damage.

    A page without its second half has rows whose last columns are zeros.
    """

    def read_entries(first: int, last: int) -> Sequence[Row]:
        rows = read(first, last)
        for row in rows:
            if not is_sound(row):
                raise sqlite3.DatabaseError("a row without meaning")
            if is_zeroed(row):
                raise sqlite3.DatabaseError("a row of zeros")
        return rows

    return read_entries


def is_in_order(rows: Sequence[Row]) -> bool:
    """Return whether the seqs of rows increase."""
    if not rows or rows[-1][0] - rows[0][0] == len(rows) - 1:
        return True
    return all(row[0] < after[0] for row, after in pairwise(rows))


def is_zeroed(row: Row) -> bool:
    """Return whether the columns of a row may be the zeros of a missing page."""
    return not row[2] or "\0" in row[3]


def without_gaps(rows: Sequence[Row], first: int, stop: int, clock: Row) -> list[Row]:
    """Return the rows with seqs from `first` to `stop` - 1, with an event for each missing one.

    `clock` has the monotonic and wall nanoseconds of such an event.
    """
    found = {row[0]: row for row in rows}
    return [found.get(seq) or (seq, *clock, *_DROPPED) for seq in range(first, stop)]


def is_damage(error: sqlite3.Error) -> bool:
    """Return whether an SQLite error concerns the content of the file, not access to it."""
    if isinstance(error, sqlite3.OperationalError):
        said = str(error).lower()
        return "could not decode" in said or "cannot open value of type" in said
    return isinstance(error, sqlite3.DatabaseError)


def whole_span(connection: sqlite3.Connection) -> tuple[int, int]:
    """Return the seqs of the first and last entries, or of those with a body; 0 if unknown."""
    ends = []
    for end in ("min", "max"):
        found = [0]
        for table in ("bodies", "entries"):
            try:
                found.append(connection.execute(f"SELECT {end}(seq) FROM {table}").fetchone()[0] or 0)
            except sqlite3.Error as error:
                if not is_damage(error):
                    raise
        ends.append(found[-1] if end == "min" else max(found))
    return ends[0], ends[1]


def halved(read: Read, first: int, last: int) -> tuple[list[Row], list[int]]:
    """Return the readable rows of a range, and the numbers of the unreadable ones."""
    rows: list[Row] = []
    lost: list[int] = []
    open_ranges = [(first, last)]
    while open_ranges:
        start, end = open_ranges.pop()
        try:
            rows += _sound(read(start, end), start, end)
        except sqlite3.Error as error:
            if not is_damage(error):
                raise
            if start == end:
                lost.append(start)
            else:
                middle = (start + end) // 2
                open_ranges += [(middle + 1, end), (start, middle)]
    return rows, lost


def _sound(rows: Sequence[Row], start: int, end: int) -> Sequence[Row]:
    """Return the rows that are in range and in order, since a garbage page may look like rows."""
    before = start - 1
    for row in rows:
        if not isinstance(row[0], int) or not before < row[0] <= end:
            raise sqlite3.DatabaseError("rows out of order")
        before = row[0]
    return rows
