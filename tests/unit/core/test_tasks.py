"""Tasks, and the store of all tasks."""

import pytest

from tests.cases import each_case
from tui.core.tasks import (
    MAX_KEPT,
    MAX_POLL_MS,
    MIN_POLL_MS,
    USUAL_POLL_MS,
    KnownTasks,
    Task,
    TaskStatus,
    made,
)

TASK = Task("srv", "o1", "t-1", "research", created=1000.0)


class Keeper:
    def __init__(self, *kept):
        self.kept = {one.key: one for one in kept}
        self.said = []

    def read(self):
        return self.kept

    def change_later(self, put, dropped):
        self.said.append(([one.id for one in put.values()], [key[-1] for key in dropped]))


def test_a_task_is_created_from_the_response_to_a_call():
    raw = {
        "taskId": "a",
        "status": "working",
        "statusMessage": "so\x1b far",
        "ttlMs": 60000,
        "pollIntervalMs": 500,
    }
    task = made(raw, TASK)
    assert (task.id, task.status, task.message) == ("a", TaskStatus.WORKING, "so␛ far")
    assert (task.ttl_ms, task.poll_ms, task.tool) == (60_000, 500, "research")


@each_case(
    "raw",
    [
        {},
        {"taskId": 7, "status": "working"},
        {"taskId": "", "status": "working"},
        {"taskId": "x" * 2000, "status": "working"},
        {"taskId": "a", "status": "dreaming"},
        {"taskId": "a", "status": ["working"]},
    ],
)
def test_a_response_that_is_not_a_task_is_rejected(raw):
    with pytest.raises(ValueError, match="task"):
        made(raw, TASK)


@each_case(
    ("said", "waited"),
    [
        (0, MIN_POLL_MS),
        (700.5, 700),
        (10**9, MAX_POLL_MS),
        (-5, USUAL_POLL_MS),
        ("1", USUAL_POLL_MS),
        (True, USUAL_POLL_MS),
        (None, USUAL_POLL_MS),
    ],
)
def test_the_poll_interval_is_that_of_the_server_within_bounds(said, waited):
    assert TASK.updated({"status": "working", "pollIntervalMs": said}).poll_ms == waited


def test_a_task_expires_after_its_time_to_live_and_a_grace_period():
    task = TASK.updated({"status": "working", "ttlMs": 10_000})
    assert not task.expired(1011) and task.expired(1071)
    assert not TASK.updated({"status": "working", "ttlMs": None}).expired(1e12)


def test_tasks_are_found_by_server_and_origin_and_only_new_and_dropped_ones_are_written():
    keeper = Keeper(TASK)
    book = KnownTasks(keeper)
    other = Task("srv", "elsewhere", "t-2", "x", created=1.0)
    book.put(other)
    assert book.of("srv", "o1") == (TASK,) and book.of("srv", "elsewhere") == (other,)
    book.put(TASK.updated({"status": "input_required"}))
    assert book.find("srv", "o1", "t-1").status is TaskStatus.INPUT_REQUIRED
    book.drop(TASK)
    book.drop(TASK)
    assert keeper.said == [(["t-2"], []), ([], ["t-1"])]


def test_the_number_of_tasks_per_server_is_bounded():
    book = KnownTasks()
    for number in range(MAX_KEPT + 5):
        book.put(Task("srv", "o", f"t{number}", "x", created=1.0))
    tasks = book.of("srv", "o")
    assert (len(tasks), tasks[0].id) == (MAX_KEPT, "t5")
