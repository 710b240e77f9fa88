"""The record of decisions: an append-only file of JSON Lines, written in a thread.

Only its owner can read it. It contains names and digests, no arguments. A full file is renamed and a new one
started, and the oldest is deleted, so that the size is bounded.
"""

import json
import os
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from tui.core.errors import ConfigError, reason_of
from tui.core.files import append_private
from tui.core.jsonrpc.reader import loads
from tui.core.ports import DecisionKind, DecisionRecord
from tui.core.text import clean_line
from tui.core.units import bounded, plural
from tui.settings.files import Unreadable, locked, read_bytes
from tui.settings.locations import decisions_file
from tui.settings.state.state_file import WriteThread

MAX_BYTES = 4 * 1024 * 1024
"""Size of a full file, about 15,000 decisions."""

MAX_FILES = 4
MAX_WAITING = 5000
"""Decisions that wait in memory while the file cannot be written."""

WINDOW = 0.05
"""Seconds after a write in which decisions are collected and then written together, as in a recording."""

MAX_TEXT = 300
_TEXTS = ("server", "subject", "by", "asked_by", "digest")


class StoredDecisions:
    """A `tui.core.ports.DecisionLog` in a file, which need not exist.

    `redact` removes configured secrets from a text: a server chooses the names of its tools and its
    questions. `problem` is why decisions are not being recorded, in words without a full stop, or "".
    """

    def __init__(self, path: Path | None = None, redact: Callable[[str], str] = str) -> None:
        self._path = path or decisions_file()
        self._redact = redact
        self._waiting: deque[DecisionRecord] = deque()
        self._lost = 0
        self.problem = ""
        self._lock = threading.Lock()
        self._thread = WriteThread("decisions")
        self._is_submitted = False
        self._written_at = -WINDOW
        self._hurry = threading.Event()

    def add(self, record: DecisionRecord) -> None:
        with self._lock:
            self._waiting.append(record)
            if len(self._waiting) > MAX_WAITING:
                self._waiting.popleft()
                self._lost += 1
            is_submitted, self._is_submitted = self._is_submitted, True
        if not is_submitted:
            self._thread.submit(self._write_soon)

    def close(self) -> None:
        """Write what is pending, with one more try if that failed before."""
        self._hurry.set()
        if self._waiting:
            self._thread.submit(self._write_all)
        self._thread.close()

    def _write_soon(self) -> None:
        """Write the decisions that wait: at once, or `WINDOW` after the last write."""
        self._hurry.wait(max(0.0, self._written_at + WINDOW - time.monotonic()))
        self._is_submitted = False
        self._write_all()
        self._written_at = time.monotonic()

    def _write_all(self) -> None:
        """Write the decisions that wait. Those that cannot be written wait for the next one."""
        with self._lock:
            batch, lost = list(self._waiting), self._lost
        if not batch:
            return
        problem = "an internal error"
        try:
            problem = self._written(batch, lost)
        finally:
            self.problem = problem
        if not problem:
            with self._lock:  # meanwhile, new ones may have pushed some of these out
                done = set(map(id, batch))
                while self._waiting and id(self._waiting[0]) in done:
                    self._waiting.popleft()
                self._lost -= lost

    def _written(self, batch: list[DecisionRecord], lost: int) -> str:
        lines = [json.dumps({"lost": lost})] if lost else []
        lines += [json.dumps(_entry(record, self._redact)) for record in batch]
        try:
            data = "".join(f"{line}\n" for line in lines).encode("ascii")
            with locked(self._path):
                _make_room(self._path, len(data))
                append_private(self._path, data)
        except ConfigError as error:
            return str(error.message).rstrip(".")
        except OSError as error:
            return reason_of(error)
        return ""


def _make_room(path: Path, size: int) -> None:
    """Rename a file that would be full, and those before it; the oldest is deleted."""
    with suppress(FileNotFoundError):
        if path.lstat().st_size + size > MAX_BYTES:
            for number in range(MAX_FILES - 1, 0, -1):
                with suppress(FileNotFoundError):
                    os.replace(_numbered(path, number - 1), _numbered(path, number))


def _numbered(path: Path, number: int) -> Path:
    return path.with_name(f"{path.stem}.{number}{path.suffix}") if number else path


def read_decisions(path: Path) -> tuple[list[DecisionRecord], str]:
    """Return the decisions of all files, oldest first, and a warning about unreadable lines, or "".

    Raises `ConfigError` if a file cannot be read.
    """
    records: list[DecisionRecord] = []
    unreadable = 0
    for number in range(MAX_FILES - 1, -1, -1):
        one = _numbered(path, number)
        try:
            raw = read_bytes(one, 2 * MAX_BYTES, links=False)
        except FileNotFoundError:
            continue
        except Unreadable as error:
            raise ConfigError(f"{error}.", where=str(one)) from error
        for line in raw.split(b"\n"):
            found = _record(line)
            if isinstance(found, DecisionRecord):
                records.append(found)
            else:
                unreadable += not found
    warning = f"{plural(unreadable, 'line')} could not be read" if unreadable else ""
    return records, warning


def _entry(record: DecisionRecord, redact: Callable[[str], str]) -> dict[str, Any]:
    texts = {name: clean_line(redact(getattr(record, name)), MAX_TEXT) for name in _TEXTS}
    when, kind = round(record.when, 3), record.kind.value
    return {"when": when, "kind": kind, **texts, "allowed": record.allowed, "asked": record.asked}


def _record(line: bytes) -> DecisionRecord | bool:
    """Return the decision in a line, or whether a line without one is valid."""
    if not line:
        return True
    try:
        entry = loads(line.decode("ascii"))
    except (ValueError, RecursionError):
        return False
    if not isinstance(entry, dict):
        return False
    if isinstance(entry.get("lost"), int):
        return True
    kinds = {**dict.fromkeys((*_TEXTS, "kind"), str), "allowed": bool, "asked": bool, "when": int | float}
    is_whole = all(isinstance(entry.get(name), kind) for name, kind in kinds.items())
    if not is_whole or entry["kind"] not in set(DecisionKind):
        return False
    known = {name: entry[name] for name in (*_TEXTS, "allowed", "asked")}
    return DecisionRecord(kind=DecisionKind(entry["kind"]), when=bounded(entry["when"]) or 0.0, **known)
