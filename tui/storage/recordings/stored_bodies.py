"""Reads the bodies of a recording for a search: many at a time, and only those that may match.

Measured with a million bodies of 300 bytes: as a row each they take 1.5 s to read, because SQLite and Python
meet a million times; joined by SQLite, 0.5 s, and other threads run meanwhile. So the search looks at joined
bodies first, and those of a part that may match are read again, one by one.
"""

import sqlite3
import sys
from collections.abc import Iterator, Sequence

from tui.storage.recordings.body_search import LARGE, Body, TermSearch
from tui.storage.recordings.salvage import halved, is_damage

TOGETHER = 64
"""Bodies of one part. Larger parts mean more rereading for each match: with 512, a match in a thousand bodies
costs twice as much, and no match a sixth less.
"""

SHORT = 4096
"""Bytes of the longest bodies that are joined: of longer ones the bytes take the time, not the rows."""

MOST_SKIPPED = 6
"""Twice as many parts as the last time are read at once after each that did match, up to 2 to the power of
this: where most parts match, looking at them first is in vain.
"""

_JOINED = (
    f"SELECT total(length(body) > {SHORT}),"
    f" CAST(group_concat(CASE WHEN length(body) <= {SHORT} THEN body END, x'0a') AS BLOB)"
    " FROM bodies WHERE seq BETWEEN ? AND ?"
)
_SINGLE = (
    f"SELECT seq, CASE WHEN length(body) > {LARGE} THEN length(body) ELSE body END"
    " FROM bodies WHERE seq BETWEEN ? AND ? AND length(body) > ? AND typeof(body) = 'blob' ORDER BY seq"
)
_NEXT = "SELECT min(seq) FROM bodies WHERE seq BETWEEN ? AND ?"
_PROBE = "SELECT CAST(group_concat(column1, x'0a') AS BLOB) FROM (VALUES (x'ff00c3'), (x''), (x'c3a9'))"
_PROBED = b"\xff\x00\xc3\n\n\xc3\xa9"


class StoredBodies:
    """The bodies of a recording, for one thread. Skips those on damaged pages.

    Attributes:
        is_damaged: whether any were.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._joins: bool | None = None
        self.is_damaged = False

    def between(self, first: int, last: int, search: TermSearch) -> Iterator[Body]:
        """Yield the bodies of `first` to `last` in which `search` may find something."""
        skip, skipped = 0 if self._may_join() else sys.maxsize, 0
        start: int | None = first
        while start is not None and start <= last and not search.is_stopped:
            stop = min(start + TOGETHER - 1, last)
            if skip:
                skip -= 1
                bodies = self._single(start, stop)
                yield from bodies
                start = stop + 1 if bodies else self._next(stop + 1, last)
                continue
            try:
                longer, joined = self._connection.execute(_JOINED, (start, stop)).fetchone()
            except sqlite3.Error as error:
                if not is_damage(error):
                    raise
                yield from self._single(start, stop)
                start = stop + 1
                continue
            if joined is not None and search.may_match(joined):
                yield from self._single(start, stop)
                skip, skipped = (1 << skipped) - 1, min(skipped + 1, MOST_SKIPPED)
            else:
                skipped = 0
                if longer:
                    yield from self._single(start, stop, SHORT)
            start = stop + 1
            if joined is None and not longer:  # seqs that never existed, possibly very many
                start = self._next(start, last)

    def _single(self, first: int, last: int, longer: int = -1) -> Sequence[Body]:
        """Return the bodies `longer` than some bytes, one by one."""

        def read(start: int, end: int) -> list[tuple[int, bytes | int]]:
            return self._connection.execute(_SINGLE, (start, end, longer)).fetchall()

        try:
            return read(first, last)
        except sqlite3.Error as error:
            if not is_damage(error):
                raise
        self.is_damaged = True
        return [(seq, body) for seq, body in halved(read, first, last)[0]]

    def _next(self, seq: int, last: int) -> int | None:
        """Return the first seq with a body, starting at one."""
        try:
            found: int | None = self._connection.execute(_NEXT, (seq, last)).fetchone()[0]
        except sqlite3.Error as error:
            if not is_damage(error):
                raise
            return seq
        return found

    def _may_join(self) -> bool:
        """Whether SQLite joins bytes unchanged: not in UTF-16, and in old versions not after a NUL."""
        if self._joins is None:
            self._joins = self._connection.execute(_PROBE).fetchone()[0] == _PROBED
        return self._joins
