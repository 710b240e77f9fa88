"""The resources of a process tree; a table replaces psutil."""

import os
import sys
from contextlib import nullcontext
from types import SimpleNamespace

import psutil
import pytest

from tui.host.process import process
from tui.host.process.process import ProcessUsage, usage


class FakeProcess:
    def __init__(self, table, pid):
        if pid not in table:
            raise psutil.NoSuchProcess(pid)
        self.pid = pid
        self._table = table
        _, _, self._memory, self._cpu = table[pid]

    def children(self, recursive):
        found, waiting = [], [self.pid]
        while waiting:
            parent = waiting.pop()
            for pid, (of, *_) in self._table.items():
                if of == parent and pid not in (self.pid, *(each.pid for each in found)):
                    found.append(FakeProcess(self._table, pid))
                    waiting.append(pid)
        return found

    def oneshot(self):
        return nullcontext()

    def memory_info(self):
        if self._memory is None:
            raise psutil.NoSuchProcess(self.pid)
        return SimpleNamespace(rss=self._memory)

    def cpu_times(self):
        return SimpleNamespace(user=self._cpu, system=0.5, children_user=0.25, children_system=0.25)


@pytest.fixture
def system(monkeypatch):
    """Simulate a system with only the given processes: (pid, parent, group, memory, cpu)."""

    def show(*rows):
        table = {pid: rest for pid, *rest in rows}
        monkeypatch.setattr(psutil, "pids", lambda: list(table))
        monkeypatch.setattr(psutil, "Process", lambda pid: FakeProcess(table, pid))
        monkeypatch.setattr(process.os, "getpgid", lambda pid: table[pid][1])

    return show


FAMILY = (
    (100, 1, 100, 2048, 1.5),
    (101, 100, 101, 1024, 3600.0),
    (102, 101, 102, 512, 86_401.0),
    (103, 1, 100, 256, 0.0),
    (200, 1, 200, 9999, 9.0),
    (104, 100, 104, None, 0.0),
)


def test_descendants_and_the_rest_of_the_group_belong_to_the_leader(system):
    system(*FAMILY)
    found = usage(100)
    assert found.pids[0] == 100
    assert set(found.pids) == {100, 101, 102, 103}
    assert found.memory == 2048 + 1024 + 512 + 256
    assert found.cpu_seconds == 1.5 + 3600 + 86_401 + 4 * 1.0


def test_an_exited_leader_uses_no_resources(system):
    system(*FAMILY)
    assert usage(999) == ProcessUsage()


def test_without_a_process_list_only_the_leader_is_found(system):
    system()
    assert usage(100) == ProcessUsage((100,))


def test_two_processes_that_are_each_others_parent_are_counted_once(system):
    system((1, 2, 9, 1024, 1.0), (2, 1, 9, 1024, 1.0))
    assert usage(1).memory == 2048


@pytest.mark.skipif(sys.platform == "win32", reason="not reported there")
def test_the_resource_usage_of_this_process_is_measured():
    found = usage(os.getpid())
    assert found.pids[0] == os.getpid()
    assert found.memory is not None
    assert found.memory > 1_000_000
    assert found.cpu_seconds is not None
    assert found.cpu_seconds > 0
