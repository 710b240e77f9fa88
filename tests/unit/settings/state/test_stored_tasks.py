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


def test_tasks_that_are_too_old_are_dropped(tmp_path):
    path = tmp_path / "tasks.json"
    stored = StoredTasks(path)
    old = Task("srv", "o", "old", "x", created=time.time() - 40 * 86_400)
    gone = Task("srv", "o", "gone", "x", created=time.time() - 2 * 86_400, ttl_ms=1_000)
    stored.changed([old, gone, task("new")], ())
    stored.close()
    assert kept(path) == ["new"]


@pytest.mark.parametrize("jump", [3_600.0, 14 * 3_600.0, -3_600.0, -400 * 86_400.0])
def test_a_task_survives_a_restart_with_another_wall_clock(tmp_path, monkeypatch, jump):
    path, now = tmp_path / "tasks.json", time.time()
    stored = StoredTasks(path)
    stored.changed([task(ttl_ms=600_000)], ())
    stored.close()
    monkeypatch.setattr(time, "time", lambda: now + jump)
    (found,) = StoredTasks(path).load()
    assert found.id == "t-1" and found.created <= now + jump
    again = StoredTasks(path)
    again.changed([task("t-2")], ())  # which writes the others again
    again.close()
    assert kept(path) == ["t-1", "t-2"]


@pytest.mark.parametrize("created", ["1e400", "1e308", "-1e308", "NaN", str(10**30)])
def test_a_task_with_an_impossible_time_is_new_or_dropped(tmp_path, created):
    path = tmp_path / "tasks.json"
    entry = f'{{"server": "s", "origin": "o", "id": "i", "tool": "x", "created": {created}}}'
    path.write_text(f'{{"format": 1, "tasks": [{entry}]}}')
    found = [one.created for one in StoredTasks(path).load()]
    assert len(found) == (created in ("1e308", str(10**30)))
    assert all(0 < one <= time.time() for one in found)


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
