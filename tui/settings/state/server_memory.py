"""Remembers servers from one run to the next: eras, tasks, accepted definitions.

Only the owner can read the files: a task id may be all that protects a result. Eras are disposable, and their
keys are hashes, so that the file contains no commands or addresses.
"""

import re
import time
from pathlib import Path
from typing import Any

from tui.core.eras import MAX_VERSION, Era, KnownEras
from tui.core.permission.definitions import KnownDefinitions
from tui.core.secrets.redact import Redactor
from tui.core.secrets.walk import without_secrets
from tui.core.tasks import MAX_ID, MAX_KEPT, KnownTasks, Task, TaskKey
from tui.core.units import bounded, whole
from tui.settings.locations import state_dir
from tui.settings.state.permission.stored_definitions import StoredDefinitions
from tui.settings.state.state_file import KeyedList

DAY = 86_400.0
MAX_DAYS = 30
"""After this, a server is asked for its era again: it may have been upgraded without a new version.

Tasks without a time to live are dropped.
"""

MAX_ERAS = 500

_KEY = re.compile(r"[0-9a-f]{16}")


class ServerMemory:
    """The memory of servers, each part in its own file in the state folder. Nothing is read yet."""

    def __init__(self, redactor: Redactor) -> None:
        tasks, eras = stored_tasks(state_dir() / "tasks.json"), stored_eras(state_dir() / "eras.json")
        definitions = StoredDefinitions(
            state_dir() / "definitions", lambda value: without_secrets(value, redactor.redact_spoken)
        )
        self.tasks = KnownTasks(tasks)
        self.eras = KnownEras(eras)
        self.definitions = KnownDefinitions(definitions)
        self._files = (tasks, eras, definitions)

    def close(self) -> None:
        """Wait until everything is written."""
        for file in self._files:
            file.close()


def stored_eras(path: Path) -> KeyedList[str, Era]:
    """Return the eras of servers, by the key of `tui.core.eras.era_key`."""
    return KeyedList(path, "the era of a server", "eras", _read_era, _era_entry, max_entries=MAX_ERAS)


def _read_era(entry: Any) -> tuple[str, Era] | None:
    match entry:
        case {"key": str(key), "handshake": bool(has_handshake), "version": str(version), "at": int(at)} if (
            _KEY.fullmatch(key)
            and len(version) <= MAX_VERSION
            and 0 <= time.time() - (bounded(at) or 0.0) < MAX_DAYS * DAY
        ):
            return key, Era(not has_handshake, version, at)
    return None


def _era_entry(key: str, era: Era) -> dict[str, Any]:
    at = era.at or int(time.time())
    return {"key": key, "handshake": not era.modern, "version": era.version, "at": at}


def stored_tasks(path: Path) -> KeyedList[TaskKey, Task]:
    """Return the tasks that servers still work on."""
    return KeyedList(path, "tasks", "tasks", _read_task, _task_entry, max_entries=MAX_KEPT * 8)


def _read_task(entry: Any) -> tuple[TaskKey, Task] | None:
    """Return a task with its key, None if it is too old.

    The clock may have been set since it was made. A task that seems to have expired within the last day is
    kept, because its server knows better, and a task from the future counts as new.
    """
    now = time.time()
    match entry:
        case {
            "server": str(server),
            "origin": str(origin),
            "id": str(task_id),
            "tool": str(tool),
            "created": int() | float() as created,
        } if 0 < len(task_id) <= MAX_ID:
            ttl = whole(entry.get("ttl_ms"))
            one = Task(server, origin, task_id, tool, min(bounded(created) or 0.0, now), ttl_ms=ttl)
            if not one.expired(now - DAY) and now - one.created < MAX_DAYS * DAY:
                return one.key, one
    return None


def _task_entry(_: object, task: Task) -> dict[str, Any]:
    known = {"server": task.server, "origin": task.origin, "id": task.id, "tool": task.tool}
    ttl = {} if task.ttl_ms is None else {"ttl_ms": task.ttl_ms}
    return {**known, "created": round(task.created, 3), **ttl}
