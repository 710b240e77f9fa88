"""Stores tasks that servers still work on when mcptui ends: a private JSON file, written in a thread.

A task id may be all that protects a result, so only the owner can read the file.
"""

import json
import logging
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tui.core.errors import ConfigError
from tui.core.tasks import MAX_ID, MAX_KEPT, Task
from tui.settings.files import locked, read_state
from tui.settings.save import write_state

FORMAT = 1
MAX_BYTES = 1024 * 1024
MAX_DAYS = 30
"""Tasks without a time to live are dropped after this."""

_log = logging.getLogger(__name__)


class StoredTasks:
    """A `tui.core.tasks.TaskStore` in a file, which need not exist."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._thread: ThreadPoolExecutor | None = None
        self._last: Future[None] | None = None

    def load(self) -> Sequence[Task]:
        """Return the stored tasks, none if the file is missing or damaged.

        Blocks while it reads the small file.
        """
        return _read(self._path)

    def changed(self, put: Sequence[Task], dropped: Sequence[Task]) -> None:
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, "tasks")
        self._last = self._thread.submit(_change, self._path, tuple(put), tuple(dropped))

    def close(self) -> None:
        """Wait until everything is written."""
        if self._thread is not None:
            self._thread.shutdown()
            self._thread = None


def _change(path: Path, put: Sequence[Task], dropped: Sequence[Task]) -> None:
    """Change the file, which is read again, since another mcptui may have changed it."""
    try:
        with locked(path):
            tasks = {(one.server, one.origin, one.id): one for one in _read(path, to_change=True)}
            for one in dropped:
                tasks.pop((one.server, one.origin, one.id), None)
            tasks |= {(one.server, one.origin, one.id): one for one in put}
            entries = [_entry(one) for one in tasks.values()][-MAX_KEPT * 8 :]
            text = json.dumps({"format": FORMAT, "tasks": entries}, ensure_ascii=True, indent=1) + "\n"
            if len(text) <= MAX_BYTES:
                write_state(path, text)
    except ConfigError as error:
        _log.warning("cannot save tasks: %s", error)


def _read(path: Path, *, to_change: bool = False) -> list[Task]:
    listed = read_state(path, MAX_BYTES, form=FORMAT, to_change=to_change).get("tasks")
    tasks = (_task(entry) for entry in (listed if isinstance(listed, list) else ()))
    now = time.time()
    return [one for one in tasks if one and not one.expired(now) and now - one.created < MAX_DAYS * 86_400]


def _task(entry: Any) -> Task | None:
    match entry:
        case {
            "server": str(server),
            "origin": str(origin),
            "id": str(task_id),
            "tool": str(tool),
            "created": int() | float() as created,
        } if 0 < len(task_id) <= MAX_ID:
            ttl = entry.get("ttl_ms")
            return Task(server, origin, task_id, tool, created, ttl_ms=ttl if isinstance(ttl, int) else None)
    return None


def _entry(task: Task) -> dict[str, Any]:
    known = {"server": task.server, "origin": task.origin, "id": task.id, "tool": task.tool}
    ttl = {} if task.ttl_ms is None else {"ttl_ms": task.ttl_ms}
    return {**known, "created": round(task.created, 3), **ttl}
