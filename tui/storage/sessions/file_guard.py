"""Detects that another program changed, replaced or deleted a file that SQLite has open.

SQLite does not: it keeps writing to an unlinked file, or to one without its WAL. After each commit, the
writer records the state of the file and its WAL. If that differs before the next commit, the file is read
through a new connection: a change that keeps it readable, such as a checkpoint, is accepted.
"""

import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from tui.core.errors import StorageError
from tui.storage.recordings.file_look import Look, look_of
from tui.storage.sessions.file import is_sound, open_for_reading, read_meta


class FileChanged(StorageError):
    """The file no longer has the content that was written."""


class FileGuard:
    """Watches the file of one writer."""

    def __init__(self, path: Path) -> None:
        """Start with the current state of the file."""
        self._path = path
        self._look = look_of(path)

    def noted(self) -> None:
        """Accept the current state of the file, which the writer has just written."""
        self._look = look_of(self._path)

    def check(self, meta: Mapping[str, Any]) -> None:
        """Raise `FileChanged` if the stored data, including `meta`, can no longer be read."""
        now = look_of(self._path)
        if now == self._look:
            return
        what = self._what_happened(now, meta)
        if what:
            raise FileChanged(f"the file {self._path} was {what}. mcptui saves the conversation again")
        self._look = now

    def _what_happened(self, now: Look, meta: Mapping[str, Any]) -> str:
        ours, theirs = self._look[0], now[0]
        if theirs is None:
            return "moved or deleted"
        if ours is not None and ours[:2] != theirs[:2]:
            return "replaced by another program"
        return "" if self._is_whole(meta) else "damaged by another program"

    def _is_whole(self, meta: Mapping[str, Any]) -> bool:
        if not is_sound(self._path):
            return False
        try:
            with closing(open_for_reading(self._path)) as connection:
                return bool(read_meta(connection) == json.loads(json.dumps(dict(meta))))
        except (sqlite3.Error, OSError, StorageError, UnicodeDecodeError):
            return False
