import os
import signal
import subprocess
import sys
import uuid

import pytest

from tests.conftest import wait_until
from tui.host.process.guard import guard_command


@pytest.fixture
def owner():
    return uuid.uuid4().hex


@pytest.fixture
def start():
    started = []

    def start(*command, **rest):
        process = subprocess.Popen(command, start_new_session=True, **rest)
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def sleeper(start, code="pass", env=None):
    process = start(
        sys.executable,
        "-c",
        f"{code}; print('ready', flush=True); import time; time.sleep(60)",
        stdout=subprocess.PIPE,
        env=env,
    )
    assert process.stdout.readline() == b"ready\n"
    return process


def guarding(start, owner):
    return start(*guard_command(owner), stdin=subprocess.PIPE, bufsize=0)


def test_bye_ends_the_guard_and_nothing_else(start, owner):
    server, watcher = sleeper(start), guarding(start, owner)
    watcher.stdin.write(b"+%d\nbye\n" % server.pid)
    assert watcher.wait(5) == 0
    assert server.poll() is None


@pytest.mark.parametrize("with_python", [True, False])
def test_when_the_host_is_gone_its_guarded_groups_are_ended_and_no_others(
    start, owner, monkeypatch, with_python
):
    server, forgotten = sleeper(start), sleeper(start)
    if not with_python:
        monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    watcher = guarding(start, owner)
    watcher.stdin.write(b"+%d\n+%d\n-%d\nnonsense\n" % (server.pid, forgotten.pid, forgotten.pid))
    watcher.stdin.close()
    assert server.wait(5) == -(signal.SIGTERM if with_python else signal.SIGKILL)
    assert watcher.wait(5) == 0
    assert forgotten.poll() is None


def test_a_stubborn_server_and_one_in_its_own_session_are_ended_too(start, owner):
    ignore = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)"
    stubborn = sleeper(start, ignore)
    escaped = sleeper(start, env={"MCPTUI_OWNER": f"{owner}/1"})
    watcher = guarding(start, owner)
    watcher.stdin.write(b"+%d\n" % stubborn.pid)
    watcher.stdin.close()
    assert escaped.wait(5) == -signal.SIGTERM
    assert stubborn.wait(5) == -signal.SIGKILL
    assert watcher.wait(5) == 0


def test_with_nothing_to_end_the_guard_exits_at_once(start, owner):
    watcher = guarding(start, owner)
    watcher.stdin.close()
    assert watcher.wait(5) == 0


def test_a_hangup_of_the_terminal_does_not_end_the_guard(start, owner):
    watcher = guarding(start, owner)
    wait_until(lambda: os.readlink(f"/proc/{watcher.pid}/cwd") == "/")
    wait_until(lambda: _ignores(watcher.pid, signal.SIGHUP))
    os.kill(watcher.pid, signal.SIGHUP)
    watcher.stdin.write(b"bye\n")
    assert watcher.wait(5) == 0


def _ignores(pid, number):
    with open(f"/proc/{pid}/status") as file:
        mask = next(line for line in file if line.startswith("SigIgn:")).split()[1]
    return bool(int(mask, 16) >> (number - 1) & 1)
