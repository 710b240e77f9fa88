"""Stores tasks that servers still work on when mcptui ends.

A task id may be all that protects a result, so only the owner can read the file.
"""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tui.core.tasks import MAX_ID, MAX_KEPT, Task
from tui.core.units import bounded, whole
from tui.settings.state.state_file import Content, StateFile, entries

MAX_BYTES = 1024 * 1024
DAY = 86_400.0
MAX_DAYS = 30
"""Tasks without a time to live are dropped after this."""


class StoredTasks:
    """A `tui.core.tasks.TaskStore` in a file."""

    def __init__(self, path: Path) -> None:
        self._file = StateFile(path, "tasks", max_bytes=MAX_BYTES)
        self.close = self._file.close

    def load(self) -> Sequence[Task]:
        """Return the stored tasks. Blocks while it reads the small file."""
        return list(_tasks(self._file.read()).values())

    def changed(self, put: Sequence[Task], dropped: Sequence[Task]) -> None:
        put, gone = tuple(put), {_key(one) for one in dropped}

        def change(content: Content) -> Content:
            tasks = {key: one for key, one in _tasks(content).items() if key not in gone}
            tasks |= {_key(one): one for one in put}
            return {"tasks": [_entry(one) for one in tasks.values()][-MAX_KEPT * 8 :]}

        self._file.change_later(change)


def _key(task: Task) -> tuple[str, str, str]:
    return task.server, task.origin, task.id


def _tasks(content: Content) -> dict[tuple[str, str, str], Task]:
    """Return the tasks that are not too old.

    The clock may have been set since they were made. A task that seems to have expired within the last day is
    kept, because its server knows better, and a task from the future counts as new.
    """
    now = time.time()
    tasks = (_task(entry, now) for entry in entries(content, "tasks"))
    return {
        _key(one): one
        for one in tasks
        if one and not one.expired(now - DAY) and now - one.created < MAX_DAYS * DAY
    }


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
