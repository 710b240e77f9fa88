"""The folder of session files: existing sessions, a summary of each, the trash.

The summary of a file is cached until the file changes, across processes. A deleted session is moved to the
folder `trash` and can be restored for thirty days.
"""

import json
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from typing import Any

from tui.core.conversation.sessions import SessionInfo
from tui.core.errors import StorageError
from tui.core.files import make_folder, open_file
from tui.core.language.translate import message
from tui.core.text import clean_line
from tui.core.units import bounded
from tui.storage.files.foreign_file import LIST_SECONDS, time_limit
from tui.storage.files.live_lock import InUse, LiveLock, is_live
from tui.storage.files.private_file import write_whole
from tui.storage.files.sqlite_file import files_of, remove_files, side_file
from tui.storage.sessions.file import SUFFIX, NeverBegan, absent, is_id, open_for_writing, session_errors
from tui.storage.sessions.stored_session import read_info

TRASH = "trash"
KEPT_SECONDS = 30 * 24 * 3600.0
"""How long a deleted session can be restored."""

DAY_SECONDS = 24 * 3600.0
ONE_PAGE = 4096
"""Size of a file that SQLite opened for writing and never wrote to."""

KEEP_AFTER = 20
"""If at least this many files had to be read for a list, the result is cached for the next process."""

NAME = "list.json"
FORM = 2
"""Increased when `SessionInfo` changes; other caches are ignored."""

MOST_BYTES = 64 * 1024 * 1024

Stamp = tuple[int, int, int, int]
"""Modification time in ns and size, of the file and of its WAL."""

Known = dict[str, tuple[Stamp, SessionInfo]]

_values = attrgetter(*SessionInfo.__slots__)  # `astuple` copies each value: ten times slower
_EMPTY = _values(SessionInfo(""))


class SessionFolder:
    """Lists, locks, deletes and restores session files. Every method blocks; any thread may call."""

    def __init__(self, folder: Path, now: Callable[[], float] = time.time) -> None:
        self.folder = folder
        self.trash = folder / TRASH
        self._now = now
        self._known: Known | None = None
        self._reads = 0
        self._reading = threading.Lock()

    def path_of(self, session: str) -> Path:
        """Return the path of a session, existing or not; raises `StorageError` for an invalid id."""
        path = self.folder / f"{session}{SUFFIX}"
        if not is_id(session):
            raise absent(path)
        return path

    def existing(self, session: str) -> Path:
        """Return the path of an existing session, or raise `StorageError`."""
        path = self.path_of(session)
        if not path.is_file():
            raise absent(path)
        return path

    def lock(self, path: Path) -> LiveLock:
        """Take the lock of a session.

        Raises `InUse`, with its title, if it is open elsewhere, `OSError` if no lock can be created.
        """
        try:
            return LiveLock(path)
        except InUse:
            title = ""
            with suppress(StorageError):
                title = clean_line(read_info(path).title, 80).strip()
            raise InUse(
                message("“{title}” is open in another mcptui", title=title or path.stem),
                next_step=message("Close it there first."),
            ) from None

    def list(self, own: Collection[str] = ()) -> Sequence[SessionInfo]:
        """List all sessions with a message, most recently changed first. `own` are open in this process."""
        with self._reading:
            before, self._reads = load_known(self.folder) if self._known is None else self._known, 0
            self._known = {name: entry for name in self._names() if (entry := self._entry(name, before))}
            entries = self._known.items()
            if self._reads >= KEEP_AFTER:
                sessions = {name: [stamp, _values(info)] for name, (stamp, info) in entries}
                with suppress(StorageError):
                    text = json.dumps({"form": FORM, "sessions": sessions}, separators=(",", ":"))
                    write_whole(self.folder / NAME, [text], links=False)
            found = {name: info for name, (_, info) in entries if info.messages or info.problem}
        shown = [
            replace(info, in_use=True)
            if name not in own and is_live(self.folder / f"{name}{SUFFIX}")
            else info
            for name, info in found.items()
        ]
        return sorted(shown, key=lambda info: (info.changed, info.id), reverse=True)

    def _names(self) -> Sequence[str]:
        try:
            with os.scandir(self.folder) as entries:
                stems = [entry.name.removesuffix(SUFFIX) for entry in entries if entry.name.endswith(SUFFIX)]
        except OSError:
            return []
        return [stem for stem in stems if is_id(stem)]

    def _entry(self, name: str, before: Known) -> tuple[Stamp, SessionInfo] | None:
        path = self.folder / f"{name}{SUFFIX}"
        try:
            stamp = _stamp(path)
        except OSError:
            return None
        known = before.get(name)
        if known is not None and known[0] == stamp:
            return known
        self._reads += 1
        return stamp, _read(path, stamp)

    def delete(self, session: str) -> None:
        """Move a session to the trash; raises `StorageError`, also if it is in use."""
        path = self.existing(session)
        with session_errors(path):
            make_folder(self.trash)
            with closing(self.lock(path)):
                with suppress(sqlite3.Error, StorageError), closing(open_for_writing(path)) as connection:
                    connection.execute("PRAGMA journal_mode = DELETE")  # so that there is only one file
                _move(path, self.trash / f"{session}@{int(self._now())}{SUFFIX}")

    def restore(self, session: str) -> None:
        """Restore the most recently deleted session with this id, or raise `StorageError`."""
        path = self.path_of(session)
        found = [file for file in self._trashed() if file.name.startswith(f"{session}@")]
        if not found:
            raise StorageError(
                message("not found among the sessions deleted in the last 30 days"), where=session
            )
        if path.exists():
            raise StorageError(message("a session with this name already exists"), where=session)
        with session_errors(path):
            _move(max(found, key=_deleted_at), path)

    def deleted(self) -> Sequence[SessionInfo]:
        """List the sessions that can be restored, most recently deleted first."""
        found: list[SessionInfo] = []
        for file in sorted(self._trashed(), key=_deleted_at, reverse=True):
            with suppress(OSError):  # another process has just restored or removed it
                found.append(replace(_read(file, _stamp(file)), id=file.name.partition("@")[0]))
        return found

    def purge(self) -> None:
        """Permanently remove sessions that were deleted too long ago, and empty files older than a day."""
        for path in self._trashed(whole=True):
            if self._now() - _deleted_at(path) > KEPT_SECONDS:
                remove_files(path)
        for name in self._names():
            path = self.folder / f"{name}{SUFFIX}"
            with suppress(OSError):
                found = path.stat()
                if found.st_size <= ONE_PAGE and self._now() - found.st_mtime > DAY_SECONDS:
                    with suppress(StorageError), closing(LiveLock(path)):  # others are not ours to remove
                        try:
                            read_info(path)
                        except NeverBegan:
                            remove_files(path)

    def _trashed(self, whole: bool = False) -> Sequence[Path]:
        try:
            files = [path for path in self.trash.iterdir() if path.suffix == SUFFIX and "@" in path.stem]
        except OSError:
            return []
        return [path for path in files if whole or self._now() - _deleted_at(path) <= KEPT_SECONDS]


