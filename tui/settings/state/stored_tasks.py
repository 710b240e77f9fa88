"""Stores tasks that servers still work on when mcptui ends: a private JSON file, written in a thread.

A task id may be all that protects a result, so only the owner can read the file.
"""

import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tui.core.tasks import MAX_ID, MAX_KEPT, Task
from tui.core.units import bounded, whole
from tui.settings.state.list_file import ListFile

MAX_BYTES = 1024 * 1024
DAY = 86_400.0
MAX_DAYS = 30
"""Tasks without a time to live are dropped after this."""


class StoredTasks:
    """A `tui.core.tasks.TaskStore` in a file, which need not exist."""

    def __init__(self, path: Path) -> None:
        self._file = ListFile(path, "tasks", "tasks", max_bytes=MAX_BYTES)

    def load(self) -> Sequence[Task]:
        """Return the stored tasks, none if the file is missing or damaged.

        Blocks while it reads the small file.
        """
        return _tasks(self._file.read())

    def changed(self, put: Sequence[Task], dropped: Sequence[Task]) -> None:
        self._file.change(partial(_changed, tuple(put), tuple(dropped)))

    def close(self) -> None:
        """Wait until everything is written."""
        self._file.close()


def _changed(put: Sequence[Task], dropped: Sequence[Task], entries: Sequence[Any]) -> list[dict[str, Any]]:
    tasks = {(one.server, one.origin, one.id): one for one in _tasks(entries)}
    for one in dropped:
        tasks.pop((one.server, one.origin, one.id), None)
    tasks |= {(one.server, one.origin, one.id): one for one in put}
    return [_entry(one) for one in tasks.values()][-MAX_KEPT * 8 :]


def _tasks(entries: Sequence[Any]) -> list[Task]:
    """Return the tasks that are not too old.

    The clock may have been set since they were made. A task that seems to have expired within the last day is
    kept, because its server knows better, and a task from the future counts as new.
    """
    now = time.time()
    tasks = (_task(entry, now) for entry in entries)
    return [one for one in tasks if one and not one.expired(now - DAY) and now - one.created < MAX_DAYS * DAY]


def _task(entry: Any, now: float) -> Task | None:
    match entry:
        case {
            "server": str(server),
            "origin": str(origin),
            "id": str(task_id),
            "tool": str(tool),
            "created": int() | float() as created,
        } if 0 < len(task_id) <= MAX_ID:
            ttl = whole(entry.get("ttl_ms"))
            return Task(server, origin, task_id, tool, min(bounded(created) or 0.0, now), ttl_ms=ttl)
    return None


def _entry(task: Task) -> dict[str, Any]:
    known = {"server": task.server, "origin": task.origin, "id": task.id, "tool": task.tool}
    ttl = {} if task.ttl_ms is None else {"ttl_ms": task.ttl_ms}
    return {**known, "created": round(task.created, 3), **ttl}
