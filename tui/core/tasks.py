"""Tasks: tool calls that a server works on after it has answered (extension io.modelcontextprotocol/tasks).

A server answers `tools/call` with a task id instead of a result; the client polls until the task is done.
Ids outlive the connection and mcptui itself, so they are stored.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from tui.core.ports import Kept, KeyedStore
from tui.core.text import clean_line, quoted_name
from tui.core.units import whole

STATUS_CHANGED = "notifications/tasks"
"""The method that a change stream sends for its task ids; its parameters are what `tasks/get` returns."""

MAX_ID = 1_024
MAX_KEPT = 200
"""Maximum tasks kept per server; the oldest are dropped first."""

MESSAGE_CHARS = 400
MIN_POLL_MS, USUAL_POLL_MS, MAX_POLL_MS = 250, 1_000, 60_000
GRACE_SECONDS = 60.0
"""How long a task is still polled after its time to live, because clocks differ."""


TaskKey = tuple[str, str, str]
"""The server, the origin and the id of a task."""


class TaskStatus(StrEnum):
    """The status of a task; the names are the specification's."""

    WORKING = "working"
    INPUT_REQUIRED = "input_required"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_over(self) -> bool:
        return self in (TaskStatus.COMPLETED, TaskStatus.FAILED, TaskStatus.CANCELLED)


@dataclass(frozen=True, slots=True)
class Task:
    """One task of a server.

    Attributes:
        origin: hash of where the server runs: a task id is sent to no other program.
        id: the server's id, raw.
        tool: name of the tool that was called, raw.
        created: seconds since the epoch when it was made, by our clock.
        message: the server's message about the status, cleaned, or "".
        ttl_ms: how long the server keeps it, in milliseconds; None for no end.
        poll_ms: how long to wait between two requests, within our bounds.
        call: id of the call that made it in this run, or "".
    """

    server: str
    origin: str
    id: str
    tool: str
    created: float
    status: TaskStatus = TaskStatus.WORKING
    message: str = ""
    ttl_ms: int | None = None
    poll_ms: int = USUAL_POLL_MS
    call: str = ""

    @property
    def key(self) -> TaskKey:
        return self.server, self.origin, self.id

    @property
    def title(self) -> str:
        return ""

    @property
    def description(self) -> str:
        return self.message

    def expired(self, now: float) -> bool:
        return self.ttl_ms is not None and now > self.created + self.ttl_ms / 1000 + GRACE_SECONDS

    def updated(self, raw: Mapping[str, Any]) -> "Task":
        """Return the task with the server's new state; raises ValueError if that is not a task state."""
        status = raw.get("status")
        if status not in list(TaskStatus):
            raise ValueError(f"unknown task status {quoted_name(str(status), 40)}")
        message, said = raw.get("statusMessage"), whole(raw.get("pollIntervalMs"))
        return replace(
            self,
            status=TaskStatus(status),
            message=clean_line(message, MESSAGE_CHARS) if isinstance(message, str) else "",
            ttl_ms=whole(raw.get("ttlMs")),
            poll_ms=USUAL_POLL_MS if said is None else max(MIN_POLL_MS, min(MAX_POLL_MS, said)),
        )


def made(raw: Mapping[str, Any], task: Task) -> Task:
    """Return the task in a raw `tools/call` result; `task` has the fields that are not from the server.

    Raises ValueError with the reason if the result is malformed.
    """
    found = raw.get("taskId")
    if not isinstance(found, str) or not found or len(found) > MAX_ID:
        raise ValueError("a task without a valid taskId")
    return replace(task, id=found).updated(raw)


class KnownTasks:
    """The tasks of all servers that may still have a result for us."""

    def __init__(self, store: KeyedStore[TaskKey, Task] | None = None) -> None:
        self._kept = Kept(store)

    def of(self, server: str, origin: str) -> tuple[Task, ...]:
        """Return the tasks of a server, the oldest first."""
        return tuple(one for one in self._kept.all.values() if (one.server, one.origin) == (server, origin))

    def find(self, server: str, origin: str, task_id: str) -> Task | None:
        return self._kept.all.get((server, origin, task_id))

    def put(self, task: Task) -> None:
        tasks, before = self._kept.all, self._kept.all.get(task.key)
        tasks[task.key] = task
        # Its status is polled anyway, so only a new task or time to live is written to the file.
        if before is None or before.ttl_ms != task.ttl_ms:
            too_many = self.of(task.server, task.origin)[:-MAX_KEPT]
            self._kept.change({task.key: task}, [old.key for old in too_many])

    def drop(self, task: Task) -> None:
        """Remove a task whose result has been fetched, or can no longer be fetched."""
        if task.key in self._kept.all:
            self._kept.change({}, [task.key])
