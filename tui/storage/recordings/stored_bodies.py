"""Reads the bodies of a recording for a search: many at a time, and only those that may match.

Measured with a million bodies of 300 bytes: reading them row by row takes 1.5 s, because Python calls SQLite
a million times. Joined by SQLite, they take 0.5 s, and other threads can run meanwhile. So the search checks
joined bodies first, and reads the bodies of a part that may match again, one by one.
"""

import sqlite3
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from tui.storage.recordings.body_search import LARGE, Body, TermSearch
from tui.storage.recordings.foreign_file import is_damage, most_rows

TOGETHER = 64
"""Bodies in one part. Larger parts mean more rereading for each match:

512 doubles the time if one body in a thousand matches, and saves a sixth of it if none does.
"""

SHORT = 4096
"""Bytes. Longer bodies are not joined, because their bytes take the time, not the number of rows."""

MOST_SKIPPED = 6
"""After each part that matches, more parts are read without a check: twice as many each time.

The maximum is 2 to the power of this. If most parts match, checking them first wastes time.
"""

_JOINED = (
    f"SELECT total(length(body) > {SHORT}),"
    f" CAST(group_concat(CASE WHEN length(body) <= {SHORT} THEN body END, x'0a') AS BLOB)"
    " FROM bodies WHERE seq BETWEEN ? AND ?"
)
_SINGLE = (
    f"SELECT seq, CASE WHEN length(body) > {LARGE} THEN length(body) ELSE body END"
    " FROM bodies WHERE seq BETWEEN ? AND ? AND length(body) > ? AND typeof(body) = 'blob' ORDER BY seq"
    " LIMIT ?"
)
_NEXT = "SELECT min(seq) FROM bodies WHERE seq BETWEEN ? AND ?"
_PROBE = "SELECT CAST(group_concat(column1, x'0a') AS BLOB) FROM (VALUES (x'ff00c3'), (x''), (x'c3a9'))"
_PROBED = b"\xff\x00\xc3\n\n\xc3\xa9"


class StoredBodies:
    """The bodies of a recording, for one thread. Skips bodies on damaged pages and after them.

    Attributes:
        is_damaged: whether any body was skipped.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._joins: bool | None = None
        self.is_damaged = False

    def between(self, first: int, last: int, search: TermSearch) -> Iterator[Body]:
        """Yield the bodies of `first` to `last` that `search` may match."""
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
            if joined is None and not longer:  # these seqs never existed; there may be very many
                start = self._next(start, last)

    def _single(self, first: int, last: int, longer: int = -1) -> Sequence[Body]:
        """Return the bodies with more than `longer` bytes, one by one."""
        bodies, is_whole = until_damage(
            self._connection.execute, _SINGLE, (first, last, longer, most_rows(first, last))
        )
        self.is_damaged = self.is_damaged or not is_whole
        return bodies

    def _next(self, seq: int, last: int) -> int | None:
        """Return the first seq with a body, from `seq` on."""
        try:
            found: int | None = self._connection.execute(_NEXT, (seq, last)).fetchone()[0]
        except sqlite3.Error as error:
            if not is_damage(error):
                raise
            return seq
        return found

    def _may_join(self) -> bool:
        """Return whether SQLite joins bytes unchanged: not in UTF-16, and in old versions not after a NUL."""
        if self._joins is None:
            self._joins = self._connection.execute(_PROBE).fetchone()[0] == _PROBED
        return self._joins


def until_damage(
    run: Callable[[str, Sequence[Any]], Iterable[tuple[Any, ...]]], statement: str, parameters: Sequence[Any]
) -> tuple[list[tuple[Any, ...]], bool]:
    """Return the rows of a statement before the first damage, and whether these are all."""
    found: list[tuple[Any, ...]] = []
    try:
        found.extend(run(statement, parameters))  # it keeps the rows before an error
    except sqlite3.Error as error:
        if not is_damage(error):
            raise
        return found, False
    return found, True
