"""A disk that fails while SQLite writes."""

import sqlite3
from collections.abc import Callable
from typing import Any

import pytest

DISK_ERROR = sqlite3.OperationalError("disk I/O error")


class FaultyDisk:
    """Fails at one statement of the connections opened from now on, or at each from there on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._left, self._heals, self._error = -1, True, Exception()
        connect, disk = sqlite3.connect, self

        class Connection(sqlite3.Connection):
            def execute(self, *args: Any) -> sqlite3.Cursor:
                return disk._counted(super().execute, *args)

            def executemany(self, *args: Any) -> sqlite3.Cursor:
                return disk._counted(super().executemany, *args)

            def executescript(self, *args: Any) -> sqlite3.Cursor:
                return disk._counted(super().executescript, *args)

        monkeypatch.setattr(
            sqlite3, "connect", lambda *args, **named: connect(*args, factory=Connection, **named)
        )

    @property
    def reached(self) -> bool:
        """Whether there were as many statements as set in `fail`."""
        return self._left <= 0

    def fail(self, at: int, error: Exception = DISK_ERROR, *, heals: bool = True) -> None:
        """Raise `error` at statement number `at` from now; at each after it too, unless it heals."""
        self._left, self._heals, self._error = at, heals, error

    def heal(self) -> None:
        self._left, self._heals = -1, True

    def _counted(self, run: Callable[..., sqlite3.Cursor], *args: Any) -> sqlite3.Cursor:
        self._left -= 1
        if self._left == 0 or (self._left < 0 and not self._heals):
            raise self._error
        return run(*args)
