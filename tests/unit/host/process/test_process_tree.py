"""What a tree of processes costs, from what the system says of all of them."""

import os
import subprocess
import sys

import pytest

from tui.host.process import process_tree
from tui.host.process.process_tree import Usage, usage

PS = """\
  100     1   100  2048   0:01.50
  101   100   100  1024  01:00:00
  102   101   102   512 1-00:00:01
  103     1   100   256     0:00
  200     1   200  9999   0:09
words that are not a process
  104   100   100     ?   0:00
"""


@pytest.fixture
def ps(monkeypatch):
    """Let the system be one that has `ps` and no /proc."""

    def say(text):
        monkeypatch.setattr(process_tree.sys, "platform", "darwin")
        monkeypatch.setattr(
            process_tree.subprocess, "run", lambda *_, **__: subprocess.CompletedProcess([], 0, text, "")
        )

    return say


def test_children_their_children_and_the_rest_of_the_group_belong_to_the_leader(ps):
    ps(PS)
    found = usage(100)
    assert found.pids[0] == 100
    assert set(found.pids) == {100, 101, 102, 103}
    assert found.memory == (2048 + 1024 + 512 + 256) * 1024
    assert found.cpu_seconds == 1.5 + 3600 + 86_401


def test_a_leader_that_is_gone_costs_nothing(ps):
    ps(PS)
    assert usage(999) == Usage()


def test_where_nothing_is_told_there_is_still_the_leader(ps):
    ps("")
    assert usage(100) == Usage((100,))


def test_two_that_are_each_others_parent_are_counted_once(ps):
    ps("1 2 9 1 0:01\n2 1 9 1 0:01\n")
    assert usage(1).memory == 2048


@pytest.mark.skipif(sys.platform == "win32", reason="there it is not told")
def test_this_process_costs_something():
    found = usage(os.getpid())
    assert found.pids[0] == os.getpid()
    assert found.memory is not None
    assert found.memory > 1_000_000
    assert found.cpu_seconds is not None
    assert found.cpu_seconds > 0