def _stamp(path: Path) -> Stamp:
    """Return a value that changes with a session; raises `OSError` if the session is gone."""
    found = path.stat()
    try:
        wal = side_file(path, "-wal").stat()
    except OSError:
        return found.st_mtime_ns, found.st_size, 0, 0
    return found.st_mtime_ns, found.st_size, wal.st_mtime_ns, wal.st_size


def _read(path: Path, stamp: Stamp) -> SessionInfo:
    try:
        with time_limit(LIST_SECONDS):
            return read_info(path)
    except NeverBegan:
        return SessionInfo(path.stem)
    except StorageError as error:
        return SessionInfo(path.stem, changed=stamp[0] / 1e9, problem=str(error.message))


def _move(path: Path, target: Path) -> None:
    """Rename a session, the files next to it first, so that the session never lacks them."""
    for old, new in reversed(list(zip(files_of(path), files_of(target), strict=True))):
        with suppress(FileNotFoundError):
            os.replace(old, new)


def _deleted_at(path: Path) -> int:
    stamp = path.stem.rpartition("@")[2]
    return int(stamp) if stamp.isdecimal() and len(stamp) < 16 else 0


def load_known(folder: Path) -> Known:
    """Return the cached infos by id, or nothing if there is no usable cache."""
    try:
        with open_file(folder / NAME, links=False) as file:
            found = json.loads(file.read(MOST_BYTES))
        if found["form"] != FORM:
            return {}
        return {name: _entry(name, *values) for name, values in found["sessions"].items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return {}


def _entry(name: str, stamp: list[Any], values: list[Any]) -> tuple[Stamp, SessionInfo]:
    """Return a cached entry; raises `ValueError` if it is invalid."""
    first, size, wal_first, wal_size = map(int, stamp)
    if len(values) != len(_EMPTY) or values[0] != name or not all(map(_fits, values, _EMPTY)):
        raise ValueError(name)
    return (first, size, wal_first, wal_size), SessionInfo(*values)


def _fits(value: object, example: object) -> bool:
    if example is None or isinstance(example, float):  # the cost, and times
        return (example is None and value is None) or bounded(value) == value
    return type(value) is type(example)
