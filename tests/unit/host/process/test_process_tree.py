"""What a tree of processes costs; psutil's view of the system is replaced by a table."""

import os
import sys
from contextlib import nullcontext
from types import SimpleNamespace

import psutil
import pytest

from tui.host.process import process_tree
from tui.host.process.process_tree import ProcessUsage, usage


class FakeProcess:
    def __init__(self, pid, parent, memory, cpu, created):
        self.pid = pid
        self.info = {"ppid": parent, "create_time": created}
        self._memory, self._cpu = memory, cpu

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
    """Let the system have only the processes given: (pid, parent, group, memory, cpu, created)."""

    def show(*rows):
        groups = {pid: group for pid, _, group, *_ in rows}
        processes = [FakeProcess(pid, parent, *rest) for pid, parent, _, *rest in rows]
        monkeypatch.setattr(psutil, "process_iter", lambda attributes: iter(processes))
        monkeypatch.setattr(process_tree.os, "getpgid", groups.__getitem__)

    return show


FAMILY = (
    (100, 1, 100, 2048, 1.5, 10.0),
    (101, 100, 101, 1024, 3600.0, 11.0),
    (102, 101, 102, 512, 86_401.0, 12.0),
    (103, 1, 100, 256, 0.0, 10.5),
    (200, 1, 200, 9999, 9.0, 10.0),
    (104, 100, 100, None, 0.0, 11.0),
)


def test_children_their_children_and_the_rest_of_the_group_belong_to_the_leader(system):
    system(*FAMILY)
    found = usage(100)
    assert found.pids[0] == 100
    assert set(found.pids) == {100, 101, 102, 103}
    assert found.memory == 2048 + 1024 + 512 + 256
    assert found.cpu_seconds == 1.5 + 3600 + 86_401 + 4 * 1.0


def test_a_leader_that_is_gone_costs_nothing(system):
    system(*FAMILY)
    assert usage(999) == ProcessUsage()


def test_without_a_process_list_there_is_still_the_leader(system):
    system()
    assert usage(100) == ProcessUsage((100,))


def test_two_that_are_each_others_parent_are_counted_once(system):
    system((1, 2, 9, 1024, 1.0, 5.0), (2, 1, 9, 1024, 1.0, 5.0))
    assert usage(1).memory == 2048


def test_a_process_older_than_its_parent_belongs_to_an_earlier_process_of_that_id(system):
    system((100, 1, 100, 2048, 1.5, 10.0), (50, 100, 50, 9999, 1.0, 9.0))
    assert usage(100).pids == (100,)


@pytest.mark.skipif(sys.platform == "win32", reason="not reported there")
def test_this_process_costs_something():
    found = usage(os.getpid())
    assert found.pids[0] == os.getpid()
    assert found.memory is not None
    assert found.memory > 1_000_000
    assert found.cpu_seconds is not None
    assert found.cpu_seconds > 0
