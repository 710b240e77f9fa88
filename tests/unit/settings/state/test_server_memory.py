"""Eras and tasks in files: private, shared with other processes, and never a reason to fail."""

import json
import stat
import time

import pytest

from tests.foreign import IN_JSON
from tui.core.eras import Era
from tui.core.secrets.redact import Redactor
from tui.core.tasks import Task
from tui.settings.state.server_memory import MAX_ERAS, ServerMemory, stored_eras, stored_tasks

KEY, OTHER = "0" * 16, "f" * 16
OLD = Era(modern=False, version="1.0")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "state" / "file.json"


def keep(path, key, era):
    stored = stored_eras(path)
    stored.change_later({key: era} if era else {}, [key])
    stored.close()


def keep_tasks(path, *put):
    stored = stored_tasks(path)
    stored.change_later({one.key: one for one in put})
    stored.close()


def task(task_id="t-1", age=0.0, **more):
    return Task("srv", "o", task_id, "research", created=round(time.time() - age, 3), **more)


def era(key=KEY, **more):
    return {"key": key, "handshake": True, "version": "1.0", "at": int(time.time()), **more}


def write(path, **content):
    path.parent.mkdir()
    path.write_text(json.dumps({"format": 1, **content}))


def task_ids(path):
    return [one.id for one in stored_tasks(path).read().values()]


def test_the_era_of_a_server_is_loaded_in_the_next_run():
    memory = ServerMemory(Redactor())
    assert memory.eras.find(KEY) is None
    memory.eras.connected(KEY, OLD)
    memory.close()
    assert ServerMemory(Redactor()).eras.find(KEY) == OLD


def test_a_save_keeps_the_entries_of_earlier_instances_in_a_private_file(path):
    keep(path, KEY, OLD)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    keep(path, OTHER, Era(modern=True))
    keep(path, KEY, None)
    assert stored_eras(path).read() == {OTHER: Era(modern=True)}


@pytest.mark.parametrize(
    "damage",
    [
        *({"key": "../x"}, {"key": 7}, {"handshake": 1}, {"version": "9" * 81}, {"at": True}, {"at": 10**12}),
        {"at": int(time.time()) - 40 * 86_400},
    ],
)
def test_an_invalid_or_expired_era_is_omitted(path, damage):
    write(path, eras=[era() | damage, era(OTHER), "x", None])
    assert list(stored_eras(path).read()) == [OTHER]


def test_the_oldest_entries_are_dropped_for_new_ones(path):
    write(path, eras=[era(f"{number:016x}") for number in range(MAX_ERAS)])
    keep(path, OTHER, OLD)
    found = stored_eras(path).read()
    assert len(found) == MAX_ERAS and OTHER in found and KEY not in found


def test_tasks_are_kept_unless_they_are_too_old(path):
    one = task(ttl_ms=60_000)
    keep_tasks(path, task("old", age=40 * 86_400), task("gone", age=2 * 86_400, ttl_ms=1_000), one)
    assert list(stored_tasks(path).read().values()) == [one]


@pytest.mark.parametrize("jump", [3_600.0, 14 * 3_600.0, -3_600.0, -400 * 86_400.0])
def test_a_task_survives_a_restart_with_another_wall_clock(path, monkeypatch, jump):
    now = time.time()
    keep_tasks(path, task(ttl_ms=600_000))
    monkeypatch.setattr(time, "time", lambda: now + jump)
    (found,) = stored_tasks(path).read().values()
    assert found.id == "t-1" and found.created <= now + jump
    keep_tasks(path, task("t-2"))  # which writes the others again
    assert task_ids(path) == ["t-1", "t-2"]


@pytest.mark.parametrize("created", [float("inf"), 1e308, -1e308, float("nan"), 10**30])
def test_a_task_with_an_impossible_time_is_new_or_dropped(path, created):
    write(path, tasks=[{"server": "s", "origin": "o", "id": "i", "tool": "x", "created": created}])
    found = [one.created for one in stored_tasks(path).read().values()]
    assert len(found) == (created in (1e308, 10**30))
    assert all(0 < one <= time.time() for one in found)


@pytest.mark.parametrize("number", IN_JSON)
def test_any_number_in_the_files_can_be_compared(tmp_path, number):
    known = {"server": "srv", "origin": "o", "tool": "research", "created": time.time()}
    written = [{**known, "id": "a", "created": number}, {**known, "id": "b", "ttl_ms": number}]
    tasks, eras = tmp_path / "a" / "tasks.json", tmp_path / "b" / "eras.json"
    write(tasks, tasks=[*written, {**known, "id": "c"}])
    assert "c" in task_ids(tasks)
    assert all(
        one.created >= 0 and not one.expired(one.created) for one in stored_tasks(tasks).read().values()
    )
    write(eras, eras=[era(at=number), era(OTHER)])
    assert OTHER in stored_eras(eras).read()
