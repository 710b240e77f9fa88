"""Tasks in a file: private, shared with other processes, and never a reason to fail."""

import json
import stat
import time

import pytest

from tests.foreign import IN_JSON
from tui.core.tasks import Task
from tui.settings.state.stored_tasks import StoredTasks


def task(task_id="t-1", **more):
    return Task("srv", "o", task_id, "research", created=round(time.time(), 3), **more)


def kept(path):
    return [one.id for one in StoredTasks(path).load()]


def test_tasks_are_kept_in_a_private_file(tmp_path):
    path = tmp_path / "state" / "tasks.json"
    stored, one = StoredTasks(path), task(ttl_ms=60_000)
    stored.changed([one], ())
    stored.close()
    assert list(StoredTasks(path).load()) == [one]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_two_instances_keep_each_others_entries(tmp_path):
    path = tmp_path / "tasks.json"
    one, other = StoredTasks(path), StoredTasks(path)
    one.changed([task("a")], ())
    one.close()
    other.changed([task("b")], ())
    other.close()
    one.changed((), [task("a")])
    one.close()
    assert kept(path) == ["b"]


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{", '{"format": 2, "tasks": []}', '{"format": 1, "tasks": [{"id": 1}, 7, {"server": "s"}]}'],
)
def test_a_damaged_file_has_no_tasks_and_is_replaced(tmp_path, text):
    path = tmp_path / "tasks.json"
    path.write_text(text)
    assert kept(path) == []
    stored = StoredTasks(path)
    stored.changed([task()], ())
    stored.close()
    assert kept(path) == ["t-1"]


def test_tasks_that_are_too_old_are_dropped(tmp_path):
    path = tmp_path / "tasks.json"
    stored = StoredTasks(path)
    old = Task("srv", "o", "old", "x", created=time.time() - 40 * 86_400)
    gone = Task("srv", "o", "gone", "x", created=time.time() - 3_600, ttl_ms=1_000)
    stored.changed([old, gone, task("new")], ())
    stored.close()
    assert kept(path) == ["new"]


def test_a_failed_write_raises_no_error(tmp_path):
    path = tmp_path / "file"
    path.write_text("")
    stored = StoredTasks(path / "tasks.json")
    stored.changed([task()], ())
    stored.close()
    assert stored.load() == []


@pytest.mark.parametrize("number", IN_JSON)
def test_any_number_in_the_file_can_be_compared(tmp_path, number):
    path = tmp_path / "tasks.json"
    known = {"server": "srv", "origin": "o", "tool": "research"}
    written = [
        {**known, "id": "a", "created": number},
        {**known, "id": "b", "created": time.time(), "ttl_ms": number},
        {**known, "id": "c", "created": time.time()},
    ]
    path.write_text(json.dumps({"format": 1, "tasks": written}))
    assert "c" in kept(path)
    assert all(one.created >= 0 and not one.expired(one.created) for one in StoredTasks(path).load())
